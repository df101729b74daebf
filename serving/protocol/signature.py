"""A signature of a SavedModel: which tensors a request holds and which an answer holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from serving.protocol.tensors import dtype_name

__all__ = [
    "CLASSIFY_METHOD",
    "DEFAULT_SIGNATURE",
    "REGRESS_METHOD",
    "Shape",
    "Signature",
    "TensorSpec",
    "shape_fits",
    "shape_text",
    "signature_of",
]

CLASSIFY_METHOD = "tensorflow/serving/classify"
REGRESS_METHOD = "tensorflow/serving/regress"
DEFAULT_SIGNATURE = "serving_default"

Shape = tuple[int | None, ...] | None


@dataclass(frozen=True)
class TensorSpec:
    """One input or output.

    Attributes:
        tensor_name: Its name in the graph, for example `serving_default_user:0`.
        dtype: A `DataType`.
        shape: A size a dimension, None for an unknown size; None for an unknown rank.
    """

    tensor_name: str
    dtype: int
    shape: Shape

    def __str__(self) -> str:
        """Return type and shape, for example `DT_FLOAT [?]`."""
        return f"{dtype_name(self.dtype)} {shape_text(self.shape)}"


@dataclass(frozen=True)
class Signature:
    """One way to call a model.

    Attributes:
        name: Its key, for example `serving_default`.
        method: Its method name, for example `tensorflow/serving/predict`.
        inputs: By key.
        outputs: By key.
        defaults: `TensorProto`s of the inputs that a request may lack, by key.
    """

    name: str
    method: str
    inputs: Mapping[str, TensorSpec]
    outputs: Mapping[str, TensorSpec]
    defaults: Mapping[str, Any]

    @property
    def required(self) -> set[str]:
        """Return the keys that a request cannot lack."""
        return set(self.inputs) - set(self.defaults)


def signature_of(name: str, signature_def: Any) -> Signature:
    """Return the signature that a `SignatureDef` describes."""
    return Signature(
        name=name,
        method=signature_def.method_name,
        inputs={key: _spec(info) for key, info in signature_def.inputs.items()},
        outputs={key: _spec(info) for key, info in signature_def.outputs.items()},
        defaults=dict(signature_def.defaults),
    )


def shape_fits(declared: Shape, actual: tuple[int, ...]) -> bool:
    """Return whether a tensor of shape `actual` can stand where `declared` is asked for.

    >>> shape_fits((None, 3), (7, 3)), shape_fits((None,), (7, 3)), shape_fits(None, (1, 2))
    (True, False, True)
    """
    if declared is None:
        return True
    return len(declared) == len(actual) and all(
        wanted is None or wanted == size for wanted, size in zip(declared, actual, strict=True)
    )


def shape_text(shape: Shape) -> str:
    """Return a shape for a message.

    >>> shape_text((None, 3)), shape_text(None)
    ('[?, 3]', '<unknown rank>')
    """
    if shape is None:
        return "<unknown rank>"
    return "[" + ", ".join("?" if size is None else str(size) for size in shape) + "]"


def _spec(info: Any) -> TensorSpec:
    shape = None
    if not info.tensor_shape.unknown_rank:
        shape = tuple(dim.size if dim.size >= 0 else None for dim in info.tensor_shape.dim)
    return TensorSpec(tensor_name=info.name, dtype=info.dtype, shape=shape)
