from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from features.auc import auc, auc_of_counts
from features.errors import DataError

Row = tuple[int, float, float]

rows = st.lists(
    st.tuples(
        st.integers(0, 1),
        st.sampled_from([-np.inf, -1.0, 0.0, 0.25, 0.5, 1.0, np.inf]) | st.floats(0, 1),
        st.sampled_from([0.0, 0.5, 1.0, 3.0]),
    ),
    max_size=40,
)


def by_pairs(examples: list[Row]) -> float | None:
    won = total = 0.0
    for label, score, weight in examples:
        for other_label, other_score, other_weight in examples:
            if label == 1 and other_label == 0:
                total += weight * other_weight
                won += weight * other_weight * ((score > other_score) + (score == other_score) / 2)
    return won / total if total else None


@given(rows)
def test_weighted_auc_is_the_share_of_ordered_pairs(examples: list[Row]) -> None:
    labels, scores, weights = ([row[i] for row in examples] for i in range(3))
    expected = by_pairs(examples)
    received = auc(labels, scores, weights)
    assert received == (None if expected is None else pytest.approx(expected, abs=1e-12))


@given(rows)
def test_auc_without_weights_counts_every_pair_once(examples: list[Row]) -> None:
    expected = by_pairs([(label, score, 1.0) for label, score, _ in examples])
    received = auc([row[0] for row in examples], [row[1] for row in examples])
    assert received == (None if expected is None else pytest.approx(expected, abs=1e-12))


def test_all_scores_equal_is_one_half() -> None:
    assert auc(np.arange(10) % 2, np.full(10, 0.3)) == 0.5


@pytest.mark.parametrize("labels", [[], [0, 0], [1, 1]])
def test_one_class_has_no_auc(labels: list[int]) -> None:
    assert auc(labels, [0.1] * len(labels)) is None


def test_a_histogram_has_the_auc_of_its_rows() -> None:
    generator = np.random.default_rng(0)
    scores = generator.integers(0, 8, 500)
    labels = generator.random(500) < 0.3
    positives, negatives = (np.bincount(scores[labels == c], minlength=8) for c in (True, False))
    assert auc_of_counts(positives, negatives) == pytest.approx(auc(labels, scores), abs=1e-12)


@pytest.mark.parametrize(
    ("labels", "scores", "weights", "part"),
    [
        ([0, 1, 1], [0.1, 0.2], None, "one length"),
        ([0, 1], [0.1, float("nan")], None, "NaN"),
        ([0, 1], [0.1, 0.2], [1.0, -1.0], "not negative"),
        ([0, 1], [0.1, 0.2], [1.0, float("inf")], "finite"),
    ],
)
def test_wrong_input_is_named(
    labels: list[int], scores: list[float], weights: list[float] | None, part: str
) -> None:
    with pytest.raises(DataError, match=part):
        auc(labels, scores, weights)
