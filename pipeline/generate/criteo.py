"""A log of the shape of Criteo's Kaggle set: label, 13 integers and 26 hexadecimal categories.

Cardinalities and shares of missing values follow what is publicly known of that set; the values
and the clicks are drawn. Rows stand in the order of time, but have no time of their own.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pipeline.generate.blocks import (
    Block,
    Column,
    Shape,
    block_range,
    draw_labels,
    random_stream,
)
from pipeline.generate.clock import ordered_seconds
from pipeline.generate.hexadecimal import hex_text, mix32
from pipeline.generate.tails import zipf_ranks

__all__ = ["CARDINALITIES", "CriteoLog"]

CARDINALITIES = (
    1_460, 583, 10_131_227, 2_202_608, 305, 24, 12_517, 633, 3, 93_145, 5_683, 8_351_593, 3_194,
    27, 14_992, 5_461_306, 10, 5_652, 2_173, 4, 7_046_547, 18, 15, 286_181, 105, 142_572,
)  # fmt: skip
"""Distinct values that C1 to C26 are drawn from."""

# Categories that are missing together, and how often (C numbers from 1).
_MISSING_GROUPS: tuple[tuple[tuple[int, ...], float], ...] = (
    ((3, 4, 12, 16, 21, 24), 0.034), ((19, 20, 25, 26), 0.44), ((6,), 0.12), ((22,), 0.76),
)  # fmt: skip
_MISSING_INTEGERS = (
    0.45, 0.0, 0.21, 0.22, 0.026, 0.22, 0.043, 0.001, 0.043, 0.45, 0.043, 0.76, 0.22,
)  # fmt: skip
_LOG_MEANS = (0.9, 2.0, 2.0, 1.6, 8.0, 3.2, 1.8, 2.2, 3.9, 0.1, 0.7, 0.1, 1.7)
_LOG_DEVIATIONS = (1.2, 2.0, 1.3, 1.0, 2.0, 1.7, 1.5, 1.0, 1.4, 0.5, 0.9, 0.8, 1.0)

_EFFECT_COLUMNS = (2, 5, 6, 8, 9, 14, 17, 20, 23, 25)
_PAIRS = ((6, 17), (9, 14), (5, 23), (2, 8))
_HASHED_EFFECTS = 4096
_INTERCEPT = -1.35
_MISSING = -(2**31)

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


class CriteoLog:
    """The Criteo-shaped log.

    Args:
        rows: Lines in all.
        seed: Same seed and rows, same log.
    """

    shape: ClassVar[Shape] = Shape(
        name="criteo",
        columns=("label", *(f"I{n}" for n in range(1, 14)), *(f"C{n}" for n in range(1, 27))),
        has_header=False,
        separator=b"\t",
        days=7,
        start_seconds=1_403_481_600,  # Monday 2014-06-23 00:00:00 UTC
    )

    def __init__(self, rows: int, seed: int) -> None:
        """Draw the effects."""
        self.rows, self.seed = rows, seed
        normal = random_stream(seed, "criteo effects").normal
        self._single = 0.3 * normal(size=(len(_EFFECT_COLUMNS), _HASHED_EFFECTS))
        self._paired = 0.4 * normal(size=(len(_PAIRS), _HASHED_EFFECTS))

    def facts(self) -> dict[str, object]:
        """Return the number of values that each category is drawn from."""
        return {"cardinalities": list(CARDINALITIES)}

    def block(self, index: int) -> Block:
        """Return one block of rows."""
        first, end = block_range(index, self.rows)
        stream = random_stream(self.seed, "criteo", index)
        ranks = [zipf_ranks(stream.random(end - first), v, _exponent(v)) for v in CARDINALITIES]
        present = _draw_present(stream, end - first)
        integers = _draw_integers(stream, end - first)
        levels, labels = draw_labels(self._logits(ranks, present, integers), stream)
        seconds = ordered_seconds(np.arange(first, end) / self.rows, self.shape.days)
        columns = _columns(labels, integers, ranks, present)
        return Block(columns, levels, labels, seconds)

    def _logits(self, ranks: list[Codes], present: NDArray[np.bool_], integers: Codes) -> Floats:
        """Sum effects of single categories, of pairs and of two integers; missing is a level."""
        codes = [np.where(present[c], rank + 1, 0) for c, rank in enumerate(ranks)]
        total: Floats = np.full(len(codes[0]), _INTERCEPT)
        for effects, number in zip(self._single, _EFFECT_COLUMNS, strict=True):
            total += effects[codes[number - 1] % _HASHED_EFFECTS]
        for effects, (left, right) in zip(self._paired, _PAIRS, strict=True):
            total += effects[(codes[left - 1] * 31 + codes[right - 1]) % _HASHED_EFFECTS]
        counts = np.log1p(np.maximum(integers[[6, 10]], 0))
        known = np.where(integers[[6, 10]] == _MISSING, 0.0, counts - 1.5)
        total += 0.25 * known[0] + 0.15 * known[1]
        return total


def _exponent(cardinality: int) -> float:
    """Return a flatter law for short lists, so that their values all occur."""
    return 1.0 if cardinality > 1000 else 0.9


def _draw_present(stream: np.random.Generator, rows: int) -> NDArray[np.bool_]:
    """Return which category of which row is there, `(26, n)`."""
    present = np.ones((len(CARDINALITIES), rows), bool)
    for numbers, share in _MISSING_GROUPS:
        present[np.array(numbers) - 1] = stream.random(rows) >= share
    return present


def _draw_integers(stream: np.random.Generator, rows: int) -> Codes:
    """Return log-normal counts `(13, n)`, `_MISSING` where missing; I2 reaches down to -2."""
    drawn = stream.standard_normal((13, rows))
    drawn *= np.array(_LOG_DEVIATIONS)[:, None]
    drawn += np.array(_LOG_MEANS)[:, None]
    counts = np.exp(drawn.clip(-5.0, 17.0)).astype(np.int64)
    counts[1] -= 2
    missing = stream.random((13, rows)) < np.array(_MISSING_INTEGERS)[:, None]
    return np.where(missing, _MISSING, counts)


def _columns(
    labels: NDArray[np.bool_], integers: Codes, ranks: list[Codes], present: NDArray[np.bool_]
) -> dict[str, Column]:
    columns: dict[str, Column] = {"label": _integer_text(labels.astype(np.int64))}
    for number, counts in enumerate(integers, start=1):
        columns[f"I{number}"] = _integer_text(counts)
    for number, rank in enumerate(ranks, start=1):
        # A salt a column, so that the same rank is another value in each.
        salted = mix32(rank + (number << 24))
        columns[f"C{number}"] = hex_text(salted, present[number - 1])
    return columns


def _integer_text(values: Codes) -> pa.Array:
    """Return integers as text, empty where missing."""
    text = pa.array(values, mask=values == _MISSING).cast(pa.string()).cast(pa.binary())
    return text.fill_null(b"")
