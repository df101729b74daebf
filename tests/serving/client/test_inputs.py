from typing import Any

import numpy as np
import pytest

from features.errors import ServingError
from serving.client.inputs import checked_inputs
from serving.client.rows import rows_of
from serving.protocol.apis import types_pb2
from serving.protocol.signature import Signature, TensorSpec

WHERE = "host:1, model m"


def spec(dtype: int, *shape: int | None) -> TensorSpec:
    return TensorSpec("unused:0", dtype, shape)


SIGNATURE = Signature(
    name="serving_default",
    method="tensorflow/serving/predict",
    inputs={
        "user": spec(types_pb2.DT_STRING, None),
        "price": spec(types_pb2.DT_FLOAT, None),
        "clicks": spec(types_pb2.DT_INT32, None),
        "pair": spec(types_pb2.DT_INT64, None, 2),
    },
    outputs={},
    defaults={"clicks": object(), "pair": object()},
)


def checked(**inputs: Any) -> Any:
    return checked_inputs(SIGNATURE, {"user": ["a"], "price": [1.0], **inputs}, WHERE)


def error(**inputs: Any) -> ServingError:
    with pytest.raises(ServingError) as caught:
        checked(**inputs)
    return caught.value


def test_python_values_become_the_types_of_the_signature() -> None:
    found = checked(price=[1, 2], clicks=[3], pair=[[4, 5]])
    types = {key: array.dtype for key, array in found.items()}
    assert types == {"user": object, "price": np.float32, "clicks": np.int32, "pair": np.int64}


@pytest.mark.parametrize(
    "user", [["é", "b"], np.array(["é", "b"]), np.array(["é", "b"], object), ["é".encode(), b"b"]]
)
def test_strings_may_be_text_or_bytes(user: Any) -> None:
    assert checked(user=user)["user"].tolist() == ["é".encode(), b"b"]


def test_bytes_keep_their_trailing_zeros() -> None:
    assert checked(user=[b"a\0\0"])["user"].tolist() == [b"a\0\0"]


def test_inputs_with_a_default_may_be_missing() -> None:
    assert set(checked()) == {"user", "price"}


def test_missing_inputs_are_named() -> None:
    with pytest.raises(ServingError) as caught:
        checked_inputs(SIGNATURE, {"price": [1.0]}, WHERE)
    assert "missing: ['user']; unknown: []" in str(caught.value.received)
    assert "['price', 'user'], optionally ['clicks', 'pair']" in caught.value.remedy


def test_unknown_inputs_are_named_with_the_nearest() -> None:
    received = str(error(prices=[1.0], foo=[1]).received)
    assert "missing: []; unknown: ['foo', 'prices'] (perhaps prices for price)" in received


@pytest.mark.parametrize(
    ("inputs", "key", "received", "remedy"),
    [
        ({"price": ["1.5"]}, "price", "type <U3", "DT_FLOAT"),
        ({"clicks": [1.5]}, "clicks", "type float64", "DT_INT32"),
        ({"clicks": [1, 1 << 40]}, "clicks", "1099511627776, which does not fit, at row 1", ""),
        ({"price": [0.0, 1e300]}, "price", "1e+300, which does not fit, at row 1", ""),
        ({"user": ["a", 1]}, "user", "1 of type int at row 1", "DT_STRING"),
        ({"user": np.array([1])}, "user", "type int64", "DT_STRING"),
        ({"pair": [[1, 2], [3]]}, "pair", "inhomogeneous shape", "pad"),
        ({"user": np.array(["a", None], object)}, "user", "None of type NoneType at row 1", ""),
        ({"price": 1.0}, "price", "shape []", "[?]"),
        ({"pair": [[1, 2, 3]]}, "pair", "shape [1, 3]", "[?, 2]"),
    ],
)
def test_a_wrong_value_is_named_with_its_input(
    inputs: dict[str, Any], key: str, received: str, remedy: str
) -> None:
    found = error(**inputs)
    assert received in str(found.received)
    assert found.where == f"input {key}, {WHERE}"
    assert remedy in found.remedy


def test_infinity_and_nan_are_numbers_as_they_are() -> None:
    found = checked(price=[np.inf, np.nan])["price"]
    np.testing.assert_array_equal(found, np.array([np.inf, np.nan], np.float32))


def test_one_entry_stands_for_all_rows() -> None:
    rows = rows_of(SIGNATURE, checked(price=[1.0, 2.0, 3.0]), WHERE)
    assert (rows.count, set(rows.split), set(rows.whole)) == (3, {"price"}, {"user"})


def test_different_numbers_of_rows_are_named() -> None:
    with pytest.raises(ServingError) as caught:
        rows_of(SIGNATURE, checked(user=["a", "b"], price=[1.0, 2.0, 3.0]), WHERE)
    assert caught.value.received == "user: 2, price: 3"


def test_no_rows_and_one_row_make_no_rows() -> None:
    assert rows_of(SIGNATURE, checked(user=[], price=[1.0]), WHERE).count == 0
