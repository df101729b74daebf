"""The versions of one model that are loaded, and who is using them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import grpc

from serving.server.request_error import RequestError
from serving.server.saved_model import LoadedModel
from serving.server.version_status import VersionState, VersionStatus

__all__ = ["ModelVersions"]

# How many ended versions GetModelStatus remembers: a server lives longer than its versions.
MAX_ENDED = 20
_PENDING = (VersionState.START, VersionState.LOADING)


@dataclass
class _Loaded:
    model: LoadedModel
    leases: int = 0
    withdrawn: bool = False


class ModelVersions:
    """Hands out loaded versions to requests. Safe to use from many threads.

    The newest available version answers requests that name none. A version that is withdrawn
    gets no new requests at once and is closed when the last one that uses it has ended.
    """

    def __init__(self, model_name: str) -> None:
        """Start with no version of the model `model_name`."""
        self.model_name = model_name
        self._lock = threading.Lock()
        self._loaded: dict[int, _Loaded] = {}
        self._statuses: dict[int, VersionStatus] = {}

    @contextmanager
    def lease(self, model_name: str, version: int | None) -> Iterator[LoadedModel]:
        """Give a version to a request for as long as the context lasts.

        Args:
            model_name: The model that the request names.
            version: The version that it names; None for the newest available one.

        Raises:
            RequestError: NOT_FOUND where there is no such model or version, UNAVAILABLE where it
                is not loaded yet.
        """
        with self._lock:
            entry = self._find(model_name, version)
            entry.leases += 1
        try:
            yield entry.model
        finally:
            with self._lock:
                entry.leases -= 1
                is_last = entry.withdrawn and entry.leases == 0
            if is_last:
                self._close(entry.model)

    def available(self) -> tuple[int, ...]:
        """Return the versions that answer requests, oldest first."""
        with self._lock:
            return tuple(sorted(self._loaded))

    def statuses(self) -> list[VersionStatus]:
        """Return the status of every version that is remembered, newest first."""
        with self._lock:
            return [self._statuses[version] for version in sorted(self._statuses, reverse=True)]

    def announce(self, version: int) -> None:
        """Note that a version is going to be loaded."""
        self._note(VersionStatus(version, VersionState.START))

    def load(self, version: int, load: Callable[[], LoadedModel]) -> None:
        """Load a version and make it available at once when it is ready.

        Raises:
            RequestError: The version cannot be loaded; its status says why.
        """
        self._note(VersionStatus(version, VersionState.LOADING))
        try:
            model = load()
        except RequestError as error:
            self._note(VersionStatus(version, VersionState.END, error.code, error.message))
            raise
        with self._lock:
            self._loaded[version] = _Loaded(model)
            self._statuses[version] = VersionStatus(version, VersionState.AVAILABLE)

    def withdraw(self, version: int) -> None:
        """Give a version to no further request, and close it when it is not in use."""
        with self._lock:
            entry = self._loaded.pop(version)
            entry.withdrawn = True
            self._statuses[version] = VersionStatus(version, VersionState.UNLOADING)
            is_idle = entry.leases == 0
        if is_idle:
            self._close(entry.model)

    def close(self) -> None:
        """Withdraw every version."""
        for version in self.available():
            self.withdraw(version)

    def _find(self, model_name: str, version: int | None) -> _Loaded:
        if model_name != self.model_name:
            raise _not_found(model_name, version)
        wanted = max(self._loaded, default=None) if version is None else version
        if wanted is not None and wanted in self._loaded:
            return self._loaded[wanted]
        raise self._why_missing(version)

    def _why_missing(self, version: int | None) -> RequestError:
        if version is None:
            failures = "".join(_failure_text(status) for status in self._statuses.values())
            text = f"no version of model {self.model_name} is available yet{failures}"
            return RequestError(grpc.StatusCode.UNAVAILABLE, text)
        status = self._statuses.get(version)
        if not self._statuses or (status and status.state in _PENDING):
            text = f"version {version} of model {self.model_name} is not loaded yet"
            return RequestError(grpc.StatusCode.UNAVAILABLE, text)
        return _not_found(self.model_name, version, _failure_text(status) if status else "")

    def _close(self, model: LoadedModel) -> None:
        model.close()
        self._note(VersionStatus(model.version, VersionState.END))

    def _note(self, status: VersionStatus) -> None:
        with self._lock:
            self._statuses[status.version] = status
            ended = [
                version
                for version, status in sorted(self._statuses.items())
                if status.state is VersionState.END
            ]
            for version in ended[:-MAX_ENDED]:
                del self._statuses[version]


def _not_found(model_name: str, version: int | None, reason: str = "") -> RequestError:
    which = f"Latest({model_name})" if version is None else f"Specific({model_name}, {version})"
    text = f"Servable not found for request: {which}{reason}"
    return RequestError(grpc.StatusCode.NOT_FOUND, text)


def _failure_text(status: VersionStatus) -> str:
    return f"; version {status.version} failed to load: {status.message}" if status.failed else ""
