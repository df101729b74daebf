"""The hour or weekday of the impression."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from features.errors import ConfigError
from features.kinds.settings import RawType, SparseSettings

__all__ = ["TimePart"]


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
