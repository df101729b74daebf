"""A categorical field that holds several values in one raw string."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from features.kinds.settings import RawType, SparseSettings
from features.kinds.vocabulary import Normalise

__all__ = ["MultiValued"]


class MultiValued(SparseSettings):
    """Several values in one field, looked up (or hashed) each and pooled into one embedding.

    Id 0 pads; out-of-vocabulary ids and values follow. An empty field pools to zeros.

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
