from __future__ import annotations

import math
import pickle
import random
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from features.artefact import Artefact
from features.statistics import analyse, finish, merge_all
from features.statistics.counts import ValueCounts, count_values, merge_counts
from features.statistics.histogram import Histogram, merge_histograms
from features.statistics.moments import Moments, merge_moments
from tests.features.configure import batch_of, config_of, some_examples

FINITE = st.floats(width=32, allow_nan=False, allow_infinity=False)
PARTS = st.lists(st.lists(FINITE, max_size=6), max_size=5)


def _numbers(values: list[float]) -> Any:
    return np.array(values, np.float32)


@some_examples
@given(PARTS, st.randoms())
def test_moments_are_exact_in_any_order(parts: list[list[float]], order: random.Random) -> None:
    values = [Fraction(value) for part in parts for value in part]
    order.shuffle(parts)
    merged = merge_moments([Moments.of(_numbers(part)) for part in parts])
    assert Fraction(merged.total, 2**149) == sum(values)
    assert Fraction(merged.squares, 2**298) == sum(value * value for value in values)
    assert merged.count == len(values)


def test_moments_are_those_of_the_definition() -> None:
    values = np.random.default_rng(0).normal(1e6, 1.0, 1000).astype(np.float32)
    summary = Moments.of(values).summary()
    assert math.isclose(summary.mean, values.astype(np.float64).mean(), rel_tol=1e-14)
    assert math.isclose(summary.std, values.astype(np.float64).std(), rel_tol=1e-6)
    assert (summary.minimum, summary.maximum) == (values.min(), values.max())


@some_examples
@given(PARTS, st.randoms())
def test_histograms_merge_in_any_order(parts: list[list[float]], order: random.Random) -> None:
    whole = Histogram.of(_numbers([value for part in parts for value in part]))
    order.shuffle(parts)
    merged = merge_histograms([Histogram.of(_numbers(part)) for part in parts])
    assert merged.boundaries(7) == whole.boundaries(7)


@some_examples
@given(st.lists(st.floats(width=32, min_value=2.0**-100, max_value=2.0**100), min_size=1))
def test_quantiles_have_the_stated_relative_error(values: list[float]) -> None:
    ordered = np.sort(_numbers(values)).astype(np.float64)
    exact = np.unique([ordered[len(ordered) * k // 4] for k in (1, 2, 3)])
    for boundary in Histogram.of(_numbers(values)).boundaries(4):
        assert np.min(np.abs(exact - boundary) / exact) <= 2.0**-8


@some_examples
@given(st.lists(st.integers(-511, 511), min_size=1))
def test_quantiles_of_small_integers_are_exact(values: list[int]) -> None:
    ordered = sorted(values)
    exact = sorted({float(ordered[len(ordered) * k // 5]) for k in range(1, 5)})
    assert list(Histogram.of(_numbers([float(v) for v in values])).boundaries(5)) == exact


@some_examples
@given(st.lists(st.lists(st.sampled_from(["", "a", "b", "ä", None]), max_size=4), max_size=60))
def test_counts_are_those_of_a_counter_by_count_and_then_by_value(
    parts: list[list[str | None]],
) -> None:
    merged = ValueCounts()
    for part in parts:
        merged = merge_counts([merged, count_values(pa.array(part, pa.string()))])
    counter = Counter(value.encode() for part in parts for value in part if value is not None)
    expected = sorted(counter.items(), key=lambda item: (-item[1], item[0]))
    total = merged.total().to_pydict()
    assert list(zip(total["value"], total["count"], strict=True)) == expected


def test_counts_never_hold_many_pieces() -> None:
    merged = ValueCounts()
    for at in range(200):
        merged = merge_counts([merged, count_values(pa.array([f"{at}", "same"]))])
        assert len(merged.pieces) <= 16
    assert merged.total()["count"][0].as_py() == 200


CONFIG = config_of(
    {"kind": "numeric", "name": "x", "log1p": True},
    {"kind": "bucketised", "name": "q", "column": "x", "quantiles": 4},
    {"kind": "vocabulary", "name": "c", "normalise": "strip_lower"},
    {"kind": "multi", "name": "g", "max_length": 2},
)
ROWS = st.lists(
    st.tuples(
        st.none() | st.floats(width=32),
        st.none() | st.text(max_size=4),
        st.none() | st.text(alphabet="ab| ", max_size=6),
    ),
    max_size=20,
)
ALWAYS = (1.0, "always", "always")


def _fingerprint(parts: list[list[tuple[Any, ...]]]) -> str:
    batches = []
    for part in parts:
        x, c, g = ([row[at] for row in part] for at in range(3))
        batches.append(batch_of(CONFIG, x=x, c=c, g=g))
    partials = merge_all(pickle.loads(pickle.dumps(analyse(CONFIG, batch))) for batch in batches)
    return Artefact.of(CONFIG, finish(CONFIG, partials)).fingerprint


@some_examples
@given(ROWS, st.randoms(), st.integers(1, 4))
def test_shuffled_rows_in_other_batches_give_the_same_fingerprint(
    rows: list[tuple[Any, ...]], order: random.Random, parts: int
) -> None:
    rows.append(ALWAYS)
    whole = _fingerprint([rows])
    order.shuffle(rows)
    assert _fingerprint([rows[at::parts] for at in range(parts)]) == whole
