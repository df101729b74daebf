"""The embedded server: one process, one model, all its parts put together."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Self

import grpc

from features.errors import ServingError
from serving.protocol.apis import model_service_pb2_grpc, prediction_service_pb2_grpc
from serving.server.admission import Admission
from serving.server.health import Health
from serving.server.model_service import ModelService
from serving.server.options import ServerOptions
from serving.server.poller import Poller
from serving.server.prediction_service import PredictionService
from serving.server.version_status import VersionStatus
from serving.server.versions import ModelVersions

__all__ = ["EmbeddedServer"]

# Threads beyond those that wait for a turn: for health, status, metadata and quick refusals.
SPARE_THREADS = 8


class EmbeddedServer:
    """Serves the versions of one model over gRPC until it is stopped.

    Example:
        with EmbeddedServer(ServerOptions(base_path=Path("out/export/ctr"), model_name="ctr")) as s:
            s.wait_until_available(timeout_s=60)
            print(s.target)
    """

    def __init__(self, options: ServerOptions) -> None:
        """Make a server; `start` opens its port."""
        self.options = options
        self._versions = ModelVersions(options.model_name)
        self._health = Health(self._versions)
        self._changed = threading.Condition()
        self._poller = Poller(options, self._versions, self._on_change)
        self._threads = ThreadPoolExecutor(
            options.max_concurrent_calls + SPARE_THREADS, thread_name_prefix="request"
        )
        self._server = grpc.server(self._threads, options=_channel_options(options))
        self._add_services()
        self.port = options.port

    def __enter__(self) -> Self:
        """Start."""
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop."""
        self.stop()

    @property
    def target(self) -> str:
        """Return `host:port` for clients."""
        return _address(self.options.host, self.port)

    def start(self) -> None:
        """Open the port and start to load versions, in the background.

        Raises:
            ServingError: The port is in use, or the host is none of this machine's.
        """
        try:
            self.port = self._server.add_insecure_port(self.target)
        except RuntimeError as error:
            self._threads.shutdown(wait=False)
            raise ServingError(
                "the port of the embedded server is free",
                received=f"{self.target} cannot be opened; another process may be using it",
                where="host and port of the embedded server",
                remedy="stop the other process, choose another port, or give 0 for a free one",
            ) from error
        self._server.start()
        self._poller.start()

    def available(self) -> tuple[int, ...]:
        """Return the versions that answer requests, oldest first."""
        return self._versions.available()

    def statuses(self) -> list[VersionStatus]:
        """Return the status of every version, newest first."""
        return self._versions.statuses()

    def wait_until_available(self, timeout_s: float, version: int | None = None) -> bool:
        """Wait for a version, any by default, and return whether it came in time."""

        def is_there() -> bool:
            available = self.available()
            return bool(available) if version is None else version in available

        with self._changed:
            return self._changed.wait_for(is_there, timeout_s)

    def wait_until_settled(self, timeout_s: float) -> bool:
        """Wait until every version that was there at the start is loaded or has failed."""
        return self._poller.settled.wait(timeout_s)

    def stop(self, grace_s: float | None = None) -> bool:
        """Report NOT_SERVING, let requests under way end, and free everything.

        Args:
            grace_s: Seconds to wait for requests and for a load; by default as in the options.

        Returns:
            Whether a load that was under way ended too.
        """
        grace_s = self.options.grace_s if grace_s is None else grace_s
        end = time.monotonic() + grace_s
        self._health.stop()
        self._poller.stop()
        self._server.stop(grace_s).wait()
        has_ended = self._poller.join(max(0.1, end - time.monotonic()))
        self._versions.close()
        self._threads.shutdown(wait=False)
        return has_ended

    def _on_change(self) -> None:
        self._health.update()
        with self._changed:
            self._changed.notify_all()

    def _add_services(self) -> None:
        options = self.options
        admission = Admission(options.max_concurrent_calls, options.execution_threads)
        prediction = PredictionService(self._versions, admission, options.limits)
        prediction_service_pb2_grpc.add_PredictionServiceServicer_to_server(
            prediction, self._server
        )
        model_service_pb2_grpc.add_ModelServiceServicer_to_server(
            ModelService(self._versions), self._server
        )
        self._health.add_to(self._server)


def _address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _channel_options(options: ServerOptions) -> list[tuple[str, int]]:
    return [
        ("grpc.max_receive_message_length", options.limits.max_message_bytes),
        ("grpc.max_send_message_length", options.limits.max_message_bytes),
        # Without it a second server would share the port in silence.
        ("grpc.so_reuseport", 0),
    ]
