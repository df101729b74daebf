"""The server as a process: what it prints, how it ends."""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
import numpy as np
import pytest

from features.errors import ServingError
from serving.protocol.apis import prediction_service_pb2_grpc
from serving.server.command import serve
from serving.server.embedded import EmbeddedServer
from serving.server.options import ServerOptions
from tests.serving.server.conftest import LOAD_TIMEOUT_S
from tests.serving.server.tiny_model import predict_request, publish

PROGRAM = """
import argparse, sys
from serving.server import command
parser = argparse.ArgumentParser()
command.add_model_arguments(parser)
command.add_arguments(parser)
sys.exit(command.run(parser.parse_args()))
"""


@contextmanager
def taken_port() -> Iterator[int]:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        yield taken.getsockname()[1]


@contextmanager
def process(base_path: Path, port_file: Path) -> Iterator[subprocess.Popen[str]]:
    options = ["--base-path", str(base_path), "--model-name", "tiny", "--port", "0"]
    options += ["--port-file", str(port_file)]
    command = [sys.executable, "-c", PROGRAM, *options]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    started = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        yield started
    finally:
        started.kill()
        started.wait()
        if started.stdout:
            started.stdout.close()


def first_line(started: subprocess.Popen[str]) -> str:
    # A server that never gets ready would otherwise hold the test for ever.
    timer = threading.Timer(LOAD_TIMEOUT_S, started.kill)
    timer.start()
    try:
        return started.stdout.readline() if started.stdout else ""
    finally:
        timer.cancel()


def test_sigterm_ends_the_server_after_the_request_that_is_under_way(
    tiny_model: Path, tmp_path: Path
) -> None:
    base_path, port_file = tmp_path / "served", tmp_path / "port"
    base_path.mkdir()
    publish(tiny_model, base_path, 4)
    with process(base_path, port_file) as started:
        line = first_line(started)
        port = int(port_file.read_text())
        assert line == f"serving tiny version 4 on 127.0.0.1:{port} (embedded server)\n"
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            stub = prediction_service_pb2_grpc.PredictionServiceStub(channel)
            quick = predict_request(signature="slow", steps=np.int32(1))
            stub.Predict(quick, timeout=30)
            slow = predict_request(signature="slow", steps=np.int32(60_000))
            under_way = stub.Predict.future(slow, timeout=60)
            # An answer to a later call shows that the server has the slow one.
            stub.Predict(quick, timeout=30)
            started.send_signal(signal.SIGTERM)
            assert under_way.result().model_spec.version.value == 4
        assert started.wait(LOAD_TIMEOUT_S) == 0
        assert not port_file.exists()


def test_a_port_in_use_is_an_error_that_names_it(tmp_path: Path) -> None:
    with taken_port() as port:
        server = EmbeddedServer(ServerOptions(base_path=tmp_path, model_name="tiny", port=port))
        with pytest.raises(ServingError) as caught:
            server.start()
    assert f"127.0.0.1:{port}" in str(caught.value.received)
    assert "0 for a free one" in caught.value.remedy


def test_two_servers_never_share_a_port(server: EmbeddedServer, tmp_path: Path) -> None:
    options = ServerOptions(base_path=tmp_path, model_name="tiny", port=server.port)
    with pytest.raises(ServingError, match="cannot be opened"):
        EmbeddedServer(options).start()


def test_nothing_to_serve_is_an_error(tmp_path: Path) -> None:
    options = ServerOptions(base_path=tmp_path, model_name="tiny")
    with pytest.raises(ServingError, match="make export"):
        serve(options, port_file=None, is_patient=False)


def test_only_broken_versions_are_an_error_that_says_why(tmp_path: Path) -> None:
    (tmp_path / "1").mkdir()
    options = ServerOptions(base_path=tmp_path, model_name="tiny")
    with pytest.raises(ServingError, match="version 1: .*does not exist"):
        serve(options, port_file=None, is_patient=False)
