"""What a log says about an item besides its names: price, popularity and recent click rate."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pipeline.generate.blocks import random_stream

__all__ = ["draw_price_codes", "popularity", "price_table", "recent_rates", "standard_prices"]

_DISCOUNTS = np.array([1.0, 0.9, 0.8, 0.7])
_DISCOUNT_SHARES = np.array([0.7, 0.12, 0.1, 0.08])
_UNKNOWN_PRICES = 0.01
_NEW_ITEMS, _KNOWN_ITEMS = 0.06, 100

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


def price_table(list_prices: Floats) -> Floats:
    """Return every price an item can have, item by item, and NaN at the end for unknown.

    >>> price_table(np.array([10.0])).tolist()
    [10.0, 9.0, 8.0, 7.0, nan]
    """
    return np.append(np.round(list_prices[:, None] * _DISCOUNTS, 2).ravel(), np.nan)


def standard_prices(prices: Floats) -> Floats:
    """Return the logarithm of prices `(k,)` standardised and clipped, 0 where unknown."""
    logs = np.log(prices)
    standard: Floats = np.nan_to_num(((logs - np.nanmean(logs)) / np.nanstd(logs)).clip(-2.5, 2.5))
    return standard


def draw_price_codes(items: Codes, unknown: int, stream: np.random.Generator) -> Codes:
    """Draw the place in the price table for each shown item `(n,)`."""
    steps = np.searchsorted(np.cumsum(_DISCOUNT_SHARES)[:-1], stream.random(len(items)))
    codes = items * len(_DISCOUNTS) + steps
    return np.where(stream.random(len(items)) < _UNKNOWN_PRICES, unknown, codes)


def popularity(seed: int, items: int, rows: int) -> Codes:
    """Return about how often each item was shown in the week before: a long tail `(I,)`."""
    noise = random_stream(seed, "popularity").lognormal(0.0, 0.2, items)
    return np.ceil(rows / np.arange(1, items + 1) ** 0.85 * noise / 20).astype(np.int64)


def recent_rates(seed: int, appeal: Floats, days: int, base_logit: float) -> pa.Array:
    """Return each item's click rate of the last week, day by day, as arrow `(I * days,)`.

    It is a noisy view of the item's appeal, and null for a few items that are new
    (never for the most shown).

    Args:
        seed: Of the log.
        appeal: `(I,)` what each item adds to the logit.
        days: Days of the log.
        base_logit: The logit of an item that adds nothing.
    """
    stream = random_stream(seed, "recent rates")
    noise = stream.normal(0.0, 0.1, (len(appeal), days))
    rates = 1.0 / (1.0 + np.exp(-(base_logit + appeal[:, None] + noise)))
    new = stream.random(len(appeal)) < _NEW_ITEMS
    new[:_KNOWN_ITEMS] = False
    return pa.array(np.round(rates, 4).ravel(), pa.float64(), mask=np.repeat(new, days))
