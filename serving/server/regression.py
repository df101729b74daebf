"""Regress: one number an example."""

from __future__ import annotations

from typing import Any

import grpc
import numpy as np
from numpy.typing import NDArray

from serving.protocol.apis import regression_pb2, types_pb2
from serving.protocol.signature import REGRESS_METHOD, Signature
from serving.server.example_input import (
    find_example_signature,
    run_on_examples,
    serialised_examples,
)
from serving.server.inference import write_model_spec
from serving.server.options import RequestLimits
from serving.server.request_error import RequestError
from serving.server.saved_model import LoadedModel

__all__ = ["one_score_per_example", "regress", "score_output"]


def regress(model: LoadedModel, request: Any, limits: RequestLimits) -> Any:
    """Return the `RegressionResponse` to a `RegressionRequest`.

    The value of an example is the signature's only float output.

    Raises:
        RequestError: The request does not fit the model or the limits.
    """
    signature = find_example_signature(model, request.model_spec.signature_name, REGRESS_METHOD)
    output = score_output(signature)
    examples = serialised_examples(request.input, "RegressionRequest", limits)
    arrays = run_on_examples(model, signature, examples, [output])
    scores = one_score_per_example(arrays[output], len(examples))
    response = regression_pb2.RegressionResponse()
    write_model_spec(response.model_spec, request.model_spec.name, model.version, signature.name)
    for value in scores.tolist():
        response.result.regressions.add(value=value)
    return response


def score_output(signature: Signature) -> str:
    """Return the key of the signature's only float output.

    Raises:
        RequestError: INVALID_ARGUMENT, there is none or more than one.
    """
    floats = [key for key, spec in signature.outputs.items() if spec.dtype == types_pb2.DT_FLOAT]
    if len(floats) != 1:
        raise RequestError(
            grpc.StatusCode.INVALID_ARGUMENT,
            f"Expected one output Tensor of DT_FLOAT in signature {signature.name}, "
            f"found {len(floats)}: {{{','.join(sorted(signature.outputs))}}}.",
        )
    return floats[0]


def one_score_per_example(scores: NDArray[Any], examples: int) -> NDArray[np.float32]:
    """Return scores as `(B,) float32`.

    Raises:
        RequestError: INVALID_ARGUMENT, they are neither `(B,)` nor `(B, 1)`.
    """
    if scores.shape not in ((examples,), (examples, 1)):
        raise RequestError(
            grpc.StatusCode.INVALID_ARGUMENT,
            f"Expected output Tensor shape to be either [{examples}] or [{examples}, 1] "
            f"but got {list(scores.shape)}",
        )
    return scores.reshape(examples).astype(np.float32, copy=False)
