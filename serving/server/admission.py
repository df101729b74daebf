"""How many requests are let in, and how many are computed at the same time."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import grpc

from serving.server.request_error import RequestError

__all__ = ["Admission"]


class Admission:
    """Lets a bounded number of requests wait and a smaller number of them run.

    Work beyond what the processors can do only makes every answer later, so requests wait for
    their turn; and a queue without an end only holds requests whose callers have given up.
    """

    def __init__(self, max_concurrent_calls: int, execution_threads: int) -> None:
        """Let in `max_concurrent_calls`, of which `execution_threads` run."""
        self._max_concurrent_calls = max_concurrent_calls
        self._calls = threading.Semaphore(max_concurrent_calls)
        self._turns = threading.Semaphore(execution_threads)

    @contextmanager
    def turn(self, seconds_left: float | None) -> Iterator[None]:
        """Wait for a turn and hold it for as long as the context lasts.

        Args:
            seconds_left: Time to the caller's deadline; None without one.

        Raises:
            RequestError: RESOURCE_EXHAUSTED where too many wait, DEADLINE_EXCEEDED where the turn
                came too late.
        """
        if not self._calls.acquire(blocking=False):
            text = f"the server handles at most {self._max_concurrent_calls} calls at once"
            raise RequestError(grpc.StatusCode.RESOURCE_EXHAUSTED, text)
        try:
            self._wait(seconds_left)
            try:
                yield
            finally:
                self._turns.release()
        finally:
            self._calls.release()

    def _wait(self, seconds_left: float | None) -> None:
        timeout = (
            None if seconds_left is None else min(max(0.0, seconds_left), threading.TIMEOUT_MAX)
        )
        if not self._turns.acquire(timeout=timeout):
            text = "the deadline passed while the request waited for its turn"
            raise RequestError(grpc.StatusCode.DEADLINE_EXCEEDED, text)
