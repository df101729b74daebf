"""What the settings of every feature kind share."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["FeatureSettings", "RawType", "Settings", "SparseSettings", "Use"]

Use = Literal["both", "wide", "deep"]
RawType = Literal["string", "number", "time"]
"""Raw columns are UTF-8 strings, float32 numbers (NaN is missing) or int64 Unix seconds (-1 is)."""


class Settings(BaseModel):
    """A frozen section of the configuration in which a misspelt key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class FeatureSettings(Settings):
    """A feature by its name; the raw column has the same name unless `column` says otherwise."""

    name: str = Field(min_length=1, pattern=r"^[A-Za-z0-9_.\-]+$")

    raw_type: ClassVar[RawType | None] = None

    def reads(self, timestamp: str | None) -> tuple[str, RawType] | None:
        """Return the raw column this feature reads and its type; None where it reads none.

        Args:
            timestamp: Column of the log's timestamp, if it has one.
        """
        if self.raw_type is None:
            return None
        return getattr(self, "column", None) or self.name, self.raw_type


class SparseSettings(FeatureSettings):
    """A feature with ids: the part of the model that uses it and the table it looks up.

    Features that name the same `table` share its rows; they must have the same ids for the same
    values, so they must be configured alike.
    """

    use: Use = "both"
    table: str | None = None

    @property
    def table_name(self) -> str:
        """The table that holds this feature's rows."""
        return self.table or self.name
