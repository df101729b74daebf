import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from features.tensorflow import tf
from serving.protocol.apis import tensor_pb2, types_pb2
from serving.protocol.tensors import TensorError, array_of, proto_content, proto_fields

LIMIT = 1 << 20
NUMBERS = [
    np.float32,
    np.float64,
    np.int8,
    np.int16,
    np.int32,
    np.int64,
    np.uint8,
    np.uint16,
    np.uint32,
    np.uint64,
    np.bool_,
    np.float16,
    np.complex64,
]


def arrays() -> st.SearchStrategy[NDArray[Any]]:
    shapes = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
    return st.sampled_from(NUMBERS).flatmap(lambda dtype: hnp.arrays(dtype, shapes))


def dtype_of(array: NDArray[Any]) -> int:
    return int(tf.dtypes.as_dtype(array.dtype).as_datatype_enum)


def string_proto(values: list[bytes], shape: list[int]) -> Any:
    proto = tensor_pb2.TensorProto(dtype=types_pb2.DT_STRING, string_val=values)
    for size in shape:
        proto.tensor_shape.dim.add(size=size)
    return proto


@given(arrays())
def test_numbers_come_back_from_fields_as_they_were(array: NDArray[Any]) -> None:
    np.testing.assert_array_equal(array_of(proto_fields(array, dtype_of(array)), LIMIT), array)


@given(arrays())
def test_numbers_come_back_from_content_as_they_were(array: NDArray[Any]) -> None:
    np.testing.assert_array_equal(array_of(proto_content(array, dtype_of(array)), LIMIT), array)


@given(arrays())
def test_tensorflow_reads_what_is_written(array: NDArray[Any]) -> None:
    for write in (proto_fields, proto_content):
        np.testing.assert_array_equal(tf.make_ndarray(write(array, dtype_of(array))), array)


@given(arrays())
def test_what_tensorflow_writes_is_read(array: NDArray[Any]) -> None:
    np.testing.assert_array_equal(array_of(tf.make_tensor_proto(array), LIMIT), array)


@given(st.lists(st.binary(max_size=8)))
def test_strings_keep_every_byte(values: list[bytes]) -> None:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    assert array_of(proto_fields(array, types_pb2.DT_STRING), LIMIT).tolist() == values


def test_a_short_list_of_values_is_filled_up_with_its_last() -> None:
    proto = tensor_pb2.TensorProto(dtype=types_pb2.DT_FLOAT, float_val=[1, 2])
    proto.tensor_shape.dim.add(size=4)
    assert array_of(proto, LIMIT).tolist() == tf.make_ndarray(proto).tolist() == [1, 2, 2, 2]


def test_a_short_list_of_strings_is_filled_up_with_its_last() -> None:
    assert array_of(string_proto([b"a", b"b"], [3]), LIMIT).tolist() == [b"a", b"b", b"b"]


@pytest.mark.parametrize(
    ("proto", "message"),
    [
        (string_proto([], [1 << 40]), "is larger than"),
        (string_proto([], [1 << 40, 1 << 40, 1 << 40]), "is larger than"),
        (string_proto([b"a"], [-1]), "is known, received [-1]"),
        (string_proto([b"a", b"b"], [1]), "1 elements received 2 values"),
    ],
)
def test_a_shape_that_cannot_be_is_refused(proto: Any, message: str) -> None:
    with pytest.raises(TensorError, match=re.escape(message)):
        array_of(proto, LIMIT)


def test_content_of_another_length_is_refused() -> None:
    proto = tensor_pb2.TensorProto(dtype=types_pb2.DT_FLOAT, tensor_content=b"\0" * 7)
    proto.tensor_shape.dim.add(size=2)
    with pytest.raises(TensorError, match="8 bytes for 2 values of DT_FLOAT, received 7"):
        array_of(proto, LIMIT)


def test_a_value_beyond_its_type_is_refused() -> None:
    proto = tensor_pb2.TensorProto(dtype=types_pb2.DT_INT8, int_val=[300])
    proto.tensor_shape.dim.add(size=1)
    with pytest.raises(TensorError, match="does not fit DT_INT8"):
        array_of(proto, LIMIT)


def test_a_type_that_cannot_be_sent_is_refused() -> None:
    with pytest.raises(TensorError, match="DT_INVALID"):
        array_of(tensor_pb2.TensorProto(dtype=types_pb2.DT_INVALID), LIMIT)
