"""Which rows train, which choose the epoch, which are held out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from features.config import SplitConfig
from features.hashing import row_hash, stable_hash
from features.manifest import SplitName

__all__ = [
    "SPLITS",
    "SplitPlan",
    "TimeCounts",
    "assign",
    "count_times",
    "merge_times",
    "plan_split",
]

SPLITS: tuple[SplitName, ...] = ("train", "eval", "test")
MOST_TIMES = 1 << 20


@dataclass(frozen=True)
class SplitPlan:
    """How rows are assigned.

    Attributes:
        config: The configured split.
        eval_from: First Unix second of evaluation, in a split by time.
        test_from: First Unix second of test, in a split by time.
    """

    config: SplitConfig
    eval_from: int | None = None
    test_from: int | None = None


@dataclass(frozen=True)
class TimeCounts:
    """How many rows lie at which time; merges in any order to the same result.

    Attributes:
        width: Seconds in a bucket, a power of two: 1 until there are more than 2**20 buckets.
        starts: First second of each bucket, ascending, int64.
        counts: Rows in each, int64.
    """

    width: int
    starts: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]


def count_times(seconds: npt.NDArray[np.int64]) -> TimeCounts:
    """Count the rows of one block by second."""
    starts, counts = np.unique(seconds, return_counts=True)
    return _coarsened(1, starts, counts.astype(np.int64))


def merge_times(parts: Iterable[TimeCounts]) -> TimeCounts:
    """Add up the counts of several blocks."""
    parts = list(parts)
    width = max((part.width for part in parts), default=1)
    starts = np.concatenate([part.starts for part in parts] or [np.zeros(0, np.int64)])
    counts = np.concatenate([part.counts for part in parts] or [np.zeros(0, np.int64)])
    return _coarsened(width, starts, counts)


def _coarsened(
    width: int, starts: npt.NDArray[np.int64], counts: npt.NDArray[np.int64]
) -> TimeCounts:
    while True:
        distinct, place = np.unique(starts // width * width, return_inverse=True)
        if len(distinct) <= MOST_TIMES:
            totals = np.zeros(len(distinct), np.int64)
            np.add.at(totals, place, counts)
            return TimeCounts(width, distinct.astype(np.int64), totals)
        width *= 2


def plan_split(config: SplitConfig, times: TimeCounts) -> SplitPlan:
    """Turn fractions or dates into seconds.

    A threshold is the first time before which at least the wanted share of rows lies, so rows of
    one second never lie in two splits.
    """
    if config.by != "time":
        return SplitPlan(config)
    if config.eval_from is not None and config.test_from is not None:
        return SplitPlan(config, _seconds(config.eval_from), _seconds(config.test_from))
    train, evaluation, _ = config.fractions
    return SplitPlan(config, _threshold(times, train), _threshold(times, train + evaluation))


def _seconds(time: datetime) -> int:
    return int((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp())


def _threshold(times: TimeCounts, fraction: float) -> int:
    before = np.concatenate([[0], np.cumsum(times.counts)])
    wanted = round(fraction * int(before[-1]))
    at = int(np.searchsorted(before, wanted, side="left"))
    if at < len(times.starts):
        return int(times.starts[at])
    return int(times.starts[-1]) + times.width if len(times.starts) else 0


def assign(plan: SplitPlan, batch: pa.RecordBatch, file: int) -> npt.NDArray[np.int8]:
    """Return the split of each row of a clean batch.

    Args:
        plan: The planned split.
        batch: Clean rows, n of them.
        file: Place of their file among the inputs.

    Returns:
        Places in `SPLITS`, `(n,) int8`.
    """
    if plan.config.by == "time":
        places = batch.column("__time__").to_numpy(zero_copy_only=False)
        edges = np.array([plan.eval_from, plan.test_from], np.int64)
    else:
        places = _shares(plan.config, batch, file)
        edges = np.cumsum(plan.config.fractions)[:2]
    splits: npt.NDArray[np.int8] = np.searchsorted(edges, places, side="right").astype(np.int8)
    return splits


def _shares(config: SplitConfig, batch: pa.RecordBatch, file: int) -> npt.NDArray[np.float64]:
    """Hash users, or places in the log, to `[0, 1)`."""
    if config.by == "user":
        hashes = row_hash(config.seed, 0, stable_hash(batch.column("__user__")))
    else:
        rows = batch.column("__row__").to_numpy(zero_copy_only=False)
        hashes = row_hash(config.seed, file, rows)
    return (hashes.view(np.uint64) >> np.uint64(11)).astype(np.float64) / 2.0**53
