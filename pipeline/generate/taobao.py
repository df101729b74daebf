"""A log of the shape of Taobao's UserBehavior: user by user, in time order within each user.

The label is whether a behaviour is more than a page view. Which of `buy`, `cart` and `fav` it then
is has fixed shares, so the same order of rows is the best one for each of them.
"""

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
from pipeline.generate.clock import ordered_seconds
from pipeline.generate.tails import run_starts, zipf_ranks

__all__ = ["TaobaoLog"]

_BEHAVIOURS = ("pv", "cart", "fav", "buy")
_SHARES = np.array([0.53, 0.28, 0.19])
_MEAN_EVENTS = 60
_CATEGORIES, _MAX_ITEMS = 200, 20_000
_INTERCEPT = -2.4

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


class TaobaoLog:
    """The Taobao-shaped log.

    Args:
        rows: Lines in all.
        seed: Same seed and rows, same log.
    """

    shape: ClassVar[Shape] = Shape(
        name="taobao",
        columns=("user_id", "item_id", "category_id", "behavior", "timestamp"),
        has_header=False,
        separator=b",",
        days=9,
        start_seconds=1_511_539_200,  # Saturday 2017-11-25 00:00:00 in Beijing, as in the set
    )

    def __init__(self, rows: int, seed: int) -> None:
        """Draw items and effects."""
        self.rows, self.seed = rows, seed
        stream = random_stream(seed, "taobao effects")
        self._items = max(200, min(_MAX_ITEMS, rows // 50))
        self._category = zipf_ranks(stream.random(self._items), _CATEGORIES, 0.8)
        self._of_category = 0.8 * stream.normal(size=_CATEGORIES)
        self._of_item = 0.3 * stream.normal(size=self._items)
        self._of_hour = 0.5 * np.cos((np.arange(24) - 21) * np.pi / 12)
        self._hour_category = stream.normal(size=_CATEGORIES)

    def facts(self) -> dict[str, object]:
        """Return the sizes of the populations and what the label is."""
        return {
            "items": self._items,
            "categories": _CATEGORIES,
            "label": "behavior is not pv",
            "shares": dict(zip(_BEHAVIOURS[1:], _SHARES.tolist(), strict=True)),
        }

    def block(self, index: int) -> Block:
        """Return one block of rows; a user lies in one block."""
        first, end = block_range(index, self.rows)
        stream = random_stream(self.seed, "taobao", index)
        users, seconds, taste = _draw_visits(stream, end - first)
        item = zipf_ranks(stream.random(end - first), self._items, 0.9)
        levels, labels = draw_labels(self._logits(taste, item, seconds), stream)
        kinds = np.searchsorted(np.cumsum(_SHARES)[:-1], stream.random(end - first)) + 1
        columns: dict[str, Column] = {
            "user_id": _text(users + index * BLOCK_ROWS + 1),
            "item_id": _text(item * 7 + 1001),
            "category_id": _text(self._category[item] * 13 + 4001),
            "behavior": Coded(pa.array(_BEHAVIOURS), np.where(labels, kinds, 0)),
            "timestamp": _text(seconds + self.shape.start_seconds),
        }
        return Block(columns, levels, labels, seconds)

    def _logits(self, taste: Floats, item: Codes, seconds: Codes) -> Floats:
        """Sum user, item, category and hour, and the evening by category."""
        category, hour = self._category[item], seconds // 3600 % 24
        total: Floats = _INTERCEPT + taste + self._of_item[item] + self._of_category[category]
        total += self._of_hour[hour] * (1.0 + self._hour_category[category])
        return total


def _draw_visits(stream: np.random.Generator, rows: int) -> tuple[Codes, Codes, Floats]:
    """Return the user of each row, its second, ascending in a user, and the user's own bias."""
    events = np.ceil(stream.exponential(_MEAN_EVENTS, rows)).astype(np.int64).clip(1)
    _, user = run_starts(events, rows)
    seconds = ordered_seconds(stream.random(rows), TaobaoLog.shape.days)
    ordered = seconds[np.lexsort((seconds, user))]
    taste = 0.4 * stream.normal(size=int(user.max()) + 1)
    return user, ordered, taste[user]


def _text(values: Codes) -> pa.Array:
    return pa.array(values).cast(pa.string()).cast(pa.binary())
