"""The thread that looks for new versions, loads them and unloads old ones."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path

from serving.server.directory import find_versions, fingerprint
from serving.server.options import ServerOptions
from serving.server.plan import Plan, plan_versions
from serving.server.request_error import RequestError, refusal_of
from serving.server.saved_model import LoadedModel
from serving.server.versions import ModelVersions
from serving.server.warmup import replay_warmup

__all__ = ["Poller"]

_LOGGER = logging.getLogger(__name__)


class Poller:
    """Keeps the loaded versions in step with the directory, in a thread of its own.

    A version that failed is tried again when a file of it has changed, so that a directory that
    was copied slowly is served in the end.

    Attributes:
        settled: Set once everything that was there at the start is loaded or has failed.
    """

    def __init__(
        self, options: ServerOptions, versions: ModelVersions, on_change: Callable[[], None]
    ) -> None:
        """Make the thread; `start` starts it.

        Args:
            options: Which directory, how often, how many versions.
            versions: Where versions are put in and taken out.
            on_change: Called after each load and unload.
        """
        self._options = options
        self._versions = versions
        self._on_change = on_change
        self._failed: dict[int, str] = {}
        self._stopping = threading.Event()
        self.settled = threading.Event()
        self._thread = threading.Thread(target=self._run, name="version-poller", daemon=True)

    def start(self) -> None:
        """Start to look."""
        self._thread.start()

    def stop(self) -> None:
        """Ask the thread to end after the load that is under way."""
        self._stopping.set()

    def join(self, timeout_s: float) -> bool:
        """Wait for the end of the thread and return whether it came."""
        if self._thread.ident is not None:
            self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                is_done = self._step()
            except OSError as error:
                _LOGGER.warning("cannot look for versions: %s", error)
                is_done = True
            if is_done:
                self.settled.set()
                self._stopping.wait(self._options.poll_interval_s)

    def _step(self) -> bool:
        """Do what the plan says next and return whether there was nothing to do."""
        on_disk = find_versions(self._options.base_path)
        plan = self._plan(on_disk)
        for version in plan.load:
            self._versions.announce(version)
        for version in plan.load[:1]:
            self._load(version, on_disk[version])
        for version in plan.unload:
            _LOGGER.info("unloading version %d of %s", version, self._options.model_name)
            self._versions.withdraw(version)
            self._on_change()
        return not plan.load

    def _plan(self, on_disk: dict[int, Path]) -> Plan:
        self._failed = {
            version: seen
            for version, seen in self._failed.items()
            if version in on_disk and fingerprint(on_disk[version]) == seen
        }
        return plan_versions(
            on_disk=on_disk,
            loaded=self._versions.available(),
            failed=self._failed,
            keep=self._options.versions_to_keep,
        )

    def _load(self, version: int, path: Path) -> None:
        # Taken first: a file that is written while the load fails has to count as a change.
        seen = fingerprint(path)
        try:
            self._versions.load(version, lambda: self._loaded(version, path))
        except RequestError as error:
            self._failed[version] = seen
            _LOGGER.error(
                "version %d of %s cannot be loaded: %s", version, self._options.model_name, error
            )
        else:
            _LOGGER.info("version %d of %s is available", version, self._options.model_name)
        self._on_change()

    def _loaded(self, version: int, path: Path) -> LoadedModel:
        try:
            model = LoadedModel(path, version)
        except Exception as error:
            raise refusal_of(error) from error
        try:
            count = replay_warmup(model, path, self._options.limits)
        except BaseException:
            model.close()
            raise
        _LOGGER.info("version %d answered %d warm-up requests", version, count)
        return model
