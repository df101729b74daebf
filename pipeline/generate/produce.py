"""Generates a log: blocks are drawn by threads, written in order, and counted for the oracle."""

from __future__ import annotations

import contextlib
import json
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from pipeline.generate.blocks import BLOCK_ROWS, LEVELS, Block, LogKind, block_range
from pipeline.generate.broken import KINDS as BROKEN_KINDS
from pipeline.generate.broken import broken_rows
from pipeline.generate.oracle import OracleCounts, last_tenth_start
from pipeline.generate.sinks import LogSink, Target, log_sink, written_beside

__all__ = ["Order", "generate", "in_order", "is_up_to_date", "oracle_path"]

_VERSION = 1
"""Raised whenever the same order gives other bytes than before."""

_Result = TypeVar("_Result")


@dataclass(frozen=True)
class Order:
    """What to generate.

    Attributes:
        kind: Of the log.
        rows: Lines of the log without its header, broken ones included.
        seed: Same kind, rows and seed, same bytes.
        target: Where to.
        probabilities: Where the true probability of each intact row goes, or None.
        broken_every: Rows to one broken line, 0 for none.
        workers: Threads that draw blocks; they do not change the bytes.
    """

    kind: type[LogKind]
    rows: int
    seed: int
    target: Target
    probabilities: Path | None = None
    broken_every: int = 0
    workers: int = 1

    @property
    def breaks_every(self) -> int:
        """Return `broken_every` where this kind and format have broken lines, else 0."""
        may_break = self.kind.shape.may_break and self.target.file_format == "csv"
        return self.broken_every if may_break else 0

    def identity(self) -> dict[str, object]:
        """Return what decides the bytes of the log."""
        return {
            "kind": self.kind.shape.name,
            "rows": self.rows,
            "seed": self.seed,
            "broken_every": self.breaks_every,
            "format": self.target.file_format,
            "gzip": self.target.zipped,
            "generator": _VERSION,
        }


def oracle_path(target: Target) -> Path:
    """Return where the oracle of a log is."""
    return target.beside("oracle.json")


def is_up_to_date(order: Order) -> bool:
    """Return whether the files of an order are there already and whole."""
    path = order.target.path
    try:
        oracle = json.loads(oracle_path(order.target).read_text())
        same = all(oracle.get(key) == value for key, value in order.identity().items())
        whole = path.stat().st_size == oracle["log_bytes"]
    except (OSError, ValueError, KeyError, AttributeError):
        return False
    return same and whole and (order.probabilities is None or order.probabilities.exists())


def generate(order: Order, advance: Callable[[int], None] = lambda rows: None) -> dict[str, Any]:
    """Write a log, its oracle and, where wanted, its true probabilities.

    Args:
        order: What to generate.
        advance: Told of the rows of each block once they are written.

    Returns:
        What is in the oracle file.

    Raises:
        DataError: A file cannot be written.
    """
    log = order.kind(order.rows, order.seed)
    counts = OracleCounts(log.shape.days)
    with contextlib.ExitStack() as files:
        # The file entered first is renamed last: a log never stands beside an older oracle.
        log_file = files.enter_context(written_beside(order.target.path))
        oracle_file = files.enter_context(written_beside(oracle_path(order.target)))
        broken = _write(log, order, log_file, counts, files, advance)
        oracle = _oracle(order, log, counts, broken, log_file.stat().st_size)
        oracle_file.write_text(json.dumps(oracle, indent=2, ensure_ascii=False) + "\n")
    return oracle


def in_order(work: Callable[[int], _Result], count: int, workers: int) -> Iterator[_Result]:
    """Yield `work(0)` to `work(count - 1)` in order; threads work at most some blocks ahead."""
    with ThreadPoolExecutor(workers) as pool:
        ahead: deque[Future[_Result]] = deque()
        for index in range(count):
            ahead.append(pool.submit(work, index))
            if len(ahead) > 2 * workers:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()


def _write(
    log: LogKind,
    order: Order,
    log_file: Path,
    counts: OracleCounts,
    files: contextlib.ExitStack,
    advance: Callable[[int], None],
) -> Counter[str]:
    """Write all blocks and return the number of broken lines by kind."""
    by_kind: Counter[str] = Counter()
    probabilities = _probability_writer(order, files)
    with log_sink(log, order.target, log_file) as sink:
        blocks = -(-log.rows // BLOCK_ROWS)
        for drawn in in_order(lambda index: _draw(log, order, sink, index), blocks, order.workers):
            sink.write(drawn.prepared)
            counts.add(drawn.block, drawn.intact)
            by_kind.update(drawn.broken.values())
            if probabilities is not None:
                probabilities.write_table(_probabilities(log, drawn))
            advance(len(drawn.block))
    return by_kind


@dataclass(frozen=True)
class _Drawn:
    block: Block
    prepared: Any
    rows: NDArray[np.int64]
    intact: NDArray[np.bool_]
    broken: Mapping[int, str]


def _draw(log: LogKind, order: Order, sink: LogSink, index: int) -> _Drawn:
    block, (first, end) = log.block(index), block_range(index, log.rows)
    in_log = broken_rows(order.seed, first, end, log.rows, order.breaks_every)
    broken = {row - first: kind for row, kind in in_log.items()}
    intact = np.ones(len(block), bool)
    intact[list(broken)] = False
    return _Drawn(block, sink.prepare(block, broken), np.arange(first, end), intact, broken)


_PROBABILITY_SCHEMA = pa.schema(
    {
        "line": pa.int64(),
        "timestamp": pa.timestamp("ms", tz="UTC"),
        "label": pa.int8(),
        "probability": pa.float32(),
    }
)


def _probability_writer(order: Order, files: contextlib.ExitStack) -> pq.ParquetWriter | None:
    if order.probabilities is None:
        return None
    path = files.enter_context(written_beside(order.probabilities))
    return files.enter_context(pq.ParquetWriter(path, _PROBABILITY_SCHEMA))


def _probabilities(log: LogKind, drawn: _Drawn) -> pa.Table:
    """Return the truth about the intact rows of a block, one row each in the log's order."""
    block, first_line = drawn.block, 2 if log.shape.has_header else 1
    columns = (
        drawn.rows + first_line,
        (block.seconds + log.shape.start_seconds) * 1000,
        block.labels.astype(np.int8),
        (block.levels / LEVELS).astype(np.float32),
    )
    arrays = [pa.array(values[drawn.intact]) for values in columns]
    return pa.table(
        [a.cast(field.type) for a, field in zip(arrays, _PROBABILITY_SCHEMA, strict=True)],
        schema=_PROBABILITY_SCHEMA,
    )


def _oracle(
    order: Order, log: LogKind, counts: OracleCounts, broken: Counter[str], log_bytes: int
) -> dict[str, Any]:
    return {
        **order.identity(),
        "log_bytes": log_bytes,
        "columns": list(log.shape.columns),
        "last_tenth_from": last_tenth_start(log.shape.days) + log.shape.start_seconds,
        **counts.summary(),
        "broken_lines": broken.total(),
        "broken_lines_by_kind": {kind: broken[kind] for kind in BROKEN_KINDS if broken[kind]},
        **log.facts(),
    }
