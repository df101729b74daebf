"""The same transformation over record batches: each distinct string is encoded once.

A categorical column has far fewer distinct strings than rows, so strings go through the features'
own TensorFlow functions once each, and ids are taken by Arrow's dictionary codes with numpy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from features.kinds import MultiValued
from features.kinds.time_part import MISSING_TIME
from features.records import MULTI_IDS, MULTI_LENGTHS
from features.spec import RawColumn
from features.tensorflow import tf
from features.transform import Transform

__all__ = ["encode"]

TIME = "__time__"
Int64s = npt.NDArray[np.int64]


@dataclass(frozen=True)
class _Coded:
    """A raw column as distinct values and, for strings, the code of each row's value.

    Attributes:
        values: Tensor of the distinct values, or of all values of a number or time column.
        codes: `(B,)` places in `values`; None where values are those of the rows.
    """

    values: Any
    codes: npt.NDArray[np.integer[Any]] | None


@dataclass(frozen=True)
class _Ragged:
    """Ids of a multi-valued feature, example after example.

    Attributes:
        ids: `(total,) int64`.
        lengths: Ids of each example, `(B,) int64`.
    """

    ids: Int64s
    lengths: Int64s


def encode(transform: Transform, batch: pa.RecordBatch) -> dict[str, npt.NDArray[Any]]:
    """Encode a clean batch.

    Args:
        transform: The transformation.
        batch: A clean batch of B rows; null is missing.

    Returns:
        `dense` `(B, N) float32`, `sparse` `(B, F) int64`, `multi_ids` `(total,) int64` and
        `multi_lengths` `(B, M) int64`, each where there are such features. The ids of an example's
        multi-valued features lie one after the other.
    """
    coded = {column.name: _coded(column, batch) for column in transform.raw}
    encoded = transform.graph_encode_each({name: each.values for name, each in coded.items()})
    single: dict[str, Any] = {}
    multi: list[_Ragged] = []
    for feature, column in transform.columns():
        ids, codes = encoded[feature.name], coded[column.name].codes
        if isinstance(feature, MultiValued):
            multi.append(_taken_ragged(ids, codes))
        else:
            single[feature.name] = ids if codes is None else ids.numpy()[codes]
    inputs = {name: value.numpy() for name, value in transform.graph_assemble(single).items()}
    if multi:
        inputs |= _interleaved(multi)
    return inputs


def _coded(column: RawColumn, batch: pa.RecordBatch) -> _Coded:
    values = batch.column(TIME if column.type == "time" else column.name)
    if column.type == "string":
        return _coded_strings(values)
    if column.type == "number":
        numbers = values.to_numpy(zero_copy_only=False).astype(np.float32, copy=False)
        return _Coded(tf.constant(numbers), None)
    seconds = values.fill_null(MISSING_TIME).to_numpy(zero_copy_only=False)
    return _Coded(tf.constant(seconds, tf.int64), None)


def _coded_strings(values: pa.Array) -> _Coded:
    """Number the distinct strings; a null is one more value, the empty string."""
    encoded = values if pa.types.is_dictionary(values.type) else values.dictionary_encode()
    distinct = encoded.dictionary.cast(pa.binary()).to_numpy(zero_copy_only=False)
    codes = encoded.indices.fill_null(len(distinct)).to_numpy(zero_copy_only=False)
    strings = np.empty(len(distinct) + 1, object)
    strings[:-1], strings[-1] = distinct, b""
    return _Coded(tf.constant(strings, tf.string), codes)


def _taken_ragged(encoded: Any, codes: Any) -> _Ragged:
    """Take the rows `codes` of a ragged tensor."""
    splits = encoded.row_splits.numpy()
    starts, lengths = splits[:-1][codes], np.diff(splits)[codes]
    places = np.repeat(starts - _offsets(lengths), lengths) + np.arange(lengths.sum())
    return _Ragged(encoded.flat_values.numpy()[places], lengths)


def _interleaved(multi: list[_Ragged]) -> dict[str, npt.NDArray[Any]]:
    """Put the ids of several features together, example by example."""
    lengths = np.stack([feature.lengths for feature in multi], axis=1)
    starts = _offsets(lengths.ravel()).reshape(lengths.shape)
    ids = np.empty(int(lengths.sum()), np.int64)
    for at, feature in enumerate(multi):
        shift = starts[:, at] - _offsets(feature.lengths)
        ids[np.repeat(shift, feature.lengths) + np.arange(len(feature.ids))] = feature.ids
    return {MULTI_IDS: ids, MULTI_LENGTHS: lengths}


def _offsets(lengths: Int64s) -> Int64s:
    """Return the place at which each of the runs of these lengths starts."""
    return np.cumsum(lengths) - lengths
