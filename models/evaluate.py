"""Evaluation over all replicas: every score is gathered, so metrics are those of the union."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from features.tensorflow import tf
from models.metrics import Predictions
from models.ranking import RankingModel

__all__ = ["predict", "score_step"]


def score_step(strategy: Any, model: RankingModel) -> Callable[[Any], tuple[Any, Any]]:
    """Return the function from per-replica batches to the rows of all replicas of all workers.

    It returns `(n, 4) float32` (logit, label, weight, mask) and `(n,) int64` (group).
    """
    has_workers = isinstance(strategy, tf.distribute.MultiWorkerMirroredStrategy)

    def on_replica(batch: dict[str, Any]) -> tuple[Any, Any]:
        inputs = {name: batch[name] for name in ("dense", "sparse", "multi") if name in batch}
        mask = tf.cast(batch["mask"], tf.float32)
        logit = model.network(inputs, training=False)
        return tf.stack([logit, batch["label"], batch["weight"], mask], axis=1), batch["group"]

    @tf.function  # type: ignore[untyped-decorator]
    def on_replicas(batch: Any) -> tuple[Any, Any]:
        rows, group = strategy.run(on_replica, args=(batch,))
        if has_workers:
            return strategy.gather(rows, axis=0), strategy.gather(group, axis=0)
        return rows, group

    def score(batch: Any) -> tuple[Any, Any]:
        rows, group = (strategy.experimental_local_results(part) for part in on_replicas(batch))
        return tf.concat(rows, axis=0), tf.concat(group, axis=0)

    return score


def predict(
    score: Callable[[Any], tuple[Any, Any]], batches: Iterable[Any], has_group: bool
) -> Predictions:
    """Score every row of a split; padded rows are dropped.

    Args:
        score: What `score_step` returns.
        batches: Per-replica batches.
        has_group: Whether `group` is the user or nothing.
    """
    parts = [(rows.numpy(), group.numpy()) for rows, group in map(score, batches)]
    rows = np.concatenate([np.empty((0, 4), np.float32), *(part for part, _ in parts)])
    groups = np.concatenate([np.empty(0, np.int64), *(part for _, part in parts)])
    real = rows[:, 3] > 0
    logit, label, weight, _ = rows[real].T
    return Predictions(logit, label, weight, groups[real] if has_group else None)
