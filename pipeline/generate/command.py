"""The command `python -m pipeline generate`."""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from features.errors import DataError
from pipeline.generate.avazu import AvazuLog
from pipeline.generate.blocks import LogKind
from pipeline.generate.broken import BROKEN_EVERY
from pipeline.generate.criteo import CriteoLog
from pipeline.generate.impressions import ImpressionLog
from pipeline.generate.produce import Order, generate, is_up_to_date, oracle_path
from pipeline.generate.sinks import log_target
from pipeline.generate.taobao import TaobaoLog

__all__ = ["KINDS", "add_arguments", "run"]

KINDS: dict[str, type[LogKind]] = {
    kind.shape.name: kind for kind in (ImpressionLog, CriteoLog, AvazuLog, TaobaoLog)
}
DEFAULT_ROWS = 300_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add = parser.add_argument
    add(
        "--kind", choices=list(KINDS), default="default", help="shape of the log (default: default)"
    )
    add(
        "--rows", type=int, default=DEFAULT_ROWS, metavar="N",
        help=f"lines to write, a header not counted (default: {DEFAULT_ROWS:,})",
    )  # fmt: skip
    add("--seed", type=int, default=1, metavar="S", help="same seed, same bytes (default: 1)")
    add(
        "--out", type=Path, required=True, metavar="FILE",
        help="the log; its suffix is its format: .csv, .tsv, .jsonl or .parquet, text also .gz",
    )  # fmt: skip
    add(
        "--probabilities", type=Path, metavar="FILE",
        help="also write the true probability of each intact row to this Parquet file",
    )  # fmt: skip
    add(
        "--broken-every", type=int, default=BROKEN_EVERY, metavar="N",
        help="in the default log as CSV, one line in N is broken, 0 for none "
        f"(default: {BROKEN_EVERY:,})",
    )  # fmt: skip
    add(
        "--workers", type=int, default=os.cpu_count() or 1, metavar="N",
        help="threads; they do not change the bytes (default: one a core)",
    )  # fmt: skip
    add("--force", action="store_true", help="generate even if the same log is there already")


def run(args: argparse.Namespace) -> int:
    """Generate the log that the options ask for, unless it is there already.

    Raises:
        DataError: An option is out of range or a file cannot be written.
    """
    order = _order(args)
    if not args.force and is_up_to_date(order):
        print(f"{args.out} is up to date: the same kind, rows and seed (--force writes it again)")
        return 0
    start = time.perf_counter()
    oracle = _with_progress(order)
    seconds = time.perf_counter() - start
    print(_closing_line(order, oracle, order.rows / seconds))
    return 0


def _order(args: argparse.Namespace) -> Order:
    _at_least(1, args.rows, "--rows")
    _at_least(0, args.seed, "--seed")
    _at_least(0, args.broken_every, "--broken-every")
    _at_least(1, args.workers, "--workers")
    kind = KINDS[args.kind]
    target = log_target(kind, args.out)
    _no_directory(args.out, "--out")
    if args.probabilities is not None:
        _no_directory(args.probabilities, "--probabilities")
    return Order(
        kind, args.rows, args.seed, target, args.probabilities, args.broken_every, args.workers
    )


def _at_least(least: int, received: int, option: str) -> None:
    if received < least:
        raise DataError(
            f"{option} is at least {least}",
            received=received,
            where=option,
            remedy=f"give {option} {least} or more",
        )


def _no_directory(path: Path, option: str) -> None:
    if path.is_dir():
        raise DataError(
            f"{option} names a file",
            received="a directory",
            where=str(path),
            remedy="add the name of a file to it",
        )


def _with_progress(order: Order) -> dict[str, Any]:
    columns = TextColumn("generate"), BarColumn(), TextColumn("{task.completed:,.0f} rows")
    console = Console(stderr=True)
    with Progress(
        *columns, TimeRemainingColumn(), console=console, disable=not sys.stderr.isatty()
    ) as progress:
        task = progress.add_task("generate", total=order.rows)
        return generate(order, lambda rows: progress.advance(task, rows))


def _closing_line(order: Order, oracle: dict[str, Any], rows_per_second: float) -> str:
    attainable = oracle["oracle_auc"]
    return (
        f"{order.target.path}: {order.rows:,} rows ({order.kind.shape.name}, seed {order.seed}), "
        f"{oracle['broken_lines']:,} of them broken, at {rows_per_second:,.0f} rows/s; "
        f"attainable AUC {'undefined' if attainable is None else format(attainable, '.4f')} "
        f"in {oracle_path(order.target).name}"
    )
