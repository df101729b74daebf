"""What the settings of every feature kind share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

if TYPE_CHECKING:
    from features.statistics.learnt import Statistics

__all__ = [
    "Known",
    "FeatureSettings",
    "RawType",
    "Settings",
    "SparseSettings",
    "Use",
    "vocabulary_rule",
]

Use = Literal["both", "wide", "deep"]
RawType = Literal["string", "number", "time"]
"""Raw columns are UTF-8 strings, float32 numbers (NaN is missing) or int64 Unix seconds (-1 is)."""


@dataclass(frozen=True)
class Known:
    """What a feature may use when it encodes raw values.

    Attributes:
        statistics: What was learnt from the training split.
        missing: Lookup of the spellings of a missing string.
        lookups: Lookup of each vocabulary, by table: strings to places in it, -1 for no place.
    """

    statistics: Statistics
    missing: Any
    lookups: Mapping[str, Any]


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

    def encode(self, raw: Any, known: Known) -> Any:
        """Return this feature's model input for raw values.

        Args:
            raw: Values of the raw column, (B,); for a cross, the ids of its parts, (B, k) int64.
            known: What was learnt from the training split.

        Returns:
            `(B, 1 or 2) float32` for a numeric feature, `(B,) int64` ids for a single-valued sparse
            one, and a ragged `(B, at most L) int64` for a multi-valued one.
        """
        raise NotImplementedError


class SparseSettings(FeatureSettings):
    """A feature with ids: the part of the model that uses it and the table it looks up.

    Features that name the same `table` share its rows; they must have the same ids for the same
    values, so they must be configured alike.
    """

    use: Use = "both"
    table: str | None = Field(default=None, min_length=1, pattern=r"^[A-Za-z0-9_.\-]+$")

    @property
    def table_name(self) -> str:
        """The table that holds this feature's rows."""
        return self.table or self.name

    @property
    def counts_vocabulary(self) -> bool:
        """Whether the table's ids come from a vocabulary."""
        return False

    def id_rule(self) -> tuple[object, ...]:
        """Return all that decides which id a value has; equal for features that share a table."""
        raise NotImplementedError

    def rows(self, statistics: Statistics) -> int:
        """Return the number of ids, V; every id is in `[0, V)`."""
        raise NotImplementedError


def vocabulary_rule(settings: Any) -> tuple[object, ...]:
    """Return all that decides the ids of a feature by vocabulary, single- or multi-valued."""
    kept = (settings.min_count, settings.max_size) if settings.file is None else ()
    return "vocabulary", settings.file, settings.oov_buckets, settings.normalise, *kept
