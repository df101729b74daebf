"""A transformation and a model small enough to export in every test."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from features.config import Config
from features.spec import RawColumn
from features.tensorflow import tf

COLUMNS = (
    RawColumn("item_id", "string", required=True),
    RawColumn("user-id", "string", required=False),
    RawColumn("price", "number", required=False),
    RawColumn("time", "time", required=False),
)


def tiny_config(**sections: Any) -> Config:
    tree = {
        "name": "tiny",
        "log": {
            "path": "log.csv",
            "label": {"column": "click"},
            "timestamp": {"column": "time"},
            "required": ["item_id"],
        },
        "features": [
            {"name": "item_id", "kind": "vocabulary"},
            {"name": "user-id", "kind": "vocabulary"},
            {"name": "price", "kind": "numeric"},
            {"name": "hour", "kind": "time_part", "part": "hour"},
        ],
        **sections,
    }
    return Config.model_validate(tree)


class TinyTransform(tf.Module):  # type: ignore[misc]
    """Has the shape of the real one: a vocabulary asset, numbers, times."""

    def __init__(self, vocabulary: Path) -> None:
        super().__init__()
        vocabulary.write_text("".join(f"i{n}\n" for n in range(20)))
        self.raw = COLUMNS
        initializer = tf.lookup.TextFileInitializer(
            str(vocabulary), tf.string, tf.lookup.TextFileIndex.WHOLE_LINE,
            tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER,
        )  # fmt: skip
        self.table = tf.lookup.StaticVocabularyTable(initializer, 1)

    def __call__(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        price = tf.where(tf.math.is_nan(raw["price"]), 0.5, raw["price"])
        hour = tf.cast(tf.math.floormod(raw["time"], 24), tf.float32) / 24
        users = tf.strings.to_hash_bucket_fast(raw["user-id"], 8)
        sparse = tf.stack([self.table.lookup(raw["item_id"]), users], axis=1)
        return {"dense": tf.stack([price, hour], axis=1), "sparse": sparse}


def tiny_model(seed: int = 1) -> Any:
    random = tf.keras.initializers.RandomNormal(seed=seed)
    dense = tf.keras.Input([2], name="dense")
    sparse = tf.keras.Input([2], dtype=tf.int64, name="sparse")
    embedded = tf.keras.layers.Embedding(32, 4, embeddings_initializer=random)(sparse)
    joined = tf.keras.layers.Concatenate()([dense, tf.keras.layers.Flatten()(embedded)])
    hidden = tf.keras.layers.BatchNormalization()(joined)
    logit = tf.keras.layers.Dense(1, name="logit", kernel_initializer=random)(hidden)
    return tf.keras.Model({"dense": dense, "sparse": sparse}, tf.squeeze(logit, 1))


def golden_rows(count: int = 40) -> list[dict[str, Any]]:
    random = np.random.default_rng(0)
    rows: list[dict[str, Any]] = []
    for row in range(count):
        rows.append(
            {
                "item_id": ["i3", "i7", "unseen", "žluť"][row % 4],
                "user-id": None if row % 5 == 0 else f"u{row}",
                "price": None if row % 7 == 0 else float(np.float32(random.normal())),
                "time": None if row % 11 == 0 else 1_700_000_000 + 3601 * row,
            }
        )
    return rows
