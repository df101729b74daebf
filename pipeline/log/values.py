"""Raw values to strings, numbers and times, a column at a time.

Each function returns the values and masks of the rows that have none; nothing is guessed: a value
that is neither missing nor well-formed is a fault.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from features.errors import DataError

__all__ = ["Numbers", "missing_as_null", "numbers", "strings"]

Bools = npt.NDArray[np.bool_]
SPACES = " \t"
NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
NOT_FINITE = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)
LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class Numbers:
    """Numbers of a column; a row has a value, is missing, or has a fault.

    Attributes:
        values: `(R,) float64`, NaN where there is no value.
        missing: `(R,) bool`; NaN and infinity are missing values too.
        malformed: `(R,) bool` text that is no number, such as `1,000` or `abc`.
        too_large: `(R,) bool` numbers beyond float32.
    """

    values: npt.NDArray[np.float64]
    missing: Bools
    malformed: Bools
    too_large: Bools


def strings(values: pa.Array, separator: str | None) -> pa.Array:
    """Return values as text: integers in decimal, lists joined by the separator.

    Raises:
        TypeError: The type has no text, such as a nested one.
    """
    kind = values.type
    if pa.types.is_string(kind):
        return values
    if pa.types.is_dictionary(kind):
        return strings(values.dictionary_decode(), separator)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        if separator is None:
            raise TypeError(f"{kind} where no feature is multi-valued")
        return pc.binary_join(_text_lists(values), separator)
    if pa.types.is_nested(kind):
        raise TypeError(str(kind))
    return values.cast(pa.string())


def _text_lists(values: pa.Array) -> pa.Array:
    parts = pc.list_flatten(values).cast(pa.string())
    kept = pc.is_valid(parts)
    parents = pc.list_parent_indices(values).filter(kept).to_numpy(zero_copy_only=False)
    counts = np.bincount(parents.astype(np.int64), minlength=len(values))
    offsets = np.concatenate(([0], np.cumsum(counts))).astype(np.int32)
    mask = pc.is_null(values)
    return pa.ListArray.from_arrays(pa.array(offsets), parts.filter(kept), mask=mask)


def missing_as_null(values: pa.Array, spellings: tuple[str, ...], exact_done: bool) -> pa.Array:
    """Make every spelling of a missing value null, spaces around it or not.

    Args:
        values: Strings.
        spellings: Spellings of a missing value.
        exact_done: Whether those without spaces are null already.
    """
    spaced = _has_outer_spaces(values)
    if exact_done and not spaced:
        return values
    bare = pc.utf8_trim(values, SPACES) if spaced else values
    absent = pc.is_in(bare, pa.array(spellings, pa.string()))
    return pc.if_else(absent, pa.scalar(None, pa.string()), values)


def _has_outer_spaces(values: pa.Array) -> bool:
    _, offsets_buffer, data_buffer = values.buffers()
    if not len(values) or data_buffer is None or not data_buffer.size:
        return False
    offsets = np.frombuffer(offsets_buffer, np.int32)[values.offset :][: len(values) + 1]
    data = np.frombuffer(data_buffer, np.uint8)
    filled = offsets[1:] > offsets[:-1]
    first, last = data[offsets[:-1][filled]], data[offsets[1:][filled] - 1]
    return any(bool((edge == ord(space)).any()) for edge in (first, last) for space in SPACES)


def numbers(values: pa.Array, name: str, path: str, spaced: bool = True) -> Numbers:
    """Return a column's numbers.

    Args:
        values: Strings, or what Parquet holds.
        name: The column, for errors.
        path: The file, for errors.
        spaced: Whether text may have spaces around it.

    Raises:
        DataError: A Parquet column is of a type that has no numbers.
    """
    kind = values.type
    if pa.types.is_dictionary(kind):
        return numbers(values.dictionary_decode(), name, path, spaced)
    if pa.types.is_string(kind):
        return _from_text(values, spaced)
    if not (
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_null(kind)
    ):
        raise wrong_type(name, kind, "numbers", path)
    if pa.types.is_boolean(kind):
        values = values.cast(pa.int8())
    found = _float64(values.cast(pa.float64(), safe=False))
    none = np.zeros(len(found), np.bool_)
    return _finish(found, ~np.isfinite(found), none)


def wrong_type(name: str, kind: object, needed: str, path: str) -> DataError:
    """Return the error of a column whose stored type cannot be read as needed."""
    return DataError(
        f"a column that is read as {needed} is stored as such",
        received=f"column {name!r} of type {kind}",
        where=path,
        remedy="read it by a feature of another kind, or write it as another type",
    )


def _float64(values: pa.Array) -> npt.NDArray[np.float64]:
    found: npt.NDArray[np.float64] = pc.fill_null(values, float("nan")).to_numpy(
        zero_copy_only=False
    )
    return found


def _finish(found: npt.NDArray[np.float64], missing: Bools, malformed: Bools) -> Numbers:
    too_large = np.abs(found) > LARGEST
    too_large &= ~missing
    values = np.where(missing | malformed | too_large, np.nan, found)
    return Numbers(values, missing, malformed, too_large)


def _from_text(values: pa.Array, spaced: bool) -> Numbers:
    if spaced and _has_outer_spaces(values):
        values = pc.utf8_trim(values, SPACES)
    malformed = np.zeros(len(values), np.bool_)
    try:
        found = _float64(values.cast(pa.float64()))
    except pa.ArrowInvalid:
        well_formed = pc.fill_null(pc.match_substring_regex(values, NUMBER), False)
        malformed = ~well_formed.to_numpy(zero_copy_only=False)
        _accept_non_finite(values, malformed)
        usable = pc.if_else(well_formed, values, pa.scalar(None, pa.string()))
        found = _float64(usable.cast(pa.float64()))
    missing = ~np.isfinite(found) & ~malformed
    for row in np.flatnonzero(np.isinf(found)):
        missing[row] = NOT_FINITE.fullmatch(values[row].as_py()) is not None
    return _finish(found, missing, malformed)


def _accept_non_finite(values: pa.Array, malformed: Bools) -> None:
    """Take nulls, empty text and spellings of NaN and infinity out of the malformed."""
    for row in np.flatnonzero(malformed):
        text = values[row].as_py()
        if not text or NOT_FINITE.fullmatch(text):
            malformed[row] = False
