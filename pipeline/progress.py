"""A progress bar for preprocessing, fed by what has appeared in the workspace."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from pipeline.workspace import Workspace

__all__ = ["watched"]

SECONDS_BETWEEN_LOOKS = 0.5


@contextmanager
def watched(workspace: Workspace, log_bytes: int, block_bytes: int) -> Iterator[None]:
    """Show how many blocks are parsed and encoded while the body runs.

    Any runner will do, since blocks are counted where they are written, not in the runner. The
    number of blocks is an estimate for compressed files.
    """
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description:>8}"),
        BarColumn(),
        TextColumn("{task.completed} of about {task.total} blocks"),
        TimeElapsedColumn(),
    )
    blocks = max(1, round(log_bytes / block_bytes))
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        tasks = {
            name: progress.add_task(label, total=blocks)
            for name, label in (("staged", "parse"), ("pieces", "encode"))
        }
        done = threading.Event()
        watcher = threading.Thread(
            target=_watch, args=(workspace, progress, tasks, done), daemon=True
        )
        watcher.start()
        try:
            yield
        finally:
            done.set()
            watcher.join()


def _watch(
    workspace: Workspace, progress: Progress, tasks: dict[str, TaskID], done: threading.Event
) -> None:
    last = False
    while not last:
        last = done.wait(SECONDS_BETWEEN_LOOKS)
        for folder, task in tasks.items():
            progress.update(task, completed=_finished(Path(workspace.root) / folder))


def _finished(folder: Path) -> int:
    if not folder.is_dir():
        return 0
    return sum(not path.name.startswith(".") for path in folder.iterdir())
