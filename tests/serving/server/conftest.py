from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest

from serving.server.embedded import EmbeddedServer
from serving.server.options import ServerOptions
from tests.serving.server.tiny_model import build_tiny_model, publish

LOAD_TIMEOUT_S = 120.0


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tiny_model") / "model"
    build_tiny_model(path)
    return path


@pytest.fixture(scope="session")
def server(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    """Versions 3 and 7, for tests that change nothing."""
    base_path = tmp_path_factory.mktemp("served")
    for version in (3, 7):
        publish(tiny_model, base_path, version)
    options = ServerOptions(base_path=base_path, model_name="tiny", poll_interval_s=0.05)
    with EmbeddedServer(options) as running:
        assert running.wait_until_settled(LOAD_TIMEOUT_S)
        yield running


@pytest.fixture(scope="session")
def channel(server: EmbeddedServer) -> Iterator[grpc.Channel]:
    with grpc.insecure_channel(server.target) as opened:
        yield opened
