"""Scores rows of a file over gRPC, in batches and in their order."""

from __future__ import annotations

import itertools
import os
import sys
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from features.config import Config
from features.errors import DataError
from features.spec import RawColumn
from serving.client import PredictionClient
from serving.golden import Scores
from serving.input_rows import InputRow, read_rows
from serving.rows import Arrays, arrays_of_rows
from serving.signatures import PROBABILITY, ROWS_SIGNATURE

__all__ = ["predict_file"]

BATCH_ROWS = 4096


def predict_file(
    client: PredictionClient,
    path: Path,
    columns: Sequence[RawColumn],
    config: Config,
    output: Path | None,
) -> int:
    """Score the rows of a file and write one probability a line, in their order.

    Args:
        client: The model.
        path: Rows as `serving.input_rows.read_rows` takes them.
        columns: Raw columns of the model.
        config: Configuration of the run.
        output: Where to; standard output where it is None. The file appears when it is whole.

    Returns:
        The number of rows.

    Raises:
        DataError: A row is wrong.
        ServingError: The server refuses or does not answer.
    """
    count = 0
    with _writer(output) as stream:
        for batch in _batches(read_rows(path, columns, config)):
            arrays = _arrays(batch, columns, path)
            scores: Scores = client.predict(arrays, ROWS_SIGNATURE)[PROBABILITY]
            stream.writelines(f"{score!s}\n" for score in scores)
            count += len(batch)
    if count == 0:
        raise DataError(
            "a file of rows to predict has rows",
            received="0 rows",
            where=str(path),
            remedy="give a file with rows by --input",
        )
    return count


def _batches(rows: Iterator[InputRow]) -> Iterator[list[InputRow]]:
    while batch := list(itertools.islice(rows, BATCH_ROWS)):
        yield batch


def _arrays(batch: Sequence[InputRow], columns: Sequence[RawColumn], path: Path) -> Arrays:
    lines = [row.line for row in batch]
    return arrays_of_rows([row.values for row in batch], columns, str(path), lines)


@contextmanager
def _writer(output: Path | None) -> Iterator[TextIO]:
    if output is None:
        yield from _standard_output()
        return
    part = output.parent / f".part-{os.getpid()}-{uuid.uuid4().hex}"
    try:
        with part.open("w") as stream:
            yield stream
        os.replace(part, output)
    except OSError as error:
        raise DataError(
            "the output can be written",
            received=error.strerror or str(error),
            where=str(output),
            remedy="give a file in a directory that can be written by --output",
        ) from error
    finally:
        part.unlink(missing_ok=True)


def _standard_output() -> Iterator[TextIO]:
    try:
        yield sys.stdout
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read has read enough; Python must not flush into the broken pipe at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
