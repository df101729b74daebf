from typing import Any

import numpy as np
import pytest

from features.config import ModelConfig, TrainConfig
from features.tensorflow import tf
from models.evaluate import predict, score_step
from models.optimizers import LazyAdam
from models.step import build_trainable, train_step
from tests.models.batches import (
    GLOBAL_BATCH,
    SPEC,
    dealt,
    make_batch,
    strategy_of,
    trained,
)

MODEL = ModelConfig(hidden=(8, 4), l2_embedding=0.1, l2_linear=0.1, l2_dense=0.01)
PLAIN = MODEL.model_copy(update={"batch_norm": False})
BATCHES = [make_batch(0), make_batch(1), make_batch(2, real=3)]


def assert_close(left: list[Any], right: list[Any]) -> None:
    for one, other in zip(left, right, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("optimizer", ["adagrad", "lazy_adam", "ftrl"])
def test_two_replicas_train_as_one_does_with_a_partial_last_batch(optimizer: str) -> None:
    config = TrainConfig.model_validate({"table_optimizer": optimizer, "clip_norm": 1.0})
    losses, weights, _ = trained(BATCHES, MODEL, config)
    replica_losses, replica_weights, _ = trained(BATCHES, MODEL, config, replicas=2)
    np.testing.assert_allclose(losses, replica_losses, rtol=1e-5)
    assert_close(weights, replica_weights)


def test_accumulated_batches_train_as_one_large_batch_does() -> None:
    losses, weights, _ = trained(BATCHES, PLAIN, TrainConfig())
    parts_losses, parts_weights, _ = trained(BATCHES, PLAIN, TrainConfig(accumulate=2))
    np.testing.assert_allclose(losses, parts_losses, rtol=1e-5)
    assert_close(weights, parts_weights)


def test_padded_rows_count_nowhere() -> None:
    padded = make_batch(2, real=3)
    alone = {name: values[:3] for name, values in padded.items()}
    config = TrainConfig()
    losses, weights, _ = trained([padded], MODEL, config)
    real_losses, real_weights, _ = trained([alone], MODEL, config)
    np.testing.assert_allclose(losses, real_losses, rtol=1e-6)
    assert_close(weights, real_weights)


def test_a_weight_of_two_counts_as_the_row_twice() -> None:
    once = make_batch(3, rows=4, real=4)
    twice = {name: np.concatenate([values, values]) for name, values in once.items()}
    heavy = once | {"weight": once["weight"] * 2}
    assert_close(
        trained([heavy], PLAIN, TrainConfig())[1], trained([twice], PLAIN, TrainConfig())[1]
    )


def test_the_loss_is_the_weighted_mean_of_cross_entropy_and_penalties() -> None:
    batch = make_batch(4)
    strategy = strategy_of(1)
    trainable = build_trainable(strategy, SPEC, PLAIN, TrainConfig())
    logit = trainable.model.network({k: batch[k] for k in ("dense", "sparse", "multi")}).numpy()
    entropy = np.logaddexp(0, logit) - batch["label"] * logit
    rows, linear = (table.numpy() for table in trainable.tables[::-1])
    assert not linear.any()
    ids = batch["sparse"][:, :2] + [0, 5]
    squares = (rows[ids] ** 2).sum((1, 2))
    tags = batch["multi"][:, 0]
    squares += ((rows[tags + 12] ** 2).sum(2) * (tags > 0)).sum(1)
    kernels = sum((k.numpy() ** 2).sum() for k in trainable.model.networks.kernels)
    expected = np.average(entropy + 0.1 * squares, weights=batch["weight"]) + 0.01 * kernels
    losses, _, _ = trained([batch], PLAIN, TrainConfig())
    np.testing.assert_allclose(losses, [expected], rtol=1e-5)


def test_the_same_seed_gives_the_same_dropout_and_another_seed_another() -> None:
    dropping = MODEL.model_copy(update={"dropout": 0.5})
    first, again, other = (
        trained(BATCHES, dropping, TrainConfig(seed=seed))[0] for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other


def test_a_step_touches_the_rows_of_its_batch_and_no_others() -> None:
    batch = make_batch(5)
    batch["sparse"][:] = 1
    batch["multi"][:] = 0
    config = TrainConfig()
    before = [t.numpy() for t in build_trainable(strategy_of(1), SPEC, PLAIN, config).tables]
    _, _, trainable = trained([batch], PLAIN, config)
    changed = [
        np.flatnonzero((table.numpy() != old).any(axis=1)).tolist()
        for table, old in zip(trainable.tables, before, strict=True)
    ]
    assert changed == [[1, 6], [1, 6]]


def test_a_step_has_no_operation_on_a_whole_table() -> None:
    strategy, config = strategy_of(1), TrainConfig()
    rows = 54_321
    spec = type(SPEC)((), (SPEC.sparse[0].__class__("id", rows, "id", "both"),), ())
    trainable = build_trainable(strategy, spec, PLAIN, config)
    step = train_step(strategy, trainable, config)
    batch = {k: v for k, v in make_batch(6).items() if k not in ("dense", "multi")}
    batch["sparse"] = batch["sparse"][:, :1]
    tensors = ({name: tf.constant(values) for name, values in batch.items()},)
    graph = step.get_concrete_function(  # type: ignore[attr-defined]
        tensors, tf.constant(0), tf.constant(0.1), tf.constant(0.1)
    ).graph
    whole = [
        operation.type
        for operation in graph.get_operations()
        for output in operation.outputs
        # An update ends with a read that nobody uses, which TensorFlow prunes.
        if output.shape.rank and output.shape[0] == rows + 1 and output.consumers()
    ]
    assert whole == []


def test_lazy_adam_sums_duplicate_rows_once() -> None:
    table = tf.Variable(tf.zeros((3, 1)))
    optimizer = LazyAdam(0.1)
    slices = tf.IndexedSlices(tf.constant([[1.0], [2.0]]), tf.constant([1, 1]), (3, 1))
    optimizer.apply_gradients([(slices, table)])
    np.testing.assert_allclose(table.numpy()[:, 0], [0, -0.1, 0], atol=1e-6)
    np.testing.assert_allclose(optimizer.get_slot(table, "m").numpy()[:, 0], [0, 0.3, 0], rtol=1e-5)


@pytest.mark.parametrize("replicas", [1, 2])
def test_every_real_row_is_scored_once(replicas: int) -> None:
    strategy = strategy_of(replicas)
    trainable = build_trainable(strategy, SPEC, MODEL, TrainConfig())
    batches = dealt(strategy, BATCHES, replicas)
    found = predict(score_step(strategy, trainable.model), batches, has_group=True)
    assert len(found.label) == 2 * GLOBAL_BATCH + 3
    expected = np.concatenate([batch["label"][batch["mask"]] for batch in BATCHES])
    assert found.label.tolist() == expected.tolist()
