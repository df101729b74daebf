"""TensorBoard under `train/logs`, written by the chief alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from features.tensorflow import tf
from models.step import Rates, Trainable

__all__ = ["Board"]

# A histogram of a large table is one of a sample of its rows.
HISTOGRAM_ROWS = 100_000


class Board:
    """Scalars and histograms of a run.

    Args:
        directory: Where event files go; nothing is written without one.
        histogram_steps: Updates between gradient histograms; 0 for once an epoch.
    """

    def __init__(self, directory: Path | None, histogram_steps: int = 0) -> None:
        """Open the writer."""
        self.histogram_steps = histogram_steps
        self.writer = (
            tf.summary.create_file_writer(str(directory))
            if directory is not None
            else tf.summary.create_noop_writer()
        )

    def steps(self, step: int, losses: Sequence[float], rates: Rates) -> None:
        """Write the mean loss of the latest updates and the rates of the last of them."""
        with self.writer.as_default(step):
            tf.summary.scalar("train/loss", sum(losses) / len(losses))
            tf.summary.scalar("learning_rate/dense", rates.dense)
            tf.summary.scalar("learning_rate/tables", rates.tables)

    def histograms_due(self, step: int) -> bool:
        """Whether gradients are drawn after this update."""
        return self.histogram_steps > 0 and step % self.histogram_steps == 0

    def gradients(self, step: int, gradients: Mapping[str, Any]) -> None:
        """Write a histogram of each gradient."""
        with self.writer.as_default(step):
            for name, gradient in gradients.items():
                tf.summary.histogram(f"gradient/{name}", gradient)

    def epoch(self, step: int, entry: Mapping[str, Any], trainable: Trainable) -> None:
        """Write the metrics of an epoch and a histogram of each weight."""
        with self.writer.as_default(step):
            tf.summary.scalar("epoch/loss", entry["loss"])
            for name, value in entry["eval"].items():
                if isinstance(value, float):
                    tf.summary.scalar(f"eval/{name}", value)
            for variable in (*trainable.tables, *trainable.dense):
                tf.summary.histogram(f"weight/{variable.name}", _sample(variable))
        self.writer.flush()


def _sample(variable: Any) -> Any:
    rows = int(variable.shape[0]) if variable.shape.rank else 1
    if rows <= HISTOGRAM_ROWS:
        return tf.convert_to_tensor(variable)
    return tf.gather(variable, tf.range(0, rows, -(-rows // HISTOGRAM_ROWS)))
