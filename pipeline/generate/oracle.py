"""What the best possible model would reach on a log, from counts that are small for any log."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from features.auc import auc_of_counts
from pipeline.generate.blocks import LEVELS, Block
from pipeline.generate.clock import DAY_SECONDS, ordered_seconds

__all__ = ["OracleCounts", "last_tenth_start"]

_PROBABILITIES = np.arange(LEVELS) / LEVELS


def last_tenth_start(days: int) -> int:
    """Return the second of a log from which the last tenth of its rows is expected.

    >>> last_tenth_start(14) / DAY_SECONDS > 12
    True
    """
    return int(ordered_seconds(np.array([0.9]), days)[0])


class OracleCounts:
    """Labels by true probability, day and part of the log.

    Probabilities are multiples of `1 / LEVELS`, so the AUC of these counts is the AUC of the rows,
    and the counts take 2 MiB a day of the log, however many rows it has.

    Args:
        days: Days of the log.
    """

    def __init__(self, days: int) -> None:
        """Start with nothing counted."""
        self._counts = np.zeros((2, days, 2, LEVELS), np.int64)
        self._last_tenth = last_tenth_start(days)

    def add(self, block: Block, intact: NDArray[np.bool_]) -> None:
        """Count the rows of a block that are intact, `(n,)`."""
        part = (block.seconds >= self._last_tenth).astype(np.int64)
        days = block.seconds // DAY_SECONDS
        places = part, days, block.labels.astype(np.int64), block.levels
        np.add.at(self._counts, tuple(place[intact] for place in places), 1)

    def summary(self) -> dict[str, object]:
        """Return the attainable AUC of all rows, of the last tenth and of each day, and more."""
        by_day, parts = self._counts.sum(axis=0), self._counts.sum(axis=1)
        everything = by_day.sum(axis=0)
        return {
            "intact_rows": int(everything.sum()),
            "base_rate": _mean(everything),
            "oracle_auc": auc_of_counts(everything[1], everything[0]),
            "oracle_auc_last_tenth": auc_of_counts(parts[1, 1], parts[1, 0]),
            "oracle_auc_by_day": [auc_of_counts(day[1], day[0]) for day in by_day],
            "oracle_logloss": _logloss(everything),
            "oracle_logloss_last_tenth": _logloss(parts[1]),
            "base_rate_last_tenth": _mean(parts[1]),
        }


def _mean(counts: NDArray[np.int64]) -> float | None:
    return float(counts[1].sum() / counts.sum()) if counts.sum() else None


def _logloss(counts: NDArray[np.int64]) -> float | None:
    """Return the mean of `-log p` of what happened, over counts `(2, LEVELS)`."""
    if not counts.sum():
        return None
    likely = _PROBABILITIES[1:]
    loss = counts[1, 1:] * -np.log(likely) + counts[0, 1:] * -np.log1p(-likely)
    return float(loss.sum() / counts.sum())
