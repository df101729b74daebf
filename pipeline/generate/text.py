"""Blocks as text: how a value is written in CSV and in JSON, and how a line is put together.

Values live in short tables, so each is escaped once and then only looked up.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.generate.blocks import Block, Coded, Column
from pipeline.generate.clock import iso_text

__all__ = ["DelimitedLines", "JsonLines", "Lines", "with_line_ends"]

_NOT_AVAILABLE = b"NA"


class Lines(Protocol):
    """Writes blocks as lines of text."""

    def header(self) -> bytes:
        """Return what stands before the first line, its line end included."""

    def lines(self, block: Block) -> pa.Array:
        """Return the lines of a block as a binary array `(n,)` without line ends."""


class DelimitedLines:
    """Lines of values between separators, quoted where RFC 4180 asks for it.

    A missing value is written as nothing, or as `NA` where a column says so.

    Args:
        columns: Names in file order.
        separator: One byte.
        has_header: Whether the names are the first line.
    """

    def __init__(self, columns: tuple[str, ...], separator: bytes, has_header: bool) -> None:
        """Start with no text encoded yet."""
        self.columns, self.separator, self.has_header = columns, separator, has_header
        self._marks = re.compile(f'["\\n\\r{re.escape(separator.decode())}]')
        self._tables = _EncodedTables(self._encoded, _NOT_AVAILABLE)

    def header(self) -> bytes:
        """Return the line of names, or nothing."""
        return (
            self.separator.join(c.encode() for c in self.columns) + b"\n"
            if self.has_header
            else b""
        )

    def lines(self, block: Block) -> pa.Array:
        """Return the lines of a block as a binary array `(n,)` without line ends."""
        values = [self._tables.text(name, block.columns[name]) for name in self.columns]
        return pc.binary_join_element_wise(*values, self.separator)

    def _encoded(self, values: list[object]) -> Iterator[bytes]:
        for value in values:
            if value is None:
                yield b""
            else:
                yield self._quoted(value) if isinstance(value, str) else str(value).encode()

    def _quoted(self, text: str) -> bytes:
        needs_quotes = self._marks.search(text)
        return ('"' + text.replace('"', '""') + '"' if needs_quotes else text).encode()


class JsonLines:
    """One JSON object a line; missing values are null.

    Args:
        columns: Names in file order.
    """

    def __init__(self, columns: tuple[str, ...]) -> None:
        """Start with no text encoded yet."""
        self.columns = columns
        self._tables = _EncodedTables(_json_encoded, b"null")

    def header(self) -> bytes:
        """Return nothing: every line has its own names."""
        return b""

    def lines(self, block: Block) -> pa.Array:
        """Return the lines of a block as a binary array `(n,)` without line ends."""
        pieces: list[Any] = []
        for name in self.columns:
            key = json.dumps(name).encode() + b":"
            mark = b"" if isinstance(block.columns[name], Coded) else b'"'
            lead = (b"," if pieces else b"{") + key + mark
            pieces += [lead, self._tables.text(name, block.columns[name]), mark]
        return pc.binary_join_element_wise(*pieces, b"}", b"")


class _EncodedTables:
    """Remembers the text of each column's table."""

    def __init__(
        self, encode: Callable[[list[object]], Iterator[bytes]], not_available: bytes
    ) -> None:
        self._encode, self._not_available = encode, not_available
        self._texts: dict[str, pa.Array] = {}

    def text(self, name: str, column: Column) -> pa.Array:
        """Return a column as a binary array `(n,)` of what is written."""
        if not isinstance(column, Coded):
            return iso_text(column.cast(pa.int64()).to_numpy()) if _is_time(column) else column
        if name not in self._texts:
            texts = list(self._encode(column.table.to_pylist()))
            if column.not_available is not None:
                texts[column.not_available] = self._not_available
            self._texts[name] = pa.array(texts, pa.binary())
        return self._texts[name].take(pa.array(column.codes))


def with_line_ends(lines: pa.Array) -> memoryview:
    r"""Return lines as one text, each ended by a line feed.

    >>> bytes(with_line_ends(pa.array([b"a", b"bc"])))
    b'a\nbc\n'
    """
    ended = pc.binary_join_element_wise(lines, b"", b"\n")
    _, offsets, data = ended.buffers()
    bounds = memoryview(offsets).cast("i")
    return memoryview(data)[bounds[ended.offset] : bounds[ended.offset + len(ended)]]


def _json_encoded(values: list[object]) -> Iterator[bytes]:
    return (json.dumps(value, ensure_ascii=False).encode() for value in values)


def _is_time(column: pa.Array) -> bool:
    return bool(pa.types.is_timestamp(column.type))
