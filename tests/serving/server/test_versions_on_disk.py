"""What the server does while the directory changes under it."""

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest

from serving.protocol.apis import prediction_service_pb2_grpc
from serving.server.embedded import EmbeddedServer
from serving.server.options import ServerOptions
from serving.server.version_status import VersionState, VersionStatus
from tests.serving.server.conftest import LOAD_TIMEOUT_S
from tests.serving.server.tiny_model import predict_request, publish, write_records, write_warmup

POLL_S = 0.02
CALL_TIMEOUT_S = 30.0
REQUEST: dict[str, Any] = {"user": [b"ann"], "price": np.zeros(1, np.float32)}


@contextmanager
def serving(base_path: Path, keep: int = 2) -> Iterator[EmbeddedServer]:
    options = ServerOptions(
        base_path=base_path, model_name="tiny", poll_interval_s=POLL_S, versions_to_keep=keep
    )
    with EmbeddedServer(options) as server:
        assert server.wait_until_settled(LOAD_TIMEOUT_S)
        yield server


@contextmanager
def stub_of(server: EmbeddedServer) -> Iterator[Any]:
    with grpc.insecure_channel(server.target) as channel:
        yield prediction_service_pb2_grpc.PredictionServiceStub(channel)


def answering_version(stub: Any, version: int | None = None) -> int:
    request = predict_request(version=version, **REQUEST)
    return int(stub.Predict(request, timeout=CALL_TIMEOUT_S).model_spec.version.value)


def refusal(stub: Any, version: int | None = None) -> tuple[str, str]:
    with pytest.raises(grpc.RpcError) as caught:
        answering_version(stub, version)
    return caught.value.code().name, caught.value.details() or ""


def wait_for_status(server: EmbeddedServer, version: int, state: VersionState) -> VersionStatus:
    tick = threading.Event()
    for _ in range(int(LOAD_TIMEOUT_S / POLL_S)):
        for status in server.statuses():
            if status.version == version and status.state is state:
                return status
        tick.wait(POLL_S)
    raise TimeoutError(f"version {version} never came to {state.name}")


def test_a_new_version_is_picked_up_without_failing_a_request(
    tiny_model: Path, tmp_path: Path
) -> None:
    publish(tiny_model, tmp_path, 1)
    stopping = threading.Event()
    answers: list[list[int]] = [[], []]

    def call(stub: Any, seen: list[int]) -> None:
        while not stopping.is_set():
            seen.append(answering_version(stub))

    with serving(tmp_path, keep=1) as server, stub_of(server) as stub:
        threads = [threading.Thread(target=call, args=(stub, seen)) for seen in answers]
        for thread in threads:
            thread.start()
        try:
            for version in (2, 3):
                publish(tiny_model, tmp_path, version)
                assert server.wait_until_available(LOAD_TIMEOUT_S, version)
                wait_for_status(server, version - 1, VersionState.END)
                assert answering_version(stub) == version
        finally:
            stopping.set()
            for thread in threads:
                thread.join(CALL_TIMEOUT_S)
    # A thread whose request failed would have ended before it saw the last version.
    assert all(seen == sorted(seen) and seen[0] == 1 and seen[-1] == 3 for seen in answers)


def test_an_older_version_goes_on_beside_the_newest(tiny_model: Path, tmp_path: Path) -> None:
    for version in (1, 2, 3):
        publish(tiny_model, tmp_path, version)
    with serving(tmp_path) as server, stub_of(server) as stub:
        assert server.available() == (2, 3)
        assert answering_version(stub) == 3
        assert answering_version(stub, 2) == 2


def test_a_version_beyond_those_kept_is_unloaded(tiny_model: Path, tmp_path: Path) -> None:
    publish(tiny_model, tmp_path, 1)
    publish(tiny_model, tmp_path, 2)
    with serving(tmp_path) as server, stub_of(server) as stub:
        publish(tiny_model, tmp_path, 3)
        wait_for_status(server, 1, VersionState.END)
        assert server.available() == (2, 3)
        assert refusal(stub, 1)[0] == "NOT_FOUND"


def test_a_version_is_closed_only_when_its_last_request_has_ended(
    tiny_model: Path, tmp_path: Path
) -> None:
    publish(tiny_model, tmp_path, 1)
    steps = np.int32(60_000)
    with serving(tmp_path, keep=1) as server, stub_of(server) as stub:
        slow = stub.Predict.future(predict_request(signature="slow", steps=steps), timeout=60)
        publish(tiny_model, tmp_path, 2)
        assert server.wait_until_available(LOAD_TIMEOUT_S, 2)
        assert slow.result().model_spec.version.value == 1
        wait_for_status(server, 1, VersionState.END)


def test_temporary_directories_are_ignored(tiny_model: Path, tmp_path: Path) -> None:
    publish(tiny_model, tmp_path, 1)
    shutil.copytree(tiny_model, tmp_path / "5.tmp")
    shutil.copytree(tiny_model, tmp_path / "temp-6")
    (tmp_path / "7").write_text("no directory")
    with serving(tmp_path) as server:
        assert [status.version for status in server.statuses()] == [1]


def test_a_broken_version_leaves_the_old_ones_and_says_why(
    tiny_model: Path, tmp_path: Path
) -> None:
    for version in (1, 2):
        publish(tiny_model, tmp_path, version)
    with serving(tmp_path) as server, stub_of(server) as stub:
        (tmp_path / "3").mkdir()
        (tmp_path / "3" / "saved_model.pb").write_bytes(b"no model")
        status = wait_for_status(server, 3, VersionState.END)
        assert status.failed
        assert "Cannot parse file" in status.message
        assert server.available() == (1, 2)
        assert answering_version(stub) == 2
        code, details = refusal(stub, 3)
        assert code == "NOT_FOUND"
        assert "Specific(tiny, 3); version 3 failed to load: " in details


def test_a_version_without_variables_fails(tiny_model: Path, tmp_path: Path) -> None:
    shutil.rmtree(publish(tiny_model, tmp_path, 1) / "variables")
    with serving(tmp_path) as server:
        assert server.available() == ()
        assert server.statuses()[0].failed


def test_a_version_that_is_copied_slowly_is_served_when_it_is_whole(
    tiny_model: Path, tmp_path: Path
) -> None:
    path = publish(tiny_model, tmp_path, 1)
    (path / "saved_model.pb").rename(tmp_path / "later")
    with serving(tmp_path) as server:
        assert wait_for_status(server, 1, VersionState.END).failed
        (tmp_path / "later").rename(path / "saved_model.pb")
        assert server.wait_until_available(LOAD_TIMEOUT_S, 1)


def test_removing_the_newest_version_rolls_back(tiny_model: Path, tmp_path: Path) -> None:
    for version in (1, 2):
        publish(tiny_model, tmp_path, version)
    with serving(tmp_path, keep=1) as server, stub_of(server) as stub:
        assert answering_version(stub) == 2
        shutil.rmtree(tmp_path / "2")
        wait_for_status(server, 2, VersionState.END)
        assert answering_version(stub) == 1


def test_the_last_version_stays_when_its_directory_is_gone(
    tiny_model: Path, tmp_path: Path
) -> None:
    base_path = tmp_path / "served"
    base_path.mkdir()
    publish(tiny_model, base_path, 1)
    with serving(base_path) as server, stub_of(server) as stub:
        shutil.rmtree(base_path)
        base_path.mkdir()
        publish(tiny_model, base_path, 2)
        wait_for_status(server, 1, VersionState.END)
        assert answering_version(stub) == 2
        shutil.rmtree(base_path)
        threading.Event().wait(5 * POLL_S)
        assert answering_version(stub) == 2


def test_before_the_first_version_the_answer_is_unavailable(tmp_path: Path) -> None:
    with serving(tmp_path) as server, stub_of(server) as stub:
        message = "no version of model tiny is available yet"
        assert refusal(stub) == ("UNAVAILABLE", message)
        assert refusal(stub, 1)[0] == "UNAVAILABLE"


def test_warmup_requests_are_answered_before_a_version_is_available(
    tiny_model: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    beside = tmp_path / "model"
    shutil.copytree(tiny_model, beside)
    write_warmup(beside, predict_request(**REQUEST), predict_request(name="other", **REQUEST))
    base_path = tmp_path / "served"
    base_path.mkdir()
    publish(beside, base_path, 1)
    with caplog.at_level("INFO", logger="serving"), serving(base_path) as server:
        assert server.available() == (1,)
    assert "version 1 answered 2 warm-up requests" in caplog.messages


def test_a_warmup_request_that_is_refused_fails_the_version(
    tiny_model: Path, tmp_path: Path
) -> None:
    path = publish(tiny_model, tmp_path, 1)
    good, bad = predict_request(**REQUEST), predict_request(user=[b"ann"])
    write_warmup(path, good, bad)
    with serving(tmp_path) as server:
        status = server.statuses()[0]
    assert status.code is grpc.StatusCode.INVALID_ARGUMENT
    assert "warm-up record 1 of" in status.message
    assert "Missing but required: {price}" in status.message


@pytest.mark.parametrize("record", [b"\xff\xff", b""])
def test_a_warmup_record_without_a_request_fails_the_version(
    tiny_model: Path, tmp_path: Path, record: bytes
) -> None:
    write_records(publish(tiny_model, tmp_path, 1), record)
    with serving(tmp_path) as server:
        assert "warm-up record 0 of" in server.statuses()[0].message


def test_a_warmup_file_that_is_no_tfrecord_fails_the_version(
    tiny_model: Path, tmp_path: Path
) -> None:
    path = publish(tiny_model, tmp_path, 1)
    write_records(path).write_bytes(b"this is a text file, much longer than a header")
    with serving(tmp_path) as server:
        status = server.statuses()[0]
    assert status.code is grpc.StatusCode.DATA_LOSS
    assert "is no TFRecord file that can be read" in status.message
