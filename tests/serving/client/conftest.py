from collections.abc import Iterator
from pathlib import Path

import pytest

from serving.client import PredictionClient
from serving.server.embedded import EmbeddedServer
from serving.server.options import ServerOptions
from tests.serving.server.tiny_model import build_tiny_model, publish

LOAD_TIMEOUT_S = 120.0


@pytest.fixture(scope="session")
def client_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("client_model") / "model"
    build_tiny_model(path)
    return path


@pytest.fixture(scope="session")
def serving(client_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server with versions 3 and 7."""
    base_path = tmp_path_factory.mktemp("called")
    for version in (3, 7):
        publish(client_model, base_path, version)
    with EmbeddedServer(ServerOptions(base_path=base_path, model_name="tiny")) as running:
        assert running.wait_until_settled(LOAD_TIMEOUT_S)
        yield running.target


@pytest.fixture
def client(serving: str) -> Iterator[PredictionClient]:
    with PredictionClient(serving, "tiny", deadline_s=60) as opened:
        yield opened
