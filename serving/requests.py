"""Golden rows as requests of each signature, the same for warm-up, parity and verification."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from features.spec import RawColumn
from features.tensorflow import tf
from serving.rows import MISSING, Arrays, candidate_groups, take
from serving.signatures import (
    EXAMPLES,
    EXAMPLES_SIGNATURE,
    RANK_SIGNATURE,
    ROWS_SIGNATURE,
    SIGNATURES,
)

__all__ = ["Request", "requests_of", "serialised_examples"]


@dataclass(frozen=True)
class Request:
    """Inputs of one call and the rows whose scores it answers with.

    Attributes:
        signature: Name of the signature.
        rows: `(B,) int64`, numbers of the rows.
        inputs: Arrays by input name.
    """

    signature: str
    rows: NDArray[np.int64]
    inputs: Arrays


def requests_of(
    signature: str, arrays: Arrays, columns: Sequence[RawColumn], batch_rows: int
) -> Iterator[Request]:
    """Yield requests that together score every row once.

    Args:
        signature: One of `SIGNATURES`.
        arrays: `(B,)` raw columns.
        columns: Their types.
        batch_rows: Most rows of a request.
    """
    for rows in _batches(signature, arrays, batch_rows):
        yield Request(signature, rows, _inputs(signature, arrays, columns, rows))


def serialised_examples(arrays: Arrays, columns: Sequence[RawColumn]) -> NDArray[np.object_]:
    """Return `(B,)` serialised raw `tf.Example`s, in which a missing value is absent."""
    rows = len(next(iter(arrays.values())))
    lists = {column.name: arrays[column.name].tolist() for column in columns}
    serialised = np.empty(rows, dtype=object)
    for row in range(rows):
        features = {
            column.name: _feature(column, lists[column.name][row])
            for column in columns
            if not _is_missing(column, lists[column.name][row])
        }
        example = tf.train.Example(features=tf.train.Features(feature=features))
        serialised[row] = example.SerializeToString(deterministic=True)
    return serialised


def _batches(signature: str, arrays: Arrays, batch_rows: int) -> Iterator[NDArray[np.int64]]:
    rows = len(next(iter(arrays.values())))
    groups = candidate_groups(arrays) if signature == RANK_SIGNATURE else [np.arange(rows)]
    for group in groups:
        for start in range(0, len(group), batch_rows):
            yield group[start : start + batch_rows]


def _inputs(
    signature: str, arrays: Arrays, columns: Sequence[RawColumn], rows: NDArray[np.int64]
) -> Arrays:
    if signature == ROWS_SIGNATURE:
        return take(arrays, rows)
    if signature == RANK_SIGNATURE:
        return _one_batch_long(take(arrays, rows, share=True), arrays, rows)
    if signature == EXAMPLES_SIGNATURE:
        return {EXAMPLES: serialised_examples(take(arrays, rows), columns)}
    raise ValueError(f"a signature is one of {SIGNATURES}, received {signature!r}")


def _one_batch_long(shared: Arrays, arrays: Arrays, rows: NDArray[np.int64]) -> Arrays:
    """Keep one column whole, so that candidates alike in all columns get one score each."""
    if any(len(values) == len(rows) for values in shared.values()):
        return shared
    name = next(iter(shared))
    return {**shared, name: arrays[name][rows]}


def _is_missing(column: RawColumn, value: Any) -> bool:
    return bool(value != value or value == MISSING[column.type])


def _feature(column: RawColumn, value: Any) -> Any:
    if column.type == "string":
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))
    if column.type == "number":
        return tf.train.Feature(float_list=tf.train.FloatList(value=[value]))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=[value]))
