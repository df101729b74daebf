from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from features.kinds import Numeric
from tests.features.configure import config_of, encoded, some_examples, transform_of

FLOATS = st.floats(width=32, allow_nan=True, allow_infinity=True)


def _dense(settings: dict[str, Any], train: list[float | None], raw: list[Any]) -> list[Any]:
    transform = transform_of(config_of({"kind": "numeric", "name": "x", **settings}), x=train)
    dense: list[Any] = encoded(transform, x=raw)["dense"]
    return dense


def test_a_number_is_standardised_by_the_training_split() -> None:
    assert _dense({}, [1, 3], [1, 3, 5]) == [[-1], [1], [3]]


def test_a_missing_number_is_the_mean_which_standardises_to_zero() -> None:
    assert _dense({}, [1, 3, None], [None, math.inf, -math.inf]) == [[0], [0], [0]]


def test_a_configured_fill_value_is_clipped_and_standardised_like_any_other() -> None:
    assert _dense({"missing": 9.0, "clip": [0, 3]}, [1, 3], [None, 9]) == [[1], [1]]


def test_an_indicator_is_the_next_dense_input() -> None:
    dense = _dense({"indicator": True, "standardise": False}, [2, 4], [None, 7])
    assert dense == [[3, 1], [7, 0]]


def test_negative_criteo_integers_are_log_scaled_by_sign() -> None:
    dense = _dense({"log1p": True, "standardise": False, "missing": 0.0}, [1], [-1, -3, None, 3])
    expected: list[list[float]] = [[-math.log(2)], [-math.log(4)], [0], [math.log(4)]]
    assert np.allclose(dense, expected, rtol=1e-6)


def test_clipping_comes_before_the_logarithm() -> None:
    settings = {"log1p": True, "standardise": False, "clip": [-1, 1]}
    assert np.allclose(_dense(settings, [1], [100, -100]), [[math.log(2)], [-math.log(2)]])


def test_a_column_without_spread_standardises_to_zero() -> None:
    assert _dense({}, [7, 7, 7], [7, 8, None]) == [[0], [0], [0]]


def test_a_column_that_is_always_missing_is_zero() -> None:
    assert _dense({}, [None, None], [5, None]) == [[0], [0]]


@some_examples
@pytest.mark.parametrize("standardise", [True, False])
@given(
    train=st.lists(FLOATS, min_size=1, max_size=5),
    values=st.lists(FLOATS, min_size=1, max_size=5),
    log1p=st.booleans(),
)
def test_every_number_encodes_to_a_finite_float16(
    standardise: bool, train: list[float], values: list[float], log1p: bool
) -> None:
    dense = _dense({"standardise": standardise, "log1p": log1p}, list(train), values)
    assert np.isfinite(np.array(dense).astype(np.float16)).all()


def test_a_clip_that_is_upside_down_is_refused() -> None:
    with pytest.raises(ValidationError, match="lowest below highest"):
        Numeric(name="x", clip=(1, 0))
