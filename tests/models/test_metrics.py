import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from features.auc import auc
from models.metrics import Predictions, compute_metrics, grouped_auc

ROWS = st.lists(
    st.tuples(
        st.integers(0, 1), st.integers(-3, 3), st.sampled_from([0.5, 1.0, 2.0]), st.integers(0, 3)
    ),
    min_size=1,
    max_size=40,
)


def predictions(label: list[int], logit: list[float]) -> Predictions:
    return Predictions(np.array(logit), np.array(label, np.float32), np.ones(len(label)))


@settings(max_examples=60, deadline=None)
@given(ROWS)
def test_grouped_auc_is_the_mean_of_each_groups_auc(
    rows: list[tuple[int, int, float, int]],
) -> None:
    label, score, weight, group = (np.array(column) for column in zip(*rows, strict=True))
    total, mass = 0.0, 0.0
    for one in np.unique(group):
        at = group == one
        own = auc(label[at], score[at], weight[at])
        if own is not None:
            total, mass = total + own * weight[at].sum(), mass + weight[at].sum()
    found = grouped_auc(label, score.astype(float), weight, group)
    assert (found is None) == (mass == 0)
    if found is not None:
        np.testing.assert_allclose(found, total / mass, rtol=1e-9)


def test_metrics_of_four_rows_are_those_worked_out_by_hand() -> None:
    metrics = compute_metrics(predictions([1, 0, 1, 0], [0, 0, 0, 0]), prior=0.5)
    assert metrics["auc"] == 0.5
    assert metrics["logloss"] == pytest.approx(np.log(2))
    assert metrics["normalised_entropy"] == pytest.approx(1)
    assert metrics["calibration"] == pytest.approx(1)
    assert metrics["examples"] == 4


def test_one_class_leaves_auc_undefined_with_its_reason_and_logloss_defined() -> None:
    metrics = compute_metrics(predictions([0, 0], [0.0, 1.0]), prior=0.1)
    assert metrics["auc"] is None
    assert metrics["auc_undefined"] == "one class only"
    assert metrics["calibration_undefined"] == "no positive labels"
    assert isinstance(metrics["logloss"], float)


def test_an_empty_split_has_no_metric_but_its_count() -> None:
    metrics = compute_metrics(predictions([], []), prior=0.1)
    assert metrics["logloss"] is None
    assert metrics["logloss_undefined"] == "no examples"
    assert metrics["examples"] == 0


def test_metrics_stay_finite_at_extreme_logits() -> None:
    metrics = compute_metrics(predictions([0, 1], [1e4, -1e4]), prior=0.5)
    assert metrics["logloss"] == 1e4
    assert metrics["auc"] == 0.0
