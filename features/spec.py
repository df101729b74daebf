"""What the model's inputs are: names, shapes and table sizes, known without the data.

Shape letters, here and everywhere: B examples in a batch, N dense inputs, F single-valued sparse
features, M multi-valued features, L the longest of them, D embedding width, V table rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from features.kinds.settings import RawType, Use

__all__ = ["InputSpec", "MultiInput", "RawColumn", "RawType", "SparseInput"]


@dataclass(frozen=True)
class RawColumn:
    """A column of the log that a feature reads, as a request has to send it.

    Attributes:
        name: Column name.
        type: Its type; a missing value is `""`, NaN or -1.
        required: Whether a request without it is refused.
    """

    name: str
    type: RawType
    required: bool


@dataclass(frozen=True)
class SparseInput:
    """One column of the `sparse` input.

    Attributes:
        name: Feature name.
        rows: Number of ids, V; ids are in `[0, rows)`.
        table: Table that the ids look up.
        use: Part of the model that uses it.
    """

    name: str
    rows: int
    table: str
    use: Use


@dataclass(frozen=True)
class MultiInput(SparseInput):
    """One row of the `multi` input; id 0 pads.

    Attributes:
        max_length: Most values an example has.
        combiner: `mean`, `sum` or `sqrtn`.
    """

    max_length: int
    combiner: Literal["mean", "sum", "sqrtn"]


@dataclass(frozen=True)
class InputSpec:
    """The model's inputs; an input without features is absent.

    - `dense`: `(B, N) float32`
    - `sparse`: `(B, F) int64`
    - `multi`: `(B, M, L) int64`, zero where there is no value

    Attributes:
        dense: Names of the dense inputs, N.
        sparse: The single-valued sparse features, F.
        multi: The multi-valued features, M.
    """

    dense: tuple[str, ...]
    sparse: tuple[SparseInput, ...]
    multi: tuple[MultiInput, ...]

    @cached_property
    def tables(self) -> dict[str, int]:
        """Rows V of each table, in order of first use."""
        return {feature.table: feature.rows for feature in (*self.sparse, *self.multi)}

    @property
    def max_length(self) -> int:
        """L, the longest of the multi-valued features; 0 without any."""
        return max((feature.max_length for feature in self.multi), default=0)
