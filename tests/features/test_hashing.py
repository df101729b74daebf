from __future__ import annotations

import numpy as np
import pyarrow as pa

from features.hashing import row_hash, splitmix64, stable_hash


def test_a_string_has_the_same_hash_wherever_it_stands() -> None:
    hashes = stable_hash(pa.array(["u1", None, "u2", "u1", "é", ""]))
    assert hashes[0] == hashes[3] != hashes[2]
    assert hashes[1] == -1
    assert (hashes[[0, 2, 4, 5]] >= 0).all()


def test_the_hash_of_a_string_never_changes() -> None:
    assert stable_hash(pa.array(["a"])).tolist() == [1702698405120146464]


def test_splitmix64_is_the_published_generator() -> None:
    # The first outputs of the reference implementation for seed 1234567.
    gamma = 0x9E3779B97F4A7C15
    states = np.array([1234567, (1234567 + gamma) % 2**64], np.uint64).view(np.int64)
    expected = [6457827717110365317, 3203168211198807973]
    assert splitmix64(states).view(np.uint64).tolist() == expected


def test_row_hashes_are_uniform_and_depend_on_seed_file_and_row() -> None:
    rows = np.arange(100_000)
    shares = row_hash(0, 0, rows).view(np.uint64) / 2.0**64
    counts, _ = np.histogram(shares, bins=10, range=(0, 1))
    assert (np.abs(counts - 10_000) < 500).all()
    assert (row_hash(0, 0, rows) != row_hash(1, 0, rows)).all()
    assert (row_hash(0, 0, rows) != row_hash(0, 1, rows)).all()
