"""Checks the inputs of a call against the signature, before anything is sent."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from features.errors import ServingError
from serving.protocol.apis import types_pb2
from serving.protocol.signature import Signature, TensorSpec, shape_fits, shape_text
from serving.protocol.tensors import dtype_name, numpy_dtype

__all__ = ["checked_inputs"]

Array = NDArray[Any]


def checked_inputs(signature: Signature, inputs: Mapping[str, Any], where: str) -> dict[str, Array]:
    """Return the inputs as arrays of the types that the signature asks for.

    Numbers are converted within their kind and from integer to float, where no value is lost to
    overflow. Strings are encoded as UTF-8.

    Args:
        signature: What the server says that it takes.
        inputs: Arrays or sequences by key; inputs with a default may be missing.
        where: Server, model and signature, for the error.

    Raises:
        ServingError: A key is missing or unknown, or a type or shape is wrong.
    """
    _check_keys(signature, inputs, where)
    return {
        key: _checked(key, signature.inputs[key], value, where) for key, value in inputs.items()
    }


def _check_keys(signature: Signature, inputs: Mapping[str, Any], where: str) -> None:
    unknown = sorted(set(inputs) - set(signature.inputs))
    missing = sorted(signature.required - set(inputs))
    if not unknown and not missing:
        return
    optional = sorted(signature.defaults)
    raise ServingError(
        "a request has every input of the signature that has no default, and no other",
        received=f"missing: {missing}; unknown: {unknown}{_nearest(unknown, signature)}",
        where=where,
        remedy=f"send {sorted(signature.required)}" + (f", optionally {optional}" * bool(optional)),
    )


def _nearest(unknown: list[str], signature: Signature) -> str:
    found = {key: difflib.get_close_matches(key, signature.inputs, n=1) for key in unknown}
    meant = [f"{key} for {near[0]}" for key, near in found.items() if near]
    return f" (perhaps {', '.join(meant)})" if meant else ""


def _checked(key: str, spec: TensorSpec, value: Any, where: str) -> Array:
    where = f"input {key}, {where}"
    array = (
        _strings(value, where)
        if spec.dtype == types_pb2.DT_STRING
        else _numbers(value, spec, where)
    )
    if not shape_fits(spec.shape, array.shape):
        raise ServingError(
            "an input has the shape of the signature",
            received=f"shape {list(array.shape)}",
            where=where,
            remedy=f"send shape {shape_text(spec.shape)}",
        )
    return array


def _strings(value: Any, where: str) -> Array:
    # Left to itself numpy makes fixed-width strings, which lose trailing NULs, and turns numbers
    # beside strings into strings.
    array = value if isinstance(value, np.ndarray) else _array(value, where, object)
    if array.dtype.kind not in "OSUT":
        raise _wrong_type("DT_STRING", f"type {array.dtype}", where)
    encoded = np.empty(array.size, dtype=object)
    encoded[:] = [_encoded(item, index, where) for index, item in enumerate(array.ravel().tolist())]
    return encoded.reshape(array.shape)


def _array(value: Any, where: str, dtype: type | None = None) -> Array:
    try:
        return np.asarray(value, dtype=dtype)
    except ValueError as error:
        raise ServingError(
            "every entry of an input has the same shape",
            received=str(error),
            where=where,
            remedy="pad the entries to one length",
        ) from error


def _encoded(item: Any, index: int, where: str) -> bytes:
    if isinstance(item, bytes):
        return item
    if isinstance(item, str):
        return item.encode()
    raise _wrong_type("DT_STRING", f"{item!r} of type {type(item).__name__} at row {index}", where)


def _numbers(value: Any, spec: TensorSpec, where: str) -> Array:
    array, wanted = _array(value, where), numpy_dtype(spec.dtype)
    if array.size == 0 and not isinstance(value, np.ndarray):
        # An empty list has no type of its own.
        return array.astype(wanted)
    if array.dtype == wanted:
        return array
    if not np.can_cast(array.dtype, wanted, casting="same_kind"):
        raise _wrong_type(dtype_name(spec.dtype), f"type {array.dtype}", where)
    with np.errstate(over="ignore"):
        converted = array.astype(wanted)
    lost = _overflown(array, converted)
    if lost.any():
        at = int(np.flatnonzero(lost.ravel())[0])
        raise _wrong_type(
            dtype_name(spec.dtype), f"{array.ravel()[at]}, which does not fit, at row {at}", where
        )
    return converted


def _overflown(array: Array, converted: Array) -> Array:
    if converted.dtype.kind == "f":
        return np.asarray(np.isinf(converted) & ~np.isinf(array))
    return np.asarray(converted.astype(array.dtype) != array)


def _wrong_type(wanted: str, received: str, where: str) -> ServingError:
    return ServingError(
        "an input has the type of the signature",
        received=received,
        where=where,
        remedy=f"send {wanted}",
    )
