from typing import Any

import grpc
import numpy as np
import pytest

from serving.protocol.apis import (
    classification_pb2,
    prediction_service_pb2_grpc,
    regression_pb2,
)
from tests.serving.server.tiny_model import example, probability

TIMEOUT_S = 30.0
PRICES = np.array([0.5, -4.0], np.float32)


@pytest.fixture
def stub(channel: grpc.Channel) -> Any:
    return prediction_service_pb2_grpc.PredictionServiceStub(channel)


def filled(request: Any, signature: str = "", examples: list[Any] | None = None) -> Any:
    request.model_spec.name = "tiny"
    request.model_spec.signature_name = signature
    made = [example(price) for price in PRICES] if examples is None else examples
    request.input.example_list.examples.extend(made)
    return request


def regressions(stub: Any, request: Any) -> list[float]:
    response = stub.Regress(request, timeout=TIMEOUT_S)
    return [regression.value for regression in response.result.regressions]


def classes(stub: Any, request: Any) -> list[list[tuple[str, float]]]:
    response = stub.Classify(request, timeout=TIMEOUT_S)
    return [
        [(found.label, found.score) for found in classification.classes]
        for classification in response.result.classifications
    ]


def refusal(call: Any, request: Any) -> tuple[str, str]:
    with pytest.raises(grpc.RpcError) as caught:
        call(request, timeout=TIMEOUT_S)
    return caught.value.code().name, caught.value.details() or ""


def test_regress_gives_the_probability_of_each_example(stub: Any) -> None:
    found = regressions(stub, filled(regression_pb2.RegressionRequest()))
    np.testing.assert_allclose(found, probability([b"", b""], PRICES), rtol=1e-6)


def test_regress_runs_a_regress_signature(stub: Any) -> None:
    request = filled(regression_pb2.RegressionRequest(), "regress")
    assert regressions(stub, request) == [1.0, -8.0]


def test_regress_names_version_and_signature(stub: Any) -> None:
    request = filled(regression_pb2.RegressionRequest())
    spec = stub.Regress(request, timeout=TIMEOUT_S).model_spec
    assert (spec.version.value, spec.signature_name) == (7, "serving_examples")


def test_classify_gives_both_classes_of_a_probability(stub: Any) -> None:
    found = classes(stub, filled(classification_pb2.ClassificationRequest()))
    expected = probability([b"", b""], PRICES)
    assert [[label for label, _ in row] for row in found] == [["0", "1"]] * 2
    np.testing.assert_allclose([row[1][1] for row in found], expected, rtol=1e-6)
    np.testing.assert_allclose([row[0][1] for row in found], 1 - expected, rtol=1e-6)


def test_classify_runs_a_classify_signature(stub: Any) -> None:
    request = filled(classification_pb2.ClassificationRequest(), "classify")
    assert classes(stub, request) == [
        [("low", -0.5), ("high", 0.5)],
        [("low", 4.0), ("high", -4.0)],
    ]


def test_a_context_counts_for_every_example_that_does_not_replace_it(stub: Any) -> None:
    request = filled(regression_pb2.RegressionRequest(), examples=[])
    with_context = request.input.example_list_with_context
    with_context.context.CopyFrom(example(0.5, user=b"abcd"))
    with_context.examples.add()
    with_context.examples.add().CopyFrom(example(-4.0))
    expected = probability([b"abcd", b"abcd"], PRICES)
    np.testing.assert_allclose(regressions(stub, request), expected, rtol=1e-6)


def test_an_empty_input_is_refused(stub: Any) -> None:
    request = filled(regression_pb2.RegressionRequest(), examples=[])
    assert refusal(stub.Regress, request) == (
        "INVALID_ARGUMENT",
        "RegressionRequest::input is empty.",
    )


def test_an_unknown_signature_is_refused(stub: Any) -> None:
    code, details = refusal(stub.Classify, filled(classification_pb2.ClassificationRequest(), "no"))
    assert code == "INVALID_ARGUMENT"
    assert "No signature was found with the name: no" in details


def test_a_signature_of_raw_columns_is_refused(stub: Any) -> None:
    request = filled(regression_pb2.RegressionRequest(), "serving_default")
    code, details = refusal(stub.Regress, request)
    assert code == "INVALID_ARGUMENT"
    assert "tensorflow/serving/regress" in details
    assert "{context,price,user}" in details


def test_an_example_without_a_required_feature_is_refused(stub: Any) -> None:
    empty = example(0.0)
    empty.Clear()
    request = filled(regression_pb2.RegressionRequest(), examples=[empty])
    code, details = refusal(stub.Regress, request)
    assert code == "INVALID_ARGUMENT"
    assert "price" in details


def test_an_unknown_model_is_not_found(stub: Any) -> None:
    request = filled(regression_pb2.RegressionRequest())
    request.model_spec.name = "other"
    assert refusal(stub.Regress, request)[0] == "NOT_FOUND"
