"""A numeric feature: one column of the dense input, two with a missing-value indicator."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from features.kinds.settings import FeatureSettings, RawType

__all__ = ["Numeric"]


class Numeric(FeatureSettings):
    """A number, clipped, log-scaled and standardised in this order, with missing values filled.

    Attributes:
        column: Raw column; the name by default.
        missing: Value that stands for a missing one, before clipping; the mean by default.
        clip: Lowest and highest value, in raw units.
        log1p: Whether to take `sign(x) log(1 + |x|)`, which is finite for every finite number.
        standardise: Whether to subtract the mean and divide by the standard deviation.
        indicator: Whether a second dense input says that the value was missing.
    """

    kind: Literal["numeric"] = "numeric"
    column: str | None = None
    raw_type: ClassVar[RawType | None] = "number"
    missing: float | None = None
    clip: tuple[float, float] | None = Field(default=None)
    log1p: bool = False
    standardise: bool = True
    indicator: bool = False
