"""JSON lines by Arrow's columnar parser, where it gives just what the exact parser gives.

It does not where a text column holds `1.0` (which Arrow would write as `1`), where a column's
type changes from line to line, or where a line is no row; such a block is parsed line by line.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.json as pajson

from pipeline.log.dialect import Dialect

__all__ = ["JsonKinds", "read_columns"]

Ints = npt.NDArray[np.int64]
EXACT = (pa.string(), pa.int64(), pa.bool_(), pa.null())
# A NUL byte is a fault, and a minus zero loses its sign as a whole number.
ODD = (b"\0", b"-0,", b"-0}", b"-0]", b"-0 ")
EXACT_PARTS = (pa.string(), pa.int64(), pa.null())


@dataclass(frozen=True)
class JsonKinds:
    """What columns are read as, where that allows more than text, whole numbers and booleans.

    Attributes:
        numbers: Columns that are read as numbers alone, so that `1.0` may become `1`.
        multi: Separator of each column that may hold an array.
    """

    numbers: frozenset[str]
    multi: Mapping[str, str]


def read_columns(
    text: bytes,
    starts: Ints,
    ends: Ints,
    wanted: tuple[str, ...],
    kinds: JsonKinds,
    dialect: Dialect,
) -> dict[str, pa.Array] | None:
    """Return the wanted columns, or none where only the exact parser will do.

    Args:
        text: The block.
        starts: First byte of each line that is not blank.
        ends: Byte past each such line.
        wanted: Columns.
        kinds: What the columns are read as.
        dialect: Encoding and largest record.
    """
    if not len(starts) or not _plain(text, starts, ends, dialect):
        return None
    schema = _text_columns(text[starts[0] : ends[0]], wanted)
    try:
        table = pajson.read_json(
            pa.BufferReader(text),
            pajson.ReadOptions(block_size=len(text) + 1),
            pajson.ParseOptions(explicit_schema=schema, unexpected_field_behavior="infer"),
        )
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None
    if table.num_rows != len(starts):
        return None
    columns = {name: _column(table, name) for name in wanted}
    exact = all(_is_exact(name, column, kinds) for name, column in columns.items())
    return {name: _as_text(column) for name, column in columns.items()} if exact else None


def _plain(text: bytes, starts: Ints, ends: Ints, dialect: Dialect) -> bool:
    """Whether each line is decodable and looks like one object, so that none spans two lines."""
    if any(odd in text for odd in ODD) or int((ends - starts).max()) > dialect.max_record_bytes:
        return False
    if not text.isascii():
        if dialect.encoding != "utf-8":
            return False
        try:
            text.decode()
        except UnicodeDecodeError:
            return False
    data = np.frombuffer(text, np.uint8)
    last = ends - 1
    for line_end in b"\n\r":
        last = last - (data[last] == line_end)
    return bool((data[starts] == ord("{")).all() and (data[last] == ord("}")).all())


def _text_columns(line: bytes, wanted: tuple[str, ...]) -> pa.Schema | None:
    """Declare text as text, since Arrow takes what looks like a time for one."""
    try:
        found: Any = json.loads(line)
    except (ValueError, RecursionError):
        return None
    names = [name for name in wanted if isinstance(found.get(name), str)]
    return pa.schema([(name, pa.string()) for name in names])


def _column(table: pa.Table, name: str) -> pa.Array:
    if name not in table.column_names:
        return pa.nulls(table.num_rows, pa.string())
    return table.column(name).combine_chunks()


def _is_exact(name: str, column: pa.Array, kinds: JsonKinds) -> bool:
    if name in kinds.multi and pa.types.is_list(column.type):
        return column.type.value_type in EXACT_PARTS
    if name in kinds.numbers and pa.types.is_float64(column.type):
        return not bool(np.isinf(column.to_numpy(zero_copy_only=False)).any())
    return column.type in EXACT


def _as_text(column: pa.Array) -> pa.Array:
    return column.cast(pa.string()) if column.type in EXACT else column
