"""A numeric feature: one column of the dense input, two with a missing-value indicator."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from features.kinds.settings import FeatureSettings, Known, RawType
from features.tensorflow import tf

__all__ = ["Numeric"]

STANDARDISED_LIMIT = 1e4
"""Largest absolute value of a standardised input: far past any use, and small in float16."""
RAW_LIMIT = 65_504.0
"""Largest absolute value of an input that is not standardised: the largest float16."""
LEAST_NORMAL_FLOAT32 = 2.0**-126


class Numeric(FeatureSettings):
    """A number, clipped, log-scaled and standardised in this order, with missing values filled.

    NaN and infinities are missing. The result is finite for every number and in the range of
    float16: at most 10,000 in size if standardised, else at most 65,504. A feature without spread
    standardises to 0.

    Attributes:
        column: Raw column; the name by default.
        missing: Value that stands for a missing one, before clipping; by default the mean of what
            is left after clipping and scaling, which standardises to 0.
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

    @model_validator(mode="after")
    def _clip_is_a_range(self) -> Self:
        if self.clip is not None and self.clip[0] >= self.clip[1]:
            raise ValueError("clip is [lowest, highest] with lowest below highest")
        return self

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the dense inputs this feature fills."""
        return (self.name, f"{self.name}.missing") if self.indicator else (self.name,)

    @property
    def needs_moments(self) -> bool:
        """Whether mean and standard deviation have to be learnt."""
        return self.standardise or self.missing is None

    def scale(self, numbers: Any) -> Any:
        """Clip and log-scale finite numbers, (B,) float32; moments are taken of the result."""
        if self.clip is not None:
            numbers = tf.clip_by_value(numbers, *self.clip)
        if self.log1p:
            # In float32 the last bit depends on a number's place in the batch (vector or tail).
            wide = tf.cast(numbers, tf.float64)
            numbers = tf.cast(tf.sign(wide) * tf.math.log1p(tf.abs(wide)), tf.float32)
        return numbers

    def encode(self, raw: Any, known: Known) -> Any:
        """Return the number, `(B, 1) float32`, or with its indicator `(B, 2)`."""
        present = tf.math.is_finite(raw)
        moments = known.statistics.numbers.get(self.name)
        filled = self.scale(tf.where(present, raw, self.missing or 0.0))
        if self.missing is None and moments is not None:
            filled = tf.where(present, filled, moments.mean)
        if self.standardise and moments is not None:
            filled = _standardised(filled, moments.mean, moments.std)
        limit = STANDARDISED_LIMIT if self.standardise else RAW_LIMIT
        columns = [tf.clip_by_value(filled, -limit, limit)]
        if self.indicator:
            columns.append(tf.cast(~present, tf.float32))
        return tf.stack(columns, axis=-1)


def _standardised(numbers: Any, mean: float, std: float) -> Any:
    if std < LEAST_NORMAL_FLOAT32:
        return tf.zeros_like(numbers)
    # A product, not a quotient: graph optimisation turns division by a constant into a product,
    # and then the last bit would differ between the Beam stage and the server.
    return (numbers - mean) * (1.0 / std)
