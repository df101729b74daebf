import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest

from features.errors import ServingError
from serving.client import PredictionClient, RetryPolicy
from serving.client.failure import status_code
from serving.server.embedded import EmbeddedServer
from serving.server.options import RequestLimits, ServerOptions
from tests.serving.client.conftest import LOAD_TIMEOUT_S
from tests.serving.server.tiny_model import probability, publish

MEBIBYTE = 1 << 20
ONCE = RetryPolicy(attempts=1)


def refused(client: PredictionClient, signature: str = "serving_default", **inputs: Any) -> Any:
    with pytest.raises(ServingError) as caught:
        client.predict(inputs, signature)
    return caught.value


@contextmanager
def server_of(model: Path, base_path: Path, **settings: Any) -> Iterator[EmbeddedServer]:
    publish(model, base_path, 1)
    options = ServerOptions(
        base_path=base_path, model_name="tiny", poll_interval_s=0.02, **settings
    )
    with EmbeddedServer(options) as server:
        assert server.wait_until_available(LOAD_TIMEOUT_S)
        yield server


def test_scores_are_those_of_the_model(client: PredictionClient) -> None:
    found = client.predict({"user": ["ann", "bo"], "price": [0.5, -4.0]})
    expected = probability([b"ann", b"bo"], np.array([0.5, -4.0], np.float32))
    np.testing.assert_allclose(found["probability"], expected, rtol=1e-6)
    assert found["user"].tolist() == [b"ann", b"bo"]


def test_metadata_tells_types_shapes_and_defaults(client: PredictionClient) -> None:
    signature = client.metadata()["serving_default"]
    assert str(signature.inputs["price"]) == "DT_FLOAT [?]"
    assert signature.required == {"user", "price"}
    assert str(signature.outputs["user_bytes"]) == "DT_INT32 [?]"


def test_status_lists_the_versions_newest_first(client: PredictionClient) -> None:
    assert [str(status) for status in client.status()] == [
        "version 7: AVAILABLE",
        "version 3: AVAILABLE",
    ]


def test_one_user_is_ranked_against_many_items(client: PredictionClient) -> None:
    prices = np.linspace(-3, 0, 5, dtype=np.float32)
    found = client.predict({"user": ["ann"], "price": prices}, signature="rank")
    expected = probability([b"ann"] * 5, prices)
    np.testing.assert_allclose(found["probability"], expected, rtol=1e-6)


def test_a_signature_without_rows_is_one_request(client: PredictionClient) -> None:
    assert client.predict({"steps": 0}, signature="slow")["cosine"] == 0.0


def test_no_rows_give_empty_outputs(client: PredictionClient) -> None:
    found = client.predict({"user": [], "price": []})
    assert found["probability"].shape == (0,)
    assert found["probability"].dtype == np.float32


@pytest.mark.parametrize("batch_rows", [1, 2, 3, 7, 100])
def test_batches_come_back_in_order(serving: str, batch_rows: int) -> None:
    user = [f"user {row}" for row in range(7)]
    with PredictionClient(serving, "tiny", batch_rows=batch_rows) as client:
        found = client.predict({"user": user, "price": np.arange(7)})
    assert [name.decode() for name in found["user"]] == user


def test_a_shared_input_goes_into_every_batch(serving: str) -> None:
    prices = np.arange(5, dtype=np.float32)
    with PredictionClient(serving, "tiny", batch_rows=2) as client:
        found = client.predict({"user": ["ann"], "price": prices}, signature="rank")
    np.testing.assert_allclose(found["probability"], probability([b"ann"] * 5, prices), rtol=1e-6)


def test_600_000_rows_come_back_complete_and_in_order(serving: str) -> None:
    rows = 600_000
    user = np.array([b"%d" % row for row in range(rows)], object)
    with PredictionClient(serving, "tiny", deadline_s=60) as client:
        found = client.predict({"user": user, "price": np.zeros(rows, np.float32)})
    assert found["probability"].shape == (rows,)
    np.testing.assert_array_equal(found["user"], user)


def test_a_row_of_5_megabytes_comes_back(client: PredictionClient) -> None:
    long = b"x" * 5_000_000
    found = client.predict({"user": [b"a", long, b"b"], "price": np.zeros(3)})
    assert found["user_bytes"].tolist() == [1, 5_000_000, 1]


def test_a_row_that_is_too_large_is_named(serving: str) -> None:
    with PredictionClient(serving, "tiny", max_message_bytes=4 * MEBIBYTE) as client:
        error = refused(client, user=["a", "x" * 5_000_000], price=[0.0, 0.0])
    assert "row 1 of 5000" in error.received
    assert "max_message_bytes" in error.remedy


def test_no_request_is_larger_than_the_limit(client_model: Path, tmp_path: Path) -> None:
    limits = RequestLimits(max_message_bytes=8192)
    user = [b"x" * length for length in range(1, 1200, 7)]
    with server_of(client_model, tmp_path, limits=limits) as server:
        with PredictionClient(server.target, "tiny", max_message_bytes=6000) as client:
            found = client.predict({"user": user, "price": np.zeros(len(user))})
    assert found["user_bytes"].tolist() == [len(name) for name in user]


def test_an_unknown_signature_is_named_beside_those_there_are(client: PredictionClient) -> None:
    error = refused(client, "predict", user=["a"], price=[1.0])
    assert error.received == "predict"
    assert "'serving_default', 'serving_examples'" in error.remedy


def test_a_missing_input_is_found_before_anything_is_sent(client: PredictionClient) -> None:
    error = refused(client, price=[1.0], foo=[1])
    assert "missing: ['user']; unknown: ['foo']" in error.received
    assert error.__cause__ is None


def test_an_unknown_model_is_surfaced_with_its_code(serving: str) -> None:
    with PredictionClient(serving, "tinny") as client:
        error = refused(client, user=["a"], price=[1.0])
    assert error.received == "NOT_FOUND: Servable not found for request: Latest(tinny)"
    assert error.where == f"{serving}, model tinny, newest version"


def test_an_unknown_version_is_surfaced_with_its_code(serving: str) -> None:
    with PredictionClient(serving, "tiny", version=4) as client:
        error = refused(client, user=["a"], price=[1.0])
    assert error.received == "NOT_FOUND: Servable not found for request: Specific(tiny, 4)"


def test_what_the_model_refuses_is_surfaced_with_its_code(client: PredictionClient) -> None:
    examples = np.array([b"no example"], object)
    error = refused(client, "serving_examples", examples=examples)
    assert error.received.startswith("INVALID_ARGUMENT: ")
    assert status_code(error) is grpc.StatusCode.INVALID_ARGUMENT


def test_a_deadline_that_passes_is_not_tried_again(serving: str) -> None:
    with PredictionClient(serving, "tiny") as patient:
        patient.metadata()
    with PredictionClient(serving, "tiny", deadline_s=0.3) as client:
        client.metadata()
        error = refused(client, "slow", steps=2_000_000)
    assert error.received.startswith("DEADLINE_EXCEEDED: ")
    assert "attempts" not in error.received


def test_a_server_that_is_not_there_is_tried_as_often_as_told(tmp_path: Path) -> None:
    retries = RetryPolicy(attempts=3, first_wait_s=0.01)
    with PredictionClient("127.0.0.1:1", "tiny", retries=retries) as client:
        error = refused(client, user=["a"], price=[1.0])
    assert error.received.startswith("UNAVAILABLE: ")
    assert error.received.endswith("(after 3 attempts)")


def test_a_call_that_starts_before_the_model_is_there_is_answered(
    client_model: Path, tmp_path: Path
) -> None:
    options = ServerOptions(base_path=tmp_path, model_name="tiny", poll_interval_s=0.02)
    with EmbeddedServer(options) as server:
        timer = threading.Timer(0.5, publish, (client_model, tmp_path, 1))
        timer.start()
        with PredictionClient(server.target, "tiny") as client:
            found = client.predict({"user": ["ann"], "price": [1.0]})
        timer.join()
    assert found["user"].tolist() == [b"ann"]


def test_a_call_of_many_requests_is_complete_through_a_swap(
    client_model: Path, tmp_path: Path
) -> None:
    with server_of(client_model, tmp_path, versions_to_keep=1) as server:
        rows = 3000
        inputs = {"user": [f"{row}" for row in range(rows)], "price": np.zeros(rows)}
        with PredictionClient(server.target, "tiny", batch_rows=3) as client:
            client.metadata()
            swap = threading.Thread(target=publish, args=(client_model, tmp_path, 2))
            swap.start()
            found = client.predict(inputs)
            swap.join()
            assert server.wait_until_available(LOAD_TIMEOUT_S, 2)
    assert [name.decode() for name in found["user"]] == inputs["user"]


def test_an_exhausted_server_is_an_error_unless_told_to_try_again(
    client_model: Path, tmp_path: Path
) -> None:
    persistent = RetryPolicy(attempts=200, first_wait_s=0.05, max_wait_s=0.1, retry_exhausted=True)
    with server_of(client_model, tmp_path, max_concurrent_calls=1) as server:
        target = server.target
        with PredictionClient(target, "tiny", deadline_s=60, retries=persistent) as one:
            slow = threading.Thread(target=one.predict, args=({"steps": 60_000}, "slow"))
            slow.start()
            with PredictionClient(target, "tiny", retries=persistent) as other:
                found = other.predict({"user": ["ann"], "price": [1.0]})
            slow.join()
    assert found["user"].tolist() == [b"ann"]


@pytest.mark.parametrize("setting", ["deadline_s", "max_message_bytes", "batch_rows"])
def test_a_setting_out_of_range_is_named(setting: str) -> None:
    settings: dict[str, Any] = {setting: 0}
    with pytest.raises(ServingError, match=setting):
        PredictionClient("127.0.0.1:1", "tiny", **settings)


def test_waiting_returns_the_version_that_answers(client: PredictionClient) -> None:
    assert client.wait_until_available(timeout_s=30) == 7


def test_waiting_outlasts_a_version_that_is_not_there_yet(
    client_model: Path, tmp_path: Path
) -> None:
    with server_of(client_model, tmp_path) as server:
        timer = threading.Timer(0.3, publish, (client_model, tmp_path, 5))
        timer.start()
        with PredictionClient(server.target, "tiny", version=5) as client:
            assert client.wait_until_available(timeout_s=LOAD_TIMEOUT_S) == 5
        timer.join()


def test_waiting_for_an_unknown_model_ends_at_once(serving: str) -> None:
    with PredictionClient(serving, "other") as client:
        with pytest.raises(ServingError, match="NOT_FOUND: Could not find any versions"):
            client.wait_until_available(timeout_s=LOAD_TIMEOUT_S)


def test_waiting_for_a_version_that_cannot_be_loaded_says_why(
    client_model: Path, tmp_path: Path
) -> None:
    with server_of(client_model, tmp_path) as server:
        shutil.rmtree(publish(client_model, tmp_path, 2) / "variables")
        with PredictionClient(server.target, "tiny", version=2) as client:
            with pytest.raises(ServingError, match="version 2: END"):
                client.wait_until_available(timeout_s=LOAD_TIMEOUT_S)


def test_waiting_ends_with_its_time() -> None:
    with PredictionClient("127.0.0.1:1", "tiny", retries=ONCE) as client:
        with pytest.raises(ServingError, match="within 0.3 s"):
            client.wait_until_available(timeout_s=0.3)
