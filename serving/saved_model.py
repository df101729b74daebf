"""Writes the SavedModel, and scores rows with the trained and with the reloaded model."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from features.spec import RawColumn
from features.tensorflow import tf
from serving.golden import Golden, Scores, largest_difference
from serving.requests import Request, requests_of
from serving.rows import Arrays
from serving.signatures import PROBABILITY, SIGNATURES, serving_module, tensor_type

__all__ = ["parity", "save", "trained_scores"]

BATCH_ROWS = 1024


def save(version: Path, columns: Sequence[RawColumn], transform: Any, model: Any) -> None:
    """Write a SavedModel with the three signatures; vocabularies are its assets."""
    module, signatures = serving_module(columns, transform, model)
    with _quiet("absl"):
        tf.saved_model.save(module, str(version), signatures=signatures)


def trained_scores(
    transform: Any, model: Any, columns: Sequence[RawColumn], arrays: Arrays
) -> Scores:
    """Return the trained model's probabilities, `(B,) float32`, of `(B,)` raw columns.

    This is the trainer's path, transformation then model, without any signature.
    """
    types = {column.name: tensor_type(column.type) for column in columns}
    raw = {name: tf.constant(values, types[name]) for name, values in arrays.items()}
    logit = model(transform(raw), training=False)
    return np.asarray(tf.sigmoid(tf.reshape(logit, [-1])).numpy(), dtype=np.float32)


def parity(version: Path, golden: Golden, columns: Sequence[RawColumn]) -> dict[str, float]:
    """Reload a SavedModel and return its largest difference to golden scores by signature."""
    loaded = tf.saved_model.load(str(version))
    return {
        signature: largest_difference(
            golden.scores, _scores(loaded.signatures[signature], signature, golden, columns)
        )[0]
        for signature in SIGNATURES
    }


@contextmanager
def _quiet(name: str) -> Iterator[None]:
    """Silence the warnings that a parameter is spelt otherwise: `SignatureDef`s keep the name."""
    logger = logging.getLogger(name)
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def _scores(function: Any, signature: str, golden: Golden, columns: Sequence[RawColumn]) -> Scores:
    scores = np.full(len(golden.scores), np.nan, dtype=np.float32)
    requests: Iterable[Request] = requests_of(signature, golden.arrays, columns, BATCH_ROWS)
    for request in requests:
        feeds = {name: tf.constant(values) for name, values in request.inputs.items()}
        scores[request.rows] = _call(function, feeds)[PROBABILITY].numpy()
    return scores


def _call(function: Any, feeds: dict[str, Any]) -> Any:
    """Call a reloaded signature, whose parameters may be spelt otherwise than its inputs."""
    parameters = function.structured_input_signature[1]
    spelling = {_identifier(parameter): parameter for parameter in parameters}
    return function(**{spelling[_identifier(name)]: value for name, value in feeds.items()})


def _identifier(name: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in name).lower()
