"""Parquet files as raw columns, a row group a range."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from features.errors import DataError
from pipeline.log.block import RawBlock
from pipeline.log.files import open_file

__all__ = ["column_names", "read_row_group", "row_group_rows"]

BATCH_ROWS = 1 << 16


@contextmanager
def _open(path: str) -> Iterator[Any]:
    with open_file(path) as stream:
        try:
            yield pq.ParquetFile(stream)
        except (pa.ArrowInvalid, OSError) as error:
            raise DataError(
                "a Parquet file is whole",
                received=str(error).splitlines()[0],
                where=path,
                remedy="copy the file again, or leave it out of the path",
            ) from error


def column_names(path: str) -> tuple[str, ...]:
    """Return a file's top-level columns."""
    with _open(path) as file:
        return tuple(file.schema_arrow.names)


def row_group_rows(path: str) -> list[int]:
    """Return the number of rows of each row group."""
    with _open(path) as file:
        return [file.metadata.row_group(at).num_rows for at in range(file.num_row_groups)]


def read_row_group(
    path: str, row_group: int, first_row: int, wanted: tuple[str, ...]
) -> Iterator[RawBlock]:
    """Read a row group in batches of at most 65,536 rows."""
    with _open(path) as file:
        batches = file.iter_batches(BATCH_ROWS, row_groups=[row_group], columns=list(wanted))
        for batch in batches:
            lines = np.arange(first_row, first_row + batch.num_rows, dtype=np.int64)
            columns = {name: batch.column(name) for name in wanted}
            yield RawBlock(columns, lines, _Rows(path, row_group, lines))
            first_row += batch.num_rows


class _Rows:
    """Whole rows as JSON, read again, since few are ever asked for."""

    def __init__(self, path: str, row_group: int, lines: npt.NDArray[np.int64]) -> None:
        self._path, self._row_group, self._lines = path, row_group, lines

    def __call__(self, some: npt.NDArray[np.int64]) -> list[bytes]:
        if not len(some):
            return []
        with _open(self._path) as file:
            before = sum(file.metadata.row_group(at).num_rows for at in range(self._row_group))
            places = pa.array(self._lines[some] - 1 - before)
            rows = file.read_row_group(self._row_group).take(places).to_pylist()
        return [json.dumps(row, default=str, ensure_ascii=False).encode() for row in rows]
