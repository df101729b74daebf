"""What the settings of every feature kind share."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["FeatureSettings", "Settings", "SparseSettings", "Use"]

Use = Literal["both", "wide", "deep"]


class Settings(BaseModel):
    """A frozen section of the configuration in which a misspelt key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class FeatureSettings(Settings):
    """A feature by its name; the raw column has the same name unless `column` says otherwise."""

    name: str = Field(min_length=1, pattern=r"^[A-Za-z0-9_.\-]+$")


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
