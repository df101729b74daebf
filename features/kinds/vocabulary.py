"""A categorical feature by vocabulary: the frequent values of the training split have ids."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from features.kinds.settings import RawType, SparseSettings

__all__ = ["Normalise", "Vocabulary"]

Normalise = Literal["none", "strip", "strip_lower"]


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
