from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from features.config import SplitConfig
from pipeline.split import SplitPlan, assign, count_times, merge_times, plan_split


def clean_batch(seconds: list[int], users: list[str | None] | None = None) -> pa.RecordBatch:
    columns = {
        "__time__": pa.array(seconds, pa.int64()),
        "__row__": pa.array(range(1, len(seconds) + 1), pa.int64()),
    }
    if users is not None:
        columns["__user__"] = pa.array(users, pa.string())
    return pa.RecordBatch.from_pydict(columns)


@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=200), st.integers(1, 5))
def test_thresholds_do_not_depend_on_how_the_log_is_cut(seconds: list[int], blocks: int) -> None:
    config = SplitConfig()
    whole = plan_split(config, count_times(np.array(seconds)))
    parts = [count_times(np.array(seconds[at::blocks], np.int64)) for at in range(blocks)]
    assert plan_split(config, merge_times(parts[::-1])) == whole


def test_a_hundred_distinct_times_split_exactly() -> None:
    seconds = list(range(1000, 1100))
    plan = plan_split(SplitConfig(), count_times(np.array(seconds)))
    counts = np.bincount(assign(plan, clean_batch(seconds), 0), minlength=3)
    assert counts.tolist() == [80, 10, 10]


def test_rows_of_one_second_lie_in_one_split() -> None:
    seconds = [5] * 50 + [6] * 50
    plan = plan_split(SplitConfig(), count_times(np.array(seconds)))
    splits = assign(plan, clean_batch(seconds), 0)
    assert len({*splits[:50]}) == 1 and len({*splits[50:]}) == 1


def test_dates_are_inclusive_from_their_first_second() -> None:
    config = SplitConfig(eval_from=datetime(2026, 1, 2), test_from=datetime(2026, 1, 3, tzinfo=UTC))
    plan = plan_split(config, count_times(np.array([0])))
    first = int(datetime(2026, 1, 2, tzinfo=UTC).timestamp())
    seconds = [first - 1, first, first + 86_399, first + 86_400]
    assert assign(plan, clean_batch(seconds), 0).tolist() == [0, 1, 1, 2]


def test_a_user_lies_in_one_split_whatever_the_file() -> None:
    users: list[str | None] = [f"u{at % 40}" for at in range(400)]
    plan = SplitPlan(SplitConfig(by="user"))
    batch = clean_batch([0] * 400, users)
    assert assign(plan, batch, 0).tolist() == assign(plan, batch, 7).tolist()
    by_user = {(user, split) for user, split in zip(users, assign(plan, batch, 0), strict=True)}
    assert len(by_user) == 40


@pytest.mark.parametrize("by", ["user", "random"])
def test_hashed_shares_are_close_to_the_fractions(by: str) -> None:
    rows = 20_000
    plan = SplitPlan(SplitConfig.model_validate({"by": by, "fractions": (0.5, 0.3, 0.2)}))
    batch = clean_batch([0] * rows, [f"user {at}" for at in range(rows)])
    shares = np.bincount(assign(plan, batch, 0), minlength=3) / rows
    np.testing.assert_allclose(shares, [0.5, 0.3, 0.2], atol=0.02)
