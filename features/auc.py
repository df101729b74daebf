"""The area under the ROC curve, exact and tie-aware.

AUC is the probability that a random positive scores above a random negative, a tie counting one
half (Hanley and McNeil, Radiology 143, 1982: the Mann-Whitney U statistic over `P · N`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from features.errors import DataError

__all__ = ["auc", "auc_of_counts"]


def auc(labels: ArrayLike, scores: ArrayLike, weights: ArrayLike | None = None) -> float | None:
    """Return the exact AUC of `scores` against `labels` in O(n log n).

    Args:
        labels: `(n,)`, positive where above 0.5.
        scores: `(n,)`, any finite or infinite numbers; only their order counts.
        weights: `(n,)`, not negative; a pair weighs the product of its two weights. None is 1.

    Returns:
        The AUC, or None where one class has no weight at all.

    Raises:
        DataError: Lengths differ, a score is NaN or a weight is negative or not finite.

    >>> auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    >>> auc([0, 1], [0.5, 0.5])
    0.5
    >>> auc([1, 1], [0.2, 0.3]) is None
    True
    """
    positive = np.asarray(labels).ravel() > 0.5
    score = np.asarray(scores).ravel()
    weight = np.ones(len(score)) if weights is None else np.asarray(weights, np.float64).ravel()
    _check(positive, score, weight)
    if not len(score):
        return None
    order = np.argsort(score, kind="stable")
    starts = _group_starts(score[order])
    ordered, positive = weight[order], positive[order]
    return auc_of_counts(
        np.add.reduceat(np.where(positive, ordered, 0.0), starts),
        np.add.reduceat(np.where(positive, 0.0, ordered), starts),
    )


def auc_of_counts(positives: ArrayLike, negatives: ArrayLike) -> float | None:
    """Return the AUC of a histogram: `(k,)` weights of each class by ascending distinct score.

    It is as exact as `auc` where every distinct score has its own place.

    >>> auc_of_counts([0, 1, 1], [1, 1, 0])
    0.875
    """
    positive, negative = np.asarray(positives, np.float64), np.asarray(negatives, np.float64)
    all_positive, all_negative = positive.sum(), negative.sum()
    if all_positive == 0 or all_negative == 0:
        return None
    below = np.cumsum(negative) - negative
    # Each factor is scaled first, so that sums of large weights cannot overflow.
    pairs = (positive / all_positive) * ((below + negative / 2) / all_negative)
    return float(pairs.sum())


def _group_starts(ordered: NDArray[np.generic]) -> NDArray[np.intp]:
    return np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))


def _check(
    positive: NDArray[np.bool_], score: NDArray[np.generic], weight: NDArray[np.float64]
) -> None:
    lengths = (len(positive), len(score), len(weight))
    if len(set(lengths)) > 1:
        raise _error("labels, scores and weights have one length", f"lengths {lengths}")
    if np.isnan(score).any():
        raise _error("a score is a number", f"{int(np.isnan(score).sum())} NaN of {len(score)}")
    if not (np.isfinite(weight) & (weight >= 0)).all():
        raise _error("a weight is finite and not negative", f"from {weight.min()}")


def _error(rule: str, received: str) -> DataError:
    return DataError(
        rule,
        received=received,
        where="the AUC of labels and scores",
        remedy="look for diverged training or a damaged weight column",
    )
