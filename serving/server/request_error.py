"""Why a request is refused: a gRPC status code and a message."""

from __future__ import annotations

import grpc

from features.tensorflow import tf

__all__ = ["RequestError", "refusal_of"]

# Status messages travel in headers, which clients limit to 8 KiB.
MAX_MESSAGE_CHARACTERS = 1500
_GRAPH_PREFIX = "Graph execution error:"
_CODES: dict[int, grpc.StatusCode] = {code.value[0]: code for code in grpc.StatusCode}


class RequestError(Exception):
    """A request that gets no answer.

    Attributes:
        code: The gRPC status code.
        message: What is wrong, for the caller to read.
    """

    def __init__(self, code: grpc.StatusCode, message: str) -> None:
        """Refuse with a code and a message, which is cut to what fits a header."""
        super().__init__(code, message)
        self.code = code
        self.message = message[:MAX_MESSAGE_CHARACTERS]

    def __str__(self) -> str:
        """Return code and message in one line."""
        return f"{self.code.name}: {self.message}"


def refusal_of(error: Exception) -> RequestError:
    """Return the refusal that a fault inside the model amounts to.

    TensorFlow's error codes are those of gRPC; anything else is INTERNAL.
    """
    if isinstance(error, RequestError):
        return error
    if isinstance(error, tf.errors.OpError):
        message = str(error.message).removeprefix(_GRAPH_PREFIX).strip()
        return RequestError(_CODES.get(error.error_code, grpc.StatusCode.UNKNOWN), message)
    return RequestError(grpc.StatusCode.INTERNAL, f"{type(error).__name__}: {error}")
