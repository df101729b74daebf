"""Timestamps to Unix seconds, and which of them can be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from features.config import TimestampConfig
from pipeline.log.values import SPACES, numbers, wrong_type

__all__ = ["Times", "times"]

Bools = npt.NDArray[np.bool_]
EARLIEST = int(datetime(1990, 1, 1, tzinfo=UTC).timestamp())
LATEST = int(datetime(2200, 1, 1, tzinfo=UTC).timestamp())
PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000}
MICROSECONDS = pa.timestamp("us", "UTC")


@dataclass(frozen=True)
class Times:
    """Times of a column; a row has a time or one of the faults.

    Attributes:
        seconds: `(R,) int64` Unix seconds, rounded down; 0 where there is no time.
        missing: `(R,) bool`.
        malformed: `(R,) bool` text that is no time in the configured unit.
        out_of_range: `(R,) bool` before 1990 or after 2199: mostly another unit than configured.
        future: `(R,) bool` later than the clock allows.
    """

    seconds: npt.NDArray[np.int64]
    missing: Bools
    malformed: Bools
    out_of_range: Bools
    future: Bools


def times(values: pa.Array, config: TimestampConfig, now: float, path: str) -> Times:
    """Return a column's times.

    Args:
        values: Strings, or what Parquet holds: timestamps are taken as they are, dates too.
        config: Unit and how far in the future a time may lie.
        now: The clock, in Unix seconds.
        path: The file, for errors.

    Raises:
        DataError: A Parquet column is of a type that has no times.
    """
    missing = pc.is_null(values).to_numpy(zero_copy_only=False)
    if pa.types.is_timestamp(values.type) or pa.types.is_date(values.type):
        seconds, valid = _from_timestamps(values), ~missing
    elif config.unit in PER_SECOND:
        seconds, valid = _from_numbers(values, config, path)
    elif not pa.types.is_string(values.type):
        raise wrong_type(config.column, values.type, "times", path)
    else:
        seconds, valid = _from_text(pc.utf8_trim(values, SPACES), config)
    out_of_range = valid & ((seconds < EARLIEST) | (seconds >= LATEST))
    future = valid & ~out_of_range & (seconds > now + 3600 * config.max_future_hours)
    return Times(seconds, missing, ~valid & ~missing, out_of_range, future)


def _from_timestamps(values: pa.Array) -> npt.NDArray[np.int64]:
    kind = MICROSECONDS if getattr(values.type, "tz", None) else pa.timestamp("us")
    stored = values.cast(kind, safe=False).cast(pa.int64())
    return np.asarray(pc.fill_null(stored, 0).to_numpy(zero_copy_only=False)) // 1_000_000


def _from_numbers(
    values: pa.Array, config: TimestampConfig, path: str
) -> tuple[npt.NDArray[np.int64], Bools]:
    per_second = PER_SECOND[config.unit]
    try:
        whole = values.cast(pa.int64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        found = numbers(values, config.column, path)
        valid = ~found.missing & ~found.malformed & ~found.too_large
        bounded = np.clip(np.where(valid, found.values, 0.0) / per_second, -1e15, 1e15)
        return np.floor(bounded).astype(np.int64), valid
    seconds = np.asarray(pc.fill_null(whole, 0).to_numpy(zero_copy_only=False)) // per_second
    return seconds, pc.is_valid(whole).to_numpy(zero_copy_only=False)


def _from_text(values: pa.Array, config: TimestampConfig) -> tuple[npt.NDArray[np.int64], Bools]:
    if config.unit == "format":
        pattern = config.format or ""
        return _one_by_one(values, lambda text: datetime.strptime(text, pattern))
    for kind in (MICROSECONDS, pa.timestamp("us")):
        try:
            stored = values.cast(kind)
        except pa.ArrowInvalid:
            continue
        return _from_timestamps(stored), pc.is_valid(stored).to_numpy(zero_copy_only=False)
    return _one_by_one(values, datetime.fromisoformat)


def _one_by_one(
    values: pa.Array, parse: Callable[[str], datetime]
) -> tuple[npt.NDArray[np.int64], Bools]:
    """Parse each distinct value by itself."""
    encoded = values.dictionary_encode()
    parsed = [_seconds(text, parse) for text in encoded.dictionary.to_pylist()]
    table = np.array([0 if found is None else found for found in [*parsed, None]], np.int64)
    known = np.array([found is not None for found in [*parsed, None]], np.bool_)
    codes = pc.fill_null(encoded.indices, len(parsed)).to_numpy(zero_copy_only=False)
    return table[codes], known[codes]


def _seconds(text: str, parse: Callable[[str], datetime]) -> int | None:
    try:
        moment = parse(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return int(moment.timestamp() // 1)
    except (ValueError, OverflowError):
        return None
