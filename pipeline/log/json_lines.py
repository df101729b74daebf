"""A block of JSON lines to raw columns; numbers are kept as they were written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pipeline.log.block import RawBlock, Reject
from pipeline.log.dialect import Dialect
from pipeline.log.json_columns import JsonKinds, read_columns
from pipeline.log.records import Records, find_records

__all__ = ["parse_json_lines", "parse_object"]


class _Refused(Exception):
    """A line that is no row, and why."""


def parse_object(line: bytes) -> dict[str, Any] | None:
    """Return a line's object, numbers as their text; none where it is not one JSON object."""
    try:
        found = json.loads(line, parse_float=str, parse_int=str, parse_constant=str)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def parse_json_lines(
    text: bytes,
    first_line: int,
    path: str,
    wanted: tuple[str, ...],
    kinds: JsonKinds,
    dialect: Dialect,
) -> RawBlock:
    """Parse a block that starts and ends where lines do; an absent key and null are missing."""
    records = find_records(text, dialect, final=True)
    blank = _blank_lines(text, records)
    filled = np.flatnonzero(~blank)
    columns = read_columns(
        text, records.starts[filled], records.ends[filled], wanted, kinds, dialect
    )
    rejects: list[Reject] = []
    kept = filled
    if columns is None:
        lines = [text[records.starts[at] : records.ends[at]] for at in filled]
        columns, refused = _line_by_line(lines, wanted, kinds.multi, dialect)
        kept = np.delete(filled, list(refused))
        rejects = [
            Reject(path, first_line + int(filled[at]), reason, lines[at])
            for at, reason in refused.items()
        ]

    def raw(some: npt.NDArray[np.int64]) -> list[bytes]:
        return [text[records.starts[at] : records.ends[at]] for at in kept[some]]

    dropped = {"blank_line": int(blank.sum())} if blank.any() else {}
    return RawBlock(columns, kept + first_line, raw, False, True, rejects, dropped)


def _blank_lines(text: bytes, records: Records) -> npt.NDArray[np.bool_]:
    blank = np.zeros(len(records.starts), np.bool_)
    first = np.frombuffer(text, np.uint8)[records.starts]
    for at in np.flatnonzero(first != ord("{")):
        blank[at] = not text[records.starts[at] : records.ends[at]].strip()
    return blank


def _line_by_line(
    lines: list[bytes], wanted: tuple[str, ...], separators: Mapping[str, str], dialect: Dialect
) -> tuple[dict[str, pa.Array], dict[int, str]]:
    """Parse each line by itself; returns columns, and reasons by place of the refused lines."""
    rows: list[list[str | None]] = []
    refused: dict[int, str] = {}
    for at, line in enumerate(lines):
        try:
            rows.append(_row(line, wanted, separators, dialect))
        except _Refused as reason:
            refused[at] = str(reason)
    values = list(zip(*rows, strict=True)) or [()] * len(wanted)
    found = zip(wanted, values, strict=True)
    return {name: pa.array(column, pa.string()) for name, column in found}, refused


def _row(
    line: bytes, wanted: tuple[str, ...], separators: Mapping[str, str], dialect: Dialect
) -> list[str | None]:
    if len(line) > dialect.max_record_bytes:
        raise _Refused("record_too_large")
    if b"\0" in line:
        raise _Refused("nul_byte")
    try:
        text = line.decode(dialect.encoding)
    except UnicodeDecodeError as error:
        raise _Refused("invalid_utf8") from error
    found = parse_object(text.encode())
    if found is None:
        raise _Refused("bad_json")
    return [_value(found.get(name), name, separators) for name in wanted]


def _value(value: object, name: str, separators: Mapping[str, str]) -> str | None:
    """Return a value as text."""
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _encodable(value)
    if isinstance(value, list) and name in separators:
        parts = [_value(part, "", {}) for part in value]
        return separators[name].join(part for part in parts if part is not None)
    raise _Refused(f"nested_value:{name}")


def _encodable(value: str) -> str:
    """A JSON escape can name half a surrogate pair, which is no text."""
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise _Refused("invalid_utf8") from error
    return value
