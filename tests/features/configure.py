"""Builds configurations, batches and transformations for the tests of features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import settings

from features.config import Config
from features.statistics import Statistics, analyse, finish, merge_all
from features.tensorflow import tf
from features.transform import Transform

some_examples = settings(deadline=None, max_examples=30)
"""Each example builds a transformation, and machines that run tests are busy."""

TYPES = {"string": pa.string(), "number": pa.float32(), "time": pa.int64()}


def config_of(*features: Mapping[str, Any], **log: Any) -> Config:
    return Config.model_validate(
        {
            "name": "test",
            "log": {
                "path": "log.csv",
                "label": {"column": "click"},
                "timestamp": {"column": "t"},
                **log,
            },
            "features": list(features),
        }
    )


def batch_of(config: Config, **columns: Sequence[Any]) -> pa.RecordBatch:
    from features.raw import raw_columns

    return pa.record_batch(
        {
            "__time__" if column.type == "time" else column.name: pa.array(
                columns[column.name], TYPES[column.type]
            )
            for column in raw_columns(config)
        }
    )


def learnt(config: Config, *batches: pa.RecordBatch) -> Statistics:
    return finish(config, merge_all(analyse(config, batch) for batch in batches))


def transform_of(config: Config, **columns: Sequence[Any]) -> Transform:
    return Transform.of(config, learnt(config, batch_of(config, **columns)))


def raw_of(transform: Transform, **columns: Sequence[Any]) -> dict[str, Any]:
    """Return columns as a request has them, with None as the missing value of their type."""
    missing = {"string": "", "number": float("nan"), "time": -1}
    types = {"string": tf.string, "number": tf.float32, "time": tf.int64}
    return {
        column.name: tf.constant(
            [missing[column.type] if value is None else value for value in columns[column.name]],
            types[column.type],
        )
        for column in transform.raw
    }


def encoded(transform: Transform, **columns: Sequence[Any]) -> dict[str, Any]:
    """Return the model inputs of raw columns as nested lists."""
    inputs = transform(raw_of(transform, **columns))
    return {name: np.asarray(value).tolist() for name, value in inputs.items()}
