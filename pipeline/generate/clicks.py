"""The known factors behind a click: main effects, and interactions that no sum of them can mimic.

The logit of a click is `intercept + Σ gain · term`. The gains give the terms the proportions in
`FACTORS` over the traffic; their common scale and the intercept give the log the attainable AUC and
the base rate that are wanted, so logs of different seeds are equally hard. The interactions are
inner products: the viewer's latent factors (country, device, age, hour) by the item's (category,
price), as in a factorisation machine (Rendle, ICDM 2010). Nearly all terms depend on columns of the
log alone; only `user` and `item` are the own taste and appeal of one user and one item.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from features.auc import auc_of_counts
from pipeline.generate.blocks import random_stream
from pipeline.generate.names import CATEGORIES, COUNTRIES, DEVICES
from pipeline.generate.population import AGES, BRANDS, CITIES, TAGS, Items, Users

__all__ = ["FACTORS", "ClickModel", "Effects", "Shown", "calibrate", "draw_effects", "terms"]

FACTORS: Mapping[str, float] = {
    "position": 0.45, "hour": 0.20, "weekday": 0.06, "device": 0.20, "country": 0.20,
    "city": 0.03, "age": 0.30, "user": 0.03, "category": 0.30, "brand": 0.12, "item": 0.06,
    "tags": 0.12, "price": 0.35,
    "country x item": 0.80, "device x item": 0.75, "age x item": 0.65, "hour x item": 0.30,
}  # fmt: skip
"""Standard deviation of each term over the traffic, before one scale that is common to all."""


Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True)
class Shown:
    """Impressions before anybody has clicked, each array `(n,)`.

    Attributes:
        user: Places in the users.
        item: Places in the items.
        device: Places in `DEVICES`, or `len(DEVICES)` where unknown.
        position: Slot from 0 within the request.
        hour: Hour of the day in UTC.
        weekday: 0 is Monday.
        price: Logarithm of the price in standard deviations from the mean, 0 where unknown.
    """

    user: Codes
    item: Codes
    device: Codes
    position: Codes
    hour: Codes
    weekday: Codes
    price: Floats


@dataclass(frozen=True)
class Effects:
    """Every term as a table; a name with two subjects is a table with two axes."""

    hour: Floats
    weekday: Floats
    device: Floats
    by_user: Mapping[str, Floats]
    by_item: Mapping[str, Floats]
    tastes: Mapping[str, Floats]
    category_latents: Floats
    price_latent: Floats


@dataclass(frozen=True)
class ClickModel:
    """Effects with their gains.

    Attributes:
        users: Who the effects speak of.
        items: What they speak of.
        effects: The tables.
        gains: Term to factor.
        intercept: Of the logit.
    """

    users: Users
    items: Items
    effects: Effects
    gains: Mapping[str, float]
    intercept: float

    def logits(self, shown: Shown) -> Floats:
        """Return the logit of a click `(n,)`."""
        parts = terms(shown, self.users, self.items, self.effects)
        total: Floats = np.full(len(shown.user), self.intercept)
        for name, values in parts.items():
            total += self.gains[name] * values
        return total

    def item_appeal(self) -> Floats:
        """Return what an item's own terms add to the logit `(I,)`."""
        parts = (self.gains[name] * values for name, values in self.effects.by_item.items())
        appeal: Floats = np.sum([part - part.mean() for part in parts], axis=0)
        return appeal


def draw_effects(seed: int, users: Users, items: Items) -> Effects:
    """Draw all tables; unknown age and unknown brand are levels with effects of their own."""
    stream = random_stream(seed, "effects")
    normal = stream.normal
    ages = _age_basis()
    evening = np.cos((np.arange(24) - 20) * np.pi / 12)
    return Effects(
        hour=evening + 0.3 * normal(size=24),
        weekday=normal(size=7),
        device=normal(size=len(DEVICES) + 1),
        by_user={
            "country": normal(size=len(COUNTRIES))[users.country],
            "city": _twice_unknown(normal(size=CITIES + 1))[users.city],
            "age": (ages @ normal(size=ages.shape[1]))[users.age],
            "user": normal(size=len(users.country)),
        },
        by_item={
            "category": normal(size=len(CATEGORIES))[items.category],
            "brand": _twice_unknown(normal(size=BRANDS + 1))[items.brand],
            "item": normal(size=len(items.category)),
            "tags": _mean_of_tags(items, normal(size=(TAGS, 1)))[:, 0],
        },
        tastes={
            "country": _directions(_spread(len(COUNTRIES), stream)),
            "device": _directions(_spread(len(DEVICES) + 1, stream)),
            "age": _age_tastes(stream),
            "hour": np.outer(evening, _directions(stream.random(1))),
        },
        category_latents=_directions(_spread(len(CATEGORIES), stream)),
        price_latent=0.6 * _directions(stream.random(1))[0],
    )


def terms(shown: Shown, users: Users, items: Items, effects: Effects) -> dict[str, Floats]:
    """Return every term of `FACTORS` before its gain, each `(n,)`."""
    user, item, device, hour = shown.user, shown.item, shown.device, shown.hour
    of_item = effects.category_latents[items.category[item]]
    of_item = of_item + shown.price[:, None] * effects.price_latent
    of_viewer = {
        "country": users.country[user], "device": device, "age": users.age[user], "hour": hour,
    }  # fmt: skip
    return {
        "position": -np.log1p(shown.position),
        "hour": effects.hour[hour],
        "weekday": effects.weekday[shown.weekday],
        "device": effects.device[device],
        **{name: values[user] for name, values in effects.by_user.items()},
        **{name: values[item] for name, values in effects.by_item.items()},
        "price": -shown.price - 0.4 * shown.price**2,
        **{
            f"{name} x item": np.einsum("nw,nw->n", effects.tastes[name][place], of_item)
            for name, place in of_viewer.items()
        },
    }


def calibrate(
    shown: Shown, users: Users, items: Items, effects: Effects, base_rate: float, target_auc: float
) -> ClickModel:
    """Return the model that has the base rate and attainable AUC over a sample of the traffic."""
    parts = terms(shown, users, items, effects)
    gains = {name: FACTORS[name] / max(float(parts[name].std()), 1e-9) for name in FACTORS}
    total: Floats = np.sum([gains[name] * values for name, values in parts.items()], axis=0)
    total = np.sort(total)[:: max(1, len(total) // 8192)]

    def falls_short(scale: float) -> bool:
        return _attainable_auc(scale * total + _intercept(scale * total, base_rate)) < target_auc

    scale = _bisect(0.1, 5.0, 16, falls_short)
    gains = {name: scale * gain for name, gain in gains.items()}
    return ClickModel(users, items, effects, gains, _intercept(scale * total, base_rate))


def _attainable_auc(ascending_logits: Floats) -> float:
    """Return the AUC that the true probabilities themselves have in expectation."""
    probabilities = _sigmoid(ascending_logits)
    return auc_of_counts(probabilities, 1.0 - probabilities) or 0.5


def _intercept(logits: Floats, base_rate: float) -> float:
    """Return what to add to logits for a mean probability."""
    return _bisect(-15.0, 15.0, 30, lambda i: bool(_sigmoid(logits + i).mean() < base_rate))


def _bisect(low: float, high: float, steps: int, falls_short: Callable[[float], bool]) -> float:
    """Find where a value that grows no longer falls short."""
    for _ in range(steps):
        middle = (low + high) / 2
        low, high = (middle, high) if falls_short(middle) else (low, middle)
    return (low + high) / 2


def _sigmoid(logits: Floats) -> Floats:
    probabilities: Floats = 1.0 / (1.0 + np.exp(-logits))
    return probabilities


def _directions(turns: Floats) -> Floats:
    """Return latent factors of unit length `(k, 2)` that point at a share of a turn `(k,)`."""
    return np.stack([np.cos(2 * np.pi * turns), np.sin(2 * np.pi * turns)], axis=1)


def _spread(count: int, stream: np.random.Generator) -> Floats:
    """Return turns of which neighbours, and so the most frequent, differ: a golden-ratio sequence.

    Were they drawn apart, the tastes of the few large countries would agree on some seeds.
    """
    turns: Floats = (stream.random() + np.arange(count) * (5**0.5 - 1) / 2) % 1.0
    return turns


def _age_tastes(stream: np.random.Generator) -> Floats:
    """Return latent factors that turn with age by half a circle `(ages + 2, 2)`."""
    known = stream.random() + np.linspace(0.0, 0.5, len(AGES))
    return _twice_unknown(_directions(np.append(known, known[0] + 0.75)))


def _age_basis() -> Floats:
    """Return smooth curves over age `(ages + 2, 3)`; both unknowns share a level."""
    phase = (AGES - AGES[0]) / (AGES[-1] - AGES[0]) * np.pi
    curves = np.stack([np.cos(phase), np.sin(2 * phase), np.cos(3 * phase)], axis=1)
    return _twice_unknown(np.concatenate([curves, [[0.3, -0.3, 0.3]]]))


def _twice_unknown(table: Floats) -> Floats:
    """Repeat the last level, since the two spellings of a missing value mean the same."""
    return np.concatenate([table, table[-1:]])


def _mean_of_tags(items: Items, table: Floats) -> Floats:
    """Return the mean row of a table `(TAGS, k)` over each item's tags, 0 where it has none."""
    present = items.tags >= 0
    total = (table[items.tags] * present[:, :, None]).sum(axis=1)
    mean: Floats = total / np.maximum(present.sum(axis=1), 1)[:, None]
    return mean
