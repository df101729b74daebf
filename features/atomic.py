"""Files that are never seen half written."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable
from pathlib import Path

__all__ = ["write_text", "write_whole"]


def write_whole(target: Path, write: Callable[[Path], object]) -> None:
    """Have a file written beside its place, then rename it.

    Args:
        target: The file's place.
        write: Writes the file to the path it is given.
    """
    part = target.parent / f".part-{os.getpid()}-{uuid.uuid4().hex}"
    try:
        write(part)
        os.replace(part, target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def write_text(target: Path, text: str) -> None:
    """Write a text file whole, in UTF-8."""
    write_whole(target, lambda part: part.write_text(text, encoding="utf-8"))
