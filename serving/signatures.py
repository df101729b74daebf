"""The three signatures of an exported model, from raw columns to probabilities.

- `serving_default`: raw columns by name, `(B,)` each → `probability` `(B,) float32`
- `serving_examples`: `examples` `(B,) string`, serialised raw `tf.Example`s → the same
- `rank`: raw columns by name, `(1,)` for what all candidates share, `(N,)` for what differs
  → `probability` `(N,) float32`

Optional columns have default tensors of shape `(1,)`. TensorFlow writes them into the
`SignatureDef`, and a server fills them in for what a request lacks; the function then spreads
them over the batch.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from features.errors import ServingError
from features.spec import RawColumn, RawType
from features.tensorflow import tf
from serving.rows import MISSING

__all__ = [
    "EXAMPLES",
    "EXAMPLES_SIGNATURE",
    "PROBABILITY",
    "RANK_SIGNATURE",
    "ROWS_SIGNATURE",
    "SIGNATURES",
    "serving_module",
]

ROWS_SIGNATURE = "serving_default"
EXAMPLES_SIGNATURE = "serving_examples"
RANK_SIGNATURE = "rank"
SIGNATURES = (ROWS_SIGNATURE, EXAMPLES_SIGNATURE, RANK_SIGNATURE)

EXAMPLES = "examples"
PROBABILITY = "probability"

_SERVABLE_NAME = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*", re.ASCII)

Tensors = Mapping[str, Any]
Score = Callable[[Tensors], Any]


def serving_module(
    columns: Sequence[RawColumn], transform: Callable[[Tensors], Tensors], model: Any
) -> tuple[Any, dict[str, Any]]:
    """Return what `tf.saved_model.save` takes: a module and its signatures.

    The module tracks the transformation (tables and vocabularies) and the weights, not the Keras
    model, whose own functions would only make the SavedModel larger.

    Args:
        columns: The raw columns of a request.
        transform: A trackable function of `(B,)` raw columns to model inputs.
        model: A Keras model of model inputs to logits, `(B,)` or `(B, 1)`.

    Raises:
        ServingError: A column name cannot be the name of a signature's input.
    """
    _check_names(columns)
    module = tf.Module(name="ctr_model")
    module.transform, module.weights = transform, list(model.weights)
    module.signatures_by_name = _signatures(columns, _score(transform, model))
    return module, dict(module.signatures_by_name)


def tensor_type(raw_type: RawType) -> Any:
    """Return the TensorFlow type of a raw column."""
    return {"string": tf.string, "number": tf.float32, "time": tf.int64}[raw_type]


def _score(transform: Callable[[Tensors], Tensors], model: Any) -> Score:
    def score(raw: Tensors) -> Any:
        logit = tf.cast(model(transform(raw), training=False), tf.float32)
        return tf.sigmoid(tf.reshape(logit, [-1]))

    return score


def _signatures(columns: Sequence[RawColumn], score: Score) -> dict[str, Any]:
    required = [column for column in columns if column.required]
    optional = [column for column in columns if not column.required]
    return {
        ROWS_SIGNATURE: _by_column(required, optional, score, is_rank=False),
        EXAMPLES_SIGNATURE: _by_example(columns, score),
        RANK_SIGNATURE: _by_column(required, optional, score, is_rank=True),
    }


def _by_column(
    required: Sequence[RawColumn], optional: Sequence[RawColumn], score: Score, is_rank: bool
) -> Any:
    # TensorFlow takes defaults from the last arguments of a function, whatever they nest.
    defaults = {column.name: _default(column) for column in optional}
    specs = [_specs(part) for part in (required, optional) if part]

    def run(needed: Tensors, given: Tensors) -> dict[str, Any]:
        if not is_rank:
            _check_one_length(needed)
        return {PROBABILITY: score(_spread({**needed, **given}))}

    if not optional:
        return tf.function(lambda needed: run(needed, {}), input_signature=specs)
    if not required:
        return tf.function(lambda given=defaults: run({}, given), input_signature=specs)
    return tf.function(lambda needed, given=defaults: run(needed, given), input_signature=specs)


def _by_example(columns: Sequence[RawColumn], score: Score) -> Any:
    features = {
        column.name: tf.io.FixedLenFeature(
            [],
            tensor_type(column.type),
            default_value=None if column.required else MISSING[column.type],
        )
        for column in columns
    }

    def run(examples: Any) -> dict[str, Any]:
        return {PROBABILITY: score(tf.io.parse_example(examples, features))}

    return tf.function(run, input_signature=[tf.TensorSpec([None], tf.string, name=EXAMPLES)])


def _check_one_length(tensors: Tensors) -> None:
    """Refuse required columns that differ in length: only `rank` shares a value."""
    sizes = [tf.size(values) for values in tensors.values()]
    for size in sizes[1:]:
        tf.debugging.assert_equal(size, sizes[0], "required inputs have one value an example")


def _spread(raw: Tensors) -> dict[str, Any]:
    """Spread columns of shape `(1,)` over the batch, `(B,)`."""
    sizes = tf.stack([tf.size(values) for values in raw.values()])
    rows = tf.where(tf.reduce_any(sizes == 0), 0, tf.reduce_max(sizes))
    return {name: tf.broadcast_to(values, [rows]) for name, values in raw.items()}


def _specs(columns: Sequence[RawColumn]) -> dict[str, Any]:
    return {
        column.name: tf.TensorSpec([None], tensor_type(column.type), name=column.name)
        for column in columns
    }


def _default(column: RawColumn) -> Any:
    return tf.constant([MISSING[column.type]], dtype=tensor_type(column.type))


def _check_names(columns: Sequence[RawColumn]) -> None:
    # TensorFlow replaces what is no identifier by "_", after which two names may be one.
    replaced = Counter(re.sub(r"\W", "_", column.name.lower()) for column in columns)
    for column in columns:
        if _SERVABLE_NAME.fullmatch(column.name) is None:
            raise _bad_name(column, "it has a character that TensorFlow does not allow")
        if replaced[re.sub(r"\W", "_", column.name.lower())] > 1:
            raise _bad_name(column, "it differs from another only in case or punctuation")


def _bad_name(column: RawColumn, reason: str) -> ServingError:
    return ServingError(
        "a column that is served has a name of letters, digits, '.', '-', '_' of its own",
        received=f"{column.name!r}: {reason}",
        where="raw columns of the features",
        remedy="rename the column in the log (log.columns) and preprocess again",
    )
