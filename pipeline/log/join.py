"""Side tables in memory, and their columns added to the log's rows by key."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from features.config import Config, JoinConfig
from features.errors import DataError
from pipeline.log.block import RawBlock, Reject
from pipeline.log.plan import Reading, file_names, file_ranges, raw_blocks
from pipeline.log.sources import LogFile, find_files
from pipeline.log.values import missing_as_null, numbers, strings
from pipeline.log.wanted import Wanted, check_names, wanted_columns

__all__ = ["Side", "add_side", "cached_sides", "load_sides"]


@dataclass(frozen=True)
class Side:
    """A side table.

    Attributes:
        on: Column of the log that holds the key.
        keys: Its K keys, all different.
        columns: Columns to add: K strings, or K floats of type `float64` with null for missing.
        names: All columns of its files, to suggest one where a column is missing.
    """

    on: str
    keys: pa.Array
    columns: dict[str, pa.Array]
    names: tuple[str, ...] = ()


@lru_cache(maxsize=4)
def cached_sides(config: Config) -> tuple[Side, ...]:
    """Return the side tables of a configuration, read once a process."""
    return load_sides(config)


def load_sides(config: Config) -> tuple[Side, ...]:
    """Read the side tables of a configuration.

    Raises:
        DataError: A file is missing or broken, a row is malformed, or a key stands twice.
    """
    wanted = wanted_columns(config)
    return tuple(
        _load(join, wanted, config, f"log.joins[{at}]") for at, join in enumerate(config.log.joins)
    )


def _load(join: JoinConfig, wanted: Wanted, config: Config, where: str) -> Side:
    reading = Reading(join, config.log.missing, wanted.separators, config.data.block_bytes)
    key = join.key or join.on
    files = find_files(join, where)
    names = file_names(files[0], reading)
    offered = join.take if join.take is not None else tuple(n for n in names if n != key)
    taken = tuple(name for name in offered if name in wanted.names)
    read = tuple(dict.fromkeys((key, *(join.take or taken))))
    parts = [part for file in files for part in _read(file, reading, read, key, taken, wanted)]
    if not parts:
        raise DataError(
            "a side table has at least one row",
            received="0 rows",
            where=f"{where}: {join.path}",
            remedy="mend the path, or drop the join",
        )
    keys = pa.concat_arrays([part[0] for part in parts])
    _check_unique(keys, f"{where}: {join.path}")
    columns = zip(*(part[1] for part in parts), strict=True)
    joined = [pa.concat_arrays(list(column)) for column in columns]
    return Side(join.on, keys, dict(zip(taken, joined, strict=True)), names)


def _read(
    file: LogFile,
    reading: Reading,
    read: tuple[str, ...],
    key: str,
    taken: tuple[str, ...],
    wanted: Wanted,
) -> Iterator[tuple[pa.Array, list[pa.Array]]]:
    """Read the keys and the taken columns of a file, block by block."""
    check_names(file_names(file, reading), read, (), file.path)
    for part in file_ranges(file, reading):
        for block in raw_blocks(part, reading, read):
            _check_rows(block)
            columns = [_clean(block, name, wanted, reading, file) for name in taken]
            yield strings(block.columns[key], None), columns


def _check_rows(block: RawBlock) -> None:
    if block.rejects:
        raise _broken(block.rejects[0])


def _broken(reject: Reject) -> DataError:
    return DataError(
        "every row of a side table is well-formed",
        received=f"{reject.reason}: {reject.raw[:120].decode('utf-8', 'backslashreplace')!r}",
        where=f"{reject.file}:{reject.line}",
        remedy="mend the row, or the join's format, separator, columns or encoding",
    )


def _clean(block: RawBlock, name: str, wanted: Wanted, reading: Reading, file: LogFile) -> pa.Array:
    values = block.columns[name]
    separator = dict(reading.separators).get(name)
    if {column.name: column.type for column in wanted.raw}.get(name) != "number":
        return missing_as_null(strings(values, separator), reading.missing, False)
    if pa.types.is_string(values.type):
        values = missing_as_null(values, reading.missing, False)
    found = numbers(values, name, file.path)
    bad = np.flatnonzero(found.malformed | found.too_large)
    if len(bad):
        line = int(block.lines[bad[0]])
        raise _broken(Reject(file.path, line, f"not_a_number:{name}", block.raw(bad[:1])[0]))
    return pa.array(found.values, mask=np.isnan(found.values))


def _check_unique(keys: pa.Array, where: str) -> None:
    counts = pc.value_counts(keys)
    twice = counts.filter(pc.greater(counts.field("counts"), 1))
    if keys.null_count or len(twice):
        received = "a row without a key" if keys.null_count else f"{twice[0]['values']} twice"
        raise DataError(
            "a side table has one row a key",
            received=received,
            where=where,
            remedy="take the duplicates out, or name another key",
        )


def add_side(keys: pa.Array, side: Side) -> dict[str, pa.Array]:
    """Return a side table's columns for rows of the log; null where no key matches.

    Args:
        keys: `(R,)` keys of the rows, as strings.
        side: The side table.

    >>> side = Side("item", pa.array(["a", "b"]), {"price": pa.array([1.5, None])})
    >>> add_side(pa.array(["b", "x", "a"]), side)["price"].to_pylist()
    [None, None, 1.5]
    """
    places = pc.index_in(keys, value_set=side.keys)
    return {name: column.take(places) for name, column in side.columns.items()}
