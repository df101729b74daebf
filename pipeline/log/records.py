"""Where records begin and end in a buffer of text: newlines outside quotes.

The usual buffer is decided by numpy alone. One whose quotes are irregular (a stray quote in a
field, a quote that never closes) is scanned by `pipeline.log.scan`.

A quoted field is *unclosed* where no closing quote follows within `max_record_bytes` of the
record's start, or where it runs over a line end to a quote that no separator or line end
follows. Its record ends with the line of the opening quote, so that a stray quote costs one line.
These rules depend on the file alone, so that any cut of it finds the same records.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pipeline.log.dialect import Dialect
from pipeline.log.scan import NEWLINE, RETURN, scan_quotes

__all__ = ["Records", "find_records"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Records:
    """Records of a buffer.

    Attributes:
        starts: `(R,) int64` first byte of each record.
        ends: `(R,) int64` byte past each record, its line end included.
        lines: `(R,) int64` line of each record, 0 for the buffer's first.
        unclosed: `(R,) bool` whether a quote of the record never closes.
        regular: Whether every quote opens or closes a field or is doubled inside one.
        line_count: Newlines in all records together.
    """

    starts: Ints
    ends: Ints
    lines: Ints
    unclosed: Bools
    regular: bool
    line_count: int

    @property
    def consumed(self) -> int:
        """Bytes that the records take up."""
        return int(self.ends[-1]) if len(self.ends) else 0


def find_records(buffer: bytes, dialect: Dialect, final: bool) -> Records:
    """Find the records of a buffer that starts where a record starts.

    Args:
        buffer: Bytes of text.
        dialect: Marks of the format.
        final: Whether nothing follows; otherwise the last, undecided record is left out.
    """
    data = np.frombuffer(buffer, np.uint8)
    newlines = np.flatnonzero(data == NEWLINE)
    mark = dialect.quote.encode()
    if not mark or mark not in buffer:
        return _build(newlines + 1, newlines, np.empty(0, np.int64), len(buffer), final, True)
    quotes = np.flatnonzero(data == mark[0])
    if _regular(data, quotes, ord(dialect.separator), final):
        ends = newlines[np.searchsorted(quotes, newlines) % 2 == 0] + 1
        if _all_short(ends, len(buffer), dialect.max_record_bytes):
            return _build(ends, newlines, np.empty(0, np.int64), len(buffer), final, True)
    return _scanned(data, newlines, quotes, dialect, final)


def _regular(data: npt.NDArray[np.uint8], quotes: Ints, separator: int, final: bool) -> bool:
    """Whether each quote opens a field, closes one, or is one of a doubled pair inside."""
    if final and len(quotes) % 2:
        return False
    adjacent = np.diff(quotes) == 1
    opening, closing = quotes[::2], quotes[1::2]
    before = data[np.maximum(opening - 1, 0)]
    opens = (opening == 0) | (before == separator) | (before == NEWLINE)
    opens[1:] |= adjacent[1::2][: len(opens) - 1]
    after = data[np.minimum(closing + 1, len(data) - 1)]
    closes = (closing == len(data) - 1) | (after == separator)
    closes |= (after == NEWLINE) | (after == RETURN)
    doubled = adjacent[1::2]
    closes[: len(doubled)] |= doubled
    return bool(opens.all() and closes.all())


def _all_short(ends: Ints, size: int, limit: int) -> bool:
    edges = np.concatenate(([0], ends, [size]))
    return bool(np.diff(edges).max() <= limit)


def _build(
    ends: Ints, newlines: Ints, unclosed_ends: Ints, size: int, final: bool, regular: bool
) -> Records:
    if final and size and (not len(ends) or ends[-1] < size):
        ends = np.append(ends, size)
    starts = np.concatenate((np.zeros(min(len(ends), 1), np.int64), ends[:-1]))
    if np.array_equal(starts[1:], newlines[: max(len(starts) - 1, 0)] + 1):
        lines = np.arange(len(ends), dtype=np.int64)
    else:
        lines = np.searchsorted(newlines, starts).astype(np.int64)
    consumed = int(ends[-1]) if len(ends) else 0
    return Records(
        starts,
        ends,
        lines,
        np.isin(ends, unclosed_ends),
        regular,
        int(np.searchsorted(newlines, consumed)),
    )


def _scanned(
    data: npt.NDArray[np.uint8], newlines: Ints, quotes: Ints, dialect: Dialect, final: bool
) -> Records:
    hidden, unclosed, limit = scan_quotes(data, newlines, quotes, dialect, final)
    inside = np.zeros(len(newlines) + 1, np.int64)
    for first, last in hidden:
        inside[first] += 1
        inside[last] -= 1
    ends = newlines[np.cumsum(inside)[:-1] == 0] + 1
    ends = ends[ends <= limit]
    return _build(ends, newlines, np.array(unclosed, np.int64), len(data), final, False)
