"""The deep part: hidden layers with batch normalisation over the global batch, and dropout."""

from __future__ import annotations

from typing import Any

from features.config import ModelConfig
from features.tensorflow import tf

__all__ = ["DeepPart", "StepDropout"]

# Averages over the last twenty batches or so: runs of a few hundred steps have to be evaluated.
MOMENTUM = 0.95


class StepDropout(tf.keras.layers.Layer):  # type: ignore[misc]
    """Dropout whose mask depends on a given seed alone, so that a resumed run repeats it.

    Args:
        rate: Share of units dropped.
        salt: Tells layers with the same seed apart.
    """

    def __init__(self, rate: float, salt: int) -> None:
        """Keep the rate and the salt."""
        super().__init__(name=f"dropout_{salt}")
        self.rate, self.salt = rate, salt

    def call(self, units: Any, noise: Any) -> Any:
        """Drop units of `(B, U)`; `noise (1, 2) int32` is the seed of this step and replica."""
        seed = tf.random.experimental.stateless_fold_in(noise[0], self.salt)
        return tf.nn.experimental.stateless_dropout(units, self.rate, seed, rng_alg="philox")


class DeepPart:
    """The hidden layers, shared by the graph that trains and the graph that scores.

    Args:
        config: Hidden units, batch normalisation, dropout.
        seed: Seed of the initial weights.
    """

    def __init__(self, config: ModelConfig, seed: int) -> None:
        """Create the layers."""
        self.config = config
        self.kernels = [
            tf.keras.layers.Dense(
                units,
                use_bias=not config.batch_norm,
                kernel_initializer=tf.keras.initializers.GlorotUniform(seed + at),
                name=f"hidden_{at}",
            )
            for at, units in enumerate(config.hidden)
        ]
        self.norms = [
            tf.keras.layers.BatchNormalization(
                synchronized=True, momentum=MOMENTUM, name=f"batch_norm_{at}"
            )
            for at, _ in enumerate(config.hidden if config.batch_norm else ())
        ]
        self.drops = [StepDropout(config.dropout, at) for at, _ in enumerate(config.hidden)]
        self.head = tf.keras.layers.Dense(
            1,
            use_bias=False,
            kernel_initializer=tf.keras.initializers.GlorotUniform(seed + 100),
            name="deep_logit",
        )

    def __call__(self, units: Any, mask: Any = None, noise: Any = None) -> Any:
        """Return the deep part's logit `(B,) float32`.

        Args:
            units: `(B, U) float32`, the concatenated inputs.
            mask: `(B,) bool`, the rows that count in batch statistics; all without it.
            noise: `(1, 2) int32`, the seed of dropout; none is dropped without it.
        """
        for at, kernel in enumerate(self.kernels):
            units = kernel(units)
            if self.norms:
                units = self.norms[at](units, mask=mask)
            units = tf.nn.relu(units)
            if noise is not None and self.config.dropout > 0:
                units = self.drops[at](units, noise)
        return tf.cast(self.head(units), tf.float32)[:, 0]
