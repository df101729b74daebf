"""Rows of a call: which inputs have one entry a row, and what a row takes in a message."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from features.errors import ServingError
from serving.client.batches import string_bytes
from serving.protocol.signature import Signature

__all__ = ["Rows", "rows_of"]

Array = NDArray[Any]

# Key, type, shape and lengths of one tensor in a message, without its key's own bytes.
_TENSOR_OVERHEAD_BYTES = 64


@dataclass(frozen=True)
class Rows:
    """The inputs of a call, told apart by whether they are split.

    Attributes:
        count: Number of rows B; None where no input has rows, so that the call is one request.
        split: Inputs whose first dimension is B.
        whole: Inputs that go into every request as they are: those of a fixed first dimension,
            and those of one entry, which the model broadcasts over the rows.
    """

    count: int | None
    split: Mapping[str, Array]
    whole: Mapping[str, Array]

    def part(self, start: int, end: int) -> dict[str, Array]:
        """Return the inputs of the rows from `start` up to `end`."""
        return {**self.whole, **{key: array[start:end] for key, array in self.split.items()}}

    def row_bytes(self) -> NDArray[np.int64]:
        """Return what each row takes in a message, `(B,) int64`; at least 1."""
        total = np.zeros(self.count or 0, dtype=np.int64)
        for array in self.split.values():
            total += _entry_bytes(array)
        return np.maximum(total, 1)

    def fixed_bytes(self) -> int:
        """Return what every request takes beside its rows."""
        keys = sum(
            len(key.encode()) + _TENSOR_OVERHEAD_BYTES for key in {**self.split, **self.whole}
        )
        return keys + sum(_total_bytes(array) for array in self.whole.values())


def rows_of(signature: Signature, inputs: Mapping[str, Array], where: str) -> Rows:
    """Tell which inputs have one entry a row.

    Raises:
        ServingError: Two inputs have different numbers of rows, neither of them one.
    """
    sizes = {key: len(array) for key, array in inputs.items() if _has_rows(signature, key, array)}
    if not sizes:
        return Rows(count=None, split={}, whole=dict(inputs))
    count = 0 if 0 in sizes.values() else max(sizes.values())
    if not set(sizes.values()) <= {count, 1}:
        raise ServingError(
            "all inputs of a call have the same number of rows, or one that stands for all",
            received=", ".join(f"{key}: {size}" for key, size in sizes.items()),
            where=where,
            remedy="give every input one entry a row",
        )
    split = {key: inputs[key] for key, size in sizes.items() if size == count}
    return Rows(count, split, {key: inputs[key] for key in inputs if key not in split})


def _has_rows(signature: Signature, key: str, array: Array) -> bool:
    shape = signature.inputs[key].shape
    return array.ndim > 0 and (shape is None or shape[0] is None)


def _entry_bytes(array: Array) -> NDArray[np.int64] | int:
    if array.dtype == object:
        sizes: NDArray[np.int64] = string_bytes(array).reshape(len(array), -1).sum(axis=1)
        return sizes
    return array.itemsize * (array.size // max(1, len(array)))


def _total_bytes(array: Array) -> int:
    return int(string_bytes(array).sum()) if array.dtype == object else array.nbytes
