import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from features.errors import DataError, ServingError
from serving.backends import (
    Backend,
    choose_backend,
    docker_command,
    docker_version,
    find_backend,
    running,
)
from serving.client import PredictionClient
from serving.export import release_model
from serving.golden import GOLDEN_FILE, read_golden
from serving.predict import predict_file
from serving.server.embedded import EmbeddedServer
from serving.server.options import ServerOptions
from serving.signatures import SIGNATURES
from serving.verify import check, verify, write_verification
from tests.serving.tiny import COLUMNS, TinyTransform, golden_rows, tiny_config, tiny_model


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("run")
    transform = TinyTransform(place / "items.txt")
    release_model(place / "tiny", tiny_config(), transform, tiny_model(), golden_rows(), {})
    return place / "tiny"


@pytest.fixture(scope="module")
def backend(directory: Path) -> Iterator[Backend]:
    with EmbeddedServer(ServerOptions(base_path=directory, model_name="tiny")) as server:
        assert server.wait_until_available(timeout_s=120)
        yield Backend("embedded", "the embedded server", "test", server.target)


def test_served_scores_are_the_trained_ones(backend: Backend, directory: Path) -> None:
    outcome = verify(backend, directory / "1", "tiny", COLUMNS, allowed=1e-5)
    assert outcome.passed
    assert tuple(one.signature for one in outcome.differences) == SIGNATURES
    assert outcome.rows == 40


def test_the_embedded_server_is_never_called_tensorflow_serving(
    backend: Backend, directory: Path, tmp_path: Path
) -> None:
    outcome = verify(backend, directory / "1", "tiny", COLUMNS, allowed=1e-5)
    write_verification(outcome, tmp_path / "verify.json")
    written = json.loads((tmp_path / "verify.json").read_text())
    assert written["server"] == "the embedded server" in outcome.line()
    assert "TensorFlow Serving" not in json.dumps(written) + outcome.line()


def test_a_difference_names_row_signature_and_both_scores(
    backend: Backend, directory: Path, tmp_path: Path
) -> None:
    version = tmp_path / "1"
    shutil.copytree(directory / "1", version)
    lines = (version / GOLDEN_FILE).read_text().splitlines()
    changed = json.loads(lines[6])
    served, changed["probability"] = changed["probability"], 0.125
    lines[6] = json.dumps(changed)
    (version / GOLDEN_FILE).write_text("\n".join(lines) + "\n")

    outcome = verify(backend, version, "tiny", COLUMNS, allowed=1e-5)
    assert not outcome.passed
    with pytest.raises(ServingError) as caught:
        check(outcome)
    assert "golden row 7, signature " in caught.value.where
    assert "0.125" in str(caught.value.received)
    assert f"{served:.5f}"[:6] in str(caught.value.received)


def test_a_failed_verification_is_written_as_failed(
    backend: Backend, directory: Path, tmp_path: Path
) -> None:
    outcome = verify(backend, directory / "1", "tiny", COLUMNS, allowed=-1.0)
    write_verification(outcome, tmp_path / "verify.json")
    written = json.loads((tmp_path / "verify.json").read_text())
    assert written["passed"] is False
    assert set(written["max_difference"]) == set(SIGNATURES)


def test_predictions_come_in_the_order_of_the_rows(
    backend: Backend, directory: Path, tmp_path: Path
) -> None:
    golden = read_golden(directory / "1", COLUMNS)
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(json.dumps(row) + "\n" for row in golden.rows))
    with PredictionClient(backend.address, "tiny", batch_rows=7) as client:
        count = predict_file(client, rows, COLUMNS, tiny_config(), tmp_path / "scores.txt")
    written = [float(line) for line in (tmp_path / "scores.txt").read_text().splitlines()]
    assert count == len(written) == 40
    np.testing.assert_allclose(written, golden.scores, atol=1e-5)


def test_a_bad_row_leaves_no_half_output(backend: Backend, tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("item_id,price\ni1,1\ni2,cheap\n")
    output = tmp_path / "scores.txt"
    with (
        PredictionClient(backend.address, "tiny") as client,
        pytest.raises(DataError, match="line 3"),
    ):
        predict_file(client, rows, COLUMNS, tiny_config(), output)
    assert os.listdir(tmp_path) == ["rows.csv"]


def test_a_file_without_rows_is_an_error(backend: Backend, tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("item_id,price\n")
    with PredictionClient(backend.address, "tiny") as client, pytest.raises(DataError):
        predict_file(client, rows, COLUMNS, tiny_config(), None)


@pytest.mark.parametrize(
    ("endpoint", "docker", "model_server", "expected"),
    [
        ("h:1", True, True, "endpoint"),
        (None, True, True, "docker"),
        (None, False, True, "tensorflow_model_server"),
        (None, False, False, "embedded"),
    ],
)
def test_the_nearest_to_production_is_chosen(
    endpoint: str | None, docker: bool, model_server: bool, expected: str
) -> None:
    assert choose_backend(endpoint, docker, model_server) == expected


def test_an_endpoint_is_taken_without_looking_further() -> None:
    assert find_backend("10.0.0.7:8500") == "endpoint"


def test_an_endpoint_without_a_port_is_an_error(tmp_path: Path) -> None:
    with (
        pytest.raises(ServingError, match="host:port"),
        running("endpoint", tmp_path, "tiny", "localhost"),
    ):
        pass


def test_a_server_that_ends_at_once_says_why(tmp_path: Path) -> None:
    with (
        pytest.raises(ServingError, match="make export"),
        running("embedded", tmp_path / "nothing", "tiny"),
    ):
        pass


def test_the_container_is_pinned_and_read_only() -> None:
    command = docker_command(Path("/models/ctr"), "ctr")
    assert command[-1].startswith("tensorflow/serving:") and not command[-1].endswith("latest")
    assert "/models/ctr:/models/ctr:ro" in command


@pytest.mark.docker
def test_tensorflow_serving_in_docker_gives_the_trained_scores(directory: Path) -> None:
    if docker_version() is None:
        pytest.skip("no docker daemon answers on this machine")
    with running("docker", directory, "tiny") as served:
        assert verify(served, directory / "1", "tiny", COLUMNS, allowed=1e-5).passed


@pytest.mark.tensorflow_serving
def test_tensorflow_model_server_gives_the_trained_scores(directory: Path) -> None:
    if shutil.which("tensorflow_model_server") is None:
        pytest.skip("no tensorflow_model_server on PATH")
    with running("tensorflow_model_server", directory, "tiny") as served:
        assert verify(served, directory / "1", "tiny", COLUMNS, allowed=1e-5).passed
