"""Conversion between `TensorProto` and numpy arrays, quick for the types that CTR models use.

String tensors are object arrays of bytes: numpy's fixed-width bytes lose trailing NULs.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from features.tensorflow import tf
from serving.protocol.apis import tensor_pb2, types_pb2

__all__ = ["TensorError", "array_of", "dtype_name", "numpy_dtype", "proto_content", "proto_fields"]

Array = NDArray[Any]

_INT_FIELD = (
    types_pb2.DT_INT32,
    types_pb2.DT_INT16,
    types_pb2.DT_INT8,
    types_pb2.DT_UINT16,
    types_pb2.DT_UINT8,
)
_FIELD_OF_DTYPE: dict[int, str] = {
    types_pb2.DT_FLOAT: "float_val",
    types_pb2.DT_DOUBLE: "double_val",
    types_pb2.DT_INT64: "int64_val",
    types_pb2.DT_BOOL: "bool_val",
    types_pb2.DT_UINT32: "uint32_val",
    types_pb2.DT_UINT64: "uint64_val",
    **dict.fromkeys(_INT_FIELD, "int_val"),
}
_STRING_POINTER_BYTES = 8


class TensorError(ValueError):
    """A `TensorProto` that does not describe a tensor."""


def dtype_name(dtype: int) -> str:
    """Return the name of a `DataType`.

    >>> dtype_name(1)
    'DT_FLOAT'
    """
    return str(types_pb2.DataType.Name(dtype)) if dtype in types_pb2.DataType.values() else "?"


def numpy_dtype(dtype: int) -> np.dtype[Any]:
    """Return the numpy type of a `DataType`; object for strings.

    Raises:
        TensorError: numpy has no such type (resources, variants).
    """
    try:
        found: np.dtype[Any] = np.dtype(tf.dtypes.as_dtype(dtype).as_numpy_dtype)
    except (TypeError, KeyError) as error:
        raise TensorError(f"tensors of type {dtype_name(dtype)} cannot be sent") from error
    return found


def array_of(proto: Any, max_bytes: int) -> Array:
    """Return the array that a `TensorProto` holds.

    As in TensorFlow, a list of values that is too short is filled up with its last value. The
    size is checked before memory is taken, since a small message can claim a vast shape.

    Args:
        proto: A `TensorProto`.
        max_bytes: Largest array to make.

    Raises:
        TensorError: The shape is unknown, too large or does not fit the values.
    """
    shape = _shape(proto)
    elements = math.prod(shape)
    is_string = proto.dtype == types_pb2.DT_STRING
    item_bytes = _STRING_POINTER_BYTES if is_string else numpy_dtype(proto.dtype).itemsize
    if elements * item_bytes > max_bytes:
        raise TensorError(f"a tensor of shape {list(shape)} is larger than {max_bytes} bytes")
    if is_string:
        return _strings(proto.string_val, elements).reshape(shape)
    if proto.dtype not in _FIELD_OF_DTYPE:
        return _any_array(proto)
    return _numbers(proto, elements).reshape(shape)


def proto_fields(array: Array, dtype: int) -> Any:
    """Return a `TensorProto` with one entry a value, as TensorFlow Serving answers.

    Clients read `float_val` and the like, so an answer never uses `tensor_content`.
    """
    if dtype == types_pb2.DT_STRING:
        return _string_proto(array)
    field = _FIELD_OF_DTYPE.get(dtype)
    if field is None:
        return tf.make_tensor_proto(array, dtype=dtype)
    proto = _empty_proto(array, dtype)
    getattr(proto, field).extend(array.ravel().tolist())
    return proto


def proto_content(array: Array, dtype: int) -> Any:
    """Return a `TensorProto` with the numbers as raw bytes, the quickest form to send."""
    if dtype == types_pb2.DT_STRING:
        return _string_proto(array)
    if dtype not in _FIELD_OF_DTYPE:
        return tf.make_tensor_proto(array, dtype=dtype)
    proto = _empty_proto(array, dtype)
    proto.tensor_content = array.tobytes()
    return proto


def _shape(proto: Any) -> tuple[int, ...]:
    shape = tuple(dim.size for dim in proto.tensor_shape.dim)
    if proto.tensor_shape.unknown_rank or any(size < 0 for size in shape):
        raise TensorError(f"the shape of a tensor that is sent is known, received {list(shape)}")
    return shape


def _strings(values: Any, elements: int) -> Array:
    _check_count(len(values), elements)
    array = np.empty(elements, dtype=object)
    array[: len(values)] = list(values)
    array[len(values) :] = values[-1] if values else b""
    return array


def _numbers(proto: Any, elements: int) -> Array:
    dtype = numpy_dtype(proto.dtype)
    if proto.tensor_content:
        if len(proto.tensor_content) != elements * dtype.itemsize:
            raise TensorError(
                f"tensor_content has {elements * dtype.itemsize} bytes for {elements} values of "
                f"{dtype_name(proto.dtype)}, received {len(proto.tensor_content)}"
            )
        return np.frombuffer(proto.tensor_content, dtype=dtype)
    values = getattr(proto, _FIELD_OF_DTYPE[proto.dtype])
    _check_count(len(values), elements)
    array = np.empty(elements, dtype=dtype)
    try:
        array[: len(values)] = np.fromiter(values, dtype=dtype, count=len(values))
    except OverflowError as error:
        raise TensorError(f"a value does not fit {dtype_name(proto.dtype)}: {error}") from error
    array[len(values) :] = array[len(values) - 1] if values else 0
    return array


def _any_array(proto: Any) -> Array:
    try:
        return np.asarray(tf.make_ndarray(proto))
    except (TypeError, ValueError) as error:
        raise TensorError(f"a tensor of {dtype_name(proto.dtype)} is broken: {error}") from error


def _check_count(count: int, elements: int) -> None:
    if count > elements:
        raise TensorError(f"a tensor of {elements} elements received {count} values")


def _empty_proto(array: Array, dtype: int) -> Any:
    proto = tensor_pb2.TensorProto(dtype=dtype)
    for size in array.shape:
        proto.tensor_shape.dim.add(size=size)
    return proto


def _string_proto(array: Array) -> Any:
    proto = _empty_proto(array, types_pb2.DT_STRING)
    proto.string_val.extend(array.ravel().tolist())
    return proto
