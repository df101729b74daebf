"""Versions of an exported model and how one is published.

A version is complete before it is seen: it is written under `.tmp-…`, a name that servers pass
over, and becomes `VERSION` by one rename. Versions only grow.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from features.config import Config
from features.errors import DataError, ServingError
from features.spec import RawColumn

__all__ = [
    "RECORD_FILE",
    "draft",
    "latest_version",
    "model_columns",
    "model_directory",
    "model_name",
    "publish",
    "read_record",
    "versions",
    "write_record",
]

RECORD_FILE = Path("assets.extra") / "export.json"
DRAFT_PREFIX = ".tmp-"
DRAFT_LIFETIME_SECONDS = 24 * 3600


def model_name(config: Config) -> str:
    """Return the name under which the model is exported and served."""
    return config.serving.model_name or config.name


def model_directory(out: Path, config: Config) -> Path:
    """Return the directory that holds the versions."""
    return out / "export" / model_name(config)


def versions(directory: Path) -> list[int]:
    """Return the published versions, oldest first; anything but a positive integer is none."""
    if not directory.is_dir():
        return []
    names = (entry.name for entry in directory.iterdir() if entry.is_dir())
    return sorted(int(name) for name in names if name.isascii() and name.isdigit() and int(name))


def latest_version(directory: Path) -> Path:
    """Return the directory of the newest version.

    Raises:
        DataError: Nothing was exported yet.
    """
    published = versions(directory)
    if not published:
        raise DataError(
            "a model is exported before it is verified, served or asked",
            received="no version",
            where=str(directory),
            remedy="run `make export` with the same CONFIG and OUT",
        )
    return directory / str(published[-1])


@contextmanager
def draft(directory: Path) -> Iterator[Path]:
    """Give a directory to write a version in; it goes away unless it is published.

    Raises:
        ServingError: The directory cannot be written.
    """
    path = directory / f"{DRAFT_PREFIX}{os.getpid()}-{uuid.uuid4().hex[:8]}"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        _remove_old_drafts(directory)
        path.mkdir()
    except OSError as error:
        raise _not_writable(directory, error) from error
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def publish(complete: Path, directory: Path) -> Path:
    """Rename a complete draft to the next version.

    Two exports at the same time get a version each: a rename onto the other's directory fails,
    and the next number is tried.

    Args:
        complete: The draft.
        directory: The directory of versions.

    Returns:
        The directory of the version.
    """
    number = max(versions(directory), default=0) + 1
    while True:
        target = directory / str(number)
        try:
            os.rename(complete, target)
        except OSError as error:
            if error.errno not in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR):
                raise _not_writable(directory, error) from error
            number += 1
        else:
            return target


def write_record(version: Path, record: Mapping[str, Any]) -> None:
    """Write what a version was made from."""
    file = version / RECORD_FILE
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


def read_record(version: Path) -> dict[str, Any]:
    """Read what a version was made from.

    Raises:
        DataError: The record is missing or broken.
    """
    file = version / RECORD_FILE
    try:
        record = json.loads(file.read_text(encoding="utf-8"))
        return dict(record)
    except (OSError, ValueError, TypeError) as error:
        raise DataError(
            "an exported version says what it was made from",
            received=str(error),
            where=str(file),
            remedy="run `make export` again",
        ) from error


def model_columns(version: Path) -> tuple[RawColumn, ...]:
    """Return the raw columns that a version takes, whatever the configuration says by now.

    Raises:
        DataError: The record of the version is missing or broken.
    """
    return tuple(RawColumn(**column) for column in read_record(version).get("columns", ()))


def _remove_old_drafts(directory: Path) -> None:
    """Remove drafts of exports that were killed; a draft that is being written is young."""
    for entry in directory.glob(f"{DRAFT_PREFIX}*"):
        if time.time() - entry.stat().st_mtime > DRAFT_LIFETIME_SECONDS:
            shutil.rmtree(entry, ignore_errors=True)


def _not_writable(directory: Path, error: OSError) -> ServingError:
    return ServingError(
        "the directory of versions can be written",
        received=error.strerror or str(error),
        where=str(directory),
        remedy="free the disk or mend the permissions, or choose another OUT",
    )
