"""Walks over irregular quotes; lines that are regular by themselves are passed over at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pipeline.log.dialect import Dialect

__all__ = ["NEWLINE", "RETURN", "scan_quotes"]

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]
NEWLINE, RETURN = 10, 13


def scan_quotes(
    data: Bytes, newlines: Ints, quotes: Ints, dialect: Dialect, final: bool
) -> tuple[list[tuple[int, int]], list[int], int]:
    """Find the newlines inside quoted fields, by the rules of `pipeline.log.records`.

    Args:
        data: `(S,) uint8` text.
        newlines: Places of its newlines.
        quotes: Places of its quotes.
        dialect: Marks of the format.
        final: Whether nothing follows.

    Returns:
        Ranges of newlines inside quoted fields, ends of records with an unclosed quote, and the
        byte past the last decided record.
    """
    separator, limit, size = ord(dialect.separator), dialect.max_record_bytes, len(data)
    hidden: list[tuple[int, int]] = []
    unclosed: list[int] = []
    start, closed, index = 0, -1, 0
    lines = np.searchsorted(newlines, quotes).astype(np.int64)
    walked = _next_walked(data, newlines, quotes, lines, dialect)
    while index < len(quotes):
        quote, line = int(quotes[index]), int(lines[index])
        line_start = int(newlines[line - 1]) + 1 if line else 0
        if line_start > closed:
            start = line_start
            if walked[index] > index:
                index = int(walked[index])
                continue
        if quote and data[quote - 1] not in (separator, NEWLINE):
            index += 1
            continue
        after = _closing(quotes, index)
        close, last = (quotes[after], lines[after]) if after < len(quotes) else (size, line)
        if not final and close >= size - 1 and size - start <= limit:
            return hidden, unclosed, start
        if _closes(data, int(close), start, bool(last > line), dialect):
            hidden.append((line, int(last)))
            closed, index = int(close), after + 1
        elif line == len(newlines):
            return hidden, [*unclosed, size], size if final else start
        else:
            unclosed.append(int(newlines[line]) + 1)
            closed = unclosed[-1] - 1
            index = int(np.searchsorted(quotes, closed))
    return hidden, unclosed, size


def _next_walked(data: Bytes, newlines: Ints, quotes: Ints, lines: Ints, dialect: Dialect) -> Ints:
    """Return, for each quote, the next one whose line has to be walked.

    A line need not be where its quotes are whole fields' and it is short: it is then one record,
    or several lines' worth of a quoted field that the walk is inside of.
    """
    separator, size = ord(dialect.separator), len(data)
    rank = np.arange(len(quotes)) - np.searchsorted(lines, lines)
    opening = rank % 2 == 0
    before = data[np.maximum(quotes - 1, 0)]
    opens = (quotes == 0) | (before == separator) | (before == NEWLINE)
    after = data[np.minimum(quotes + 1, size - 1)]
    closes = (after == separator) | (after == NEWLINE) | (after == RETURN)
    pair = np.diff(quotes) == 1
    opens[1:] |= pair & (rank[1:] > 0)
    closes[:-1] |= pair
    last_of_line = np.append(lines[1:] != lines[:-1], True)
    odd = np.where(opening, ~opens | last_of_line, ~closes)
    edges = np.concatenate(([0], newlines + 1, [size]))
    hard = np.diff(edges) > dialect.max_record_bytes
    hard[lines[odd]] = True
    hard[len(newlines)] = True
    places = np.where(hard[lines], np.arange(len(quotes)), len(quotes))
    following: Ints = np.minimum.accumulate(places[::-1])[::-1]
    return following


def _closing(quotes: Ints, index: int) -> int:
    """Return the index of the quote that closes the one at `index`, past doubled ones."""
    index += 1
    while index + 1 < len(quotes) and quotes[index + 1] == quotes[index] + 1:
        index += 2
    return index


def _closes(data: Bytes, close: int, start: int, spans_lines: bool, dialect: Dialect) -> bool:
    if close >= len(data) or close - start > dialect.max_record_bytes:
        return False
    if not spans_lines or close + 1 == len(data):
        return True
    return int(data[close + 1]) in (ord(dialect.separator), NEWLINE, RETURN)
