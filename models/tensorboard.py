"""TensorBoard under `train/logs`, written by the chief alone.

The events are written as TensorBoard's scalar and histogram plugins store them, so the package
`tensorboard` is needed to look at them and not to train.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from features.tensorflow import tf
from models.step import Rates, Trainable

__all__ = ["Board"]

# A histogram of a large table is one of a sample of its rows.
HISTOGRAM_ROWS = 100_000
HISTOGRAM_BINS = 30


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
            _scalar("train/loss", sum(losses) / len(losses))
            _scalar("learning_rate/dense", rates.dense)
            _scalar("learning_rate/tables", rates.tables)

    def histograms_due(self, step: int) -> bool:
        """Whether gradients are drawn after this update."""
        return self.histogram_steps > 0 and step % self.histogram_steps == 0

    def gradients(self, step: int, gradients: Mapping[str, Any]) -> None:
        """Write a histogram of each gradient."""
        with self.writer.as_default(step):
            for name, gradient in gradients.items():
                _histogram(f"gradient/{name}", gradient)

    def epoch(self, step: int, entry: Mapping[str, Any], trainable: Trainable) -> None:
        """Write the metrics of an epoch and a histogram of each weight."""
        with self.writer.as_default(step):
            _scalar("epoch/loss", entry["loss"])
            for name, value in entry["eval"].items():
                if isinstance(value, float):
                    _scalar(f"eval/{name}", value)
            for variable in (*trainable.tables, *trainable.dense):
                _histogram(f"weight/{variable.name}", _sample(variable))
        self.writer.flush()


def _sample(variable: Any) -> Any:
    rows = int(variable.shape[0]) if variable.shape.rank else 1
    if rows <= HISTOGRAM_ROWS:
        return tf.convert_to_tensor(variable)
    return tf.gather(variable, tf.range(0, rows, -(-rows // HISTOGRAM_ROWS)))


def _scalar(name: str, value: float) -> None:
    metadata = _metadata("scalars", "DATA_CLASS_SCALAR")
    tf.summary.write(name, tf.constant(value, tf.float32), metadata=metadata)


def _histogram(name: str, values: Any) -> None:
    """Write `(bins, 3) float64`: left edge, right edge and count of each bin."""
    flat = np.asarray(values, np.float64).ravel()
    counts, edges = np.histogram(flat[np.isfinite(flat)], HISTOGRAM_BINS)
    bins = np.stack([edges[:-1], edges[1:], counts], axis=1)
    tf.summary.write(name, tf.constant(bins), metadata=_metadata("histograms", "DATA_CLASS_TENSOR"))


def _metadata(plugin: str, data_class: str) -> Any:
    metadata = tf.compat.v1.SummaryMetadata()
    metadata.plugin_data.plugin_name = plugin
    metadata.data_class = (
        metadata.DESCRIPTOR.fields_by_name["data_class"].enum_type.values_by_name[data_class].number
    )
    return metadata
