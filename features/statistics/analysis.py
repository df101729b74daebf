"""What each feature has to learn from the training split, one clean batch at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from features.config import Config
from features.kinds import Bucketised, MultiValued, Numeric, Vocabulary
from features.raw import raw_columns
from features.statistics.counts import ValueCounts, count_values, merge_counts
from features.statistics.histogram import Histogram, merge_histograms
from features.statistics.learnt import ColumnSummary
from features.statistics.moments import Moments, merge_moments
from features.strings import missing_lookup
from features.tensorflow import tf

__all__ = ["Partial", "analyse", "merge", "merge_all"]

Partial = ColumnSummary | Moments | Histogram | ValueCounts
"""What one or more batches say about one thing; merges in any order to the same result."""


@dataclass(frozen=True)
class _Batch:
    """A clean batch whose columns are converted once."""

    rows: pa.RecordBatch

    def numbers(self, column: str) -> npt.NDArray[np.float32]:
        """Return the finite values of a number column."""
        values = self.rows.column(column).drop_null().to_numpy(zero_copy_only=False)
        numbers: npt.NDArray[np.float32] = values.astype(np.float32)
        return numbers[np.isfinite(numbers)]


def analyse(config: Config, batch: pa.RecordBatch) -> dict[str, Partial]:
    """Return what a clean batch of training rows says, by what it says it about.

    Args:
        config: The configuration.
        batch: Clean rows of the training split.

    Returns:
        Partial results; those of one name merge by `merge`.
    """
    parts: dict[str, list[Partial]] = {}
    for name, partial in _partials(config, _Batch(batch)):
        parts.setdefault(name, []).append(partial)
    return {name: merge(found) for name, found in parts.items()}


def _partials(config: Config, batch: _Batch) -> Iterator[tuple[str, Partial]]:
    rows = batch.rows.num_rows
    for column in raw_columns(config):
        missing = 0 if column.type == "time" else batch.rows.column(column.name).null_count
        yield f"column/{column.name}", ColumnSummary(rows, missing)
    for feature in config.features:
        column_name = getattr(feature, "column", None) or feature.name
        match feature:
            case Numeric(needs_moments=True):
                scaled = np.asarray(feature.scale(tf.constant(batch.numbers(column_name))))
                yield f"moments/{feature.name}", Moments.of(scaled)
            case Bucketised(boundaries=None):
                yield f"histogram/{feature.name}", Histogram.of(batch.numbers(column_name))
            case Vocabulary(file=None):
                yield f"counts/{feature.table_name}", count_values(batch.rows.column(column_name))
            case MultiValued(file=None, buckets=None):
                fields = count_values(batch.rows.column(column_name))
                counts = _count_split(feature, fields, missing_lookup(config.log.missing))
                yield f"counts/{feature.table_name}", counts


def _count_split(feature: MultiValued, fields: ValueCounts, missing: Any) -> ValueCounts:
    """Count the values of a multi-valued column, given how often each whole field occurs."""
    (piece,) = fields.pieces
    distinct = piece["value"].combine_chunks().to_numpy(zero_copy_only=False)
    if not len(distinct):
        return ValueCounts()
    split: Any = feature.split(tf.constant(distinct, tf.string), missing)
    weights = np.repeat(piece["count"].to_numpy(), split.row_lengths().numpy())
    values = pa.array(split.flat_values.numpy(), pa.large_binary())
    return merge_counts([count_values(values, pa.array(weights, pa.int64()))])


def merge(parts: Sequence[Partial]) -> Partial:
    """Merge partial results about one thing."""
    merges: dict[type, Callable[[Any], Partial]] = {
        ColumnSummary: _merge_columns,
        Moments: merge_moments,
        Histogram: merge_histograms,
        ValueCounts: merge_counts,
    }
    return merges[type(parts[0])](parts)


def merge_all(batches: Iterable[Mapping[str, Partial]]) -> dict[str, Partial]:
    """Merge the results of several batches."""
    parts: dict[str, list[Partial]] = {}
    for batch in batches:
        for name, partial in batch.items():
            parts.setdefault(name, []).append(partial)
    return {name: merge(found) for name, found in parts.items()}


def _merge_columns(parts: Sequence[ColumnSummary]) -> ColumnSummary:
    return ColumnSummary(sum(part.rows for part in parts), sum(part.missing for part in parts))
