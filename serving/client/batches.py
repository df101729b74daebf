"""How the rows of a call are split, so that no request is too large."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

__all__ = ["split_rows", "string_bytes"]

# Each string of a message is preceded by a tag and its length, a varint of at most 5 bytes.
_STRING_OVERHEAD_BYTES = 6


def string_bytes(strings: NDArray[np.object_]) -> NDArray[np.int64]:
    """Return an upper bound of what each string takes in a message, `(n,) int64`.

    >>> string_bytes(np.array([b"abc", b""], dtype=object)).tolist()
    [9, 6]
    """
    lengths = np.fromiter(map(len, strings.ravel()), dtype=np.int64, count=strings.size)
    return lengths + _STRING_OVERHEAD_BYTES


def split_rows(
    row_bytes: NDArray[np.int64], max_rows: int, max_bytes: int
) -> Iterator[tuple[int, int]]:
    """Yield the first row and the row after the last of each batch, in order.

    Every batch takes as many rows as fit. A row that is larger than `max_bytes` is alone in its
    batch.

    Args:
        row_bytes: `(B,) int64`, what each row takes.
        max_rows: Most rows of a batch, at least 1.
        max_bytes: Most bytes of a batch.

    >>> list(split_rows(np.array([4, 4, 4, 9, 1]), max_rows=2, max_bytes=8))
    [(0, 2), (2, 3), (3, 4), (4, 5)]
    """
    ends = np.cumsum(row_bytes)
    start, rows = 0, len(row_bytes)
    while start < rows:
        bytes_before = int(ends[start - 1]) if start else 0
        fitting = int(np.searchsorted(ends, bytes_before + max_bytes, side="right"))
        end = max(start + 1, min(fitting, start + max_rows))
        yield start, end
        start = end
