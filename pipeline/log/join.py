"""Side tables in memory, and their columns added to the log's rows by key."""

from __future__ import annotations

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
    """

    on: str
    keys: pa.Array
    columns: dict[str, pa.Array]


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
    keys: list[pa.Array] = []
    columns: dict[str, list[pa.Array]] = {}
    for file in find_files(join, where):
        taken = _taken(file, reading, join, wanted, key)
        for part in file_ranges(file, reading):
            for block in raw_blocks(part, reading, tuple(dict.fromkeys((key, *taken)))):
                _check_rows(block)
                keys.append(strings(block.columns[key], None))
                for name in taken:
                    columns.setdefault(name, []).append(_clean(block, name, wanted, reading, file))
    if not keys:
        raise DataError(
            "a side table has at least one row",
            received="0 rows",
            where=f"{where}: {join.path}",
            remedy="mend the path, or drop the join",
        )
    joined = pa.concat_arrays(keys)
    _check_unique(joined, f"{where}: {join.path}")
    return Side(join.on, joined, {name: pa.concat_arrays(parts) for name, parts in columns.items()})


def _taken(
    file: LogFile, reading: Reading, join: JoinConfig, wanted: Wanted, key: str
) -> tuple[str, ...]:
    """Return the columns of a side table that the run reads."""
    names = file_names(file, reading)
    offered = join.take if join.take is not None else tuple(n for n in names if n != key)
    taken = tuple(name for name in offered if name in wanted.names)
    check_names(names, (key, *(join.take or taken)), (), file.path)
    return taken


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
