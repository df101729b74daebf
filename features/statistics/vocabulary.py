"""Makes a vocabulary out of counts, or out of a given file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from features.errors import DataError
from features.kinds import MultiValued, Vocabulary
from features.statistics.counts import ValueCounts, count_values
from features.statistics.learnt import VocabularyTable
from features.strings import canonical, normalised
from features.tensorflow import tf

__all__ = ["counted_vocabulary", "given_vocabulary"]

CHUNK = 1 << 18
"""Strings given to TensorFlow at a time, which bounds the memory of their conversion."""


def counted_vocabulary(
    feature: Vocabulary | MultiValued, counts: ValueCounts, missing: Any
) -> VocabularyTable:
    """Keep the frequent values, by descending count and then by value.

    Values are normalised here, once for each distinct one, by the function that encodes.

    Raises:
        DataError: No value is frequent enough.
    """
    total = _canonical_counts(feature, counts, missing)
    storable = pc.invert(pc.match_substring_regex(total["value"], pattern="[\n\r]"))
    frequent = pc.greater_equal(total["count"], feature.min_count)
    kept = total.filter(pc.and_(storable, frequent)).slice(0, feature.max_size)
    if not len(kept):
        raise _no_entries(feature, len(total))
    return VocabularyTable(
        values=kept["value"].combine_chunks(),
        distinct=len(total),
        occurrences=_sum(total),
        kept_occurrences=_sum(kept),
        unrepresentable=_sum(total.filter(pc.invert(storable))),
    )


def _canonical_counts(
    feature: Vocabulary | MultiValued, counts: ValueCounts, missing: Any
) -> pa.Table:
    total = counts.total()
    if isinstance(feature, Vocabulary):
        chunks = [total.slice(start, CHUNK) for start in range(0, len(total), CHUNK)]
        canonical_values = pa.chunked_array(
            [_canonical_chunk(feature, chunk, missing) for chunk in chunks], pa.large_binary()
        )
        # Where no value changed, which is usual, there is nothing to add up and to sort again.
        if not canonical_values.equals(total["value"]):
            values = canonical_values.combine_chunks()
            total = count_values(values, total["count"].combine_chunks()).total()
    return total.filter(pc.not_equal(total["value"], pa.scalar(b"", pa.large_binary())))


def _canonical_chunk(feature: Vocabulary, chunk: pa.Table, missing: Any) -> pa.Array:
    values = tf.constant(chunk["value"].to_numpy(), tf.string)
    return pa.array(canonical(values, missing, feature.normalise).numpy(), pa.large_binary())


def _sum(table: pa.Table) -> int:
    return int(np.sum(table["count"].to_numpy()))


def _no_entries(feature: Vocabulary | MultiValued, distinct: int) -> DataError:
    return DataError(
        "a vocabulary has at least one value",
        received=f"{distinct} distinct values in the training split, none of which occurs "
        f"{feature.min_count} times",
        where=f"feature {feature.name!r}",
        remedy="lower min_count, use a hash, or remove the feature",
    )


def given_vocabulary(feature: Vocabulary | MultiValued) -> VocabularyTable:
    r"""Read a vocabulary from a file: one value a line, blank lines and line ends aside.

    Raises:
        DataError: The file cannot be read, has no values, or has one twice after normalisation.
    """
    lines = _read_lines(feature)
    raw = tf.constant([line for _, line in lines], tf.string)
    values: list[bytes] = normalised(raw, feature.normalise).numpy().tolist() if lines else []
    first: dict[bytes, int] = {}
    for (number, _), value in zip(lines, values, strict=True):
        if value and first.setdefault(value, number) != number:
            raise DataError(
                "a vocabulary file has each value once, after normalisation",
                received=f"{value.decode()!r} in lines {first[value]} and {number}",
                where=str(feature.file),
                remedy=f"remove one of the lines, or change normalise={feature.normalise!r}",
            )
    if not first:
        raise DataError(
            "a vocabulary file has at least one value",
            received="no line that is not blank",
            where=str(feature.file),
            remedy="give one value a line, or remove `file` to count values",
        )
    return VocabularyTable(pa.array(first, pa.large_binary()), len(first), 0, 0)


def _read_lines(feature: Vocabulary | MultiValued) -> list[tuple[int, str]]:
    path = Path(str(feature.file))
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(
            "a vocabulary file can be read as UTF-8",
            received=str(error),
            where=f"feature {feature.name!r}, {path}",
            remedy="mend the path or the encoding",
        ) from error
    lines = enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), start=1)
    return [(number, line) for number, line in lines if line.strip()]
