import re
from typing import Any

import grpc
import numpy as np
import pytest

from features.tensorflow import tf
from serving.protocol.apis import prediction_service_pb2_grpc, types_pb2
from tests.serving.server.tiny_model import predict_request, probability

TIMEOUT_S = 30.0
USER = [b"ann", b"bo"]
PRICE = np.array([0.5, -4.0], np.float32)


@pytest.fixture
def stub(channel: grpc.Channel) -> Any:
    return prediction_service_pb2_grpc.PredictionServiceStub(channel)


def refusal(stub: Any, request: Any) -> tuple[str, str]:
    with pytest.raises(grpc.RpcError) as caught:
        stub.Predict(request, timeout=TIMEOUT_S)
    return caught.value.code().name, caught.value.details() or ""


def scores(response: Any) -> Any:
    return tf.make_ndarray(response.outputs["probability"])


def test_the_answer_is_the_model_s(stub: Any) -> None:
    response = stub.Predict(predict_request(user=USER, price=PRICE), timeout=TIMEOUT_S)
    np.testing.assert_allclose(scores(response), probability(USER, PRICE), rtol=1e-6)


def test_an_answer_has_one_field_entry_a_value_as_clients_expect(stub: Any) -> None:
    response = stub.Predict(predict_request(user=USER, price=PRICE), timeout=TIMEOUT_S)
    assert len(response.outputs["probability"].float_val) == 2


def test_the_answer_names_model_version_and_signature(stub: Any) -> None:
    spec = stub.Predict(predict_request(user=USER, price=PRICE), timeout=TIMEOUT_S).model_spec
    assert (spec.name, spec.version.value, spec.signature_name) == ("tiny", 7, "serving_default")


def test_a_default_can_be_overridden(stub: Any) -> None:
    context = np.array([1.0, 2.0], np.float32)
    request = predict_request(user=USER, price=PRICE, context=context)
    expected = probability(USER, PRICE + context, 0.0)
    np.testing.assert_allclose(scores(stub.Predict(request, timeout=TIMEOUT_S)), expected, 1e-6)


def test_numbers_may_come_as_raw_content_or_as_values(stub: Any) -> None:
    request = predict_request(user=USER, price=PRICE)
    values = predict_request(user=USER)
    price = values.inputs["price"]
    price.dtype = types_pb2.DT_FLOAT
    price.tensor_shape.dim.add(size=2)
    price.float_val.extend(PRICE.tolist())
    answers = [scores(stub.Predict(sent, timeout=TIMEOUT_S)) for sent in (request, values)]
    np.testing.assert_array_equal(*answers)


def test_a_pinned_version_answers(stub: Any) -> None:
    request = predict_request(version=3, user=USER, price=PRICE)
    assert stub.Predict(request, timeout=TIMEOUT_S).model_spec.version.value == 3


def test_an_output_filter_leaves_the_rest_away(stub: Any) -> None:
    request = predict_request(user=USER, price=PRICE)
    request.output_filter.append("user_bytes")
    assert list(stub.Predict(request, timeout=TIMEOUT_S).outputs) == ["user_bytes"]


def test_strings_come_back_with_every_byte(stub: Any) -> None:
    user = [b"a\0", b"\xff\0\0", b""]
    request = predict_request(user=user, price=np.zeros(3, np.float32))
    answer = stub.Predict(request, timeout=TIMEOUT_S)
    assert list(answer.outputs["user"].string_val) == user


def test_no_rows_get_no_scores(stub: Any) -> None:
    request = predict_request(user=np.array([], object), price=np.array([], np.float32))
    request.inputs["user"].dtype = types_pb2.DT_STRING
    assert scores(stub.Predict(request, timeout=TIMEOUT_S)).shape == (0,)


def test_another_signature_has_other_inputs(stub: Any) -> None:
    request = predict_request(signature="rank", user=[b"ann"], price=PRICE)
    expected = probability([b"ann"] * 2, PRICE)
    np.testing.assert_allclose(scores(stub.Predict(request, timeout=TIMEOUT_S)), expected, 1e-6)


@pytest.mark.parametrize("signature", ["__saved_model_init_op", "predict", "../serving_default"])
def test_an_unknown_signature_is_a_failed_precondition(stub: Any, signature: str) -> None:
    code, details = refusal(stub, predict_request(signature=signature, user=USER, price=PRICE))
    assert code == "FAILED_PRECONDITION"
    assert f'Serving signature key "{signature}" not found.' in details
    assert "{classify,rank,regress,serving_default,serving_examples,slow}" in details


@pytest.mark.parametrize("name", ["tinny", "", "../tiny", "tiny/7", "/etc"])
def test_an_unknown_model_is_not_found(stub: Any, name: str) -> None:
    answer = refusal(stub, predict_request(name=name, user=USER, price=PRICE))
    assert answer == ("NOT_FOUND", f"Servable not found for request: Latest({name})")


@pytest.mark.parametrize("version", [1, 0, -1, 2**63 - 1])
def test_an_unknown_version_is_not_found(stub: Any, version: int) -> None:
    answer = refusal(stub, predict_request(version=version, user=USER, price=PRICE))
    assert answer == ("NOT_FOUND", f"Servable not found for request: Specific(tiny, {version})")


def test_a_version_label_is_refused(stub: Any) -> None:
    request = predict_request(user=USER, price=PRICE)
    request.model_spec.version_label = "stable"
    code, details = refusal(stub, request)
    assert code == "INVALID_ARGUMENT"
    assert "Unrecognized servable version label: stable" in details


def test_a_request_without_a_model_spec_is_refused(stub: Any) -> None:
    request = predict_request(user=USER, price=PRICE)
    request.ClearField("model_spec")
    assert refusal(stub, request) == ("INVALID_ARGUMENT", "Missing ModelSpec")


def test_a_missing_input_is_named_beside_the_lists(stub: Any) -> None:
    assert refusal(stub, predict_request(user=USER)) == (
        "INVALID_ARGUMENT",
        "input size does not match signature: 1!=3 len({user}) != len({context,price,user}). "
        "Sent extra: {}. Missing but required: {price}.",
    )


def test_an_extra_input_is_named_beside_the_lists(stub: Any) -> None:
    context = np.zeros(1, np.float32)
    request = predict_request(user=USER, price=PRICE, context=context, foo=[1])
    code, details = refusal(stub, request)
    assert code == "INVALID_ARGUMENT"
    assert "len({context,foo,price,user}) != len({context,price,user})" in details
    assert "Sent extra: {foo}. Missing but required: {}." in details


def test_a_renamed_input_is_both_extra_and_missing(stub: Any) -> None:
    context = np.zeros(1, np.float32)
    code, details = refusal(stub, predict_request(users=USER, price=PRICE, context=context))
    assert code == "INVALID_ARGUMENT"
    assert "input tensor alias not found in signature: users." in details
    assert "Sent extra: {users}. Missing but required: {user}." in details


@pytest.mark.parametrize(
    ("price", "message"),
    [
        (np.array([1, 2], np.int64), "input price has type DT_FLOAT, received DT_INT64"),
        (np.array([b"1", b"2"], object), "input price has type DT_FLOAT, received DT_STRING"),
        (np.float32(1), "input price has shape [?], received []"),
        (np.zeros((2, 1), np.float32), "input price has shape [?], received [2, 1]"),
        (np.zeros(3, np.float32), "Incompatible shapes: ["),
    ],
)
def test_a_wrong_type_or_shape_is_refused(stub: Any, price: Any, message: str) -> None:
    code, details = refusal(stub, predict_request(user=USER, price=price))
    assert (code, message in details) == ("INVALID_ARGUMENT", True), details


def test_a_tensor_that_lies_about_its_size_is_refused(stub: Any) -> None:
    request = predict_request(user=USER, price=PRICE)
    request.inputs["price"].tensor_shape.dim[0].size = 1 << 40
    code, details = refusal(stub, request)
    assert code == "INVALID_ARGUMENT"
    assert re.match(r"input price: a tensor of shape \[1099511627776\] is larger than", details)


def test_an_unknown_output_is_refused(stub: Any) -> None:
    request = predict_request(user=USER, price=PRICE)
    request.output_filter.append("score")
    code, details = refusal(stub, request)
    assert code == "INVALID_ARGUMENT"
    assert "score Outputs expected to be in the set {probability,user,user_bytes}." in details


def test_an_output_that_is_asked_for_twice_is_refused(stub: Any) -> None:
    request = predict_request(user=USER, price=PRICE)
    request.output_filter.extend(["user", "user"])
    assert refusal(stub, request) == ("INVALID_ARGUMENT", "duplicate output tensor alias: user")


def test_multi_inference_is_unimplemented(stub: Any) -> None:
    from serving.protocol.apis import inference_pb2

    with pytest.raises(grpc.RpcError) as caught:
        stub.MultiInference(inference_pb2.MultiInferenceRequest(), timeout=TIMEOUT_S)
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED
    assert "call Classify and Regress" in (caught.value.details() or "")
