"""Time in a log: rows in order over some days with a daily rhythm, and how a time is written."""

from __future__ import annotations

import functools

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

__all__ = ["DAY_SECONDS", "iso_text", "ordered_seconds"]

DAY_SECONDS = 86_400

# Impressions by hour of the day: quiet at night, a bump at noon, most in the evening.
_HOURLY = np.array(
    [30, 20, 14, 10, 9, 12, 22, 38, 50, 56, 60, 64, 70, 66, 62, 61, 64, 72, 84, 96, 100, 92, 72, 48]
)
_DAILY = np.array([1.0, 0.98, 0.97, 1.0, 1.05, 1.15, 1.12])


def ordered_seconds(places: NDArray[np.float64], days: int) -> NDArray[np.int64]:
    """Return seconds since the start of the log at which a share of all rows has gone by.

    Args:
        places: `(n,)` in `[0, 1)`; ascending places give ascending seconds.
        days: Length of the log; its first day is a Monday.

    >>> ordered_seconds(np.array([0.0, 0.5, 0.9999]), 14).tolist()
    [0, 604799, 1209476]
    """
    traffic = np.outer(np.resize(_DAILY, days), _HOURLY).ravel()
    share = np.concatenate(([0.0], np.cumsum(traffic) / traffic.sum()))
    seconds = np.interp(places, share, 3600.0 * np.arange(len(share)))
    whole: NDArray[np.int64] = np.minimum(seconds.astype(np.int64), days * DAY_SECONDS - 1)
    return whole


def iso_text(seconds: NDArray[np.int64]) -> pa.Array:
    """Return Unix seconds `(n,)`, one at least, as ISO 8601 text in UTC.

    >>> iso_text(np.array([1772456707])).to_pylist()
    [b'2026-03-02T13:05:07Z']
    """
    days, times = np.divmod(seconds, DAY_SECONDS)
    first = int(days.min())
    names = np.datetime_as_string(np.arange(first, int(days.max()) + 1).astype("datetime64[D]"))
    dates = pa.array([name.encode() for name in names.tolist()], pa.binary())
    return pc.binary_join_element_wise(
        dates.take(pa.array(days - first)), b"T", _times_of_day().take(pa.array(times)), b"Z", b""
    )


@functools.cache
def _times_of_day() -> pa.Array:
    clock = (divmod(second, 3600) for second in range(DAY_SECONDS))
    return pa.array(
        [f"{hour:02}:{rest // 60:02}:{rest % 60:02}".encode() for hour, rest in clock], pa.binary()
    )
