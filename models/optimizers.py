"""Optimizers: row-wise for the tables, Adam for everything else."""

from __future__ import annotations

from typing import Any

from features.config import TrainConfig
from features.tensorflow import tf

__all__ = ["LazyAdam", "dense_optimizer", "table_optimizer"]


class LazyAdam(tf.keras.optimizers.legacy.Adam):  # type: ignore[misc]
    """Adam (arXiv 1412.6980) that decays moments only of the rows with a gradient.

    Keras' Adam reads and writes every row of a table at every step. Here a step costs as much as
    the rows it touches, and a row that is not seen keeps its moments.
    """

    def _resource_apply_sparse(
        self, grad: Any, var: Any, indices: Any, apply_state: Any = None
    ) -> Any:
        """Update the rows `indices (n,)`, each named once, by `grad (n, D)`."""
        rate = apply_state[(var.device, var.dtype.base_dtype)]
        first, second = self.get_slot(var, "m"), self.get_slot(var, "v")
        m = rate["beta_1_t"] * tf.gather(first, indices) + rate["one_minus_beta_1_t"] * grad
        v = rate["beta_2_t"] * tf.gather(second, indices)
        v += rate["one_minus_beta_2_t"] * tf.square(grad)
        step = rate["lr"] * m / (tf.sqrt(v) + rate["epsilon"])
        return tf.group(
            self._resource_scatter_update(first, indices, m),
            self._resource_scatter_update(second, indices, v),
            self._resource_scatter_add(var, indices, -step),
        )

    def _resource_scatter_update(self, variable: Any, indices: Any, values: Any) -> Any:
        return tf.raw_ops.ResourceScatterUpdate(
            resource=variable.handle, indices=indices, updates=values
        )


def table_optimizer(config: TrainConfig) -> Any:
    """Return the optimizer of the tables; it updates rows with a gradient and no others."""
    kinds = {
        "adagrad": tf.keras.optimizers.legacy.Adagrad,
        "lazy_adam": LazyAdam,
        "ftrl": tf.keras.optimizers.legacy.Ftrl,
    }
    return kinds[config.table_optimizer](learning_rate=config.table_learning_rate, name="tables")


def dense_optimizer(config: TrainConfig) -> Any:
    """Return the optimizer of all weights outside the tables."""
    return tf.keras.optimizers.legacy.Adam(learning_rate=config.learning_rate, name="dense")
