"""Rows to predict, from CSV, TSV or JSON lines, each with the line that it came from."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from features.config import Config
from features.errors import DataError
from features.spec import RawColumn

__all__ = ["InputRow", "column_names", "read_rows"]

JSON_SUFFIXES = (".jsonl", ".json", ".ndjson")
UNIX_UNITS = {"s": 1, "ms": 1_000, "us": 1_000_000}
# Seconds stay below it until the year 5138, milliseconds are above it since 1973.
LARGEST_SECONDS = 1e11


@dataclass(frozen=True)
class InputRow:
    """One row.

    Attributes:
        line: Number of its line, from 1; of its last line where it has several.
        values: Values by column name; None is missing.
    """

    line: int
    values: Mapping[str, Any]


def read_rows(path: Path, columns: Sequence[RawColumn], config: Config) -> Iterator[InputRow]:
    """Yield the rows of a file with the values of raw columns, converted.

    Text is read as preprocessing reads the log: the configured spellings of a missing value, the
    separator, and declared column names where the log has no header.

    Args:
        path: A `.csv`, `.tsv` or `.jsonl` file, each also with `.gz`.
        columns: Raw columns of the model; other columns are passed over.
        config: Configuration of the run.

    Raises:
        DataError: The file cannot be read, or a value is not of its column's type.
    """
    with _open(path) as stream:
        rows = _json_rows(stream, path) if _is_json(path) else _csv_rows(stream, path, config)
        for row in rows:
            yield InputRow(row.line, _converted(row, columns, config, path))


def column_names(path: Path, config: Config) -> tuple[str, ...]:
    """Return the columns of a file: its header, or the keys of its first JSON object.

    Raises:
        DataError: The file cannot be read.
    """
    with _open(path) as stream:
        if _is_json(path):
            return tuple(next((row.values for row in _json_rows(stream, path)), {}))
        return config.log.columns or tuple(next(_reader(stream, path, config), ()))


@contextmanager
def _open(path: Path) -> Iterator[TextIO]:
    try:
        raw = gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")
        with io.TextIOWrapper(raw, encoding="utf-8-sig", newline="") as stream:
            yield stream
    except (OSError, EOFError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(
            "the rows to predict are a readable file of UTF-8 text",
            received=str(error),
            where=str(path),
            remedy="give a .csv, .tsv or .jsonl file by --input",
        ) from error


def _is_json(path: Path) -> bool:
    return path.name.removesuffix(".gz").endswith(JSON_SUFFIXES)


def _json_rows(stream: TextIO, path: Path) -> Iterator[InputRow]:
    for number, line in enumerate(stream, start=1):
        if not line.strip():
            continue
        try:
            values = json.loads(line)
        except ValueError as error:
            raise _bad_line("is a JSON object", line, path, number) from error
        if not isinstance(values, dict):
            raise _bad_line("is a JSON object", line, path, number)
        yield InputRow(number, values)


def _csv_rows(stream: TextIO, path: Path, config: Config) -> Iterator[InputRow]:
    reader = _reader(stream, path, config)
    names = config.log.columns or tuple(next(reader, ()))
    for fields in reader:
        if not fields:
            continue
        if len(fields) != len(names):
            rule = f"has {len(names)} fields, as the header"
            raise _bad_line(rule, ",".join(fields), path, reader.line_num)
        values = {
            name: None if field in config.log.missing else field
            for name, field in zip(names, fields, strict=True)
        }
        yield InputRow(reader.line_num, values)


def _reader(stream: TextIO, path: Path, config: Config) -> Any:
    log = config.log
    is_tab = path.name.removesuffix(".gz").endswith(".tsv") or log.format == "tsv"
    separator = log.separator or ("\t" if is_tab else ",")
    quote = log.quote if log.quote is not None else ("" if is_tab else '"')
    if not quote:
        return csv.reader(stream, delimiter=separator, quoting=csv.QUOTE_NONE)
    return csv.reader(stream, delimiter=separator, quotechar=quote)


def _converted(
    row: InputRow, columns: Sequence[RawColumn], config: Config, path: Path
) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for column in columns:
        value = row.values.get(column.name)
        try:
            values[column.name] = None if value is None else _value(value, column, config)
        except (TypeError, ValueError, OverflowError) as error:
            raise DataError(
                f"a column of type {column.type} holds a {column.type} or nothing",
                received=repr(value)[:200],
                where=f"{path}, line {row.line}, column {column.name!r}",
                remedy="correct the value, or leave it empty where it is missing",
            ) from error
    return values


def _value(value: Any, column: RawColumn, config: Config) -> Any:
    if isinstance(value, bool | dict | list):
        raise TypeError(value)
    if column.type == "number":
        if isinstance(value, str) and "_" in value:
            raise ValueError(value)
        return float(value)
    if column.type == "time":
        return _unix_seconds(value, config)
    return value


def _unix_seconds(value: Any, config: Config) -> int | None:
    """Return Unix seconds of a request's time, or of one spelt as in the log."""
    unit = config.log.timestamp.unit if config.log.timestamp else "s"
    form = config.log.timestamp.format if config.log.timestamp else None
    if isinstance(value, str) and unit == "format" and form:
        return int(datetime.strptime(value, form).replace(tzinfo=UTC).timestamp())
    try:
        number = float(value)
    except ValueError:
        moment = datetime.fromisoformat(value)
        return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
    if not math.isfinite(number):
        return None
    return int(number // UNIX_UNITS.get(unit, 1)) if number >= LARGEST_SECONDS else int(number)


def _bad_line(rule: str, line: str, path: Path, number: int) -> DataError:
    return DataError(
        f"a row to predict {rule}",
        received=line.strip()[:200],
        where=f"{path}, line {number}",
        remedy="correct the line",
    )
