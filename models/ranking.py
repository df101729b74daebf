"""The TFRS model: the networks with the ranking task, whose loss is summed, not averaged.

The mean over the global batch is taken after sums of loss and of weight met over all replicas and
accumulated batches, so it is exact however unequal their numbers of rows are.
"""

from __future__ import annotations

from typing import Any

import tensorflow_recommenders as tfrs

from features.config import ModelConfig
from features.tensorflow import tf
from models.network import Networks

__all__ = ["RankingModel"]


class RankingModel(tfrs.Model):  # type: ignore[misc]
    """Binary cross-entropy from logits with the penalties of the configuration.

    Args:
        networks: The networks.
        config: Penalties.
    """

    def __init__(self, networks: Networks, config: ModelConfig) -> None:
        """Create the task."""
        super().__init__()
        self.network = networks.scoring
        self.networks = networks
        self.l2_dense = config.l2_dense
        self.task = tfrs.tasks.Ranking(
            loss=tf.keras.losses.BinaryCrossentropy(
                from_logits=True, reduction=tf.keras.losses.Reduction.SUM
            )
        )

    def call(self, inputs: dict[str, Any]) -> Any:
        """Return the logit `(B,) float32`."""
        return self.network(inputs)

    def compute_loss(self, inputs: dict[str, Any], training: bool = False) -> Any:
        """Return the weighted sum of the loss over a replica's batch, penalties included.

        Divided by the sum of weights it is the weighted mean of the cross-entropy, plus the mean
        of the squares of the rows that examples looked up, plus the penalty on kernels.

        Args:
            inputs: A batch of the data set, with `noise (1, 2) int32`.
            training: Whether batch statistics are taken and units dropped.
        """
        outputs = self.networks.training(network_inputs(inputs), training=training)
        weight = example_weight(inputs)
        # The loss averages over the last axis, which is one example here.
        loss = self.task(
            inputs["label"][:, tf.newaxis],
            outputs["logit"][:, tf.newaxis],
            sample_weight=weight,
            compute_metrics=False,
        )
        penalty = tf.reduce_sum(outputs["penalty"] * weight)
        if self.l2_dense:
            squares = tf.add_n([tf.reduce_sum(tf.square(k)) for k in self.networks.kernels])
            penalty += self.l2_dense * squares * tf.reduce_sum(weight)
        return loss + penalty


def network_inputs(batch: dict[str, Any]) -> dict[str, Any]:
    """Return what the training network reads of a batch."""
    names = ("dense", "sparse", "multi", "mask", "noise")
    return {name: batch[name] for name in names if name in batch}


def example_weight(batch: dict[str, Any]) -> Any:
    """Return `(B,) float32`: each example's weight, 0 for padded rows."""
    return batch["weight"] * tf.cast(batch["mask"], tf.float32)
