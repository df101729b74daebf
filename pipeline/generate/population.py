"""Who sees an impression and what is shown: the users and the items of the default log."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pipeline.generate.blocks import random_stream
from pipeline.generate.names import (
    CATEGORIES,
    COUNTRIES,
    DEVICES,
    brand_name,
    city_name,
    tag_name,
)
from pipeline.generate.tails import zipf_ranks

__all__ = [
    "AGES", "BRANDS", "CITIES", "MAX_TAGS", "TAGS", "Items", "Users", "brand_table", "city_table",
    "draw_items", "draw_users", "item_count", "user_count",
]  # fmt: skip

AGES = np.arange(18, 81)
BRANDS, CITIES, TAGS, MAX_TAGS = 500, 1000, 300, 5

_REFERENCE_ROWS, _REFERENCE_USERS, _REFERENCE_ITEMS = 300_000, 40_000, 5_000

Codes = NDArray[np.int64]


@dataclass(frozen=True)
class Users:
    """Users by place. Unknown ages and cities have two codes past the last: empty and `NA`.

    Attributes:
        names: `(U,)` arrow text.
        country: `(U,)` places in `COUNTRIES`.
        city: `(U,)` below `CITIES + 2`.
        age: `(U,)` below `len(AGES) + 2`.
        device: `(U,)` the device that the user has most often, a place in `DEVICES`.
    """

    names: pa.Array
    country: Codes
    city: Codes
    age: Codes
    device: Codes


@dataclass(frozen=True)
class Items:
    """Items by place, the most shown first.

    Attributes:
        names: `(I,)` arrow text.
        category: `(I,)` places in `CATEGORIES`.
        brand: `(I,)` below `BRANDS + 2`, where the last two are unknown.
        tags: `(I, MAX_TAGS)` below `TAGS`, or -1 where there are fewer.
        price: `(I,) float64` list price.
    """

    names: pa.Array
    category: Codes
    brand: Codes
    tags: Codes
    price: NDArray[np.float64]

    def tag_texts(self) -> pa.Array:
        """Return each item's tags `(I,)` as text separated by `|`, empty where there are none."""
        rows = ([tag_name(tag) for tag in row if tag >= 0] for row in self.tags.tolist())
        return pa.array(["|".join(row) for row in rows])


def user_count(rows: int) -> int:
    """Return the users a log of some rows draws from: they grow with its square root.

    >>> user_count(300_000), user_count(30_000_000)
    (40000, 400000)
    """
    return max(100, round(_REFERENCE_USERS * math.sqrt(rows / _REFERENCE_ROWS)))


def item_count(rows: int) -> int:
    """Return the items of a log of some rows: they grow with its fourth root.

    >>> item_count(300_000), item_count(30_000_000)
    (5000, 15811)
    """
    return max(100, round(_REFERENCE_ITEMS * math.sqrt(math.sqrt(rows / _REFERENCE_ROWS))))


def draw_users(seed: int, count: int) -> Users:
    """Draw users whose city lies in their country."""
    stream = random_stream(seed, "users")
    country = zipf_ranks(stream.random(count), len(COUNTRIES), 1.3)
    first, cities = _cities_of_country()
    city = first[country] + (stream.random(count) ** 2 * cities[country]).astype(np.int64)
    age = (np.clip(stream.gamma(4.0, 5.0, count) + 16, 18, 80) - 18).astype(np.int64)
    return Users(
        names=_identifiers("u", stream.permutation(count)),
        country=country,
        city=_with_unknown(city, CITIES, 0.03, stream),
        age=_with_unknown(age, len(AGES), 0.12, stream),
        device=zipf_ranks(stream.random(count), len(DEVICES), 0.8),
    )


def draw_items(seed: int, count: int) -> Items:
    """Draw items whose brand has a category of its own and whose price depends on both."""
    stream = random_stream(seed, "items")
    category = zipf_ranks(stream.random(count), len(CATEGORIES), 0.5)
    # Brands are specialists: every twelfth is of the same category.
    shelf = zipf_ranks(stream.random(count), -(-BRANDS // len(CATEGORIES)), 0.7)
    brand = (shelf * len(CATEGORIES) + category) % BRANDS
    level = stream.normal(3.0, 0.8, len(CATEGORIES))[category]
    tags = zipf_ranks(stream.random((count, MAX_TAGS)), TAGS, 0.6)
    tags[np.arange(MAX_TAGS) >= stream.integers(0, MAX_TAGS + 1, count)[:, None]] = -1
    return Items(
        names=_identifiers("i", stream.permutation(count)),
        category=category,
        brand=_with_unknown(brand, BRANDS, 0.04, stream),
        tags=_without_repeats(tags),
        price=np.round(np.exp(level + stream.normal(0.0, 0.7, count)), 2).clip(0.5),
    )


def city_table() -> pa.Array:
    """Return `(CITIES + 2,)` names with two nulls at the end."""
    return pa.array([*map(city_name, range(CITIES)), None, None])


def brand_table() -> pa.Array:
    """Return `(BRANDS + 2,)` names with two nulls at the end."""
    return pa.array([*map(brand_name, range(BRANDS)), None, None])


def _cities_of_country() -> tuple[Codes, Codes]:
    """Share out the cities: large countries have more, each has at least five."""
    weights = 1.0 / np.arange(1, len(COUNTRIES) + 1) ** 0.7
    spare = CITIES - 5 * len(COUNTRIES)
    ends = np.floor(np.cumsum(weights) / weights.sum() * spare + 1e-6).astype(np.int64)
    cities = np.diff(ends, prepend=0) + 5
    return np.cumsum(cities) - cities, cities


def _with_unknown(codes: Codes, size: int, share: float, stream: np.random.Generator) -> Codes:
    """Make a share unknown: three in four of them empty, the others `NA`."""
    drawn = stream.random(len(codes))
    return np.where(drawn < share, np.where(drawn < share * 0.75, size, size + 1), codes)


def _without_repeats(tags: Codes) -> Codes:
    ordered = np.sort(tags, axis=1)[:, ::-1]
    repeated = np.zeros_like(ordered, dtype=bool)
    repeated[:, 1:] = ordered[:, 1:] == ordered[:, :-1]
    return np.where(repeated, -1, ordered)


def _identifiers(prefix: str, numbers: Codes) -> pa.Array:
    return pa.array([f"{prefix}{number + 1:06d}" for number in numbers.tolist()])
