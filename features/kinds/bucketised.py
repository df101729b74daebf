"""A numeric feature cut into buckets, each with a table row of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from features.kinds.settings import Known, RawType, SparseSettings
from features.tensorflow import tf

if TYPE_CHECKING:
    from features.statistics.learnt import Statistics

__all__ = ["Bucketised"]


class Bucketised(SparseSettings):
    """A number's bucket: between given boundaries, or between quantiles of the training split.

    Id 0 is missing, and NaN and infinities are missing; then the buckets in ascending order.
    Boundaries are float32, as the numbers are. Quantiles are exact for integers below 512 and
    have a relative error of at most 0.4 % otherwise; equal ones are merged.

    Attributes:
        column: Raw column; the name by default.
        boundaries: Ascending boundaries; bucket `i` holds `boundaries[i-1] <= x < boundaries[i]`.
        quantiles: Number of buckets of equal size, where no boundaries are given.
    """

    kind: Literal["bucketised"] = "bucketised"
    column: str | None = None
    raw_type: ClassVar[RawType | None] = "number"
    boundaries: tuple[float, ...] | None = None
    quantiles: int | None = Field(default=None, ge=2, le=1024)

    @model_validator(mode="after")
    def _one_way_to_cut(self) -> Self:
        if (self.boundaries is None) == (self.quantiles is None):
            raise ValueError("give either boundaries or quantiles")
        if self.boundaries is not None:
            cuts = np.array(self.boundaries, np.float32)
            if not len(cuts) or not np.all(np.diff(cuts) > 0) or not np.isfinite(cuts).all():
                raise ValueError("boundaries are finite float32 numbers in ascending order")
        return self

    def cuts(self, statistics: Statistics) -> tuple[float, ...]:
        """Return the boundaries, given or learnt."""
        if self.boundaries is not None:
            return self.boundaries
        return statistics.boundaries[self.name]

    def id_rule(self) -> tuple[object, ...]:
        """Return all that decides which id a value has; equal for features that share a table."""
        if self.boundaries is not None:
            return "boundaries", self.boundaries
        return "quantiles", self.quantiles, self.column or self.name

    def rows(self, statistics: Statistics) -> int:
        """Return one row for missing and one for each bucket."""
        return len(self.cuts(statistics)) + 2

    def encode(self, raw: Any, known: Known) -> Any:
        """Return the bucket of each number, (B,) float32, as `(B,) int64`."""
        cuts = tf.constant(self.cuts(known.statistics), tf.float32)
        present = tf.math.is_finite(raw)
        numbers = tf.where(present, raw, 0.0)
        bucket = tf.searchsorted(cuts, numbers, side="right", out_type=tf.int64)
        return tf.where(present, 1 + bucket, 0)
