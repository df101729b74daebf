from pathlib import Path
from typing import Any

import grpc
import pytest

from serving.protocol.apis import health_pb2, health_pb2_grpc
from serving.server.embedded import EmbeddedServer
from serving.server.options import ServerOptions
from tests.serving.server.conftest import LOAD_TIMEOUT_S
from tests.serving.server.tiny_model import publish

TIMEOUT_S = 30.0
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


def check(channel: grpc.Channel, service: str) -> Any:
    request = health_pb2.HealthCheckRequest(service=service)
    return health_pb2_grpc.HealthStub(channel).Check(request, timeout=TIMEOUT_S).status


@pytest.mark.parametrize("service", ["", "tiny"])
def test_a_server_with_a_version_is_serving(channel: grpc.Channel, service: str) -> None:
    assert check(channel, service) == SERVING


def test_a_model_that_is_not_there_has_no_health(channel: grpc.Channel) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        check(channel, "other")
    assert caught.value.code() is grpc.StatusCode.NOT_FOUND


def test_health_follows_the_first_version_and_the_stop(tiny_model: Path, tmp_path: Path) -> None:
    options = ServerOptions(base_path=tmp_path, model_name="tiny", poll_interval_s=0.02)
    with EmbeddedServer(options) as server, grpc.insecure_channel(server.target) as channel:
        request = health_pb2.HealthCheckRequest(service="tiny")
        seen = health_pb2_grpc.HealthStub(channel).Watch(request, timeout=LOAD_TIMEOUT_S)
        assert next(seen).status == NOT_SERVING
        publish(tiny_model, tmp_path, 1)
        assert next(seen).status == SERVING
        server.stop(grace_s=0.5)
        assert next(seen).status == NOT_SERVING
