"""Small batches in memory, dealt to one or two replicas, and a few steps over them."""

from typing import Any

import numpy as np

from features.config import ModelConfig, TrainConfig
from features.spec import InputSpec, MultiInput, SparseInput
from features.tensorflow import tf
from models.step import Trainable, build_trainable, train_step

SPEC = InputSpec(
    ("price", "age"),
    (
        SparseInput("user", 5, "user", "both"),
        SparseInput("item", 7, "item", "deep"),
        SparseInput("user_x_item", 9, "user_x_item", "wide"),
    ),
    (MultiInput("tags", 6, "tags", "both", 3, "mean"),),
)
GLOBAL_BATCH = 8

Batch = dict[str, Any]


def make_batch(seed: int, real: int = GLOBAL_BATCH, rows: int = GLOBAL_BATCH) -> Batch:
    """Return a batch whose rows after the first `real` are padding."""
    random = np.random.default_rng(seed)
    mask = np.arange(rows) < real
    batch = {
        "dense": random.normal(size=(rows, 2)).astype(np.float32),
        "sparse": random.integers(0, 5, (rows, 3)),
        "multi": random.integers(0, 6, (rows, 1, 3)),
        "label": random.integers(0, 2, rows).astype(np.float32),
        "weight": random.random(rows).astype(np.float32) + 0.5,
        "group": random.integers(0, 3, rows),
        "mask": mask,
    }
    return {name: values * _like(mask, values) for name, values in batch.items()}


def _like(mask: Any, values: Any) -> Any:
    return mask.reshape(-1, *[1] * (values.ndim - 1)).astype(values.dtype)


def strategy_of(replicas: int) -> Any:
    if replicas == 1:
        return tf.distribute.get_strategy()
    return tf.distribute.MirroredStrategy([f"CPU:{at}" for at in range(replicas)])


def dealt(strategy: Any, batches: list[Batch], parts: int) -> Any:
    """Return per-replica batches: each global batch is cut into so many parts in a row."""
    rows = {name: np.concatenate([batch[name] for batch in batches]) for name in batches[0]}
    cut = tf.data.Dataset.from_tensor_slices(rows).batch(GLOBAL_BATCH // parts)
    return strategy.distribute_datasets_from_function(lambda _: cut)


def trained(
    batches: list[Batch], model: ModelConfig, config: TrainConfig, replicas: int = 1
) -> tuple[list[float], list[Any], Trainable]:
    """Return losses, all variables of the model, and the model after a step for each batch."""
    strategy = strategy_of(replicas)
    trainable = build_trainable(strategy, SPEC, model, config)
    step = train_step(strategy, trainable, config)
    parts = iter(dealt(strategy, batches, replicas * config.accumulate))
    losses = []
    for number in range(len(batches)):
        group = tuple(next(parts) for _ in range(config.accumulate))
        loss, _ = step(group, tf.constant(number), tf.constant(0.01), tf.constant(0.1))
        losses.append(float(loss))
    return losses, [v.numpy() for v in trainable.model.networks.training.variables], trainable
