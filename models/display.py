"""What training shows: lines of text and one progress bar, here or in the process that started it.

The chief of several local workers writes JSON lines to a descriptor of its parent, which shows
them as its own.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from models.launch import PROGRESS_VARIABLE

if TYPE_CHECKING:
    from models.loop import Report

__all__ = ["Display", "displayed", "shown_by_parent"]

REPORTED = "report"
LINE = "line"


@dataclass(frozen=True)
class Display:
    """Shows lines and how far training is.

    Attributes:
        line: Called with each line of text.
        bar: Called with the fields of each `models.loop.Report`.
    """

    line: Callable[[str], None]
    bar: Callable[[Mapping[str, Any]], None]

    def report(self, report: Report) -> None:
        """Show how far training is."""
        self.bar(asdict(report))

    def receive(self, message: str) -> None:
        """Show what the chief sent; what is not a whole message is left out."""
        try:
            content = json.loads(message)
        except ValueError:
            return
        if REPORTED in content:
            self.bar(content[REPORTED])
        elif LINE in content:
            self.line(content[LINE])


@contextmanager
def displayed(environment: Mapping[str, str] = os.environ) -> Iterator[Display]:
    """Yield the display of this process: its parent's where that has asked for it."""
    descriptor = environment.get(PROGRESS_VARIABLE)
    if descriptor is None:
        with _terminal() as display:
            yield display
    else:
        with os.fdopen(int(descriptor), "w", buffering=1, encoding="utf-8") as stream:
            yield shown_by_parent(stream)


def shown_by_parent(stream: TextIO) -> Display:
    """Return a display that sends all to a stream, which `Display.receive` reads line by line."""

    def send(kind: str, content: object) -> None:
        stream.write(json.dumps({kind: content}) + "\n")
        stream.flush()

    return Display(lambda text: send(LINE, text), lambda report: send(REPORTED, report))


@contextmanager
def _terminal() -> Iterator[Display]:
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:.0f}/{task.total:.0f}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[detail]}"),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("train", total=1, detail="", visible=False)

        def bar(report: Mapping[str, Any]) -> None:
            progress.update(
                task,
                description=f"epoch {report['epoch'] + 1} of at most {report['epochs']}",
                completed=report["position"],
                total=report["steps"],
                detail=f"loss {report['loss']:.4f}, {report['examples_per_second']:,.0f} rows/s",
                visible=True,
            )

        yield Display(lambda text: print(text, flush=True), bar)
