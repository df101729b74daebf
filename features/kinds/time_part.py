"""The hour or weekday of the impression."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from features.errors import ConfigError
from features.kinds.settings import Known, RawType, SparseSettings
from features.tensorflow import tf

if TYPE_CHECKING:
    from features.statistics.learnt import Statistics

__all__ = ["TimePart"]

MISSING_TIME = -1
HOUR_SECONDS = 3600
DAY_SECONDS = 24 * HOUR_SECONDS
EPOCH_WEEKDAY = 3
"""1970-01-01 was a Thursday, which is 3 counted from Monday."""


class TimePart(SparseSettings):
    """A part of the log's timestamp; id 0 is missing, then 24 hours or 7 weekdays (Monday first).

    Attributes:
        part: Which part.
        utc_offset_hours: Added to UTC before the part is taken, in hours.
    """

    kind: Literal["time_part"] = "time_part"
    part: Literal["hour", "weekday"]
    utc_offset_hours: float = Field(default=0.0, ge=-14, le=14)

    def reads(self, timestamp: str | None) -> tuple[str, RawType] | None:
        """Return the log's timestamp.

        Raises:
            ConfigError: The log has no timestamp.
        """
        if timestamp is None:
            raise ConfigError(
                "a time part needs the log's timestamp",
                received="no log.timestamp",
                where=f"features, {self.name!r}",
                remedy="add a section [log.timestamp] with the column and its unit",
            )
        return timestamp, "time"

    def id_rule(self) -> tuple[object, ...]:
        """Return all that decides which id a value has; equal for features that share a table."""
        return self.part, self.utc_offset_hours

    def rows(self, statistics: Statistics) -> int:
        """Return one row for missing, then 24 or 7."""
        return 25 if self.part == "hour" else 8

    def encode(self, raw: Any, known: Known) -> Any:
        """Return the part of Unix seconds, (B,) int64, as `(B,) int64`; -1 seconds is missing."""
        local = raw + round(self.utc_offset_hours * HOUR_SECONDS)
        if self.part == "hour":
            part = tf.math.floordiv(tf.math.floormod(local, DAY_SECONDS), HOUR_SECONDS)
        else:
            part = tf.math.floormod(tf.math.floordiv(local, DAY_SECONDS) + EPOCH_WEEKDAY, 7)
        return tf.where(tf.equal(raw, MISSING_TIME), tf.zeros_like(part), 1 + part)
