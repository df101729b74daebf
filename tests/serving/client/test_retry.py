import random
from typing import Any

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from features.errors import ServingError
from serving.client import RetryPolicy

NOT_WORTH_IT = [
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.FAILED_PRECONDITION,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.INTERNAL,
]


@given(st.integers(1, 12), st.integers())
def test_the_waits_end_and_stay_within_their_bounds(attempts: int, seed: int) -> None:
    policy = RetryPolicy(attempts=attempts, first_wait_s=0.1, multiplier=2, max_wait_s=1)
    waits = list(policy.waits_s(random.Random(seed)))
    whole = [min(1, 0.1 * 2**attempt) for attempt in range(attempts - 1)]
    assert len(waits) == attempts - 1
    assert all(0.5 * most <= wait <= most for most, wait in zip(whole, waits, strict=True))


def test_the_default_outlasts_a_server_that_starts_5_seconds_later() -> None:
    assert sum(RetryPolicy().waits_s(random.Random(0))) >= 5


def test_a_server_that_is_not_there_is_tried_again() -> None:
    assert RetryPolicy().is_worth_another(grpc.StatusCode.UNAVAILABLE, "connection refused")


@pytest.mark.parametrize("code", NOT_WORTH_IT)
def test_a_real_error_is_not_tried_again(code: grpc.StatusCode) -> None:
    assert not RetryPolicy().is_worth_another(code, "")


def test_too_many_calls_are_tried_again_by_option() -> None:
    policy = RetryPolicy(retry_exhausted=True)
    assert policy.is_worth_another(grpc.StatusCode.RESOURCE_EXHAUSTED, "at most 8 calls at once")


def test_too_large_a_message_is_never_tried_again() -> None:
    policy = RetryPolicy(retry_exhausted=True)
    details = "SERVER: Received message larger than max (5242880 vs. 4194304)"
    assert not policy.is_worth_another(grpc.StatusCode.RESOURCE_EXHAUSTED, details)


@pytest.mark.parametrize("setting", [{"attempts": 0}, {"first_wait_s": -1}, {"multiplier": 0.5}])
def test_a_policy_that_makes_no_sense_is_refused(setting: dict[str, Any]) -> None:
    with pytest.raises(ServingError):
        RetryPolicy(**setting)
