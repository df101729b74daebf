"""Text files as blocks of whole records, plain or gzip, and their headers."""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO, cast

from features.errors import DataError
from pipeline.log.dialect import Dialect, split_record
from pipeline.log.files import open_file
from pipeline.log.records import find_records
from pipeline.log.sources import LogFile

__all__ = ["Header", "TextBlock", "open_text", "read_header", "text_blocks"]

LARGEST_RECORD_BYTES = 256 << 20


@dataclass(frozen=True)
class TextBlock:
    """Whole records of a file.

    Attributes:
        start: First byte, after decompression.
        text: The bytes.
        first_line: Line of the first record, from 1.
    """

    start: int
    text: bytes
    first_line: int


@dataclass(frozen=True)
class Header:
    """A file's column names and where its rows begin.

    Attributes:
        names: Column names.
        bytes: Bytes before the first row.
        lines: Lines before the first row.
    """

    names: tuple[str, ...]
    bytes: int
    lines: int


@contextmanager
def open_text(file: LogFile) -> Iterator[BinaryIO]:
    """Open a file for reading its text's bytes.

    Raises:
        DataError: A gzip file is cut short or broken, found out while it is read.
    """
    with open_file(file.path) as stream:
        if not file.gzip:
            yield stream
            return
        try:
            with gzip.open(stream, "rb") as unpacked:
                yield cast(BinaryIO, unpacked)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise DataError(
                "a gzip file is whole",
                received=str(error),
                where=file.path,
                remedy="copy the file again, or leave it out of the path",
            ) from error


def text_blocks(
    stream: BinaryIO, dialect: Dialect, block_bytes: int, start: int, first_line: int, path: str
) -> Iterator[TextBlock]:
    """Read a stream to its end as blocks of whole records.

    Args:
        stream: A stream that stands where a record starts.
        dialect: Marks of the format.
        block_bytes: Size of a block, where no record is larger.
        start: Place of the stream's next byte.
        first_line: Line of that byte, from 1.
        path: The file, for errors.
    """
    carry, final = b"", False
    while not final:
        asked = max(block_bytes - len(carry), block_bytes // 2, 1)
        piece = _read_fully(stream, asked)
        final = len(piece) < asked
        buffer = carry + piece
        consumed, lines = _cut(buffer, dialect, final)
        if consumed:
            yield TextBlock(start, buffer[:consumed], first_line)
        start, first_line, carry = start + consumed, first_line + lines, buffer[consumed:]
        _check_size(carry, dialect, path, first_line)


def _read_fully(stream: BinaryIO, size: int) -> bytes:
    pieces, left = [], size
    while left and (piece := stream.read(left)):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def _cut(buffer: bytes, dialect: Dialect, final: bool) -> tuple[int, int]:
    """Return bytes and lines of the whole records that a buffer starts with."""
    if dialect.quote and dialect.quote.encode() in buffer:
        records = find_records(buffer, dialect, final)
        return records.consumed, records.line_count
    consumed = len(buffer) if final else buffer.rfind(b"\n") + 1
    return consumed, buffer.count(b"\n", 0, consumed)


def _check_size(carry: bytes, dialect: Dialect, path: str, line: int) -> None:
    if len(carry) > max(LARGEST_RECORD_BYTES, 2 * dialect.max_record_bytes):
        raise DataError(
            "a text file has line ends",
            received=f"{len(carry)} bytes without the end of a record",
            where=f"{path}:{line}",
            remedy="check that the file is text in the configured format",
        )


def read_header(file: LogFile, columns: tuple[str, ...] | None, dialect: Dialect) -> Header:
    """Return the names in a file's first record, or the declared ones.

    Raises:
        DataError: The first record is no text in the configured encoding.
    """
    with open_text(file) as stream:
        head = stream.read(len(codecs.BOM_UTF8))
        if head[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            raise _undecodable(file, "UTF-16 text")
        mark = codecs.BOM_UTF8 if head == codecs.BOM_UTF8 else b""
        if columns is not None or not dialect.separator:
            return Header(columns or (), len(mark), 0)
        first = _first_record(stream, head.removeprefix(mark), dialect)
    try:
        text = first.removesuffix(b"\n").removesuffix(b"\r").decode(dialect.encoding)
    except UnicodeDecodeError as error:
        raise _undecodable(file, str(error)) from error
    names = tuple(split_record(text, dialect)) if first else ()
    return Header(names, len(mark) + len(first), first.count(b"\n"))


def _first_record(stream: BinaryIO, buffer: bytes, dialect: Dialect) -> bytes:
    final = False
    while not final:
        piece = stream.read(1 << 16)
        final = not piece
        buffer += piece
        records = find_records(buffer, dialect, final)
        if len(records.ends):
            return buffer[: records.ends[0]]
    return buffer


def _undecodable(file: LogFile, received: str) -> DataError:
    return DataError(
        "a header is text in the configured encoding",
        received=received,
        where=f"{file.path}:1",
        remedy='set the source\'s encoding to "latin-1", or write the file as UTF-8',
    )
