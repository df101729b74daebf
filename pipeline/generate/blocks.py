"""What a block of impressions is, and the random stream each block has to itself."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

__all__ = [
    "BLOCK_ROWS", "LEVELS", "Block", "Coded", "Column", "LogKind", "Shape", "block_range",
    "draw_labels", "random_stream",
]  # fmt: skip

BLOCK_ROWS = 1 << 15
"""Rows of one block. Part of what a seed means: another size draws another log."""

LEVELS = 1 << 16
"""True probabilities are multiples of `1 / LEVELS`, so a histogram of them is lossless."""


@dataclass(frozen=True)
class Coded:
    """A column as places in a short table of its distinct values.

    Attributes:
        table: `(k,)` arrow values; null where missing.
        codes: `(n,)` places in the table.
        not_available: The place whose null is written as `NA` in delimited text, or None.
    """

    table: pa.Array
    codes: NDArray[np.integer[Any]]
    not_available: int | None = None


Column: TypeAlias = pa.Array | Coded
"""Values in a table, or an arrow array `(n,)` of timestamps or of text as it is written."""


@dataclass(frozen=True)
class Block:
    """Consecutive rows of a log with the truth about them.

    Attributes:
        columns: Name to values, in file order.
        levels: `(n,) int64`; the true probability of a click is `levels / LEVELS`.
        labels: `(n,) bool`, drawn from it.
        seconds: `(n,) int64` since the log's first midnight.
    """

    columns: Mapping[str, Column]
    levels: NDArray[np.int64]
    labels: NDArray[np.bool_]
    seconds: NDArray[np.int64]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.levels)


@dataclass(frozen=True)
class Shape:
    """How a kind of log looks from outside.

    Attributes:
        name: Of the kind.
        columns: Names in file order.
        has_header: Whether the names are the first line of delimited text.
        separator: One byte.
        days: Length of the log.
        start_seconds: Unix seconds of its first midnight.
        has_types: Whether columns have types, so that JSON lines and Parquet can be written.
        may_break: Whether delimited text has broken lines.
    """

    name: str
    columns: tuple[str, ...]
    has_header: bool
    separator: bytes
    days: int
    start_seconds: int
    has_types: bool = False
    may_break: bool = False


class LogKind(Protocol):
    """A log that can be generated block by block."""

    shape: ClassVar[Shape]
    rows: int

    def __init__(self, rows: int, seed: int) -> None:
        """Draw what the blocks have in common."""

    def block(self, index: int) -> Block:
        """Return the rows `block_range(index, rows)` of the log."""

    def facts(self) -> dict[str, object]:
        """Return what else a reader of the oracle should know."""


def block_range(index: int, rows: int) -> tuple[int, int]:
    """Return the first row of a block and the row after its last.

    >>> block_range(1, 40_000)
    (32768, 40000)
    """
    return index * BLOCK_ROWS, min((index + 1) * BLOCK_ROWS, rows)


def random_stream(seed: int, purpose: str, index: int = 0) -> np.random.Generator:
    """Return the generator that belongs to a seed, a purpose and a block alone."""
    sequence = np.random.SeedSequence([seed, zlib.crc32(purpose.encode()), index])
    return np.random.Generator(np.random.PCG64(sequence))


def draw_labels(
    logits: NDArray[np.float64], stream: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the level `(n,)` of each logit `(n,)` and a label drawn from exactly that level."""
    levels = np.rint(LEVELS / (1.0 + np.exp(-logits))).astype(np.int64).clip(1, LEVELS - 1)
    return levels, stream.integers(0, LEVELS, len(levels)) < levels
