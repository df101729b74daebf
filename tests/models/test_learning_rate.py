import pytest
from hypothesis import given
from hypothesis import strategies as st

from features.config import TrainConfig
from models.learning_rate import Schedule, dense_schedule, scaled_rate, table_schedule


@pytest.mark.parametrize(
    ("rule", "expected"), [("linear", 0.8), ("sqrt", 0.2 * 4**0.5), ("none", 0.2)]
)
def test_the_rate_follows_the_global_batch_by_its_rule(rule: str, expected: float) -> None:
    rate = scaled_rate(0.2, 4096, 1024, rule)  # type: ignore[arg-type]
    assert rate == pytest.approx(expected)


@pytest.mark.parametrize(
    ("step", "expected"),
    [(0, 0.1), (1, 0.2), (2, 0.3), (3, 0.4), (4, 0.4), (1000, 0.4)],
)
def test_warm_up_reaches_the_full_rate_at_its_last_step(step: int, expected: float) -> None:
    schedule = Schedule(0.1, 4096, 1024, "linear", warmup_steps=4)
    assert schedule.rate(step) == pytest.approx(expected)


def test_without_warm_up_the_first_step_has_the_full_rate() -> None:
    assert Schedule(0.1, 64, 64, "linear").rate(0) == 0.1


@given(st.integers(0, 50), st.integers(0, 500))
def test_the_rate_never_falls_nor_exceeds_its_peak(warmup: int, step: int) -> None:
    schedule = Schedule(0.1, 2, 1, "linear", warmup)
    assert 0 < schedule.rate(step) <= schedule.rate(step + 1) <= schedule.peak


def test_accumulated_batches_and_replicas_count_into_the_global_batch() -> None:
    config = TrainConfig(batch_size=100, accumulate=3, learning_rate=0.01, reference_batch=100)
    schedule = dense_schedule(config, replicas=2)
    assert schedule.global_batch == 600
    assert schedule.rate(0) == pytest.approx(0.06)


def test_tables_keep_their_rate_by_default() -> None:
    schedule = table_schedule(TrainConfig(table_learning_rate=0.02), replicas=8)
    assert schedule.rate(0) == 0.02
