"""Where records begin and end in a buffer of text: newlines outside quotes.

The usual buffer is decided by numpy alone. One whose quotes are irregular (a stray quote in a
field, a quote that never closes) is scanned quote by quote.

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

__all__ = ["Records", "find_records"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
NEWLINE, RETURN = 10, 13


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
    hidden, unclosed, limit = _scan(data, newlines, quotes, dialect, final)
    inside = np.zeros(len(newlines) + 1, np.int64)
    for first, last in hidden:
        inside[first] += 1
        inside[last] -= 1
    ends = newlines[np.cumsum(inside)[:-1] == 0] + 1
    ends = ends[ends <= limit]
    return _build(ends, newlines, np.array(unclosed, np.int64), len(data), final, False)


def _scan(
    data: npt.NDArray[np.uint8], newlines: Ints, quotes: Ints, dialect: Dialect, final: bool
) -> tuple[list[tuple[int, int]], list[int], int]:
    """Walk over the quotes.

    Returns:
        Ranges of newlines inside quoted fields, ends of records with an unclosed quote, and the
        byte past the last decided record.
    """
    separator, limit_bytes, size = ord(dialect.separator), dialect.max_record_bytes, len(data)
    hidden: list[tuple[int, int]] = []
    unclosed: list[int] = []
    start, closed, index = 0, -1, 0
    following = np.searchsorted(newlines, quotes)
    while index < len(quotes):
        quote, line = int(quotes[index]), int(following[index])
        if line and newlines[line - 1] > closed:
            start = int(newlines[line - 1]) + 1
        if quote and data[quote - 1] not in (separator, NEWLINE):
            index += 1
            continue
        after = _closing(quotes, index)
        close = int(quotes[after]) if after < len(quotes) else size
        if not final and close >= size - 1 and size - start <= limit_bytes:
            return hidden, unclosed, start
        if _closes(
            data,
            close,
            start,
            int(following[after]) > line if after < len(quotes) else True,
            dialect,
        ):
            hidden.append((line, int(following[after])))
            closed, index = close, after + 1
            continue
        if line == len(newlines):
            return hidden, [*unclosed, size], size if final else start
        end = int(newlines[line]) + 1
        unclosed.append(end)
        start, closed = end, end - 1
        index = int(np.searchsorted(quotes, end))
    return hidden, unclosed, size


def _closing(quotes: Ints, index: int) -> int:
    """Return the index of the quote that closes the one at `index`, past doubled ones."""
    index += 1
    while index + 1 < len(quotes) and quotes[index + 1] == quotes[index] + 1:
        index += 2
    return index


def _closes(
    data: npt.NDArray[np.uint8], close: int, start: int, spans_lines: bool, dialect: Dialect
) -> bool:
    if close >= len(data) or close - start > dialect.max_record_bytes:
        return False
    if not spans_lines or close + 1 == len(data):
        return True
    return int(data[close + 1]) in (ord(dialect.separator), NEWLINE, RETURN)
