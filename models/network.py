"""The networks as Keras Functional models, from the specification of their inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from features.config import ModelConfig
from features.spec import InputSpec
from features.tensorflow import tf
from models.deep import DeepPart
from models.embedding import FusedEmbedding, FusedLayout
from models.interactions import pairwise_interactions

__all__ = ["Networks", "build_model", "build_networks"]


@dataclass(frozen=True)
class Networks:
    """Two graphs over the same variables.

    Attributes:
        scoring: Model inputs to the logit `(B,) float32`; what is exported.
        training: Model inputs, `mask (B,) bool` and `noise (1, 2) int32` to the logit and the
            penalty of each example `(B,) float32`.
        tables: The variables with sparse gradients.
        kernels: The hidden layers' kernels, which may have an L2 penalty.
    """

    scoring: Any
    training: Any
    tables: tuple[Any, ...]
    kernels: tuple[Any, ...]


def build_model(spec: InputSpec, config: ModelConfig, seed: int) -> Any:
    """Return the `tf.keras.Model` from model inputs to the logit `(B,) float32`."""
    return build_networks(spec, config, seed).scoring


def build_networks(spec: InputSpec, config: ModelConfig, seed: int) -> Networks:
    """Build a model's two graphs; the same seed gives the same initial weights."""
    parts = _Parts(spec, config, seed)
    inputs = model_inputs(spec)
    mask = tf.keras.Input((), dtype=tf.bool, name="mask")
    noise = tf.keras.Input((2,), dtype=tf.int32, name="noise")
    logit, penalty = parts(inputs, mask, noise)
    return Networks(
        scoring=tf.keras.Model(inputs, parts(inputs)[0], name=config.kind),
        training=tf.keras.Model(
            {**inputs, "mask": mask, "noise": noise},
            {"logit": logit, "penalty": penalty},
            name=f"{config.kind}_training",
        ),
        tables=tuple(layer.table for layer in parts.lookups),
        kernels=tuple(kernel.kernel for kernel in parts.deep.kernels),
    )


def model_inputs(spec: InputSpec) -> dict[str, Any]:
    """Return the symbolic inputs; those without features are absent."""
    shapes = {
        "dense": ((len(spec.dense),), tf.float32),
        "sparse": ((len(spec.sparse),), tf.int64),
        "multi": ((len(spec.multi), spec.max_length), tf.int64),
    }
    return {
        name: tf.keras.Input(shape, dtype=dtype, name=name)
        for name, (shape, dtype) in shapes.items()
        if shape[0]
    }


class _Parts:
    """The layers of a model; called once for each of its graphs.

    Wide&Deep (arXiv 1606.07792) adds a linear part over ids and crosses to a deep part. DeepFM
    (arXiv 1703.04247) adds the pairwise interactions of the same embeddings that the deep part
    reads. Dense inputs have first-order weights and enter the deep part as they are.
    """

    def __init__(self, spec: InputSpec, config: ModelConfig, seed: int) -> None:
        self.config = config
        wide = FusedLayout.of(spec.sparse, spec.multi, ("both", "wide"))
        deep = FusedLayout.of(spec.sparse, spec.multi, ("both", "deep"))
        normal = tf.keras.initializers.RandomNormal(stddev=config.embedding_stddev, seed=seed)
        self.linear = FusedEmbedding(wide, 1, "zeros", "linear") if wide.fields else None
        self.embedding = (
            FusedEmbedding(deep, config.embedding_dim, normal, "embedding") if deep.fields else None
        )
        self.first_order = tf.keras.layers.Dense(
            1, use_bias=False, kernel_initializer="zeros", name="first_order"
        )
        self.bias = _Bias(name="bias")
        self.deep = DeepPart(config, seed + 1)

    @property
    def lookups(self) -> list[Any]:
        return [layer for layer in (self.linear, self.embedding) if layer is not None]

    def __call__(
        self, inputs: dict[str, Any], mask: Any = None, noise: Any = None
    ) -> tuple[Any, Any]:
        ids = {name: inputs[name] for name in ("sparse", "multi") if name in inputs}
        logits, penalties, units = [], [], []
        if self.linear is not None:
            weights, squares = self.linear(ids)
            logits.append(tf.reduce_sum(weights, axis=(1, 2)))
            penalties.append(self.config.l2_linear * squares)
        if self.embedding is not None:
            vectors, squares = self.embedding(ids)
            penalties.append(self.config.l2_embedding * squares)
            units.append(tf.reshape(vectors, (-1, vectors.shape[1] * vectors.shape[2])))
            if self.config.kind == "deepfm":
                logits.append(pairwise_interactions(vectors))
        if "dense" in inputs:
            logits.append(self.first_order(inputs["dense"])[:, 0])
            units.append(inputs["dense"])
        if units:
            logits.append(self.deep(tf.concat(units, axis=1), mask, noise))
        return self.bias(tf.add_n(logits)), tf.add_n(penalties) if penalties else 0 * logits[0]


class _Bias(tf.keras.layers.Layer):  # type: ignore[misc]
    """Adds the global bias to a logit `(B,)`."""

    def build(self, input_shape: Any) -> None:
        self.value = self.add_weight(name="value", shape=(), initializer="zeros")

    def call(self, logit: Any) -> Any:
        return logit + self.value
