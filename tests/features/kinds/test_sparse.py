from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from features.lookup import cross_ids
from tests.features.configure import config_of, encoded, some_examples, transform_of


def test_a_hash_gives_missing_its_own_id_and_normalises() -> None:
    config = config_of({"kind": "hash", "name": "h", "buckets": 1000})
    ids = encoded(transform_of(config, h=[]), h=[None, "NA", "a", " a", "b"])["sparse"]
    assert ids[0] == ids[1] == [0]
    assert ids[2] == ids[3] != ids[4]


def test_a_salt_changes_which_values_collide() -> None:
    config = config_of(
        {"kind": "hash", "name": "p", "column": "c", "buckets": 50},
        {"kind": "hash", "name": "q", "column": "c", "buckets": 50, "salt": "s"},
    )
    values = [str(i) for i in range(100)]
    ids = np.array(encoded(transform_of(config, c=[]), c=values)["sparse"])
    assert len(set(map(tuple, ids.tolist()))) > 90
    assert len(set(ids[:, 0].tolist())) <= 50


def test_a_cross_has_a_bucket_for_each_combination() -> None:
    config = config_of(
        {"kind": "hash", "name": "p", "buckets": 100},
        {"kind": "hash", "name": "q", "buckets": 100},
        {"kind": "cross", "name": "x", "of": ["p", "q"], "buckets": 1 << 40},
    )
    ids = encoded(transform_of(config, p=[], q=[]), p=["a", "b", "a"], q=["b", "a", "b"])["sparse"]
    assert ids[0][2] != ids[1][2]
    assert ids[0][2] == ids[2][2]


def test_crosses_spread_evenly_over_their_buckets() -> None:
    parts = np.stack(np.meshgrid(np.arange(500), np.arange(400)), -1).reshape(-1, 2)
    counts = np.bincount(np.asarray(cross_ids(parts.astype(np.int64), 1000, "")), minlength=1000)
    chi_square = float(((counts - 200) ** 2 / 200).sum())
    assert 999 - 5 * 44.7 < chi_square < 999 + 5 * 44.7


def _mixed(parts: list[int], buckets: int) -> int:
    """Compute a cross with Python's integers, as its documentation says."""
    import hashlib

    mask = (1 << 64) - 1
    h = int.from_bytes(hashlib.sha256(b"salt").digest()[:8], "little")
    for part in parts:
        h = ((h ^ part) + 0x9E3779B97F4A7C15) & mask
        h = ((h ^ (h >> 30)) * 0xBF58476D1CE4E5B9) & mask
        h = ((h ^ (h >> 27)) * 0x94D049BB133111EB) & mask
        h ^= h >> 31
    return (h - (1 << 64) if h >> 63 else h) % buckets


@some_examples
@given(
    st.lists(st.integers(0, 2**62), min_size=2, max_size=4),
    st.integers(1, 2**40),
)
def test_a_cross_is_the_documented_formula(parts: list[int], buckets: int) -> None:
    ids = cross_ids(np.array([parts], np.int64), buckets, "salt")
    assert int(ids[0]) == _mixed(parts, buckets)


@some_examples
@given(st.integers(0, 4 * 10**9), st.integers(-14, 14))
def test_time_parts_are_those_of_the_calendar(seconds: int, offset: int) -> None:
    config = config_of(
        {"kind": "time_part", "name": "h", "part": "hour", "utc_offset_hours": offset},
        {"kind": "time_part", "name": "w", "part": "weekday", "utc_offset_hours": offset},
    )
    local = datetime.fromtimestamp(seconds, UTC).astimezone(timezone(timedelta(hours=offset)))
    ids = encoded(transform_of(config, t=[]), t=[seconds, None])["sparse"]
    assert ids == [[1 + local.hour, 1 + local.weekday()], [0, 0]]


def test_the_epoch_is_hour_zero_of_a_thursday() -> None:
    config = config_of(
        {"kind": "time_part", "name": "h", "part": "hour"},
        {"kind": "time_part", "name": "w", "part": "weekday"},
    )
    assert encoded(transform_of(config, t=[]), t=[0, 3 * 86400])["sparse"] == [[1, 4], [1, 7]]
