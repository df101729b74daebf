"""A quantile summary of bounded size that merges in any order to the same result.

The idea is that of DDSketch (arXiv 1908.10693): a histogram with buckets of equal relative width
has the same relative error everywhere. Here a bucket is the float32 numbers that share sign,
exponent and the first 8 bits of the mantissa, so the index is an integer shift, the relative error
is at most 2**-8 = 0.39 %, integers below 512 are exact, and there are at most 2**17 buckets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Histogram", "merge_histograms"]

DROPPED_BITS = 15
"""Of the 23 bits of a float32's mantissa, those that a bucket does not tell apart."""
MOST_BUCKETS = 1 << 31 - DROPPED_BITS
"""Buckets of each sign."""


@dataclass(frozen=True)
class Histogram:
    """Counts by bucket.

    Attributes:
        buckets: Occupied buckets, ascending; their order is that of the numbers, int64.
        counts: Number of values in each, int64.
    """

    buckets: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]

    @classmethod
    def of(cls, values: npt.NDArray[np.float32]) -> Histogram:
        """Count finite values, `(n,) float32`."""
        counts = np.bincount(_bucket(values) + MOST_BUCKETS, minlength=1)
        buckets = np.flatnonzero(counts)
        return cls(buckets - MOST_BUCKETS, counts[buckets])

    def boundaries(self, parts: int) -> tuple[float, ...]:
        """Return the inner boundaries of `parts` buckets of equal size, equal ones merged.

        Boundary `k` is the lowest value up to which at least `k / parts` of all lie.

        >>> Histogram.of(np.arange(100, dtype=np.float32)).boundaries(4)
        (25.0, 50.0, 75.0)
        """
        if not len(self.counts):
            return ()
        below = np.concatenate([[0], np.cumsum(self.counts)])
        wanted = np.arange(1, parts) * int(below[-1]) // parts
        places = np.searchsorted(below, wanted, side="right") - 1
        return tuple(np.unique(_edge(self.buckets[places])).tolist())


def merge_histograms(parts: Sequence[Histogram]) -> Histogram:
    """Add up partial histograms, in any order."""
    empty = np.zeros(0, np.int64)
    buckets = np.concatenate([empty, *(part.buckets for part in parts)])
    counts = np.concatenate([empty, *(part.counts for part in parts)])
    distinct, places = np.unique(buckets, return_inverse=True)
    totals = np.zeros(len(distinct), np.int64)
    np.add.at(totals, places, counts)
    return Histogram(distinct, totals)


def _bucket(values: npt.NDArray[np.float32]) -> npt.NDArray[np.int64]:
    bits = np.ascontiguousarray(values, np.float32).view(np.int32).astype(np.int64)
    magnitude = (bits & 0x7FFFFFFF) >> DROPPED_BITS
    return np.where(bits < 0, -magnitude, magnitude)


def _edge(buckets: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
    """Return the number of a bucket that is nearest to zero."""
    magnitude = (np.abs(buckets) << DROPPED_BITS).astype(np.uint32).view(np.float32)
    return np.where(buckets < 0, -magnitude, magnitude)
