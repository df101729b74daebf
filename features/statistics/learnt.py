"""What was learnt from the training split, in the form in which it is stored and used."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["ColumnSummary", "NumberSummary", "Statistics", "VocabularyTable"]


@dataclass(frozen=True)
class NumberSummary:
    """Moments of a numeric feature, after clipping and log-scaling.

    Attributes:
        count: Number of values that are not missing.
        mean: Their mean; 0 without any.
        std: Their population standard deviation; 0 without any.
        minimum: Lowest value.
        maximum: Highest value.
    """

    count: int
    mean: float
    std: float
    minimum: float
    maximum: float


@dataclass(frozen=True)
class ColumnSummary:
    """How complete a raw column is.

    Attributes:
        rows: Rows of the training split.
        missing: Rows in which it is missing.
    """

    rows: int
    missing: int


@dataclass(frozen=True)
class VocabularyTable:
    """The values of a table that have ids of their own, in the order of their ids.

    Attributes:
        values: The values, UTF-8, `large_binary`.
        distinct: Distinct values that were counted; the size of the file for a given vocabulary.
        occurrences: Occurrences of all of them.
        kept_occurrences: Occurrences of those that have ids.
        unrepresentable: Occurrences of values that a text file cannot hold, since they have line
            breaks inside; they are out of vocabulary.
    """

    values: pa.LargeBinaryArray
    distinct: int
    occurrences: int
    kept_occurrences: int
    unrepresentable: int = 0

    def text(self) -> bytes:
        """Return the vocabulary file: one value a line."""
        empty, line_break = (pa.scalar(text, pa.large_binary()) for text in (b"", b"\n"))
        lines = pc.binary_join_element_wise(self.values, empty, line_break)
        first, last = lines.offset, lines.offset + len(lines)
        offsets = np.frombuffer(lines.buffers()[1], np.int64)
        return bytes(memoryview(lines.buffers()[2] or b"")[offsets[first] : offsets[last]])

    @property
    def sha256(self) -> str:
        """Checksum of the vocabulary file."""
        return hashlib.sha256(self.text()).hexdigest()


@dataclass(frozen=True)
class Statistics:
    """All that the transformation knows beyond its configuration.

    Attributes:
        columns: Completeness by raw column.
        numbers: Moments by feature.
        boundaries: Quantile boundaries by feature, ascending.
        vocabularies: Vocabularies by table.
    """

    columns: dict[str, ColumnSummary] = field(default_factory=dict)
    numbers: dict[str, NumberSummary] = field(default_factory=dict)
    boundaries: dict[str, tuple[float, ...]] = field(default_factory=dict)
    vocabularies: dict[str, VocabularyTable] = field(default_factory=dict)
