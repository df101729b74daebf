"""A categorical feature by hash: every value has a bucket, none is counted."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from features.kinds.settings import RawType, SparseSettings
from features.kinds.vocabulary import Normalise

__all__ = ["Hashed"]


class Hashed(SparseSettings):
    """A category hashed to a bucket; id 0 is missing, then `buckets` ids.

    Attributes:
        column: Raw column; the name by default.
        buckets: Number of hash buckets.
        salt: Text put before a value when it is hashed, so that features collide differently.
        normalise: What is done to a value before it is hashed.
    """

    kind: Literal["hash"] = "hash"
    column: str | None = None
    raw_type: ClassVar[RawType | None] = "string"
    buckets: int = Field(ge=1)
    salt: str = ""
    normalise: Normalise = "strip"
