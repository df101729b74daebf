"""The settings of the embedded server, checked when they are made."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from features.errors import ServingError

__all__ = ["RequestLimits", "ServerOptions"]

MEBIBYTE = 1 << 20
MAX_PORT = 65535


def _execution_threads() -> int:
    return max(2, os.cpu_count() or 1)


@dataclass(frozen=True)
class RequestLimits:
    """What one request may hold.

    Attributes:
        max_message_bytes: Largest message, received or sent.
        max_batch_rows: Most rows of one input, or most examples.
        max_string_bytes: Longest single string.
    """

    max_message_bytes: int = 64 * MEBIBYTE
    max_batch_rows: int = 1_000_000
    max_string_bytes: int = 16 * MEBIBYTE

    def __post_init__(self) -> None:
        """Check that every limit lets something through."""
        for name in ("max_message_bytes", "max_batch_rows", "max_string_bytes"):
            _check_at_least(name, getattr(self, name), 1)


@dataclass(frozen=True)
class ServerOptions:
    """How the server runs.

    Attributes:
        base_path: Directory that holds one directory a version.
        model_name: Name that requests give.
        host: Address to listen on.
        port: Port to listen on; 0 picks a free one.
        poll_interval_s: Seconds between looks at `base_path`.
        versions_to_keep: How many of the newest versions stay loaded.
        limits: What one request may hold.
        execution_threads: How many requests are computed at the same time.
        max_concurrent_calls: How many are computed or wait; more get RESOURCE_EXHAUSTED.
        grace_s: Seconds that requests under way have to end when the server stops.
    """

    base_path: Path
    model_name: str
    host: str = "127.0.0.1"
    port: int = 0
    poll_interval_s: float = 1.0
    versions_to_keep: int = 2
    limits: RequestLimits = field(default_factory=RequestLimits)
    execution_threads: int = field(default_factory=_execution_threads)
    max_concurrent_calls: int = 128
    grace_s: float = 10.0

    def __post_init__(self) -> None:
        """Check the settings and that there is a directory to serve from."""
        for name in ("versions_to_keep", "execution_threads", "max_concurrent_calls"):
            _check_at_least(name, getattr(self, name), 1)
        _check_at_least("grace_s", self.grace_s, 0)
        _check_at_least("poll_interval_s", self.poll_interval_s, 0.01)
        _check_port(self.port)
        _check_model_name(self.model_name)
        _check_directory(self.base_path)


def _check_at_least(name: str, value: float, least: float) -> None:
    if not value >= least:
        raise ServingError(
            f"{name} is at least {least}",
            received=value,
            where="options of the embedded server",
            remedy=f"set {name} to {least} or more",
        )


def _check_port(port: int) -> None:
    if not 0 <= port <= MAX_PORT:
        raise ServingError(
            f"a port is between 0 and {MAX_PORT}",
            received=port,
            where="options of the embedded server",
            remedy="choose another port, or 0 for a free one",
        )


def _check_model_name(name: str) -> None:
    if not name:
        raise ServingError(
            "a model has a name",
            received="an empty name",
            where="options of the embedded server",
            remedy="give the name that clients put into model_spec.name",
        )


def _check_directory(base_path: Path) -> None:
    if not base_path.is_dir():
        raise ServingError(
            "a model is served from an existing directory that holds its versions",
            received=f"{base_path}, which is no directory",
            where="base path of the embedded server",
            remedy="run make export first, or give the directory above the version directories",
        )
