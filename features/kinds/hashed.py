"""A categorical feature by hash: every value has a bucket, none is counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from features.kinds.settings import Known, RawType, SparseSettings
from features.lookup import hash_ids
from features.strings import Normalise, canonical
from features.tensorflow import tf

if TYPE_CHECKING:
    from features.statistics.learnt import Statistics

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

    def id_rule(self) -> tuple[object, ...]:
        """Return all that decides which id a value has; equal for features that share a table."""
        return "hash", self.buckets, self.salt, self.normalise

    def rows(self, statistics: Statistics) -> int:
        """Return one row for missing and one for each bucket."""
        return 1 + self.buckets

    def encode(self, raw: Any, known: Known) -> Any:
        """Hash strings, (B,), by FarmHash: `(B,) int64`."""
        values = canonical(raw, known.missing, self.normalise)
        ids = hash_ids(values, self.buckets, self.salt)
        return tf.where(tf.equal(values, ""), tf.zeros_like(ids), ids)
