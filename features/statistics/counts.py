"""Counts of values, merged by Arrow without a Python object per value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["ValueCounts", "count_values", "merge_counts"]

MOST_PENDING = 16
VALUE, COUNT = "value", "count"
SCHEMA = pa.schema([(VALUE, pa.large_binary()), (COUNT, pa.int64())])


@dataclass(frozen=True)
class ValueCounts:
    """Counts in pieces that may share values; few pieces, so that merging stays cheap.

    Attributes:
        pieces: Tables of distinct values with their counts.
    """

    pieces: tuple[pa.Table, ...] = ()

    def total(self) -> pa.Table:
        """Return each value once with its count, by descending count and then by value."""
        table = _added(self.pieces)
        order = pc.sort_indices(table, sort_keys=[(COUNT, "descending"), (VALUE, "ascending")])
        return table.take(order)


def count_values(values: pa.Array, weights: pa.Array | None = None) -> ValueCounts:
    """Count strings or binary values; missing ones are not counted.

    Args:
        values: The values, (n,), plain or dictionary-encoded.
        weights: How often each counts, (n,) int64, where no value is missing; once by default.
    """
    if weights is None:
        encoded = values if pa.types.is_dictionary(values.type) else values.dictionary_encode()
        codes = encoded.indices.drop_null().to_numpy(zero_copy_only=False)
        counts = np.bincount(codes, minlength=len(encoded.dictionary))
        used = np.flatnonzero(counts)
        values, weights = encoded.dictionary.take(pa.array(used)), pa.array(counts[used])
    piece = pa.table([values.cast(pa.large_binary()), weights.cast(pa.int64())], schema=SCHEMA)
    return ValueCounts((piece,))


def merge_counts(parts: Sequence[ValueCounts]) -> ValueCounts:
    """Put partial counts together, in any order; add them up once there are many pieces.

    Only pieces up to twice the size of what is added to them are added up, largest last, so a
    value is moved a logarithmic number of times however many merges there are.
    """
    pieces = sorted((piece for part in parts for piece in part.pieces), key=len)
    if len(pieces) <= MOST_PENDING:
        return ValueCounts(tuple(pieces))
    small = pieces[0]
    rows, taken = len(small), 1
    while taken < len(pieces) and (
        len(pieces[taken]) <= 2 * rows or len(pieces) - taken > MOST_PENDING // 2
    ):
        rows, taken = rows + len(pieces[taken]), taken + 1
    return ValueCounts((_added(pieces[:taken]), *pieces[taken:]))


def _added(pieces: Sequence[pa.Table]) -> pa.Table:
    if not pieces:
        return SCHEMA.empty_table()
    table = pa.concat_tables(pieces).combine_chunks()
    encoded = table[VALUE].combine_chunks().dictionary_encode()
    # Sums of integers in float64 are exact below 2**53.
    sums = np.bincount(
        encoded.indices.to_numpy(), table[COUNT].to_numpy(), minlength=len(encoded.dictionary)
    )
    return pa.table([encoded.dictionary, pa.array(sums.astype(np.int64))], schema=SCHEMA)
