"""The status of the versions of a model, as a client sees it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from serving.protocol.apis import get_model_status_pb2

__all__ = ["VersionStatus", "available_version", "read_status"]

_STATE = get_model_status_pb2.ModelVersionStatus.State


@dataclass(frozen=True)
class VersionStatus:
    """One version.

    Attributes:
        version: Its number.
        state: `START`, `LOADING`, `AVAILABLE`, `UNLOADING`, `END` or `UNKNOWN`.
        error: Why it failed to load; empty otherwise.
    """

    version: int
    state: str
    error: str = ""

    def __str__(self) -> str:
        """Return number, state and error in one line."""
        return f"version {self.version}: {self.state}" + (f" ({self.error})" * bool(self.error))


def read_status(response: Any) -> list[VersionStatus]:
    """Return the versions of a `GetModelStatusResponse`, newest first."""
    found = [
        VersionStatus(
            version=status.version,
            state=_STATE.Name(status.state),
            error=(status.status.error_message or f"error {status.status.error_code}")
            * bool(status.status.error_code),
        )
        for status in response.model_version_status
    ]
    return sorted(found, key=lambda status: -status.version)


def available_version(statuses: Sequence[VersionStatus], wanted: int | None) -> int | None:
    """Return the version that answers requests; None while there is none.

    Args:
        statuses: What the server says.
        wanted: The only version that counts; None for the newest available one.

    >>> available_version([VersionStatus(2, "LOADING"), VersionStatus(1, "AVAILABLE")], None)
    1
    """
    available = [status.version for status in statuses if status.state == "AVAILABLE"]
    if wanted is None:
        return max(available, default=None)
    return wanted if wanted in available else None
