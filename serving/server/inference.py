"""Predict: from a request to the outputs of a signature."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import grpc
import numpy as np
from numpy.typing import NDArray

from serving.protocol.apis import predict_pb2, types_pb2
from serving.protocol.signature import (
    DEFAULT_SIGNATURE,
    Signature,
    TensorSpec,
    shape_fits,
    shape_text,
)
from serving.protocol.tensors import TensorError, array_of, dtype_name, proto_fields
from serving.server.options import RequestLimits
from serving.server.request_error import RequestError
from serving.server.saved_model import LoadedModel

__all__ = ["check_rows", "check_strings", "find_signature", "predict", "write_model_spec"]

Array = NDArray[Any]


def predict(model: LoadedModel, request: Any, limits: RequestLimits) -> Any:
    """Return the `PredictResponse` to a `PredictRequest`.

    Raises:
        RequestError: The request does not fit the model or the limits.
    """
    signature = find_signature(model, request.model_spec.signature_name)
    _check_keys(signature, request.inputs)
    outputs = _wanted_outputs(signature, request.output_filter)
    feeds = _feeds(signature, request.inputs, limits)
    arrays = model.run(signature, feeds, outputs)
    response = predict_pb2.PredictResponse()
    write_model_spec(response.model_spec, request.model_spec.name, model.version, signature.name)
    for key, array in arrays.items():
        response.outputs[key].CopyFrom(proto_fields(array, signature.outputs[key].dtype))
    return response


def find_signature(model: LoadedModel, name: str) -> Signature:
    """Return a signature by name; `serving_default` where the name is empty.

    Raises:
        RequestError: FAILED_PRECONDITION, there is no such signature.
    """
    name = name or DEFAULT_SIGNATURE
    if name in model.signatures:
        return model.signatures[name]
    raise RequestError(
        grpc.StatusCode.FAILED_PRECONDITION,
        f'Serving signature key "{name}" not found. Signatures of version {model.version}: '
        f"{_names(model.signatures)}.",
    )


def write_model_spec(spec: Any, model_name: str, version: int, signature_name: str = "") -> None:
    """Fill in the `ModelSpec` of an answer: which version answered, and by which signature."""
    spec.name = model_name
    spec.version.value = version
    spec.signature_name = signature_name


def check_rows(rows: int, limits: RequestLimits) -> None:
    """Refuse a batch that is too large.

    Raises:
        RequestError: INVALID_ARGUMENT, there are more rows than the limit.
    """
    if rows > limits.max_batch_rows:
        text = f"a request has at most {limits.max_batch_rows} rows, received {rows}"
        raise _invalid(text)


def check_strings(key: str, strings: Array, limits: RequestLimits) -> None:
    """Refuse strings that are too long.

    Raises:
        RequestError: INVALID_ARGUMENT, one is longer than the limit; names the first.
    """
    lengths = np.fromiter(map(len, strings.ravel()), dtype=np.int64, count=strings.size)
    too_long = np.flatnonzero(lengths > limits.max_string_bytes)
    if too_long.size:
        at = int(too_long[0])
        raise _invalid(
            f"a string of input {key} has at most {limits.max_string_bytes} bytes, received "
            f"{lengths[at]} at element {at}"
        )


def _check_keys(signature: Signature, inputs: Mapping[str, Any]) -> None:
    sent, known = set(inputs), set(signature.inputs)
    extra, missing = sent - known, signature.required - sent
    if not extra and not missing:
        return
    lists = f"Sent extra: {_names(extra)}. Missing but required: {_names(missing)}."
    if len(sent) == len(known):
        wrong = sorted(extra)[0]
        raise _invalid(
            f"input tensor alias not found in signature: {wrong}. "
            f"Inputs expected to be in the set {_names(known)}. {lists}"
        )
    raise _invalid(
        f"input size does not match signature: {len(sent)}!={len(known)} "
        f"len({_names(sent)}) != len({_names(known)}). {lists}"
    )


def _wanted_outputs(signature: Signature, output_filter: Iterable[str]) -> list[str]:
    wanted = list(output_filter)
    for position, key in enumerate(wanted):
        if key not in signature.outputs:
            raise _invalid(
                f"output tensor alias not found in signature: {key} "
                f"Outputs expected to be in the set {_names(signature.outputs)}."
            )
        if key in wanted[:position]:
            raise _invalid(f"duplicate output tensor alias: {key}")
    return wanted or list(signature.outputs)


def _feeds(
    signature: Signature, inputs: Mapping[str, Any], limits: RequestLimits
) -> dict[str, Array]:
    feeds = {}
    for key, spec in signature.inputs.items():
        if key in inputs:
            feeds[key] = _feed(key, spec, inputs[key], limits)
        else:
            feeds[key] = array_of(signature.defaults[key], limits.max_message_bytes)
    return feeds


def _feed(key: str, spec: TensorSpec, proto: Any, limits: RequestLimits) -> Array:
    if proto.dtype != spec.dtype:
        raise _invalid(
            f"input {key} has type {dtype_name(spec.dtype)}, received {dtype_name(proto.dtype)}"
        )
    try:
        array = array_of(proto, limits.max_message_bytes)
    except TensorError as error:
        raise _invalid(f"input {key}: {error}") from error
    if not shape_fits(spec.shape, array.shape):
        raise _invalid(
            f"input {key} has shape {shape_text(spec.shape)}, received {list(array.shape)}"
        )
    if array.ndim:
        check_rows(len(array), limits)
    if spec.dtype == types_pb2.DT_STRING:
        check_strings(key, array, limits)
    return array


def _names(names: Iterable[str]) -> str:
    return "{" + ",".join(sorted(names)) + "}"


def _invalid(message: str) -> RequestError:
    return RequestError(grpc.StatusCode.INVALID_ARGUMENT, message)
