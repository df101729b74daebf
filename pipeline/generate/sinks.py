"""Where a log goes: text, gzipped text or Parquet, written beside its name and then renamed."""

from __future__ import annotations

import contextlib
import gzip
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol, cast

import pyarrow as pa
import pyarrow.parquet as pq

from features.errors import DataError
from pipeline.generate.blocks import Block, Coded, Column, LogKind
from pipeline.generate.broken import break_lines
from pipeline.generate.text import DelimitedLines, JsonLines, Lines, with_line_ends

__all__ = ["LogSink", "Target", "log_sink", "log_target", "written_beside"]

_DELIMITED = {b",": ("csv",), b"\t": ("tsv", "txt")}


@dataclass(frozen=True)
class Target:
    """What the name of a log asks for.

    Attributes:
        path: Of the log.
        file_format: `csv`, `tsv`, `txt`, `jsonl` or `parquet`.
        zipped: Whether the text is in a gzip.
    """

    path: Path
    file_format: str
    zipped: bool

    def beside(self, suffix: str) -> Path:
        """Return the path of a companion.

        >>> Target(Path("logs/log.csv.gz"), "csv", True).beside("oracle.json").name
        'log.oracle.json'
        """
        stem = self.path.name.removesuffix(".gz").removesuffix(f".{self.file_format}")
        return self.path.with_name(f"{stem}.{suffix}")


class LogSink(Protocol):
    """Takes the blocks of a log: made ready in any order and thread, then written in order."""

    def prepare(self, block: Block, broken: dict[int, str]) -> Any:
        """Make a block ready, its rows at the places in `broken` broken in the given way."""

    def write(self, prepared: Any) -> None:
        """Write what `prepare` gave for the next block."""


def log_target(kind: type[LogKind], path: Path) -> Target:
    """Return the target that a file name asks for.

    Raises:
        DataError: The kind of log has no such format.
    """
    suffixes = path.name.removesuffix(".gz").split(".")
    suffix = suffixes[-1] if len(suffixes) > 1 else ""
    known = _DELIMITED[kind.shape.separator] + (
        ("jsonl", "parquet") if kind.shape.has_types else ()
    )
    if suffix not in known or path.name.endswith(".parquet.gz"):
        raise DataError(
            f"the name of a generated {kind.shape.name} log ends in "
            + ", ".join(f".{name}" for name in known)
            + " (text also with .gz)",
            received=path.name,
            where="--out",
            remedy=f"name the file for example log.{known[0]}",
        )
    return Target(path, suffix, path.name.endswith(".gz"))


@contextlib.contextmanager
def written_beside(path: Path) -> Iterator[Path]:
    """Give a temporary name in the same directory, renamed at the end or removed on failure.

    Raises:
        DataError: The directory does not exist and cannot be made, or cannot be written to.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.touch()
        yield beside
        os.replace(beside, path)
    except OSError as error:
        raise DataError(
            "a generated log goes to a directory that can be written to",
            received=f"{type(error).__name__}: {error.strerror or error}",
            where=str(path),
            remedy="free some space there, mend its permissions or give another --out",
        ) from error
    finally:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)


@contextlib.contextmanager
def log_sink(kind: LogKind, target: Target, path: Path) -> Iterator[LogSink]:
    """Open `path` for the blocks of a log in the format of its target."""
    if target.file_format == "parquet":
        with contextlib.closing(_ParquetSink(kind.shape.columns, path)) as sink:
            yield sink
        return
    lines: Lines = (
        JsonLines(kind.shape.columns)
        if target.file_format == "jsonl"
        else DelimitedLines(kind.shape.columns, kind.shape.separator, kind.shape.has_header)
    )
    with _text_file(path, target.zipped) as file:
        file.write(lines.header())
        yield _TextSink(lines, file)


class _TextSink:
    def __init__(self, lines: Lines, file: IO[bytes]) -> None:
        self._lines, self._file = lines, file

    def prepare(self, block: Block, broken: dict[int, str]) -> memoryview:
        lines = self._lines.lines(block)
        return with_line_ends(break_lines(lines, broken) if broken else lines)

    def write(self, prepared: memoryview) -> None:
        self._file.write(prepared)


class _ParquetSink:
    def __init__(self, columns: tuple[str, ...], path: Path) -> None:
        self._columns, self._path = columns, path
        self._writer: pq.ParquetWriter | None = None

    def prepare(self, block: Block, broken: dict[int, str]) -> pa.Table:
        return pa.table({name: _typed(block.columns[name]) for name in self._columns})

    def write(self, prepared: pa.Table) -> None:
        if self._writer is None:
            self._writer = pq.ParquetWriter(self._path, prepared.schema)
        self._writer.write_table(prepared)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


@contextlib.contextmanager
def _text_file(path: Path, zipped: bool) -> Iterator[IO[bytes]]:
    """Open a file to write; the gzip header has no name and no time, so bytes repeat."""
    with path.open("wb") as plain:
        if not zipped:
            yield plain
            return
        with gzip.GzipFile("", "wb", compresslevel=1, fileobj=plain, mtime=0) as file:
            yield cast(IO[bytes], file)


def _typed(column: Column) -> pa.Array:
    """Return a column with its own type; text that is not in a table is plain ASCII."""
    if isinstance(column, Coded):
        return column.table.take(pa.array(column.codes))
    return column.cast(pa.string()) if pa.types.is_binary(column.type) else column
