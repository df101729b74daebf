"""The TensorFlow functions that make canonical strings and ids into ids."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from features.tensorflow import tf

__all__ = ["cross_ids", "hash_ids", "open_vocabulary", "vocabulary_ids"]

# The constants of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014) as signed 64-bit integers.
GOLDEN_GAMMA = 0x9E3779B97F4A7C15 - (1 << 64)
FIRST_MULTIPLIER = 0xBF58476D1CE4E5B9 - (1 << 64)
SECOND_MULTIPLIER = 0x94D049BB133111EB - (1 << 64)


def open_vocabulary(file: Path) -> Any:
    """Return the lookup of a vocabulary file: its lines to their places, anything else to -1.

    The file is an asset of whatever module holds the lookup, so it is exported with it.
    """
    initializer = tf.lookup.TextFileInitializer(
        str(file),
        key_dtype=tf.string,
        key_index=tf.lookup.TextFileIndex.WHOLE_LINE,
        value_dtype=tf.int64,
        value_index=tf.lookup.TextFileIndex.LINE_NUMBER,
    )
    return tf.lookup.StaticHashTable(initializer, default_value=-1)


def vocabulary_ids(values: Any, lookup: Any, oov_buckets: int) -> Any:
    """Return `1 + hash` for unseen strings and `1 + oov_buckets + place` for those that are known.

    Args:
        values: Canonical strings, none of them missing, (n,).
        lookup: A vocabulary's lookup.
        oov_buckets: Number of ids for unseen strings.

    Returns:
        `(n,) int64`.
    """
    place = lookup.lookup(values)
    unseen = 1 + tf.strings.to_hash_bucket_fast(values, oov_buckets)
    return tf.where(place < 0, unseen, 1 + oov_buckets + place)


def hash_ids(values: Any, buckets: int, salt: str) -> Any:
    """Return `1 + FarmHash64(salt + value) mod buckets` of strings, (n,): `(n,) int64`."""
    salted = tf.strings.join([salt, values]) if salt else values
    return 1 + tf.strings.to_hash_bucket_fast(salted, buckets)


def cross_ids(parts: Any, buckets: int, salt: str) -> Any:
    """Hash combinations of ids without making strings of them.

    With `m` the finaliser of SplitMix64 and `s` a seed made of the salt, the bucket of
    `(a, b, ...)` is `... m(m(s ^ a) ^ b) ... mod buckets`, in 64-bit integers that wrap around.

    Args:
        parts: Ids, `(B, k) int64`.
        buckets: Number of buckets.
        salt: Changes which combinations collide.

    Returns:
        `(B,) int64` in `[0, buckets)`.
    """
    digest = hashlib.sha256(salt.encode()).digest()
    mixed = tf.constant(int.from_bytes(digest[:8], "little", signed=True), tf.int64)
    for part in tf.unstack(parts, axis=-1):
        mixed = _mix(tf.bitwise.bitwise_xor(mixed, part))
    return tf.math.floormod(mixed, buckets)


def _mix(x: Any) -> Any:
    x = x + tf.constant(GOLDEN_GAMMA, tf.int64)
    x = _xor_shifted(x, 30) * tf.constant(FIRST_MULTIPLIER, tf.int64)
    x = _xor_shifted(x, 27) * tf.constant(SECOND_MULTIPLIER, tf.int64)
    return _xor_shifted(x, 31)


def _xor_shifted(x: Any, bits: int) -> Any:
    # TensorFlow shifts signed integers with their sign; the mask makes the shift a logical one.
    shifted = tf.bitwise.right_shift(x, tf.constant(bits, tf.int64))
    mask = tf.constant((1 << (64 - bits)) - 1, tf.int64)
    return tf.bitwise.bitwise_xor(x, tf.bitwise.bitwise_and(shifted, mask))
