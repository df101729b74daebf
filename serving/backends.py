"""The servers that an exported model is verified against, and which of them is taken.

The embedded server is this project's own. It is never called TensorFlow Serving.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from features.errors import ServingError
from serving.ports import free_port

__all__ = [
    "DOCKER_IMAGE",
    "Backend",
    "BackendKind",
    "choose_backend",
    "docker_version",
    "find_backend",
    "running",
]

DOCKER_IMAGE = "tensorflow/serving:2.19.1"
MODEL_SERVER = "tensorflow_model_server"
GRPC_PORT = 8500
COMMAND_TIMEOUT_SECONDS = 20
PULL_TIMEOUT_SECONDS = 600
START_TIMEOUT_SECONDS = 120
STOP_TIMEOUT_SECONDS = 20

BackendKind = Literal["endpoint", "docker", "tensorflow_model_server", "embedded"]


@dataclass(frozen=True)
class Backend:
    """A server that is running.

    Attributes:
        kind: How it was found or started.
        name: What it is, in words.
        version: Its version, as far as it is known.
        address: `host:port` of its gRPC API.
    """

    kind: BackendKind
    name: str
    version: str
    address: str


def choose_backend(
    endpoint: str | None, has_docker_daemon: bool, has_model_server: bool
) -> BackendKind:
    """Choose what to verify against: the nearest to production that is there.

    >>> choose_backend(None, has_docker_daemon=False, has_model_server=False)
    'embedded'
    >>> choose_backend("10.0.0.7:8500", has_docker_daemon=True, has_model_server=True)
    'endpoint'
    """
    if endpoint:
        return "endpoint"
    if has_docker_daemon:
        return "docker"
    return "tensorflow_model_server" if has_model_server else "embedded"


def find_backend(endpoint: str | None) -> BackendKind:
    """Look at this machine and choose."""
    if endpoint:
        return "endpoint"
    return choose_backend(
        None,
        has_docker_daemon=docker_version() is not None,
        has_model_server=shutil.which(MODEL_SERVER) is not None,
    )


def docker_version() -> str | None:
    """Return the version of the docker daemon that answers; None where none does."""
    if shutil.which("docker") is None:
        return None
    try:
        return _output(["docker", "version", "--format", "{{.Server.Version}}"]) or None
    except ServingError:
        return None


def running(
    kind: BackendKind, directory: Path, name: str, endpoint: str | None = None
) -> AbstractContextManager[Backend]:
    """Start a server on exported versions, or name the one that runs; stop what was started.

    Args:
        kind: Which one.
        directory: The directory of versions.
        name: Name of the model.
        endpoint: `host:port` of kind `endpoint`.

    Raises:
        ServingError: It cannot be started.
    """
    starters: dict[BackendKind, Callable[[Path, str], AbstractContextManager[Backend]]] = {
        "docker": _docker,
        "tensorflow_model_server": _model_server,
        "embedded": _embedded,
    }
    if kind == "endpoint":
        return _endpoint(endpoint or "")
    return starters[kind](directory.absolute(), name)


@contextmanager
def _endpoint(address: str) -> Iterator[Backend]:
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit():
        raise ServingError(
            "a server is given as host:port",
            received=address,
            where="--serving",
            remedy="write for example --serving 127.0.0.1:8500",
        )
    yield Backend("endpoint", f"the server at {address}", "unknown", address)


@contextmanager
def _docker(directory: Path, name: str) -> Iterator[Backend]:
    container = _output(docker_command(directory, name), PULL_TIMEOUT_SECONDS)
    try:
        address = _output(["docker", "port", container, f"{GRPC_PORT}/tcp"]).splitlines()[0]
        version = DOCKER_IMAGE.rpartition(":")[2]
        yield Backend("docker", f"TensorFlow Serving ({DOCKER_IMAGE} in docker)", version, address)
    finally:
        _output(["docker", "stop", "--time", "5", container])


def docker_command(directory: Path, name: str) -> list[str]:
    """Return the command that starts TensorFlow Serving in a container on a free port."""
    return [
        *("docker", "run", "--detach", "--rm"),
        *("--publish", f"127.0.0.1:0:{GRPC_PORT}"),
        *("--volume", f"{directory}:/models/{name}:ro"),
        *("--env", f"MODEL_NAME={name}"),
        DOCKER_IMAGE,
    ]


@contextmanager
def _model_server(directory: Path, name: str) -> Iterator[Backend]:
    port = free_port()
    command = [
        MODEL_SERVER,
        f"--port={port}",
        "--rest_api_port=0",
        f"--model_name={name}",
        f"--model_base_path={directory}",
    ]
    words = _output([MODEL_SERVER, "--version"]).split() or ["unknown"]
    with _process(command):
        address = f"127.0.0.1:{port}"
        yield Backend(
            "tensorflow_model_server", "TensorFlow Serving (tensorflow_model_server)",
            words[-1], address,
        )  # fmt: skip


@contextmanager
def _embedded(directory: Path, name: str) -> Iterator[Backend]:
    with tempfile.TemporaryDirectory(prefix="embedded-server-") as scratch:
        port_file = Path(scratch) / "port"
        command = [
            *(sys.executable, "-m", "serving", "serve"),
            *("--base-path", str(directory), "--model-name", name),
            *("--port", "0", "--port-file", str(port_file)),
        ]
        with _process(command) as process:
            # The client loads TensorFlow while the server does.
            importlib.import_module("serving.client")
            port = _wait_for_port(port_file, process)
            version = f"TensorFlow {importlib.metadata.version('tensorflow')}"
            yield Backend("embedded", "the embedded server", version, f"127.0.0.1:{port}")


@contextmanager
def _process(command: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server in the background with its log in a file; stop it at the end."""
    with tempfile.TemporaryFile() as log:
        # A session of its own keeps Ctrl-C from reaching it before the client has ended.
        process = subprocess.Popen(
            command, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            yield process
            if process.poll() is not None:
                log.seek(0)
                raise _ended(command, log.read().decode(errors="replace"))
        except ServingError as error:
            if process.poll() is None or error.where == command[0]:
                raise
            log.seek(0)
            raise _ended(command, log.read().decode(errors="replace")) from error
        finally:
            _stop(process)


def _wait_for_port(port_file: Path, process: subprocess.Popen[bytes]) -> int:
    end = time.monotonic() + START_TIMEOUT_SECONDS
    while time.monotonic() < end and process.poll() is None:
        if port_file.is_file():
            return int(port_file.read_text())
        time.sleep(0.05)
    raise ServingError(
        f"the embedded server is ready within {START_TIMEOUT_SECONDS} s",
        received="no port",
        where="the embedded server",
        remedy="start `make serve` by hand and read what it says",
    )


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(STOP_TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _output(command: Sequence[str], timeout_seconds: float = COMMAND_TIMEOUT_SECONDS) -> str:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=timeout_seconds, check=True
        )
    except subprocess.CalledProcessError as error:
        raise _ended(command, error.stderr or error.stdout or "") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _ended(command, str(error)) from error
    return done.stdout.strip()


def _ended(command: Sequence[str], log: str) -> ServingError:
    last = " | ".join(line for line in log.splitlines()[-6:] if line.strip())
    return ServingError(
        "a server that is started keeps running",
        received=last or "no output",
        where=command[0],
        remedy="mend what its log says, or give a running server by SERVING=host:port",
    )
