"""Interactions of fields without weights of their own."""

from __future__ import annotations

from typing import Any

from features.tensorflow import tf

__all__ = ["pairwise_interactions"]


def pairwise_interactions(vectors: Any) -> Any:
    """Return the sum over all pairs of fields of their inner products, `(B,)`.

    Linear in the number of fields by the identity of Rendle (Factorization Machines, ICDM 2010,
    lemma 3.1): half of the square of the sum less the sum of the squares, summed over D.

    Args:
        vectors: `(B, F, D) float32`.
    """
    square_of_sum = tf.square(tf.reduce_sum(vectors, axis=1))
    sum_of_squares = tf.reduce_sum(tf.square(vectors), axis=1)
    return 0.5 * tf.reduce_sum(square_of_sum - sum_of_squares, axis=1)
