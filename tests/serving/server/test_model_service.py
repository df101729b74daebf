from typing import Any

import grpc
import pytest

from serving.protocol.apis import (
    get_model_metadata_pb2,
    get_model_status_pb2,
    model_management_pb2,
    model_service_pb2_grpc,
    prediction_service_pb2_grpc,
)

TIMEOUT_S = 30.0


def status_of(channel: grpc.Channel, name: str = "tiny", version: int | None = None) -> Any:
    request = get_model_status_pb2.GetModelStatusRequest()
    request.model_spec.name = name
    if version is not None:
        request.model_spec.version.value = version
    stub = model_service_pb2_grpc.ModelServiceStub(channel)
    response = stub.GetModelStatus(request, timeout=TIMEOUT_S)
    return {
        status.version: (status.state, status.status.error_code)
        for status in response.model_version_status
    }


def metadata_of(channel: grpc.Channel, fields: list[str], name: str = "tiny") -> Any:
    request = get_model_metadata_pb2.GetModelMetadataRequest(metadata_field=fields)
    request.model_spec.name = name
    stub = prediction_service_pb2_grpc.PredictionServiceStub(channel)
    return stub.GetModelMetadata(request, timeout=TIMEOUT_S)


def test_every_loaded_version_is_available(channel: grpc.Channel) -> None:
    assert status_of(channel) == {3: (30, 0), 7: (30, 0)}


def test_the_status_of_one_version_can_be_asked_for(channel: grpc.Channel) -> None:
    assert status_of(channel, version=3) == {3: (30, 0)}


@pytest.mark.parametrize(
    ("name", "version", "message"),
    [
        ("other", None, "Could not find any versions of model other"),
        ("tiny", 4, "Could not find version 4 of model tiny"),
        ("other", 3, "Could not find version 3 of model other"),
    ],
)
def test_the_status_of_what_is_not_there_is_not_found(
    channel: grpc.Channel, name: str, version: int | None, message: str
) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        status_of(channel, name, version)
    assert (caught.value.code().name, caught.value.details()) == ("NOT_FOUND", message)


def test_a_configuration_to_reload_is_unimplemented(channel: grpc.Channel) -> None:
    stub = model_service_pb2_grpc.ModelServiceStub(channel)
    with pytest.raises(grpc.RpcError) as caught:
        stub.HandleReloadConfigRequest(model_management_pb2.ReloadConfigRequest(), timeout=5)
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED
    assert "finds new versions by itself" in (caught.value.details() or "")


def test_metadata_holds_every_signature_with_its_defaults(channel: grpc.Channel) -> None:
    response = metadata_of(channel, ["signature_def"])
    signatures = get_model_metadata_pb2.SignatureDefMap()
    response.metadata["signature_def"].Unpack(signatures)
    assert response.model_spec.version.value == 7
    assert {"serving_default", "serving_examples", "rank"} <= set(signatures.signature_def)
    default = signatures.signature_def["serving_default"].defaults["context"]
    assert list(default.float_val) == [0.25]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ([], "must specify at least one metadata_field"),
        (["weights"], "Metadata field weights is not supported"),
    ],
)
def test_other_metadata_is_refused(channel: grpc.Channel, fields: list[str], message: str) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        metadata_of(channel, fields)
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert message in (caught.value.details() or "")


def test_metadata_of_an_unknown_model_is_not_found(channel: grpc.Channel) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        metadata_of(channel, ["signature_def"], name="other")
    assert caught.value.code() is grpc.StatusCode.NOT_FOUND
