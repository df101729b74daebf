import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest

from features.errors import ServingError
from serving.protocol.apis import prediction_service_pb2_grpc
from serving.server.admission import Admission
from serving.server.embedded import EmbeddedServer
from serving.server.options import RequestLimits, ServerOptions
from serving.server.request_error import RequestError
from tests.serving.server.conftest import LOAD_TIMEOUT_S
from tests.serving.server.tiny_model import predict_request, publish

TIMEOUT_S = 30.0
MEBIBYTE = 1 << 20


@contextmanager
def stub_of(tiny_model: Path, base_path: Path, **settings: Any) -> Iterator[Any]:
    publish(tiny_model, base_path, 1)
    options = ServerOptions(base_path=base_path, model_name="tiny", **settings)
    large = [("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1)]
    with EmbeddedServer(options) as server:
        assert server.wait_until_available(LOAD_TIMEOUT_S)
        with grpc.insecure_channel(server.target, options=large) as channel:
            yield prediction_service_pb2_grpc.PredictionServiceStub(channel)


def rows(count: int, user: bytes = b"u") -> Any:
    return predict_request(user=np.array([user] * count, object), price=np.zeros(count, np.float32))


def refusal(stub: Any, request: Any) -> tuple[str, str]:
    with pytest.raises(grpc.RpcError) as caught:
        stub.Predict(request, timeout=TIMEOUT_S)
    return caught.value.code().name, caught.value.details() or ""


def test_more_rows_than_allowed_are_refused(tiny_model: Path, tmp_path: Path) -> None:
    limits = RequestLimits(max_batch_rows=10)
    with stub_of(tiny_model, tmp_path, limits=limits) as stub:
        assert refusal(stub, rows(11)) == (
            "INVALID_ARGUMENT",
            "a request has at most 10 rows, received 11",
        )
        assert len(stub.Predict(rows(10), timeout=TIMEOUT_S).outputs["probability"].float_val) == 10


def test_a_longer_string_than_allowed_is_refused_and_named(
    tiny_model: Path, tmp_path: Path
) -> None:
    request = predict_request(user=[b"abc", b"abcde"], price=np.zeros(2, np.float32))
    with stub_of(tiny_model, tmp_path, limits=RequestLimits(max_string_bytes=4)) as stub:
        code, details = refusal(stub, request)
    assert code == "INVALID_ARGUMENT"
    assert "input user has at most 4 bytes, received 5 at element 1" in details


def test_a_request_over_the_message_limit_is_refused(tiny_model: Path, tmp_path: Path) -> None:
    with stub_of(tiny_model, tmp_path, limits=RequestLimits(max_message_bytes=MEBIBYTE)) as stub:
        code, details = refusal(stub, rows(1, user=b"x" * (MEBIBYTE + 1)))
        assert code == "RESOURCE_EXHAUSTED"
        assert "larger than max" in details
        assert stub.Predict(rows(1), timeout=TIMEOUT_S).model_spec.version.value == 1


def test_an_answer_over_the_message_limit_is_refused(tiny_model: Path, tmp_path: Path) -> None:
    # The answer echoes the strings and adds two numbers a row, where the request has one.
    request = rows(85_000, user=b"x" * 6)
    assert request.ByteSize() < MEBIBYTE
    with stub_of(tiny_model, tmp_path, limits=RequestLimits(max_message_bytes=MEBIBYTE)) as stub:
        code, details = refusal(stub, request)
    assert code == "RESOURCE_EXHAUSTED"
    assert "larger than max" in details


def test_a_default_server_takes_600_000_rows_at_once(tiny_model: Path, tmp_path: Path) -> None:
    with stub_of(tiny_model, tmp_path) as stub:
        answer = stub.Predict(rows(600_000), timeout=TIMEOUT_S)
    assert len(answer.outputs["probability"].float_val) == 600_000


def test_calls_beyond_the_limit_are_refused_and_the_others_answered(
    tiny_model: Path, tmp_path: Path
) -> None:
    slow = predict_request(signature="slow", steps=np.int32(60_000))
    with stub_of(tiny_model, tmp_path, max_concurrent_calls=1) as stub:
        first = stub.Predict.future(slow, timeout=60)
        codes = []
        while not first.done():
            call = stub.Predict.future(rows(1), timeout=TIMEOUT_S)
            codes.append(call.code())
        assert grpc.StatusCode.RESOURCE_EXHAUSTED in codes
        assert first.code() in (grpc.StatusCode.OK, grpc.StatusCode.RESOURCE_EXHAUSTED)
        assert stub.Predict(rows(1), timeout=TIMEOUT_S).model_spec.version.value == 1


def test_a_call_beyond_those_let_in_is_refused() -> None:
    admission = Admission(max_concurrent_calls=1, execution_threads=1)
    with admission.turn(None):
        with pytest.raises(RequestError) as caught, admission.turn(None):
            pass
    assert caught.value.code is grpc.StatusCode.RESOURCE_EXHAUSTED
    with admission.turn(None):
        pass


def test_a_turn_that_comes_after_the_deadline_is_refused() -> None:
    admission = Admission(max_concurrent_calls=2, execution_threads=1)
    with admission.turn(None):
        with pytest.raises(RequestError) as caught, admission.turn(0.01):
            pass
    assert caught.value.code is grpc.StatusCode.DEADLINE_EXCEEDED


def test_a_waiting_call_gets_its_turn_when_another_ends() -> None:
    admission = Admission(max_concurrent_calls=2, execution_threads=1)
    had_turn = threading.Event()

    def wait() -> None:
        with admission.turn(TIMEOUT_S):
            had_turn.set()

    thread = threading.Thread(target=wait)
    with admission.turn(None):
        thread.start()
        assert not had_turn.is_set()
    thread.join(TIMEOUT_S)
    assert had_turn.is_set()


@pytest.mark.parametrize(
    "settings",
    [
        {"port": 65536},
        {"port": -1},
        {"versions_to_keep": 0},
        {"poll_interval_s": 0.0},
        {"poll_interval_s": float("nan")},
        {"max_concurrent_calls": 0},
        {"execution_threads": 0},
        {"grace_s": -1.0},
        {"model_name": ""},
    ],
)
def test_a_setting_out_of_range_is_named(tmp_path: Path, settings: dict[str, Any]) -> None:
    with pytest.raises(ServingError) as caught:
        ServerOptions(**{"base_path": tmp_path, "model_name": "tiny", **settings})
    assert caught.value.remedy


def test_a_missing_directory_says_which_command_makes_it(tmp_path: Path) -> None:
    with pytest.raises(ServingError, match="make export"):
        ServerOptions(base_path=tmp_path / "nowhere", model_name="tiny")
