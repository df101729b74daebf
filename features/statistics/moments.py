"""Exact moments: sums that do not depend on order or partition, because nothing is rounded.

A float32 is an integer times a power of two. Integer mantissas are summed by exponent, which is
exact in float64 while there are fewer than 2**28 rows in a batch, and the sums by exponent are put
together as one integer of Python. Mean and variance are rounded once, at the end.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from features.statistics.learnt import NumberSummary

__all__ = ["Moments", "merge_moments"]

MANTISSA_BITS = 24
HALF_BITS = MANTISSA_BITS // 2
LEAST_EXPONENT = -149
"""The smallest positive float32 is `2**-149`, so every float32 is an integer multiple of it."""
UNIT_BITS = -LEAST_EXPONENT


@dataclass(frozen=True)
class Moments:
    """Sums over finite float32 values.

    Attributes:
        count: Number of values.
        total: Their sum, in units of `2**-149`.
        squares: The sum of their squares, in units of `2**-298`.
        minimum: Lowest value; infinite without any.
        maximum: Highest value; minus infinite without any.
    """

    count: int = 0
    total: int = 0
    squares: int = 0
    minimum: float = math.inf
    maximum: float = -math.inf

    @classmethod
    def of(cls, values: npt.NDArray[np.float32]) -> Moments:
        """Sum up finite values, `(n,) float32`.

        >>> Moments.of(np.array([1, 2, 3], np.float32)).summary().mean
        2.0
        """
        if not len(values):
            return cls()
        fractions, exponents = np.frexp(values.astype(np.float64))
        mantissas = np.ldexp(fractions, MANTISSA_BITS)
        places = np.maximum(exponents.astype(np.int64) + UNIT_BITS - MANTISSA_BITS, 0)
        # Subnormal numbers have fewer bits than places below the unit; scale them to whole units.
        mantissas = np.ldexp(values.astype(np.float64), UNIT_BITS - places)
        high = np.floor(mantissas / 2**HALF_BITS)
        low = mantissas - high * 2**HALF_BITS
        squares = (
            (_summed(places, high * high, 2) << 2 * HALF_BITS)
            + (_summed(places, high * low, 2) << HALF_BITS + 1)
            + _summed(places, low * low, 2)
        )
        return cls(
            count=len(values),
            total=_summed(places, mantissas, 1),
            squares=squares,
            minimum=float(values.min()),
            maximum=float(values.max()),
        )

    def summary(self) -> NumberSummary:
        """Return mean and population standard deviation, each rounded once."""
        if not self.count:
            return NumberSummary(0, 0.0, 0.0, 0.0, 0.0)
        mean = self.total / (self.count << UNIT_BITS)
        spread = self.count * self.squares - self.total**2
        std = math.sqrt(spread / (self.count**2 << 2 * UNIT_BITS))
        return NumberSummary(self.count, mean, std, self.minimum, self.maximum)


def _summed(places: npt.NDArray[np.int64], integers: npt.NDArray[np.float64], multiple: int) -> int:
    """Return the sum of `integers * 2**(multiple * places)`."""
    sums = np.bincount(places, weights=integers)
    occupied = np.flatnonzero(sums)
    return sum(int(sums[place]) << multiple * int(place) for place in occupied)


def merge_moments(parts: Sequence[Moments]) -> Moments:
    """Add up partial moments, in any order."""
    return Moments(
        count=sum(part.count for part in parts),
        total=sum(part.total for part in parts),
        squares=sum(part.squares for part in parts),
        minimum=min((part.minimum for part in parts), default=math.inf),
        maximum=max((part.maximum for part in parts), default=-math.inf),
    )
