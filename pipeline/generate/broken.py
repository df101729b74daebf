"""Broken lines: what a writer that was cut off, or an old version of a logger, leaves in a log."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable

import numpy as np
import pyarrow as pa

from pipeline.generate.blocks import random_stream

__all__ = ["BROKEN_EVERY", "KINDS", "break_lines", "broken_rows"]

BROKEN_EVERY = 20_000
"""Rows to one broken line; a pipeline gives up at one in a thousand by default."""

_LABEL, _TIMESTAMP = -1, 0
_CATEGORY = 4


def _line(fields: list[str]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(fields)
    return text.getvalue().encode()


def _with(fields: list[str], place: int, value: str) -> bytes:
    changed = list(fields)
    changed[place] = value
    return _line(changed)


def _invalid_utf8(fields: list[str]) -> bytes:
    return _with(fields, _CATEGORY, "caf\0").replace(b"\0", b"\xe9")


_BREAKS: dict[str, Callable[[list[str]], bytes]] = {
    "too_few_fields": lambda fields: _line(fields[:-4]),
    "too_many_fields": lambda fields: _line([*fields, "0", "0"]),
    "bad_label": lambda fields: _with(fields, _LABEL, "2"),
    "unparsable_timestamp": lambda fields: _with(fields, _TIMESTAMP, "02/Mar/2026 25:61"),
    "invalid_utf8": _invalid_utf8,
    "label_missing": lambda fields: _with(fields, _LABEL, ""),
}
KINDS = tuple(_BREAKS)


def broken_rows(seed: int, first: int, end: int, rows: int, every: int) -> dict[int, str]:
    """Return which rows from `first` to `end` are broken, and how.

    Each full stretch of `every` rows has one, at a place of its own; the kinds take turns. A log
    shorter than a stretch has none. `every` 0 breaks nothing.

    >>> broken_rows(7, 0, 1000, 1000, 20_000)
    {}
    >>> sorted(broken_rows(7, 0, 60, 60, 10).values()) == sorted(KINDS)
    True
    """
    if not every:
        return {}
    stretches = range(first // every, min(-(-end // every), rows // every))
    places = {s: s * every + _place(seed, s, every) for s in stretches}
    return {row: KINDS[s % len(KINDS)] for s, row in places.items() if first <= row < end}


def break_lines(lines: pa.Array, broken: dict[int, str]) -> pa.Array:
    """Return lines `(n,)` of which those at the given places are broken in the given way."""
    pieces, start = [], 0
    for place, kind in sorted(broken.items()):
        fields = next(csv.reader([lines[place].as_py().decode()]))
        pieces += [lines.slice(start, place - start), pa.array([_BREAKS[kind](fields)])]
        start = place + 1
    return pa.concat_arrays([*pieces, lines.slice(start)])


def _place(seed: int, stretch: int, every: int) -> int:
    return int(np.asarray(random_stream(seed, "broken", stretch).integers(0, every)))
