"""Waits until a server answers requests for a model."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import grpc

from features.errors import ServingError
from serving.client.caller import Caller
from serving.client.failure import serving_error
from serving.client.status import VersionStatus, available_version, read_status
from serving.protocol.apis import get_model_status_pb2

__all__ = ["wait_until_available"]

_STEP_S = 0.1
_ATTEMPT_DEADLINE_S = 5.0
_NOT_THERE_YET = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)


def wait_until_available(
    caller: Caller,
    get_status: Callable[..., Any],
    model_name: str,
    version: int | None,
    timeout_s: float,
    where: str,
) -> int:
    """Return the version that answers requests as soon as there is one.

    A version that the server has not noticed yet is waited for; a model that it does not know is
    not, nor one whose every version failed to load.

    Raises:
        ServingError: The time is over, the model is unknown, or it cannot be loaded.
    """
    request = get_model_status_pb2.GetModelStatusRequest()
    request.model_spec.name = model_name
    end = time.monotonic() + timeout_s
    while True:
        left_s = end - time.monotonic()
        seen = _look(caller, get_status, request, max(_STEP_S, left_s), where)
        if not isinstance(seen, str):
            found = available_version(seen, version)
            if found is not None:
                return found
            _check_hope(seen, version, where)
        if left_s <= 0:
            raise _too_late(seen, timeout_s, where)
        time.sleep(min(_STEP_S, left_s))


def _look(
    caller: Caller, get_status: Callable[..., Any], request: Any, left_s: float, where: str
) -> list[VersionStatus] | str:
    """Return the versions, or in words why the server does not tell yet."""
    try:
        deadline_s = min(_ATTEMPT_DEADLINE_S, left_s)
        return read_status(caller.attempt(get_status, request, deadline_s))
    except grpc.RpcError as error:
        if not isinstance(error, grpc.Call) or error.code() not in _NOT_THERE_YET:
            raise serving_error(error, "GetModelStatus", where) from error
        return f"{error.code().name}: {error.details()}"


def _check_hope(statuses: Sequence[VersionStatus], version: int | None, where: str) -> None:
    wanted = [status for status in statuses if version in (None, status.version)]
    if wanted and all(status.error for status in wanted):
        raise ServingError(
            "the server loads the model",
            received="; ".join(map(str, wanted)),
            where=where,
            remedy="mend the version as the message says, or export it again",
        )


def _too_late(seen: Sequence[VersionStatus] | str, timeout_s: float, where: str) -> ServingError:
    last = seen if isinstance(seen, str) else "; ".join(map(str, seen))
    return ServingError(
        f"the server answers requests for the model within {timeout_s} s",
        received=last or "no versions",
        where=where,
        remedy="start the server, give the version that it serves, or wait longer",
    )
