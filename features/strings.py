"""The TensorFlow functions that make a raw string the string that is counted and looked up."""

from __future__ import annotations

from typing import Any, Literal

from features.tensorflow import tf

__all__ = ["Normalise", "canonical", "missing_lookup", "normalised", "split_values"]

Normalise = Literal["none", "strip", "strip_lower"]


def missing_lookup(spellings: tuple[str, ...]) -> Any:
    """Return the lookup of the spellings of a missing value: 1 for each of them, 0 for others."""
    keys = tf.constant(["", *(spelling for spelling in spellings if spelling)])
    found = tf.ones_like(keys, tf.int64)
    initializer = tf.lookup.KeyValueTensorInitializer(keys, found)
    return tf.lookup.StaticHashTable(initializer, default_value=0)


def canonical(values: Any, missing: Any, normalise: Normalise) -> Any:
    """Normalise strings and make every spelling of a missing value the empty string.

    Spellings are compared without the white space around a value, so that a request which sends
    `NA` is scored as the log's `NA` was.

    Args:
        values: Strings of any shape.
        missing: Lookup of the spellings of a missing value.
        normalise: What is done to other values.
    """
    stripped = tf.strings.strip(values)
    kept = values if normalise == "none" else stripped
    kept = tf.where(missing.lookup(stripped) > 0, "", kept)
    return tf.strings.lower(kept, encoding="utf-8") if normalise == "strip_lower" else kept


def normalised(values: Any, normalise: Normalise) -> Any:
    """Return strings as they are, without white space around them, or in lower case as well."""
    if normalise == "none":
        return values
    stripped = tf.strings.strip(values)
    return stripped if normalise == "strip" else tf.strings.lower(stripped, encoding="utf-8")


def split_values(fields: Any, separator: str, normalise: Normalise, max_length: int) -> Any:
    """Split fields into values, normalise each, drop empty ones and keep the first.

    Args:
        fields: Strings, (B,), `""` where missing.
        separator: What stands between two values, taken literally.
        normalise: What is done to each value.
        max_length: Number of values kept.

    Returns:
        A ragged tensor of strings, (B, at most `max_length`).
    """
    ragged = tf.strings.split(fields, sep=separator)
    ragged = ragged.with_flat_values(normalised(ragged.flat_values, normalise))
    kept = tf.ragged.boolean_mask(ragged, tf.not_equal(ragged, ""))
    return kept[:, :max_length]
