"""Ranges of the log, and a range as clean blocks with what was refused."""

from __future__ import annotations

import time
from collections.abc import Iterator

from features.config import Config
from pipeline.log.block import ParsedBlock, Reject
from pipeline.log.clean import clean_block
from pipeline.log.join import Side, cached_sides
from pipeline.log.plan import Range, Reading, file_names, file_ranges, raw_blocks
from pipeline.log.sources import LogFile
from pipeline.log.wanted import check_names, wanted_columns

__all__ = ["ParsedBlock", "Range", "Reject", "plan_ranges", "read_range"]


def plan_ranges(file: LogFile, config: Config) -> Iterator[Range]:
    """Check a file's columns and cut it into ranges of about `data.block_bytes`.

    Text is cut where records end, Parquet into its row groups; a gzip file is one range. A file
    with a header alone has no ranges.

    Raises:
        DataError: The file is broken, its header is no text, or a needed column is missing,
            stands twice, or comes from a side table as well.
    """
    wanted = wanted_columns(config)
    reading = Reading.of_log(config.log, wanted, config.data.block_bytes)
    names = file_names(file, reading)
    if names:
        sides = cached_sides(config)
        provided = [name for side in sides for name in side.columns]
        near = [name for side in sides for name in side.names]
        check_names(names, wanted.names, provided, file.path, near)
    yield from file_ranges(file, reading)


def read_range(
    part: Range, config: Config, sides: tuple[Side, ...] | None = None, now: float | None = None
) -> Iterator[ParsedBlock]:
    """Read a range as clean blocks, in the order of the file.

    Args:
        part: The range.
        config: The configuration.
        sides: Side tables; read from their files, once a process, by default.
        now: The clock in Unix seconds, past which times are in the future.

    Raises:
        DataError: The file is broken, or has a header of another order in its middle.
    """
    wanted = wanted_columns(config)
    sides = cached_sides(config) if sides is None else sides
    reading = Reading.of_log(config.log, wanted, config.data.block_bytes)
    provided = {name for side in sides for name in side.columns}
    names = tuple(name for name in wanted.names if name not in provided)
    clock = time.time() if now is None else now
    for block in raw_blocks(part, reading, names):
        yield clean_block(block, part.file.path, config, sides, clock)
