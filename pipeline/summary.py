"""What a finished data set says about itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from features.artefact import Artefact
from features.config import Config
from features.manifest import InputFile, Manifest, Shard, Split
from pipeline.blocks import StagedBlock
from pipeline.layout import BlockCounts
from pipeline.split import SPLITS

__all__ = ["describe", "manifest_of", "summarise", "versions"]


def summarise(
    shards: Sequence[Shard],
    blocks: Sequence[StagedBlock],
    counts: Sequence[BlockCounts],
    transform: str,
) -> dict[str, Any]:
    """Add up what the blocks say, from what was committed and not from what was tried."""
    rejects: Counter[str] = Counter()
    dropped: Counter[str] = Counter()
    for block in blocks:
        rejects.update(block.rejects)
        dropped.update(block.dropped)
    return {
        "fingerprint": Artefact.load(transform).fingerprint,
        "rows": sum(block.accepted for block in blocks) + rejects.total(),
        "rejects": dict(sorted(rejects.items())),
        "dropped": dict(sorted(dropped.items())),
        "splits": {name: _split(at, name, shards, counts) for at, name in enumerate(SPLITS)},
    }


def _split(
    at: int, name: str, shards: Sequence[Shard], counts: Sequence[BlockCounts]
) -> dict[str, Any]:
    first = [time for block in counts if (time := block.first_time[at]) is not None]
    last = [time for block in counts if (time := block.last_time[at]) is not None]
    return {
        "examples": sum(block.examples[at] for block in counts),
        "positives": sum(block.positives[at] for block in counts),
        "first_time": min(first, default=None),
        "last_time": max(last, default=None),
        "shards": [shard.model_dump() for shard in shards if shard.file.startswith(f"{name}-")],
    }


def versions() -> dict[str, str]:
    """Return the versions of the software that decides what a data set holds."""
    names = ("tensorflow", "apache-beam", "tfx-bsl", "pyarrow", "numpy")
    return {name: version(name) for name in names}


def manifest_of(
    config: Config, key: str, inputs: Sequence[InputFile], summary: dict[str, Any]
) -> Manifest:
    """Make the manifest of a finished data set."""
    return Manifest.model_validate(
        {
            "name": config.name,
            "key": key,
            "compression": config.data.compression,
            "has_weight": config.log.weight is not None,
            "has_group": config.log.user is not None,
            "inputs": [file.model_dump() for file in inputs],
            "versions": versions(),
            **summary,
        }
    )


def describe(manifest: Manifest, out: Path, written: bool) -> str:
    """Say in a few lines what a data set holds."""
    state = "wrote" if written else "nothing changed, up to date:"
    lines = [
        f"{state} {out / 'data'}: {manifest.rows:,} rows, fingerprint {manifest.fingerprint[:12]}"
    ]
    for name, split in manifest.splits.items():
        share = split.positives / split.examples if split.examples else 0.0
        lines.append(
            f"  {name:<5} {split.examples:>10,} examples in {len(split.shards)} shards, "
            f"{share:.2%} positive{_period(split)}"
        )
    rejected = sum(manifest.rejects.values())
    reasons = ", ".join(f"{reason} {count}" for reason, count in manifest.rejects.items())
    lines.append(
        f"  rejected {rejected:,} rows{f' ({reasons}), kept in {out}/rejects' if rejected else ''}"
    )
    if manifest.dropped:
        dropped = ", ".join(f"{reason} {count}" for reason, count in manifest.dropped.items())
        lines.append(f"  lines that are no rows: {dropped}")
    return "\n".join(lines)


def _period(split: Split) -> str:
    if split.first_time is None or split.last_time is None:
        return ""
    first, last = (
        datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d %H:%M")
        for time in (split.first_time, split.last_time)
    )
    return f", {first} to {last}"
