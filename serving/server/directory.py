"""The versions that a model directory holds."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

__all__ = ["find_versions", "fingerprint"]

MAX_VERSION = 2**63 - 1
_VERSION_NAME = re.compile(r"[1-9][0-9]{0,18}", re.ASCII)


def find_versions(base_path: Path) -> dict[int, Path]:
    """Return the version directories by number.

    A version is a directory whose name is a positive integer without leading zeros. Files,
    temporary directories and anything else are ignored.

    Raises:
        OSError: The directory cannot be read.
    """
    return {
        int(entry.name): entry
        for entry in base_path.iterdir()
        if _VERSION_NAME.fullmatch(entry.name) and int(entry.name) <= MAX_VERSION and entry.is_dir()
    }


def fingerprint(version_path: Path) -> str:
    """Return a hash of names, sizes and times of the files of a version.

    It tells whether a version that failed to load has changed since.

    Raises:
        OSError: The directory cannot be read.
    """
    entries = []
    for file in sorted(version_path.rglob("*")):
        stat = file.stat()
        entries.append(f"{file.relative_to(version_path)}\0{stat.st_size}\0{stat.st_mtime_ns}")
    return hashlib.sha256("\n".join(entries).encode()).hexdigest()
