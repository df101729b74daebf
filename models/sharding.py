"""Which worker reads which rows, decided so that all of them end at the same step."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from features.manifest import Shard, Split

__all__ = ["ReadPlan", "Sharding", "plan_reading"]

Sharding = Literal["auto", "file", "record"]


@dataclass(frozen=True)
class ReadPlan:
    """How the rows of a split are dealt to the workers.

    Attributes:
        by: By `file`, each worker reads files of its own; by `record`, each reads all of them and
            takes its slice of every global batch.
        files: The files that each worker reads.
        steps: Batches that every replica of every worker gets in an epoch.
        worker_batch: Rows of a batch on all replicas of one worker.
        reason: Why, in words.
    """

    by: Literal["file", "record"]
    files: tuple[tuple[Shard, ...], ...]
    steps: int
    worker_batch: int
    reason: str


def plan_reading(
    split: Split, worker_batch: int, workers: int, sharding: Sharding = "auto"
) -> ReadPlan:
    """Decide how workers share a split.

    Every row is read once by one worker. Files are dealt only where that takes no more steps than
    dealing records would, so an epoch always has `ceil(examples / global batch)` steps.

    Args:
        split: The split.
        worker_batch: Rows of a batch on all replicas of one worker.
        workers: Number of workers.
        sharding: `record` gives the global batches of one process with the same global batch.
    """
    steps = math.ceil(split.examples / (worker_batch * workers))
    if workers == 1:
        return ReadPlan("file", (split.shards,), steps, worker_batch, "one worker reads all files")
    dealt = _deal(split.shards, workers)
    file_steps = math.ceil(max(_examples(files) for files in dealt) / worker_batch)
    if sharding != "record" and len(split.shards) >= workers and file_steps == steps:
        counts = " and ".join(str(_examples(files)) for files in dealt)
        reason = f"by file: {len(split.shards)} files for {workers} workers, {counts} rows"
        return ReadPlan("file", dealt, steps, worker_batch, reason)
    why = _why_records(split, workers, steps, file_steps, sharding)
    files = (split.shards,) * workers
    return ReadPlan("record", files, steps, worker_batch, f"by record: {why}")


def _deal(shards: tuple[Shard, ...], workers: int) -> tuple[tuple[Shard, ...], ...]:
    """Give each file, the largest first, to the worker with the fewest rows."""
    hands: list[list[Shard]] = [[] for _ in range(workers)]
    for shard in sorted(shards, key=lambda shard: (-shard.examples, shard.file)):
        min(hands, key=lambda hand: (_examples(hand), len(hand))).append(shard)
    return tuple(tuple(sorted(hand, key=lambda shard: shard.file)) for hand in hands)


def _examples(shards: list[Shard] | tuple[Shard, ...]) -> int:
    return sum(shard.examples for shard in shards)


def _why_records(
    split: Split, workers: int, steps: int, file_steps: int, sharding: Sharding
) -> str:
    if sharding == "record":
        return "asked for, so that global batches are those of one process"
    if len(split.shards) < workers:
        return f"{len(split.shards)} files are fewer than {workers} workers"
    return f"files are so uneven that dealing them takes {file_steps} steps instead of {steps}"
