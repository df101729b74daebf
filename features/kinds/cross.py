"""A cross of two or more sparse features, hashed to buckets."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from features.kinds.settings import SparseSettings, Use

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
