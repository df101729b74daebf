"""The steps on one block of the log; the Beam graph strings them together."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from features.atomic import write_text, write_whole
from features.config import Config
from features.hashing import row_hash
from features.raw import raw_columns
from pipeline.layout import BlockCounts
from pipeline.log.block import Reject
from pipeline.log.plan import Range
from pipeline.log.read import read_range
from pipeline.split import SPLITS, SplitPlan, TimeCounts, assign, count_times
from pipeline.workspace import Workspace

__all__ = [
    "GoldenRow",
    "StagedBlock",
    "golden_rows",
    "load_block",
    "split_rows",
    "split_counts",
    "stage",
]

EXAMPLES_OF_REJECTS = 3


@dataclass(frozen=True)
class StagedBlock:
    """A parsed block, its clean rows on disk.

    Attributes:
        block: Its name, which sorts in the order of the log.
        file: Place of its file among the inputs.
        path: Arrow file of its clean rows.
        accepted: Number of clean rows.
        rejects: Rejected rows by reason.
        dropped: Lines that are no rows, by reason.
        samples: Some rejects by reason, in words.
    """

    block: str
    file: int
    path: str
    accepted: int
    rejects: dict[str, int]
    dropped: dict[str, int]
    samples: dict[str, tuple[str, ...]]


GoldenRow = tuple[int, int, str]
"""Rank of the split, hash of the row, the row as JSON; the least ones are kept."""


def stage(workspace: Workspace, config: Config, file: int, part: Range) -> Iterator[StagedBlock]:
    """Parse a range of the log and put its clean rows and its rejects on disk."""
    for at, parsed in enumerate(read_range(part, config)):
        block = f"{file:05d}-{part.index:06d}-{at:06d}"
        target = workspace.folder("staged") / f"{block}.arrow"
        write_whole(target, partial(_write_arrow, parsed.batch))
        reasons: dict[str, list[Reject]] = {}
        for reject in parsed.rejects:
            reasons.setdefault(reject.reason, []).append(reject)
        if parsed.rejects:
            lines = "".join(_reject_line(reject) for reject in parsed.rejects)
            write_text(workspace.folder("rejects") / f"{block}.jsonl", lines)
        yield StagedBlock(
            block,
            file,
            str(target),
            parsed.batch.num_rows,
            {reason: len(found) for reason, found in reasons.items()},
            dict(parsed.dropped),
            {
                reason: tuple(_sample(reject) for reject in found[:EXAMPLES_OF_REJECTS])
                for reason, found in reasons.items()
            },
        )


def _write_arrow(batch: pa.RecordBatch, path: Path) -> None:
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, batch.schema) as writer:
        writer.write_batch(batch)


def _reject_line(reject: Reject) -> str:
    raw = reject.raw.decode("utf-8", "backslashreplace")
    fields = {"file": reject.file, "line": reject.line, "reason": reject.reason, "raw": raw}
    return json.dumps(fields, ensure_ascii=False) + "\n"


def _sample(reject: Reject) -> str:
    raw = reject.raw.decode("utf-8", "backslashreplace").rstrip("\r\n")
    return f"{reject.file}:{reject.line}: {raw[:120]}"


def load_block(block: StagedBlock) -> pa.RecordBatch:
    """Map a staged block into memory."""
    with pa.memory_map(block.path) as source:
        return pa.ipc.open_file(source).get_batch(0)


def times_of(block: StagedBlock) -> TimeCounts:
    """Count a block's rows by second; none where the log has no timestamps."""
    batch = load_block(block)
    if "__time__" not in batch.schema.names:
        return count_times(np.zeros(0, np.int64))
    return count_times(batch.column("__time__").to_numpy(zero_copy_only=False))


def split_rows(block: StagedBlock, plan: SplitPlan) -> list[pa.RecordBatch]:
    """Return a block's rows of each split, in the order of `SPLITS`."""
    batch = load_block(block)
    splits = assign(plan, batch, block.file)
    return [batch.filter(pa.array(splits == split)) for split in range(len(SPLITS))]


def split_counts(block: StagedBlock, plan: SplitPlan) -> BlockCounts:
    """Count what a block adds to each split."""
    parts = split_rows(block, plan)
    times = [_time_range(part) for part in parts]
    return BlockCounts(
        block.block,
        tuple(part.num_rows for part in parts),
        tuple(int(pc.sum(part.column("__label__")).as_py() or 0) for part in parts),
        tuple(first for first, _ in times),
        tuple(last for _, last in times),
    )


def _time_range(batch: pa.RecordBatch) -> tuple[int | None, int | None]:
    if "__time__" not in batch.schema.names:
        return None, None
    ends = pc.min_max(batch.column("__time__")).as_py()
    return ends["min"], ends["max"]


@lru_cache(maxsize=8)
def _raw_names(config: Config) -> tuple[tuple[str, str], ...]:
    return tuple(
        (column.name, "__time__" if column.type == "time" else column.name)
        for column in raw_columns(config)
    )


def golden_rows(block: StagedBlock, config: Config, plan: SplitPlan) -> list[GoldenRow]:
    """Return a block's candidates for golden rows, the raw columns as a request has them."""
    batch = load_block(block)
    ranks = np.array([2, 0, 1])[assign(plan, batch, block.file)]
    rows = batch.column("__row__").to_numpy(zero_copy_only=False)
    hashes = row_hash(config.data.seed, block.file, rows)
    chosen = np.lexsort((hashes, ranks))[: config.data.golden_rows]
    picked = batch.take(pa.array(chosen))
    columns = {name: picked.column(stored).to_pylist() for name, stored in _raw_names(config)}
    return [
        (int(ranks[row]), int(hashes[row]), json.dumps({n: v[at] for n, v in columns.items()}))
        for at, row in enumerate(chosen)
    ]
