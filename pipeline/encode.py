"""Turns a clean batch into serialised examples, column by column."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from tfx_bsl.coders.example_coder import RecordBatchToExamplesEncoder

from features import records
from features.columnar import encode
from features.hashing import stable_hash
from features.transform import Transform

__all__ = ["example_columns", "serialise"]


def example_columns(transform: Transform, batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the record layout of `features.records` as list columns, one row an example."""
    inputs = encode(transform, batch)
    columns = {records.LABEL: _single(batch.column("__label__"))}
    if "__weight__" in batch.schema.names:
        columns[records.WEIGHT] = _single(batch.column("__weight__"))
    if "__user__" in batch.schema.names:
        columns[records.GROUP] = _single(pa.array(stable_hash(batch.column("__user__"))))
    for name in (records.DENSE, records.SPARSE, records.MULTI_LENGTHS):
        if name in inputs:
            columns[name] = _rows(inputs[name])
    if records.MULTI_IDS in inputs:
        lengths = inputs[records.MULTI_LENGTHS].sum(axis=1)
        columns[records.MULTI_IDS] = _ragged(inputs[records.MULTI_IDS], lengths)
    return pa.RecordBatch.from_pydict(columns)


def serialise(columns: pa.RecordBatch) -> Sequence[bytes]:
    """Serialise each row as a `tf.train.Example`."""
    encoded: Sequence[bytes] = RecordBatchToExamplesEncoder().encode(columns)
    return encoded


def _single(column: pa.Array) -> pa.Array:
    return pa.LargeListArray.from_arrays(np.arange(len(column) + 1), column)


def _rows(matrix: npt.NDArray[np.generic]) -> pa.Array:
    rows, width = matrix.shape
    return pa.LargeListArray.from_arrays(np.arange(rows + 1) * width, pa.array(matrix.ravel()))


def _ragged(values: npt.NDArray[np.generic], lengths: npt.NDArray[np.int64]) -> pa.Array:
    return pa.LargeListArray.from_arrays(
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), pa.array(values)
    )
