"""The life of a version, as GetModelStatus tells it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import grpc

from serving.protocol.apis import get_model_status_pb2

__all__ = ["VersionState", "VersionStatus"]

_STATUS = get_model_status_pb2.ModelVersionStatus


class VersionState(IntEnum):
    """The states of `ModelVersionStatus.State`."""

    START = 10
    LOADING = 20
    AVAILABLE = 30
    UNLOADING = 40
    END = 50


@dataclass(frozen=True)
class VersionStatus:
    """Where a version is in its life.

    Attributes:
        version: Its number.
        state: Its state; a version that failed to load is at its end.
        code: Why its load failed, OK otherwise.
        message: The same in words.
    """

    version: int
    state: VersionState
    code: grpc.StatusCode = grpc.StatusCode.OK
    message: str = ""

    @property
    def failed(self) -> bool:
        """Return whether the version could not be loaded."""
        return self.code is not grpc.StatusCode.OK

    def proto(self) -> Any:
        """Return the `ModelVersionStatus` message."""
        status = _STATUS(version=self.version, state=int(self.state))
        status.status.error_code = self.code.value[0]
        status.status.error_message = self.message
        return status
