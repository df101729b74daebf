from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from features.kinds import Bucketised
from tests.features.configure import config_of, encoded, some_examples, transform_of


def test_a_boundary_belongs_to_the_bucket_above_it() -> None:
    config = config_of({"kind": "bucketised", "name": "x", "boundaries": [0, 10]})
    transform = transform_of(config, x=[1])
    raw = [None, -1, 0, 9.5, 10, 11, float("inf")]
    assert encoded(transform, x=raw)["sparse"] == [[0], [1], [2], [2], [3], [3], [0]]
    assert transform.spec.tables == {"x": 4}


def test_quantiles_cut_the_training_split_into_equal_parts() -> None:
    config = config_of({"kind": "bucketised", "name": "x", "quantiles": 4})
    transform = transform_of(config, x=list(range(100)))
    ids = [row[0] for row in encoded(transform, x=list(range(100)))["sparse"]]
    assert [ids.count(bucket) for bucket in (1, 2, 3, 4)] == [25, 25, 25, 25]


def test_equal_quantiles_are_merged() -> None:
    config = config_of({"kind": "bucketised", "name": "x", "quantiles": 10})
    transform = transform_of(config, x=[5] * 99 + [7])
    assert transform.artefact.statistics.boundaries["x"] == (5.0,)


def test_a_column_that_is_always_missing_has_one_bucket() -> None:
    config = config_of({"kind": "bucketised", "name": "x", "quantiles": 10})
    transform = transform_of(config, x=[None])
    assert encoded(transform, x=[None, 3])["sparse"] == [[0], [1]]


@some_examples
@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1))
def test_every_bucket_id_has_a_row(values: list[float]) -> None:
    config = config_of({"kind": "bucketised", "name": "x", "quantiles": 8})
    transform = transform_of(config, x=values)
    ids = [row[0] for row in encoded(transform, x=values)["sparse"]]
    assert 1 <= min(ids) <= max(ids) < transform.spec.tables["x"]


@pytest.mark.parametrize(
    "settings", [{}, {"boundaries": [1], "quantiles": 2}, {"boundaries": [2, 1]}]
)
def test_contradictory_cuts_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Bucketised.model_validate({"name": "x", **settings})
