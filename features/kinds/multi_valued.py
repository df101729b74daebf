"""A categorical field that holds several values in one raw string."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from features.kinds.settings import Known, RawType, SparseSettings, vocabulary_rule
from features.lookup import hash_ids, vocabulary_ids
from features.strings import Normalise, canonical, split_values

if TYPE_CHECKING:
    from features.statistics.learnt import Statistics

__all__ = ["MultiValued"]


class MultiValued(SparseSettings):
    """Several values in one field, looked up (or hashed) each and pooled into one embedding.

    A field is split, each value is normalised, empty ones are dropped and the first are kept. Id 0
    pads; then ids are those of a vocabulary or of a hash. An empty field pools to zeros.

    Attributes:
        column: Raw column; the name by default.
        separator: What stands between two values.
        max_length: Number of values kept, the first ones of the field.
        combiner: How embeddings are pooled: the mean, the sum, or the sum over `sqrt(n)`.
        buckets: Number of hash buckets; a vocabulary is counted where there is none.
        min_count: As for a vocabulary.
        max_size: As for a vocabulary.
        oov_buckets: As for a vocabulary.
        salt: As for a hash.
        normalise: What is done to each value before it is counted, looked up or hashed.
        file: As for a vocabulary.
    """

    kind: Literal["multi"] = "multi"
    column: str | None = None
    raw_type: ClassVar[RawType | None] = "string"
    separator: str = Field(default="|", min_length=1)
    max_length: int = Field(default=10, ge=1)
    combiner: Literal["mean", "sum", "sqrtn"] = "mean"
    buckets: int | None = Field(default=None, ge=1)
    min_count: int = Field(default=1, ge=1)
    max_size: int | None = Field(default=None, ge=1)
    oov_buckets: int = Field(default=1, ge=1)
    salt: str = ""
    normalise: Normalise = "strip"
    file: str | None = None

    @property
    def counts_vocabulary(self) -> bool:
        """Whether the table's ids come from a vocabulary."""
        return self.buckets is None

    def id_rule(self) -> tuple[object, ...]:
        """Return all that decides which id a value has; equal for features that share a table."""
        if self.buckets is not None:
            return "hash", self.buckets, self.salt, self.normalise
        return vocabulary_rule(self)

    def rows(self, statistics: Statistics) -> int:
        """Return one row for padding, then those of a hash or of a vocabulary."""
        if self.buckets is not None:
            return 1 + self.buckets
        return 1 + self.oov_buckets + len(statistics.vocabularies[self.table_name].values)

    def split(self, raw: Any, missing: Any) -> Any:
        """Split fields, (B,), into the values that are kept: ragged strings, (B, at most L)."""
        fields = canonical(raw, missing, "none")
        return split_values(fields, self.separator, self.normalise, self.max_length)

    def encode(self, raw: Any, known: Known) -> Any:
        """Return the ids of the values of each field: ragged `(B, at most L) int64`."""
        values = self.split(raw, known.missing)
        flat = values.flat_values
        if self.buckets is not None:
            return values.with_flat_values(hash_ids(flat, self.buckets, self.salt))
        lookup = known.lookups[self.table_name]
        return values.with_flat_values(vocabulary_ids(flat, lookup, self.oov_buckets))
