"""Rows of raw columns and the arrays that a request is made of."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from features.errors import DataError
from features.spec import RawColumn, RawType

__all__ = [
    "MISSING",
    "Arrays",
    "Row",
    "arrays_of_rows",
    "candidate_groups",
    "numpy_type",
    "read_json_rows",
    "take",
]

Row = Mapping[str, Any]
Arrays = dict[str, NDArray[Any]]

MISSING: dict[RawType, Any] = {"string": b"", "number": math.nan, "time": -1}
"""What stands for a missing value in a request, by the type of its column."""

_NUMPY_TYPES: dict[RawType, type[Any]] = {
    "string": np.object_,
    "number": np.float32,
    "time": np.int64,
}


def numpy_type(raw_type: RawType) -> type[Any]:
    """Return the numpy type of a raw column; strings are objects of bytes."""
    return _NUMPY_TYPES[raw_type]


def arrays_of_rows(
    rows: Sequence[Row],
    columns: Sequence[RawColumn],
    where: str,
    lines: Sequence[int] | None = None,
) -> Arrays:
    """Return one `(B,)` array a column; what is absent or None is missing.

    Args:
        rows: Values by column name.
        columns: The columns to take.
        where: Name of their source, for messages.
        lines: Line number of each row, for messages; 1 and on by default.

    Raises:
        DataError: A value is not of its column's type, or a required one is missing.

    >>> price = RawColumn("price", "number", required=False)
    >>> arrays_of_rows([{"price": 2}, {}], [price], "doc")["price"].tolist()
    [2.0, nan]
    """
    arrays: Arrays = {}
    numbers = lines or range(1, len(rows) + 1)
    for column in columns:
        values = [
            _value(row.get(column.name), column, where, line)
            for row, line in zip(rows, numbers, strict=True)
        ]
        arrays[column.name] = np.array(values, dtype=numpy_type(column.type))
    return arrays


def read_json_rows(path: Path) -> list[dict[str, Any]]:
    """Read one JSON object a line; empty lines are skipped.

    Raises:
        DataError: A line is not a JSON object.
        OSError: The file cannot be read.
    """
    rows = []
    with path.open(encoding="utf-8") as stream:
        for number, line in enumerate(stream, start=1):
            if line.strip():
                rows.append(_json_row(line, path, number))
    return rows


def candidate_groups(arrays: Arrays) -> list[NDArray[np.int64]]:
    """Group rows by the column that has the fewest distinct values.

    The rows of a group look like one `rank` request: what they share is the user or the context.

    Args:
        arrays: `(B,)` arrays, at least one.

    Returns:
        Row numbers of each group, every row in exactly one.
    """
    keyed = {name: _distinct(values) for name, values in arrays.items()}
    name = min(keyed, key=lambda column: (len(set(keyed[column])), column))
    groups: dict[Any, list[int]] = {}
    for row, key in enumerate(keyed[name]):
        groups.setdefault(key, []).append(row)
    return [np.array(rows, dtype=np.int64) for rows in groups.values()]


def take(arrays: Arrays, rows: NDArray[np.int64], share: bool = False) -> Arrays:
    """Return some rows of each array.

    Args:
        arrays: `(B,)` arrays.
        rows: Numbers of the rows to take.
        share: Whether a column with one value in all of them is sent once, as `(1,)`.
    """
    taken = {name: values[rows] for name, values in arrays.items()}
    if not share:
        return taken
    return {
        name: values[:1] if len(set(_distinct(values))) == 1 else values
        for name, values in taken.items()
    }


def _distinct(values: NDArray[Any]) -> list[Any]:
    # A NaN is unequal to itself, yet all of them are one value here: missing.
    return ["missing" if value != value else value for value in values.tolist()]


def _json_row(line: str, path: Path, number: int) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise _not_a_row(line, path, number) from error
    if not isinstance(row, dict):
        raise _not_a_row(line, path, number)
    return row


def _not_a_row(line: str, path: Path, number: int) -> DataError:
    return DataError(
        "a line of rows is one JSON object with values by column name",
        received=line.strip()[:200],
        where=f"{path}, line {number}",
        remedy='write for example {"user_id": "u1", "price": 3.5}',
    )


def _value(value: Any, column: RawColumn, where: str, line: int) -> Any:
    place = f"{where}, line {line}, column {column.name!r}"
    if value is None:
        return _missing(column, place)
    if column.type == "string":
        return _text(value, column, place)
    try:
        number = float(value) if column.type == "number" else int(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise _wrong_type(value, column, place) from error
    if isinstance(value, bool):
        raise _wrong_type(value, column, place)
    if not math.isfinite(number):
        return _missing(column, place)
    return _in_range(number, value, column, place)


def _in_range(number: float, value: Any, column: RawColumn, place: str) -> float:
    if column.type == "number":
        # A number beyond float32 would become infinite, which counts as missing everywhere.
        return number if abs(number) <= np.finfo(np.float32).max else _missing(column, place)
    if not -(2**63) <= number < 2**63:
        raise _wrong_type(value, column, place)
    return number


def _text(value: Any, column: RawColumn, place: str) -> bytes:
    if isinstance(value, bool | dict | list):
        raise _wrong_type(value, column, place)
    encoded = value if isinstance(value, bytes) else str(value).encode()
    return encoded or _missing(column, place)


def _missing(column: RawColumn, place: str) -> Any:
    if column.required:
        raise DataError(
            "a required column has a value in every row",
            received="a missing value",
            where=place,
            remedy="give the value, or take the column out of log.required and train again",
        )
    return MISSING[column.type]


def _wrong_type(value: Any, column: RawColumn, place: str) -> DataError:
    wanted = {"string": "text", "number": "a number", "time": "a time in whole Unix seconds"}
    return DataError(
        f"a column of type {column.type} holds {wanted[column.type]} or nothing",
        received=repr(value)[:200],
        where=place,
        remedy="correct the value, or leave it empty where it is missing",
    )
