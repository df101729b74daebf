"""Embedding tables of one width, fused into one variable: one gather, one sparse gradient."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from features.spec import MultiInput, SparseInput
from features.tensorflow import tf

__all__ = ["FusedEmbedding", "FusedLayout"]


@dataclass(frozen=True)
class FusedLayout:
    """Where each feature's rows lie in the fused variable; the last row stands for padding.

    Padding has a row of its own, so that the row of id 0, which may be shared with a
    single-valued feature, is neither read nor updated for a value that is not there.

    Attributes:
        single: Column in `sparse` and first row of each single-valued feature.
        multi: Position in `multi`, first row and combiner of each multi-valued feature.
        rows: Rows of all tables, padding excluded.
    """

    single: tuple[tuple[int, int], ...]
    multi: tuple[tuple[int, int, str], ...]
    rows: int

    @classmethod
    def of(
        cls, sparse: Sequence[SparseInput], multi: Sequence[MultiInput], uses: Sequence[str]
    ) -> FusedLayout:
        """Lay out the tables of the features that `uses` names, each table once.

        >>> a, b = (SparseInput(n, 5, "shared", "both") for n in "ab")
        >>> FusedLayout.of([a, b, SparseInput("c", 3, "c", "deep")], [], ("both", "deep"))
        FusedLayout(single=((0, 0), (1, 0), (2, 5)), multi=(), rows=8)
        """
        first: dict[str, int] = {}
        rows = 0
        for feature in (*sparse, *multi):
            if feature.use in uses and feature.table not in first:
                first[feature.table] = rows
                rows += feature.rows
        return cls(
            tuple((at, first[f.table]) for at, f in enumerate(sparse) if f.use in uses),
            tuple((at, first[f.table], f.combiner) for at, f in enumerate(multi) if f.use in uses),
            rows,
        )

    @property
    def fields(self) -> int:
        """Number of vectors an example has, F + M."""
        return len(self.single) + len(self.multi)

    @property
    def padding_row(self) -> int:
        """Row that ids of padding look up."""
        return self.rows

    def ids(self, sparse: Any, multi: Any) -> Any:
        """Return the row of each id: `(B, F + M·L) int64`."""
        parts = []
        if self.single:
            columns, first = np.array(self.single, np.int64).T
            parts.append(tf.gather(sparse, columns, axis=1) + first)
        if self.multi:
            at = [place for place, _, _ in self.multi]
            rows = np.array([row for _, row, _ in self.multi], np.int64)[:, np.newaxis]
            chosen = tf.gather(multi, at, axis=1)
            shifted = tf.where(chosen > 0, chosen + rows, np.int64(self.padding_row))
            parts.append(tf.reshape(shifted, (-1, len(at) * multi.shape[2])))
        return tf.concat(parts, axis=1)


class FusedEmbedding(tf.keras.layers.Layer):  # type: ignore[misc]
    """Looks up the features of a layout and pools the multi-valued ones.

    Args:
        layout: Where each table lies.
        width: Embedding width D.
        initializer: Initialiser of the fused variable.
        name: Name of the layer.
    """

    def __init__(self, layout: FusedLayout, width: int, initializer: Any, name: str) -> None:
        """Keep the layout."""
        super().__init__(name=name)
        self.layout, self.width, self.initializer = layout, width, initializer

    def build(self, input_shape: Any) -> None:
        """Create the fused variable `(rows + 1, D) float32`."""
        self.table = self.add_weight(
            name="table",
            shape=(self.layout.rows + 1, self.width),
            dtype=tf.float32,
            initializer=self.initializer,
        )
        super().build(input_shape)

    def call(self, inputs: dict[str, Any]) -> tuple[Any, Any]:
        """Look up `sparse (B, F) int64` and `multi (B, M, L) int64`, as far as present.

        Returns:
            `(B, F + M, D) float32`, the vectors, and `(B,) float32`, the sum of squares of the
            rows that each example looked up.
        """
        sparse, multi = inputs.get("sparse"), inputs.get("multi")
        rows = tf.nn.embedding_lookup(self.table, self.layout.ids(sparse, multi))
        singles = len(self.layout.single)
        single = rows[:, :singles]
        if not self.layout.multi:
            return single, tf.reduce_sum(tf.square(single), axis=(1, 2))
        mask = self._mask(multi)
        several = tf.reshape(rows[:, singles:], (-1, *mask.shape[1:3], self.width))
        several *= mask
        pooled = tf.reduce_sum(several, axis=2) * self._scale(mask)
        squares = tf.reduce_sum(tf.square(single), axis=(1, 2))
        squares += tf.reduce_sum(tf.square(several), axis=(1, 2, 3))
        return tf.concat([single, pooled], axis=1), squares

    def _mask(self, multi: Any) -> Any:
        places = [place for place, _, _ in self.layout.multi]
        return tf.cast(tf.gather(multi, places, axis=1) > 0, tf.float32)[..., tf.newaxis]

    def _scale(self, mask: Any) -> Any:
        """Return `(B, M, 1) float32`: 1, 1/n or 1/sqrt(n), by each feature's combiner."""
        exponent = [_EXPONENT[combiner] for _, _, combiner in self.layout.multi]
        count = tf.maximum(tf.reduce_sum(mask, axis=2), 1.0)
        return tf.pow(count, -tf.constant(exponent, tf.float32)[:, tf.newaxis])


_EXPONENT = {"sum": 0.0, "sqrtn": 0.5, "mean": 1.0}
