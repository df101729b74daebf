"""From a gRPC status to an error that a person can act on."""

from __future__ import annotations

from typing import Any

import grpc

from features.errors import ServingError

__all__ = ["serving_error", "status_code"]

_REMEDIES = {
    grpc.StatusCode.UNAVAILABLE: "start the server, or wait until it has loaded the model",
    grpc.StatusCode.DEADLINE_EXCEEDED: "give a longer deadline or send fewer rows a request",
    grpc.StatusCode.NOT_FOUND: "give the model name and a version that the server has",
    grpc.StatusCode.FAILED_PRECONDITION: "give a signature that the model has",
    grpc.StatusCode.INVALID_ARGUMENT: "correct the inputs as the message says",
    grpc.StatusCode.RESOURCE_EXHAUSTED: "send smaller requests, or raise the server's limit",
    grpc.StatusCode.UNIMPLEMENTED: "give the address of a server with TensorFlow Serving's API",
}


def status_code(error: ServingError) -> grpc.StatusCode | None:
    """Return the status code that a server gave; None for an error that was found before."""
    cause = error.__cause__
    return cause.code() if isinstance(cause, grpc.Call) else None


def serving_error(error: Any, call: str, where: str, attempts: int = 1) -> ServingError:
    """Return the error to raise from an `RpcError` with a status.

    Args:
        error: The `RpcError`.
        call: Name of the call that failed.
        where: Server, model, version and signature.
        attempts: How often the call was made.
    """
    code = error.code()
    tried = f" (after {attempts} attempts)" if attempts > 1 else ""
    return ServingError(
        f"the server answers {call}",
        received=f"{code.name}: {error.details()}{tried}",
        where=where,
        remedy=_REMEDIES.get(code, "see the log of the server"),
    )
