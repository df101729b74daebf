"""Hashes that are the same in every process, on every machine and in every run."""

from __future__ import annotations

import hashlib

import numpy as np
import numpy.typing as npt
import pyarrow as pa

__all__ = ["row_hash", "splitmix64", "stable_hash"]

Int64s = npt.NDArray[np.int64]


def stable_hash(values: pa.Array) -> Int64s:
    """Hash strings to `[0, 2**63)`; a missing value is -1.

    Each distinct value is hashed once, by BLAKE2b.

    Args:
        values: Strings, (n,).

    Returns:
        `(n,) int64`.

    >>> stable_hash(pa.array(["a", None, "a"])).tolist()
    [1702698405120146464, -1, 1702698405120146464]
    """
    encoded = values.dictionary_encode()
    distinct = encoded.dictionary.cast(pa.binary()).to_pylist()
    hashes = np.array([*map(_hash_bytes, distinct), -1], dtype=np.int64)
    codes: Int64s = encoded.indices.fill_null(len(distinct)).to_numpy(zero_copy_only=False)
    return np.asarray(hashes[codes])


def _hash_bytes(value: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(value, digest_size=8).digest(), "little") >> 1


def splitmix64(values: Int64s) -> Int64s:
    """Mix the bits of 64-bit integers; a bijection.

    Source: the finaliser of SplitMix64, Steele, Lea and Flood, OOPSLA 2014.
    """
    x = values.astype(np.int64).view(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (x ^ (x >> np.uint64(31))).view(np.int64)


def row_hash(seed: int, file: int, rows: Int64s) -> Int64s:
    """Hash rows by their place, uniformly over all int64.

    Args:
        seed: Seed of the split.
        file: Place of the file among the inputs.
        rows: Row numbers in the file, `(n,) int64`.

    Returns:
        `(n,) int64`.
    """
    key = splitmix64(np.array([file], np.int64) ^ splitmix64(np.array([seed], np.int64)))
    return splitmix64(rows.astype(np.int64) ^ key)
