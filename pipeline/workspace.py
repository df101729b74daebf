"""The directory in which a run's files are made before they are published by renames."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from features import errors
from features.atomic import write_text
from features.errors import DataError, PipelineError

__all__ = ["Workspace", "open_workspace"]


@dataclass(frozen=True)
class Workspace:
    """Where the parts of an unfinished data set lie; a path, so that workers can have it."""

    root: str

    def folder(self, name: str) -> Path:
        """Return a folder of the workspace, made if it is not there."""
        path = Path(self.root) / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    def fail(self, error: PipelineError) -> None:
        """Leave an error for the command line: runners pass on no more than its text."""
        parts = [type(error).__name__, error.rule, str(error.received), error.where, error.remedy]
        write_text(Path(self.root) / "failure.json", json.dumps(parts))

    def failure(self) -> PipelineError | None:
        """Return the error that a worker left, if one did."""
        try:
            kind, rule, received, where, remedy = json.loads(
                (Path(self.root) / "failure.json").read_text()
            )
        except FileNotFoundError:
            return None
        error: PipelineError = getattr(errors, kind)(
            rule, received=received, where=where, remedy=remedy
        )
        return error

    def publish(self, names: tuple[str, ...], out: Path) -> None:
        """Put finished folders in place of those of an earlier run, the last one last of all."""
        old = self.folder("replaced")
        for name in reversed(names):
            if (out / name).exists():
                os.rename(out / name, old / name)
        for name in names:
            os.rename(Path(self.root) / name, out / name)


@contextmanager
def open_workspace(out: Path) -> Iterator[Workspace]:
    """Make an empty workspace in a run's directory, and remove it at the end.

    Raises:
        DataError: The directory cannot be written, or another preprocessing is at work in it.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        lock = open(out / ".preprocess.lock", "w")
    except OSError as error:
        raise DataError(
            "the output directory can be written",
            received=error.strerror or error,
            where=f"OUT={out}",
            remedy="choose another OUT or mend its permissions",
        ) from error
    with lock:
        _hold(lock.fileno(), out)
        root = out / ".preprocess"
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir()
        try:
            yield Workspace(str(root))
        finally:
            shutil.rmtree(root, ignore_errors=True)


def _hold(lock: int, out: Path) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise DataError(
            "one preprocessing at a time works in a directory",
            received="another one holds its lock",
            where=f"OUT={out}",
            remedy="wait for it to end, or choose another OUT",
        ) from error
