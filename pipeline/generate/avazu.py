"""A small log of the shape of Avazu's Kaggle set: mobile advertisements, hour as YYMMDDHH."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pipeline.generate.blocks import (
    Block,
    Coded,
    Column,
    Shape,
    block_range,
    draw_labels,
    random_stream,
)
from pipeline.generate.clock import ordered_seconds
from pipeline.generate.hexadecimal import hex_text, mix32, mix64
from pipeline.generate.tails import zipf_ranks

__all__ = ["AvazuLog"]

# Column to the number of its values: eight hexadecimal digits, or plain integers from a start.
_HEXADECIMAL = {
    "site_id": 2_000, "site_domain": 1_500, "site_category": 24, "app_id": 3_000,
    "app_domain": 300, "app_category": 30, "device_id": 50_000, "device_ip": 200_000,
    "device_model": 4_000,
}  # fmt: skip
_INTEGERS = {
    "C1": (7, 1001), "banner_pos": (7, 0), "device_type": (5, 0), "device_conn_type": (4, 0),
    "C14": (2_000, 375), "C15": (8, 120), "C16": (9, 20), "C17": (400, 112), "C18": (4, 0),
    "C19": (60, 33), "C20": (160, 100_000), "C21": (60, 1),
}  # fmt: skip
_COMMON_DEVICE_ID = 0.8
_EFFECTS = {"site_category": 0.4, "app_category": 0.3, "banner_pos": 0.3, "C18": 0.3, "C21": 0.3}
_PAIR_EFFECTS = {("site_category", "device_type"): 0.5, ("app_category", "C18"): 0.5}
_HASHED_EFFECTS = 1024
_INTERCEPT = -1.8

Codes = NDArray[np.int64]


class AvazuLog:
    """The Avazu-shaped log.

    Args:
        rows: Lines in all, without the header.
        seed: Same seed and rows, same log.
    """

    shape: ClassVar[Shape] = Shape(
        name="avazu",
        columns=(
            "id", "click", "hour", "C1", "banner_pos", "site_id", "site_domain", "site_category",
            "app_id", "app_domain", "app_category", "device_id", "device_ip", "device_model",
            "device_type", "device_conn_type", "C14", "C15", "C16", "C17", "C18", "C19", "C20",
            "C21",
        ),
        has_header=True,
        separator=b",",
        days=10,
        start_seconds=1_413_849_600,  # Tuesday 2014-10-21 00:00:00 UTC
    )  # fmt: skip

    def __init__(self, rows: int, seed: int) -> None:
        """Draw the effects."""
        self.rows, self.seed = rows, seed
        normal = random_stream(seed, "avazu effects").normal
        self._single = {name: s * normal(size=_HASHED_EFFECTS) for name, s in _EFFECTS.items()}
        self._paired = {pair: s * normal(size=_HASHED_EFFECTS) for pair, s in _PAIR_EFFECTS.items()}
        self._hour = 0.2 * normal(size=24)

    def facts(self) -> dict[str, object]:
        """Return the number of values that each column is drawn from."""
        return {"cardinalities": {**_HEXADECIMAL, **{c: n for c, (n, _) in _INTEGERS.items()}}}

    def block(self, index: int) -> Block:
        """Return one block of rows."""
        first, end = block_range(index, self.rows)
        stream = random_stream(self.seed, "avazu", index)
        places = (np.arange(first, end) + stream.random(end - first)) / self.rows
        seconds = ordered_seconds(places, self.shape.days)
        ranks = _draw_ranks(stream, end - first)
        levels, labels = draw_labels(self._logits(ranks, seconds), stream)
        columns: dict[str, Column] = {
            "id": _id_text(np.arange(first, end), self.seed),
            "click": Coded(pa.array([0, 1]), labels.astype(np.int64)),
            "hour": _hour_text(seconds, self.shape),
            **{name: hex_text(mix32(ranks[name] + _salt(name))) for name in _HEXADECIMAL},
            **{name: Coded(_integers(name), ranks[name]) for name in _INTEGERS},
        }
        return Block(columns, levels, labels, seconds)

    def _logits(self, ranks: dict[str, Codes], seconds: Codes) -> NDArray[np.float64]:
        total: NDArray[np.float64] = _INTERCEPT + self._hour[seconds // 3600 % 24]
        for name, effects in self._single.items():
            total += effects[ranks[name] % _HASHED_EFFECTS]
        for (left, right), effects in self._paired.items():
            total += effects[(ranks[left] * 31 + ranks[right]) % _HASHED_EFFECTS]
        return total


def _draw_ranks(stream: np.random.Generator, rows: int) -> dict[str, Codes]:
    sizes = {**_HEXADECIMAL, **{name: size for name, (size, _) in _INTEGERS.items()}}
    ranks = {name: zipf_ranks(stream.random(rows), size, 1.0) for name, size in sizes.items()}
    # Most devices have no id of their own and share one.
    ranks["device_id"][stream.random(rows) < _COMMON_DEVICE_ID] = 0
    return ranks


def _id_text(rows: Codes, seed: int) -> pa.Array:
    """Return distinct unsigned 64-bit integers as text: the real ids exceed a signed one."""
    return pa.array(mix64(rows + (seed % 2**31 << 32))).cast(pa.string()).cast(pa.binary())


def _hour_text(seconds: Codes, shape: Shape) -> pa.Array:
    """Return times as YYMMDDHH."""
    hours = seconds // 3600
    names = np.datetime_as_string(
        np.arange(shape.days * 24) + np.datetime64(shape.start_seconds, "s").astype("datetime64[h]")
    )
    texts = [name[2:].replace("-", "").replace("T", "").encode() for name in names.tolist()]
    return pa.array(texts, pa.binary()).take(pa.array(hours))


def _integers(name: str) -> pa.Array:
    size, start = _INTEGERS[name]
    return pa.array(range(start, start + size))


def _salt(name: str) -> int:
    return list(_HEXADECIMAL).index(name) << 24
