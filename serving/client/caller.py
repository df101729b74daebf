"""One channel to a server: deadlines, limits and retries of every call."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

import grpc

from features.errors import ServingError
from serving.client.failure import serving_error
from serving.client.retry import RetryPolicy

__all__ = ["Caller"]

# gRPC waits up to two minutes between its own attempts to connect, longer than a caller would.
_FIRST_RECONNECT_MS = 100
_MAX_RECONNECT_MS = 1000


class Caller:
    """Makes calls over one channel, each with a deadline."""

    def __init__(
        self, target: str, deadline_s: float, retries: RetryPolicy, max_message_bytes: int
    ) -> None:
        """Open a channel; the connection is made by the first call.

        Args:
            target: `host:port`.
            deadline_s: Seconds that each attempt of a call may take.
            retries: When to try again.
            max_message_bytes: Largest message, sent or received.
        """
        self.target = target
        self._deadline_s = deadline_s
        self._retries = retries
        self._random = random.Random()
        self.channel = grpc.insecure_channel(target, options=_channel_options(max_message_bytes))

    def close(self) -> None:
        """Close the channel."""
        self.channel.close()

    def call(self, method: Callable[..., Any], request: Any, name: str, where: str) -> Any:
        """Make a call and return its answer, with as many attempts as the policy allows.

        Args:
            method: A method of a stub.
            request: Its message.
            name: Name of the call, for the error.
            where: Server, model, version and signature, for the error.

        Raises:
            ServingError: The server refuses, cannot be reached, or takes too long. Its cause is
                the `grpc.RpcError` with the status code.
        """
        waits_s = self._retries.waits_s(self._random)
        for attempt in range(1, self._retries.attempts + 1):
            try:
                return self.attempt(method, request)
            except grpc.RpcError as error:
                wait_s = next(waits_s, None)
                if wait_s is None or not self._is_worth_another(error):
                    raise serving_error(error, name, where, attempt) from error
                time.sleep(wait_s)
        raise AssertionError("the last attempt returns or raises")

    def attempt(
        self, method: Callable[..., Any], request: Any, deadline_s: float | None = None
    ) -> Any:
        """Make a call once.

        Raises:
            grpc.RpcError: It failed.
        """
        return method(request, timeout=self._deadline_s if deadline_s is None else deadline_s)

    def _is_worth_another(self, error: Any) -> bool:
        return self._retries.is_worth_another(error.code(), error.details() or "")


def check_positive(name: str, value: float) -> None:
    """Check a setting of the client.

    Raises:
        ServingError: It is not above 0.
    """
    if not value > 0:
        raise ServingError(
            f"{name} is above 0",
            received=value,
            where="options of the gRPC client",
            remedy=f"give a larger {name}",
        )


def _channel_options(max_message_bytes: int) -> list[tuple[str, int]]:
    return [
        ("grpc.max_send_message_length", max_message_bytes),
        ("grpc.max_receive_message_length", max_message_bytes),
        ("grpc.initial_reconnect_backoff_ms", _FIRST_RECONNECT_MS),
        ("grpc.min_reconnect_backoff_ms", _FIRST_RECONNECT_MS),
        ("grpc.max_reconnect_backoff_ms", _MAX_RECONNECT_MS),
    ]
