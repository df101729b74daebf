"""A cross of two or more sparse features, hashed to buckets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from features.kinds.settings import Known, SparseSettings, Use
from features.lookup import cross_ids

if TYPE_CHECKING:
    from features.statistics.learnt import Statistics

__all__ = ["Cross"]


class Cross(SparseSettings):
    """The combination of other features' ids; feeds the wide part unless told otherwise.

    Attributes:
        of: Names of single-valued sparse features, which are not crosses themselves.
        buckets: Number of hash buckets.
        salt: Changes which combinations collide.
    """

    kind: Literal["cross"] = "cross"
    of: tuple[str, ...] = Field(min_length=2)
    buckets: int = Field(ge=1)
    salt: str = ""
    use: Use = "wide"

    def id_rule(self) -> tuple[object, ...]:
        """Return all that decides which id a value has; equal for features that share a table."""
        return self.kind, self.of, self.buckets, self.salt

    def rows(self, statistics: Statistics) -> int:
        """Return the number of buckets; a missing part is a value like any other."""
        return self.buckets

    def encode(self, raw: Any, known: Known) -> Any:
        """Mix the ids of the parts, `(B, k) int64`, to buckets, `(B,) int64`."""
        return cross_ids(raw, self.buckets, self.salt)
