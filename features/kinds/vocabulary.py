"""A categorical feature by vocabulary: the frequent values of the training split have ids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from features.kinds.settings import Known, RawType, SparseSettings, vocabulary_rule
from features.lookup import vocabulary_ids
from features.strings import Normalise, canonical
from features.tensorflow import tf

if TYPE_CHECKING:
    from features.statistics.learnt import Statistics

__all__ = ["Vocabulary"]


class Vocabulary(SparseSettings):
    """A category looked up in a vocabulary; id 0 is missing, then out-of-vocabulary, then values.

    Attributes:
        column: Raw column; the name by default.
        min_count: Occurrences in the training split below which a value is out of vocabulary.
        max_size: Number of most frequent values kept; all by default.
        oov_buckets: Number of ids that unseen values are hashed to.
        normalise: What is done to a value before it is counted or looked up.
        file: Text file with one value a line that is used instead of counting.
    """

    kind: Literal["vocabulary"] = "vocabulary"
    column: str | None = None
    raw_type: ClassVar[RawType | None] = "string"
    min_count: int = Field(default=1, ge=1)
    max_size: int | None = Field(default=None, ge=1)
    oov_buckets: int = Field(default=1, ge=1)
    normalise: Normalise = "strip"
    file: str | None = None

    @property
    def counts_vocabulary(self) -> bool:
        """Whether the table's ids come from a vocabulary."""
        return True

    def id_rule(self) -> tuple[object, ...]:
        """Return all that decides which id a value has; equal for features that share a table."""
        return vocabulary_rule(self)

    def rows(self, statistics: Statistics) -> int:
        """Return one row for missing, then out-of-vocabulary rows, then one for each value."""
        return 1 + self.oov_buckets + len(statistics.vocabularies[self.table_name].values)

    def encode(self, raw: Any, known: Known) -> Any:
        """Look up strings, (B,): `(B,) int64`."""
        values = canonical(raw, known.missing, self.normalise)
        ids = vocabulary_ids(values, known.lookups[self.table_name], self.oov_buckets)
        return tf.where(tf.equal(values, ""), tf.zeros_like(ids), ids)
