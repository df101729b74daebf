"""A numeric feature cut into buckets, each with a table row of its own."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from features.kinds.settings import RawType, SparseSettings

__all__ = ["Bucketised"]


class Bucketised(SparseSettings):
    """A number's bucket: between given boundaries, or between quantiles of the training split.

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
