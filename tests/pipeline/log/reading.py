"""Writes a log, reads it whole, and gives what came of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from features.config import Config
from pipeline.log import Reject, find_files, plan_ranges, read_range

NOW = 1_800_000_000.0


@dataclass(frozen=True)
class Outcome:
    rows: list[dict[str, Any]]
    rejects: list[Reject]
    dropped: dict[str, int]
    ranges: int

    @property
    def reasons(self) -> list[tuple[int, str]]:
        return [(reject.line, reject.reason) for reject in self.rejects]

    def column(self, name: str) -> list[Any]:
        return [row[name] for row in self.rows]


def configure(
    path: Path | list[Path],
    strings: tuple[str, ...] = (),
    numbers: tuple[str, ...] = (),
    multi: tuple[str, ...] = (),
    block_bytes: int = 1 << 20,
    **log: Any,
) -> Config:
    """Make a configuration that reads these columns; the label is `click`."""
    features: list[dict[str, Any]] = [
        {"kind": "hash", "name": f"s{at}", "column": name, "buckets": 10}
        for at, name in enumerate(strings)
    ]
    features += [
        {"kind": "numeric", "name": f"n{at}", "column": name} for at, name in enumerate(numbers)
    ]
    features += [
        {"kind": "multi", "name": f"m{at}", "column": name, "buckets": 10}
        for at, name in enumerate(multi)
    ]
    paths = tuple(map(str, path)) if isinstance(path, list) else str(path)
    settings = {"path": paths, "label": {"column": "click"}} | log
    return Config.model_validate(
        {
            "name": "test",
            "log": settings,
            "features": features,
            "data": {"block_bytes": block_bytes},
        }
    )


def read(config: Config) -> Outcome:
    rows: list[dict[str, Any]] = []
    rejects: list[Reject] = []
    dropped: Counter[str] = Counter()
    ranges = 0
    for file in find_files(config.log, "log"):
        for part in plan_ranges(file, config):
            ranges += 1
            for block in read_range(part, config, now=NOW):
                rows += block.batch.to_pylist()
                rejects += block.rejects
                dropped.update(block.dropped)
    return Outcome(rows, rejects, dict(dropped), ranges)
