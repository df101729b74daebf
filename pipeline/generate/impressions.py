"""The default log: impressions of items in slots, over fourteen days, with known probabilities."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pipeline.generate.blocks import (
    BLOCK_ROWS,
    Block,
    Coded,
    Column,
    Shape,
    block_range,
    draw_labels,
    random_stream,
)
from pipeline.generate.clicks import FACTORS, ClickModel, Shown, calibrate, draw_effects
from pipeline.generate.clock import DAY_SECONDS, ordered_seconds
from pipeline.generate.hexadecimal import hex_text, mix64
from pipeline.generate.names import CATEGORIES, COUNTRIES, DEVICES
from pipeline.generate.offers import (
    draw_price_codes,
    popularity,
    price_table,
    recent_rates,
    standard_prices,
)
from pipeline.generate.population import (
    AGES,
    brand_table,
    city_table,
    draw_items,
    draw_users,
    item_count,
    user_count,
)
from pipeline.generate.tails import run_starts, zipf_ranks

__all__ = ["BASE_RATE", "SLOTS", "TARGET_AUC", "ImpressionLog"]

BASE_RATE = 0.20
TARGET_AUC = 0.818
SLOTS = 6
_ITEM_EXPONENT, _USER_EXPONENT = 0.85, 0.5
_WRITTEN_AS_NA = ("brand", "city", "user_age")
"""Columns whose table ends in a second missing value, the one that is written as `NA`."""
_OTHER_DEVICES, _UNKNOWN_DEVICES = 0.2, 0.01

Codes = NDArray[np.int64]


class ImpressionLog:
    """The default log.

    Args:
        rows: Impressions in all.
        seed: Same seed and rows, same log.
    """

    shape: ClassVar[Shape] = Shape(
        name="default",
        columns=(
            "timestamp", "request_id", "user_id", "item_id", "category", "brand", "tags", "device",
            "country", "city", "user_age", "price", "item_popularity", "ctr_7d", "position",
            "click",
        ),
        has_header=True,
        separator=b",",
        days=14,
        start_seconds=1_772_409_600,  # Monday 2026-03-02 00:00:00 UTC
        has_types=True,
        may_break=True,
    )  # fmt: skip

    def __init__(self, rows: int, seed: int) -> None:
        """Draw users, items and effects."""
        self.rows, self.seed = rows, seed
        self.users = draw_users(seed, user_count(rows))
        self.items = draw_items(seed, item_count(rows))
        self._prices = price_table(self.items.price)
        self._standard_prices = standard_prices(self._prices)
        self.model = self._calibrated()
        self._tables = self._draw_tables()

    def facts(self) -> dict[str, object]:
        """Return the sizes of the log's populations and its factors."""
        counts = {"users": len(self.users.country), "items": len(self.items.category)}
        return {**counts, "factors": dict(FACTORS)}

    def block(self, index: int) -> Block:
        """Return one block of impressions."""
        stream = random_stream(self.seed, "impressions", index)
        shown, others = self._draw(stream, *block_range(index, self.rows), self.rows)
        levels, labels = draw_labels(self.model.logits(shown), stream)
        columns = self._columns(shown, others, labels)
        return Block(columns, levels, labels, others["seconds"])

    def _calibrated(self) -> ClickModel:
        stream = random_stream(self.seed, "calibration")
        sample, _ = self._draw(stream, 0, 2 * BLOCK_ROWS, 2 * BLOCK_ROWS)
        effects = draw_effects(self.seed, self.users, self.items)
        return calibrate(sample, self.users, self.items, effects, BASE_RATE, TARGET_AUC)

    def _draw(
        self, stream: np.random.Generator, first: int, end: int, all_rows: int
    ) -> tuple[Shown, dict[str, Codes]]:
        """Draw who sees what and when; a request fills one to `SLOTS` slots for one user."""
        rows = end - first
        starts, request = run_starts(stream.integers(1, SLOTS + 1, rows), rows)
        seconds = ordered_seconds(
            (first + starts + stream.random(len(starts))) / all_rows, self.shape.days
        )
        users = zipf_ranks(stream.random(len(starts)), len(self.users.country), _USER_EXPONENT)
        devices = _draw_devices(self.users.device[users], stream)
        item = zipf_ranks(stream.random(rows), len(self.items.category), _ITEM_EXPONENT)
        price = draw_price_codes(item, len(self._prices) - 1, stream)
        shown = Shown(
            user=users[request],
            item=item,
            device=devices[request],
            position=np.arange(rows) - starts[request],
            hour=(seconds // 3600 % 24)[request],
            weekday=(seconds // DAY_SECONDS % 7)[request],
            price=self._standard_prices[price],
        )
        others = {"seconds": seconds, "request": first + starts}
        return shown, {name: values[request] for name, values in others.items()} | {"price": price}

    def _columns(
        self, shown: Shown, others: dict[str, Codes], labels: NDArray[np.bool_]
    ) -> dict[str, Column]:
        seconds = pa.array(others["seconds"] + self.shape.start_seconds).cast(
            pa.timestamp("s", tz="UTC")
        )
        columns: dict[str, Column] = {
            "timestamp": seconds,
            "request_id": hex_text(mix64(others["request"] + (self.seed % 2**31 << 32))),
        }
        codes = self._codes(shown, others, labels)
        return columns | {name: self._coded(name, codes[name]) for name in self.shape.columns[2:]}

    def _coded(self, name: str, codes: Codes) -> Coded:
        table = self._tables[name]
        return Coded(table, codes, len(table) - 1 if name in _WRITTEN_AS_NA else None)

    def _codes(
        self, shown: Shown, others: dict[str, Codes], labels: NDArray[np.bool_]
    ) -> dict[str, Codes]:
        user, item = shown.user, shown.item
        return {
            "user_id": user,
            "item_id": item,
            "category": self.items.category[item],
            "brand": self.items.brand[item],
            "tags": item,
            "device": shown.device,
            "country": self.users.country[user],
            "city": self.users.city[user],
            "user_age": self.users.age[user],
            "price": others["price"],
            "item_popularity": item,
            "ctr_7d": item * self.shape.days + others["seconds"] // DAY_SECONDS,
            "position": shown.position,
            "click": labels.astype(np.int64),
        }

    def _draw_tables(self) -> dict[str, pa.Array]:
        """Return for each column the table that its codes point into."""
        model, items = self.model, len(self.items.category)
        base_logit = float(np.log(BASE_RATE / (1 - BASE_RATE)))
        return {
            "user_id": self.users.names,
            "item_id": self.items.names,
            "category": pa.array(CATEGORIES),
            "brand": brand_table(),
            "tags": self.items.tag_texts(),
            "device": pa.array([*DEVICES, None]),
            "country": pa.array(COUNTRIES),
            "city": city_table(),
            "user_age": pa.array([*AGES.tolist(), None, None], pa.int64()),
            "price": pa.array([*self._prices[:-1].tolist(), None], pa.float64()),
            "item_popularity": pa.array(popularity(self.seed, items, self.rows)),
            "ctr_7d": recent_rates(self.seed, model.item_appeal(), self.shape.days, base_logit),
            "position": pa.array(range(1, SLOTS + 1)),
            "click": pa.array([0, 1]),
        }


def _draw_devices(usual: Codes, stream: np.random.Generator) -> Codes:
    """Draw the device of each request: mostly the user's usual one, at times unknown."""
    drawn, other = stream.random(len(usual)), stream.integers(0, len(DEVICES), len(usual))
    known = np.where(drawn < _OTHER_DEVICES, other, usual)
    return np.where(drawn > 1 - _UNKNOWN_DEVICES, len(DEVICES), known)
