"""The command line of the embedded server: `python -m serving serve`."""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from features.errors import ServingError
from serving.server.options import RequestLimits, ServerOptions

if TYPE_CHECKING:
    from serving.server.embedded import EmbeddedServer

__all__ = ["add_arguments", "run", "serve"]

DEFAULT_PORT = 8500
WAIT_STEP_S = 0.2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the server, all but which model it serves.

    The caller sets `base_path` (a path) and `model_name`, by options of its own or by
    `add_model_arguments`.
    """
    limits = RequestLimits()
    add = parser.add_argument
    add("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    add("--port", type=int, default=DEFAULT_PORT, help="0 for a free one (default: %(default)s)")
    add("--port-file", type=Path, metavar="FILE", help="write the port here once it is ready")
    add(
        "--wait-for-model",
        action="store_true",
        help="wait for a first version where there is none, instead of ending with an error",
    )
    add(
        "--poll-interval",
        type=float,
        default=1.0,
        metavar="SECONDS",
        help="between looks for new versions (default: %(default)s)",
    )
    add(
        "--keep-versions",
        type=int,
        default=2,
        metavar="N",
        help="how many of the newest versions stay loaded (default: %(default)s)",
    )
    add(
        "--max-message-bytes",
        type=int,
        default=limits.max_message_bytes,
        metavar="N",
        help="largest request and largest answer (default: %(default)s)",
    )
    add(
        "--max-batch-rows",
        type=int,
        default=limits.max_batch_rows,
        metavar="N",
        help="most rows of a request (default: %(default)s)",
    )
    add(
        "--max-string-bytes",
        type=int,
        default=limits.max_string_bytes,
        metavar="N",
        help="longest string of a request (default: %(default)s)",
    )
    add(
        "--threads",
        type=int,
        metavar="N",
        help="requests computed at the same time (default: one a processor)",
    )
    add(
        "--max-calls",
        type=int,
        default=128,
        metavar="N",
        help="requests computed or waiting; more get RESOURCE_EXHAUSTED (default: %(default)s)",
    )
    add(
        "--grace",
        type=float,
        default=10.0,
        metavar="SECONDS",
        help="for requests under way when the server is stopped (default: %(default)s)",
    )


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `--base-path` and `--model-name`, for a server without a run's configuration."""
    parser.add_argument(
        "--base-path", type=Path, required=True, help="directory that holds the version directories"
    )
    parser.add_argument("--model-name", help="name that clients give (default: the directory's)")


def run(args: argparse.Namespace) -> int:
    """Serve until SIGTERM or SIGINT and return 0.

    Args:
        args: Options of `add_arguments`, and `base_path` and `model_name`.

    Raises:
        ServingError: An option is wrong, the port is in use, or no version can be loaded.
    """
    return serve(_options(args), port_file=args.port_file, is_patient=args.wait_for_model)


def serve(options: ServerOptions, *, port_file: Path | None, is_patient: bool) -> int:
    """Serve until SIGTERM or SIGINT and return 0.

    Args:
        options: How the server runs.
        port_file: Where to write the port once a version is available.
        is_patient: Whether to wait for a first version.

    Raises:
        ServingError: The port is in use, or no version can be loaded.
    """
    from serving.server.embedded import EmbeddedServer

    if port_file:
        port_file.unlink(missing_ok=True)
    server = EmbeddedServer(options)
    with _log_on_stderr(), _stop_event() as stopping:
        server.start()
        try:
            _wait_until_ready(server, stopping, is_patient)
            if not stopping.is_set():
                _announce(server, port_file)
            stopping.wait()
        finally:
            _stop(server, port_file, stopping.is_set())
    return 0


def _options(args: argparse.Namespace) -> ServerOptions:
    threads = {} if args.threads is None else {"execution_threads": args.threads}
    base_path = Path(args.base_path)
    return ServerOptions(
        base_path=base_path,
        model_name=args.model_name or base_path.resolve().name,
        host=args.host,
        port=args.port,
        poll_interval_s=args.poll_interval,
        versions_to_keep=args.keep_versions,
        limits=RequestLimits(
            max_message_bytes=args.max_message_bytes,
            max_batch_rows=args.max_batch_rows,
            max_string_bytes=args.max_string_bytes,
        ),
        max_concurrent_calls=args.max_calls,
        grace_s=args.grace,
        **threads,
    )


@contextmanager
def _log_on_stderr() -> Iterator[None]:
    logger = logging.getLogger("serving")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    logger.addHandler(handler)
    level = logger.level
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


@contextmanager
def _stop_event() -> Iterator[threading.Event]:
    """Give an event that SIGTERM and SIGINT set."""
    stopping = threading.Event()
    before = {
        number: signal.signal(number, lambda *_: stopping.set())
        for number in (signal.SIGTERM, signal.SIGINT)
    }
    try:
        yield stopping
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _wait_until_ready(server: EmbeddedServer, stopping: threading.Event, is_patient: bool) -> None:
    while not stopping.is_set() and not server.wait_until_available(WAIT_STEP_S):
        if server.wait_until_settled(0) and not server.available() and not is_patient:
            raise _nothing_to_serve(server)


def _nothing_to_serve(server: EmbeddedServer) -> ServingError:
    failures = [f"version {s.version}: {s.message}" for s in server.statuses() if s.failed]
    return ServingError(
        "there is a version to serve at the start",
        received="; ".join(failures) or "no directory whose name is a positive integer",
        where=str(server.options.base_path),
        remedy="run make export, or wait for a first version with --wait-for-model",
    )


def _announce(server: EmbeddedServer, port_file: Path | None) -> None:
    if port_file:
        _write_beside(port_file, f"{server.port}\n")
    version = max(server.available())
    name = server.options.model_name
    print(f"serving {name} version {version} on {server.target} (embedded server)", flush=True)


def _write_beside(path: Path, text: str) -> None:
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    beside.write_text(text)
    os.replace(beside, path)


def _stop(server: EmbeddedServer, port_file: Path | None, is_asked: bool) -> None:
    if port_file:
        port_file.unlink(missing_ok=True)
    if not server.stop() and is_asked:
        # TensorFlow is still loading a version in a thread; an interpreter that is torn down
        # under it crashes instead of ending with the right status.
        sys.stdout.flush()
        os._exit(0)
