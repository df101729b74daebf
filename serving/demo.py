"""The whole pipeline in one command, each step as its own process with its progress shown."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from features.config import Config
from serving.summary import PREDICTIONS_FILE, summary_lines

__all__ = ["Step", "demo", "steps"]


@dataclass(frozen=True)
class Step:
    """One command of the demonstration.

    Attributes:
        title: What it does.
        arguments: Arguments of `python -m`.
    """

    title: str
    arguments: tuple[str, ...]


def steps(run: Sequence[str], out: Path, missing_log: Path | None) -> list[Step]:
    """Return the commands in their order.

    Args:
        run: The options that name configuration, overrides and directory.
        out: Directory of the run.
        missing_log: The log, where it is still to be generated.
    """
    generate = [Step("generate a log", ("pipeline", "generate", "--out", str(missing_log)))]
    predictions = ("--output", str(out / PREDICTIONS_FILE))
    return [
        *(generate if missing_log else []),
        Step("preprocess", ("pipeline", "preprocess", *run)),
        Step("train", ("models", "train", *run)),
        Step("export", ("serving", "export", *run)),
        Step("verify", ("serving", "verify", *run)),
        Step("predict", ("serving", "predict", *run, *predictions)),
    ]


def demo(run: Sequence[str], out: Path, config: Config) -> int:
    """Run every step and print the summary; the first step that fails ends it with its status."""
    start = time.monotonic()
    todo = steps(run, out, _missing_log(config))
    for number, step in enumerate(todo, start=1):
        print(f"[{number}/{len(todo)}] {step.title}", flush=True)
        status = subprocess.run([sys.executable, "-m", *step.arguments], check=False).returncode
        if status:
            print(f"{step.title} ended with status {status}", file=sys.stderr)
            return status if status > 0 else 1
    print("\n".join(summary_lines(out, config)))
    print(f"  took        {time.monotonic() - start:.0f} s")
    return 0


def _missing_log(config: Config) -> Path | None:
    """Return the log of the configuration where it is the generated one and not there yet."""
    if config.name != "default" or not isinstance(config.log.path, str):
        return None
    log = Path(config.log.path)
    return None if log.is_file() else log
