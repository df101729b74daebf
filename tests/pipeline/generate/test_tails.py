from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.generate.hexadecimal import hex_text, mix64
from pipeline.generate.tails import run_starts, zipf_ranks


@given(st.lists(st.integers(1, 5), min_size=1, max_size=30), st.data())
def test_runs_cover_the_rows_one_after_the_other(lengths: list[int], data: st.DataObject) -> None:
    rows = data.draw(st.integers(1, sum(lengths)))
    slow = [run for run, length in enumerate(lengths) for _ in range(length)][:rows]
    starts, run_of_row = run_starts(np.array(lengths), rows)
    assert run_of_row.tolist() == slow
    assert starts.tolist() == [slow.index(run) for run in sorted(set(slow))]


@given(st.integers(1, 10**7), st.sampled_from([0.0, 0.5, 1.0, 1.3]))
def test_ranks_stay_in_range(size: int, exponent: float) -> None:
    ranks = zipf_ranks(np.array([0.0, 0.5, np.nextafter(1.0, 0.0)]), size, exponent)
    assert ranks[0] == 0 and ranks.max() < size


@pytest.mark.parametrize("exponent", [0.7, 1.0])
def test_frequencies_fall_by_the_power_law(exponent: float) -> None:
    ranks = zipf_ranks(np.arange(1_000_000) / 1_000_000, 1000, exponent)
    counts = np.bincount(ranks, minlength=1000)
    assert counts[10] / counts[100] == pytest.approx((101.5 / 11.5) ** exponent, rel=0.05)


@given(st.lists(st.tuples(st.integers(0, 2**64 - 1), st.booleans()), min_size=1))
def test_hexadecimal_text_is_what_python_writes(values: list[tuple[int, bool]]) -> None:
    numbers = np.array([value for value, _ in values], np.uint64)
    present = np.array([there for _, there in values])
    expected = [f"{value:016x}".encode() if there else b"" for value, there in values]
    assert hex_text(numbers, present).to_pylist() == expected


def test_mixing_never_collides() -> None:
    assert len(np.unique(mix64(np.arange(100_000)))) == 100_000
