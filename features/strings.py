"""The TensorFlow functions that make a raw string the string that is counted and looked up."""

from __future__ import annotations

from typing import Any, Literal

from features.tensorflow import tf

__all__ = ["Normalise", "canonical", "normalised", "split_values"]

Normalise = Literal["none", "strip", "strip_lower"]


def canonical(values: Any, missing: tuple[str, ...], normalise: Normalise) -> Any:
    """Normalise strings and make every spelling of a missing value the empty string.

    Spellings are compared without the white space around a value, so that a request which sends
    `NA` is scored as the log's `NA` was.

    Args:
        values: Strings of any shape.
        missing: Spellings of a missing value.
        normalise: What is done to other values.
    """
    return normalised(without_missing(values, missing), normalise)


def without_missing(values: Any, missing: tuple[str, ...]) -> Any:
    """Make every spelling of a missing value the empty string."""
    spellings = [spelling for spelling in missing if spelling]
    if not spellings:
        return values
    stripped = tf.strings.strip(values)
    found = tf.reduce_any(tf.equal(stripped[..., None], tf.constant(spellings)), axis=-1)
    return tf.where(found, "", values)


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
