"""One optimizer step: gradients of the exact mean over the global batch, applied once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from features.config import ModelConfig, TrainConfig
from features.spec import InputSpec
from features.tensorflow import tf
from models.network import build_networks
from models.optimizers import dense_optimizer, table_optimizer
from models.ranking import RankingModel, example_weight

__all__ = ["Rates", "Trainable", "build_trainable", "train_step"]

SUM = "SUM"


@dataclass(frozen=True)
class Rates:
    """Learning rates of one step.

    Attributes:
        dense: Rate of the weights outside the tables.
        tables: Rate of the tables.
    """

    dense: float
    tables: float


@dataclass(frozen=True)
class Trainable:
    """A model with its optimizers; their variables exist from the start.

    Attributes:
        model: The model.
        tables: Variables with sparse gradients.
        dense: All other trainable variables.
        table_optimizer: Row-wise optimizer of the tables.
        dense_optimizer: Optimizer of the rest.
    """

    model: RankingModel
    tables: tuple[Any, ...]
    dense: tuple[Any, ...]
    table_optimizer: Any
    dense_optimizer: Any


def build_trainable(
    strategy: Any, spec: InputSpec, model_config: ModelConfig, train_config: TrainConfig
) -> Trainable:
    """Build everything that owns variables inside the scope of a strategy."""
    with strategy.scope():
        networks = build_networks(spec, model_config, train_config.seed)
        names = {id(table) for table in networks.tables}
        weights = networks.training.trainable_variables
        trainable = Trainable(
            model=RankingModel(networks, model_config),
            tables=networks.tables,
            dense=tuple(weight for weight in weights if id(weight) not in names),
            table_optimizer=table_optimizer(train_config),
            dense_optimizer=dense_optimizer(train_config),
        )
        trainable.table_optimizer._create_all_weights(trainable.tables)
        trainable.dense_optimizer._create_all_weights(trainable.dense)
    return trainable


def train_step(strategy: Any, trainable: Trainable, config: TrainConfig) -> Callable[..., Any]:
    """Return the compiled step.

    It takes a tuple of per-replica batches, whose gradients are summed into one update, the
    number of updates so far and the two rates, as tensors. It returns the loss, the mean over the
    weight of all batches on all replicas, and the gradients by variable name as this replica
    has them: those of the tables before they meet those of other replicas.
    """

    def on_replica(batches: Sequence[dict[str, Any]], step: Any) -> tuple[Any, dict[str, Any]]:
        loss, weight, gradients = _summed(trainable, config.seed, batches, step)
        context = tf.distribute.get_replica_context()
        loss, weight = context.all_reduce(SUM, [loss, weight])
        gradients = [_scaled(gradient, weight) for gradient in gradients]
        tables = gradients[: len(trainable.tables)]
        dense = context.all_reduce(SUM, gradients[len(trainable.tables) :])
        if config.clip_norm is not None:
            dense, _ = tf.clip_by_global_norm(dense, config.clip_norm)
        trainable.table_optimizer.apply_gradients(zip(tables, trainable.tables, strict=True))
        trainable.dense_optimizer.apply_gradients(
            zip(dense, trainable.dense, strict=True), experimental_aggregate_gradients=False
        )
        return tf.math.divide_no_nan(loss, weight), _by_name(trainable, [*tables, *dense])

    on_replica = tf.function(on_replica, jit_compile=True) if config.xla else on_replica

    @tf.function  # type: ignore[untyped-decorator]
    def step(
        batches: Sequence[Any], number: Any, dense_rate: Any, table_rate: Any
    ) -> tuple[Any, dict[str, Any]]:
        trainable.dense_optimizer.learning_rate.assign(dense_rate)
        trainable.table_optimizer.learning_rate.assign(table_rate)
        loss, gradients = strategy.run(on_replica, args=(batches, number))
        first = {name: _first(strategy, gradient) for name, gradient in gradients.items()}
        return _first(strategy, loss), first

    return step  # type: ignore[no-any-return]


def _summed(
    trainable: Trainable, seed: int, batches: Sequence[dict[str, Any]], step: Any
) -> tuple[Any, Any, list[Any]]:
    """Return sums of loss and weight over batches, and the gradients of the sum of losses."""
    variables = (*trainable.tables, *trainable.dense)
    losses, weights, parts = [], [], []
    for at, batch in enumerate(batches):
        noise = _noise(seed, step * len(batches) + at)
        with tf.GradientTape() as tape:
            losses.append(trainable.model.compute_loss({**batch, "noise": noise}, training=True))
        weights.append(tf.reduce_sum(example_weight(batch)))
        parts.append(tape.gradient(losses[-1], variables))
    return tf.add_n(losses), tf.add_n(weights), [_total(p) for p in zip(*parts, strict=True)]


def _noise(seed: int, batch_number: Any) -> Any:
    """Return `(1, 2) int32`, a seed that no other batch of any replica has."""
    context = tf.distribute.get_replica_context()
    replica = tf.cast(context.replica_id_in_sync_group, tf.int32)
    number = batch_number * context.num_replicas_in_sync + replica
    return tf.stack([tf.constant(seed, tf.int32), number])[tf.newaxis]


def _total(gradients: Sequence[Any]) -> Any:
    """Add up gradients; sparse ones stay sparse, their rows one after the other."""
    if len(gradients) == 1 or not isinstance(gradients[0], tf.IndexedSlices):
        return gradients[0] if len(gradients) == 1 else tf.add_n(gradients)
    return tf.IndexedSlices(
        values=tf.concat([gradient.values for gradient in gradients], axis=0),
        indices=tf.concat([gradient.indices for gradient in gradients], axis=0),
        dense_shape=gradients[0].dense_shape,
    )


def _scaled(gradient: Any, weight: Any) -> Any:
    if isinstance(gradient, tf.IndexedSlices):
        values = tf.math.divide_no_nan(gradient.values, weight)
        return tf.IndexedSlices(values, gradient.indices, gradient.dense_shape)
    return tf.math.divide_no_nan(gradient, weight)


def _by_name(trainable: Trainable, gradients: Sequence[Any]) -> dict[str, Any]:
    variables = (*trainable.tables, *trainable.dense)
    return {
        variable.name: gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient
        for variable, gradient in zip(variables, gradients, strict=True)
    }


def _first(strategy: Any, value: Any) -> Any:
    return strategy.experimental_local_results(value)[0]
