"""Puts the answers of several requests together, and sees that none is short."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from features.errors import ServingError
from serving.protocol.signature import Signature, TensorSpec
from serving.protocol.tensors import numpy_dtype

__all__ = ["check_rows", "empty_outputs", "joined"]

Array = NDArray[Any]


def check_rows(signature: Signature, outputs: Mapping[str, Array], rows: int, where: str) -> None:
    """See that every output by row has an entry for each row of the request.

    Raises:
        ServingError: An output has more or fewer.
    """
    for key, array in outputs.items():
        spec = signature.outputs.get(key)
        if spec and _is_by_row(spec) and array.shape[:1] != (rows,):
            raise ServingError(
                "an answer has one entry for each row of the request",
                received=f"shape {list(array.shape)} for {rows} rows",
                where=f"output {key}, {where}",
                remedy="look at the model: the signature must keep the rows of its inputs",
            )


def joined(
    signature: Signature, parts: Sequence[Mapping[str, Array]], where: str
) -> dict[str, Array]:
    """Return the outputs of all requests of a call, rows in order.

    Raises:
        ServingError: An output is not by row, so that parts of it cannot be put together.
    """
    if len(parts) == 1:
        return dict(parts[0])
    for key in parts[0]:
        if not _is_by_row(signature.outputs[key]):
            raise ServingError(
                "a call of several requests has outputs with one entry a row",
                received=f"{len(parts)} requests and output {key}: {signature.outputs[key]}",
                where=where,
                remedy="send fewer rows at once, or raise the limits of rows and bytes",
            )
    return {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}


def empty_outputs(signature: Signature) -> dict[str, Array]:
    """Return the outputs for a call of no rows."""
    return {
        key: np.empty(
            (0, *(size or 0 for size in (spec.shape or ())[1:])), dtype=numpy_dtype(spec.dtype)
        )
        for key, spec in signature.outputs.items()
    }


def _is_by_row(spec: TensorSpec) -> bool:
    return spec.shape is None or (len(spec.shape) > 0 and spec.shape[0] is None)
