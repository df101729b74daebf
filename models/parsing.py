"""Serialised examples to model inputs, a whole batch at a time, refusing what is out of range."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from features.manifest import Manifest
from features.records import (
    DENSE,
    GROUP,
    LABEL,
    MULTI,
    MULTI_IDS,
    MULTI_LENGTHS,
    SPARSE,
    WEIGHT,
)
from features.spec import InputSpec
from features.tensorflow import tf

__all__ = ["MASK", "PADDING", "parser"]

MASK = "mask"
PADDING = b"\xffpadding"
"""Stands for a row that is not there; no serialised example starts with this byte."""

Batch = dict[str, Any]


def parser(spec: InputSpec, manifest: Manifest) -> Callable[[Any], Batch]:
    """Return the function from `(B,) string` examples to a batch.

    The batch has `dense (B, N) float32`, `sparse (B, F) int64`, `multi (B, M, L) int64` (each
    absent without such features), `label`, `weight` `(B,) float32`, `group (B,) int64` and
    `mask (B,) bool`. A row of padding is all zeros, its weight and mask included.

    The check of ids runs in the input pipeline, hence on the CPU whatever trains: a GPU would
    look up zeros for an id outside its table, silently.
    """
    features, empty = _features(spec, manifest), _empty_example(spec, manifest)

    def parse(serialised: Any) -> Batch:
        mask = tf.not_equal(serialised, PADDING)
        raw = tf.io.parse_example(tf.where(mask, serialised, empty), features)
        batch = {LABEL: raw[LABEL], MASK: mask} | _inputs(raw, spec)
        ones = raw[WEIGHT] if manifest.has_weight else tf.ones_like(raw[LABEL])
        batch[WEIGHT] = tf.where(mask, ones, 0.0)
        batch[GROUP] = raw[GROUP] if manifest.has_group else tf.zeros_like(mask, tf.int64)
        return batch

    # Nothing here depends on a tensor's value, so the conversion of Python code is saved.
    return tf.autograph.experimental.do_not_convert(parse)  # type: ignore[no-any-return]


def _features(spec: InputSpec, manifest: Manifest) -> dict[str, Any]:
    fixed = tf.io.FixedLenFeature
    features = {LABEL: fixed([], tf.float32)}
    if manifest.has_weight:
        features[WEIGHT] = fixed([], tf.float32)
    if manifest.has_group:
        features[GROUP] = fixed([], tf.int64)
    if spec.dense:
        features[DENSE] = fixed([len(spec.dense)], tf.float32)
    if spec.sparse:
        features[SPARSE] = fixed([len(spec.sparse)], tf.int64)
    if spec.multi:
        features[MULTI_IDS] = tf.io.RaggedFeature(tf.int64, row_splits_dtype=tf.int64)
        features[MULTI_LENGTHS] = fixed([len(spec.multi)], tf.int64)
    return features


def _empty_example(spec: InputSpec, manifest: Manifest) -> bytes:
    def floats(count: int) -> Any:
        return tf.train.Feature(float_list=tf.train.FloatList(value=[0.0] * count))

    def integers(count: int) -> Any:
        return tf.train.Feature(int64_list=tf.train.Int64List(value=[0] * count))

    feature = {
        LABEL: floats(1),
        WEIGHT: floats(1),
        GROUP: integers(1),
        DENSE: floats(len(spec.dense)),
        SPARSE: integers(len(spec.sparse)),
        MULTI_IDS: integers(0),
        MULTI_LENGTHS: integers(len(spec.multi)),
    }
    example = tf.train.Example(features=tf.train.Features(feature=feature))
    serialised: bytes = example.SerializeToString()
    return serialised


def _inputs(raw: dict[str, Any], spec: InputSpec) -> Batch:
    inputs = {}
    if spec.dense:
        inputs[DENSE] = raw[DENSE]
    if spec.sparse:
        rows = [feature.rows for feature in spec.sparse]
        inputs[SPARSE] = _checked(raw[SPARSE], tf.constant(rows, tf.int64))
    if spec.multi:
        inputs[MULTI] = _multi(raw[MULTI_IDS], raw[MULTI_LENGTHS], spec)
    return inputs


def _multi(ids: Any, lengths: Any, spec: InputSpec) -> Any:
    """Cut ragged `(B, None)` ids by `(B, M)` lengths into `(B, M, L)`, padded with 0."""
    longest = tf.constant([feature.max_length for feature in spec.multi], tf.int64)
    checks = [
        tf.debugging.assert_equal(ids.row_lengths(), tf.reduce_sum(lengths, 1), MULTI_LENGTHS),
        tf.debugging.Assert(_all_within(lengths, longest + 1), [MULTI_LENGTHS]),
    ]
    with tf.control_dependencies(checks):
        values = tf.identity(ids.flat_values)
    rows = tf.RaggedTensor.from_row_lengths(values, tf.reshape(lengths, [-1]), validate=False)
    table = rows.to_tensor(shape=[None, spec.max_length])
    padded = tf.reshape(table, [-1, len(spec.multi), spec.max_length])
    padded = tf.ensure_shape(padded, [lengths.shape[0], len(spec.multi), spec.max_length])
    limits = tf.constant([[feature.rows] for feature in spec.multi], tf.int64)
    return _checked(padded, limits)


def _checked(ids: Any, rows: Any) -> Any:
    check = tf.debugging.Assert(_all_within(ids, rows), ["an id is outside its table"])
    with tf.control_dependencies([check]):
        return tf.identity(ids)


def _all_within(values: Any, ends: Any) -> Any:
    return tf.reduce_all((values >= 0) & (values < ends))
