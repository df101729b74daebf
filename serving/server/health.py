"""The gRPC health service: whether requests will be answered."""

from __future__ import annotations

from typing import Any

from serving.protocol.apis import health, health_pb2, health_pb2_grpc
from serving.server.versions import ModelVersions

__all__ = ["Health"]

_RESPONSE = health_pb2.HealthCheckResponse
OVERALL = ""


class Health:
    """Reports SERVING once a version is available, and NOT_SERVING before it and after `stop`.

    The overall service "" and the service of the model's name have the same status.
    """

    def __init__(self, versions: ModelVersions) -> None:
        """Report on `versions`; `update` looks at them."""
        self._versions = versions
        self._servicer = health.HealthServicer(experimental_non_blocking=True)
        self.update()

    def add_to(self, server: Any) -> None:
        """Add the service to a gRPC server."""
        health_pb2_grpc.add_HealthServicer_to_server(self._servicer, server)

    def update(self) -> None:
        """Look again whether a version is available."""
        is_serving = bool(self._versions.available())
        status = _RESPONSE.SERVING if is_serving else _RESPONSE.NOT_SERVING
        for service in (OVERALL, self._versions.model_name):
            self._servicer.set(service, status)

    def stop(self) -> None:
        """Report NOT_SERVING from now on."""
        self._servicer.enter_graceful_shutdown()
