"""Cuts a file into ranges that workers read on their own, and reads a range as raw columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import BinaryIO

from features.config import LogConfig, SourceConfig
from features.errors import DataError
from pipeline.log import parquet
from pipeline.log.block import RawBlock
from pipeline.log.delimited import Layout, parse_delimited
from pipeline.log.dialect import dialect_of
from pipeline.log.json_columns import JsonKinds
from pipeline.log.json_lines import parse_json_lines, parse_object
from pipeline.log.sources import LogFile
from pipeline.log.text import TextBlock, open_text, read_header, text_blocks
from pipeline.log.wanted import Wanted

__all__ = ["Range", "Reading", "file_names", "file_ranges", "raw_blocks"]

SAMPLE_LINES = 10_000


@dataclass(frozen=True)
class Range:
    """A part of a file that begins and ends where records do.

    Attributes:
        file: The file.
        index: Place of the range in the file, from 0.
        start: First byte, or first row in Parquet.
        length: Bytes, or rows in Parquet; -1 for the rest of a gzip file, which has one range.
        first_line: Line of the first record, or its row in Parquet, from 1.
        names: Columns of the file; none for JSON lines.
        row_group: Row group of a Parquet file.
    """

    file: LogFile
    index: int
    start: int
    length: int
    first_line: int
    names: tuple[str, ...]
    row_group: int = 0


@dataclass(frozen=True)
class Reading:
    """How a source is read.

    Attributes:
        source: The source.
        missing: Spellings of a missing value.
        separators: Separator of each multi-valued column.
        block_bytes: Size of a block.
        max_record_bytes: Size of the largest record.
        label: The label's column; none in a side table.
        pad: Whether rows with too few fields are padded.
        numeric: Columns that are read as numbers and as nothing else.
    """

    source: SourceConfig
    missing: tuple[str, ...]
    separators: tuple[tuple[str, str], ...] = ()
    block_bytes: int = 8 << 20
    max_record_bytes: int = 1 << 20
    label: str | None = None
    pad: bool = False
    numeric: frozenset[str] = frozenset()

    @classmethod
    def of_log(cls, log: LogConfig, wanted: Wanted, block_bytes: int) -> Reading:
        """Return how the log is read."""
        return cls(
            log,
            log.missing,
            wanted.separators,
            block_bytes,
            log.max_record_bytes,
            log.label.column,
            log.short_rows == "pad",
            wanted.numeric,
        )


def file_names(file: LogFile, reading: Reading) -> tuple[str, ...]:
    """Return a file's column names; those of JSON lines are the keys of its first lines.

    Raises:
        DataError: The file is broken, or its header is no text.
    """
    if file.format == "parquet":
        return parquet.column_names(file.path)
    dialect = dialect_of(reading.source, file.format, reading.max_record_bytes)
    if file.format != "jsonl":
        return read_header(file, reading.source.columns, dialect).names
    with open_text(file) as stream:
        lines = islice(stream, SAMPLE_LINES)
        keys = [key for line in lines for key in parse_object(line.lstrip(b"\xef\xbb\xbf")) or ()]
    return tuple(dict.fromkeys(keys))


def file_ranges(file: LogFile, reading: Reading) -> Iterator[Range]:
    """Cut a file into ranges of about a block; a gzip file is one range.

    Raises:
        DataError: The file is broken, or its header is no text.
    """
    if file.format == "parquet":
        names, start = parquet.column_names(file.path), 0
        for group, rows in enumerate(parquet.row_group_rows(file.path)):
            yield Range(file, group, start, rows, start + 1, names, group)
            start += rows
        return
    dialect = dialect_of(reading.source, file.format, reading.max_record_bytes)
    header = read_header(file, reading.source.columns, dialect)
    first = Range(file, 0, header.bytes, -1, header.lines + 1, header.names)
    if file.gzip:
        yield first
        return
    for index, block in enumerate(_blocks(first, reading)):
        yield replace(
            first,
            index=index,
            start=block.start,
            length=len(block.text),
            first_line=block.first_line,
        )


def _blocks(part: Range, reading: Reading) -> Iterator[TextBlock]:
    dialect = dialect_of(reading.source, part.file.format, reading.max_record_bytes)
    with open_text(part.file) as stream:
        stream.seek(part.start)
        if part.length >= 0:
            yield TextBlock(part.start, _read_exactly(stream, part), part.first_line)
            return
        yield from text_blocks(
            stream, dialect, reading.block_bytes, part.start, part.first_line, part.file.path
        )


def _read_exactly(stream: BinaryIO, part: Range) -> bytes:
    text = stream.read(part.length)
    if len(text) != part.length:
        raise DataError(
            "a file of the log stays as it is while it is read",
            received=f"{len(text)} of {part.length} bytes at byte {part.start}",
            where=part.file.path,
            remedy="let its writer finish, then run again",
        )
    return text


def raw_blocks(part: Range, reading: Reading, wanted: tuple[str, ...]) -> Iterator[RawBlock]:
    """Read a range as raw columns.

    Args:
        part: The range.
        reading: How its source is read.
        wanted: Columns to read; the file has them all, unless it is of JSON lines.

    Raises:
        DataError: The file is broken, or was cut since it was planned.
    """
    file = part.file
    if file.format == "parquet":
        yield from parquet.read_row_group(file.path, part.row_group, part.first_line, wanted)
        return
    dialect = dialect_of(reading.source, file.format, reading.max_record_bytes)
    layout = Layout(file.path, part.names, wanted, reading.label, reading.missing, reading.pad)
    kinds = JsonKinds(reading.numeric, dict(reading.separators))
    for block in _blocks(part, reading):
        if file.format == "jsonl":
            yield parse_json_lines(block.text, block.first_line, file.path, wanted, kinds, dialect)
        else:
            yield parse_delimited(block.text, block.first_line, layout, dialect)
