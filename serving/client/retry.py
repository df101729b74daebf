"""When a call is tried again, and after how long."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

import grpc

from features.errors import ServingError

__all__ = ["RetryPolicy"]

# gRPC's own words for a message over a limit: trying again cannot help.
_TOO_LARGE = "larger than max"


@dataclass(frozen=True)
class RetryPolicy:
    """Exponential back-off with jitter, and an end.

    Only UNAVAILABLE is tried again: the server is not there yet, restarts, or still loads the
    model. A wrong request stays wrong, and a deadline that passed has been paid for already.
    The defaults wait between 5 and 11 seconds in all.

    Attributes:
        attempts: How often a call is made at most.
        first_wait_s: Seconds before the second attempt, before jitter.
        multiplier: By how much each wait is longer than the one before.
        max_wait_s: Longest wait, before jitter.
        retry_exhausted: Whether to try again where the server handles too many calls.
    """

    attempts: int = 10
    first_wait_s: float = 0.1
    multiplier: float = 2.0
    max_wait_s: float = 2.0
    retry_exhausted: bool = False

    def __post_init__(self) -> None:
        """Check that the waits grow and the attempts end."""
        if self.attempts < 1 or self.first_wait_s < 0 or self.multiplier < 1 or self.max_wait_s < 0:
            raise ServingError(
                "a retry policy has at least one attempt, no negative wait and a multiplier from 1",
                received=self,
                where="retries of the gRPC client",
                remedy="correct the value",
            )

    def waits_s(self, source: random.Random) -> Iterator[float]:
        """Yield the seconds to wait before each further attempt.

        Each is between half and the whole of the exponential wait, so that clients that failed
        together do not come back together.

        >>> policy = RetryPolicy(attempts=4, first_wait_s=1, max_wait_s=3)
        >>> [0.5 * w <= wait <= w for w, wait in zip([1, 2, 3], policy.waits_s(random.Random(1)))]
        [True, True, True]
        """
        for attempt in range(self.attempts - 1):
            wait_s = min(self.max_wait_s, self.first_wait_s * self.multiplier**attempt)
            yield wait_s * source.uniform(0.5, 1)

    def is_worth_another(self, code: grpc.StatusCode, details: str) -> bool:
        """Return whether a call that ended with `code` may succeed when it is made again.

        >>> RetryPolicy().is_worth_another(grpc.StatusCode.UNAVAILABLE, "")
        True
        >>> RetryPolicy().is_worth_another(grpc.StatusCode.INVALID_ARGUMENT, "")
        False
        """
        if code is grpc.StatusCode.RESOURCE_EXHAUSTED:
            return self.retry_exhausted and _TOO_LARGE not in details
        return code is grpc.StatusCode.UNAVAILABLE
