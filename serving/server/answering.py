"""From the outcome of a request to a gRPC answer or status."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import grpc

from serving.server.request_error import RequestError, refusal_of

__all__ = ["answer", "pinned_version", "unimplemented"]

_LOGGER = logging.getLogger(__name__)


def answer(context: grpc.ServicerContext, handle: Callable[[], Any]) -> Any:
    """Return what `handle` returns, or end the call with the status that its error amounts to."""
    try:
        return handle()
    except RequestError as error:
        refusal = error
    except Exception as error:
        # A fault of ours: the caller gets a line, the log the traceback.
        _LOGGER.exception("a request failed")
        refusal = refusal_of(error)
    return context.abort(refusal.code, refusal.message)


def pinned_version(request: Any) -> int | None:
    """Return the version that a request asks for; None for the newest.

    Raises:
        RequestError: INVALID_ARGUMENT, there is no model spec, or it has a version label.
    """
    if not request.HasField("model_spec"):
        raise RequestError(grpc.StatusCode.INVALID_ARGUMENT, "Missing ModelSpec")
    spec = request.model_spec
    if spec.WhichOneof("version_choice") == "version_label":
        text = f"Unrecognized servable version label: {spec.version_label}; give a version number"
        raise RequestError(grpc.StatusCode.INVALID_ARGUMENT, text)
    return int(spec.version.value) if spec.HasField("version") else None


def unimplemented(what: str, instead: str) -> RequestError:
    """Return the refusal of a call that the embedded server does not have."""
    text = f"the embedded server has no {what}: {instead}"
    return RequestError(grpc.StatusCode.UNIMPLEMENTED, text)
