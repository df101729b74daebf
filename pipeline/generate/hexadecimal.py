"""Identifiers: integers mixed without collisions and written as hexadecimal text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

__all__ = ["hex_text", "mix32", "mix64", "text_of_bytes"]

_PAIRS = np.array([f"{value:02x}" for value in range(256)], dtype="S2").view(np.uint16)


def mix32(values: NDArray[np.integer[Any]]) -> NDArray[np.uint32]:
    """Return a bijective mixture of `(n,) uint32` (the finaliser of MurmurHash3).

    >>> len(np.unique(mix32(np.arange(10_000))))
    10000
    """
    mixed = values.astype(np.uint32)
    mixed = (mixed ^ (mixed >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    mixed = (mixed ^ (mixed >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return mixed ^ (mixed >> np.uint32(16))


def mix64(values: NDArray[np.integer[Any]]) -> NDArray[np.uint64]:
    """Return a bijective mixture of `(n,) uint64` (the finaliser of MurmurHash3)."""
    mixed = values.astype(np.uint64)
    mixed = (mixed ^ (mixed >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    mixed = (mixed ^ (mixed >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return mixed ^ (mixed >> np.uint64(33))


def hex_text(
    values: NDArray[np.unsignedinteger[Any]], present: NDArray[np.bool_] | None = None
) -> pa.Array:
    """Return each value in lower-case hexadecimal of full width, empty where not present.

    >>> hex_text(np.array([255, 1], dtype=np.uint32), np.array([True, False])).to_pylist()
    [b'000000ff', b'']
    """
    width = values.dtype.itemsize
    kept = values if present is None else values[present]
    octets = kept.astype(values.dtype.newbyteorder(">")).view(np.uint8)
    lengths = np.full(len(values), 2 * width) if present is None else 2 * width * present
    return text_of_bytes(_PAIRS[octets], lengths)


def text_of_bytes(data: NDArray[np.generic], lengths: NDArray[np.integer[Any]]) -> pa.Array:
    """Return a binary array over contiguous `data` cut at `(n,)` lengths in bytes, uncopied."""
    offsets = np.zeros(len(lengths) + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(data))]
    return pa.Array.from_buffers(pa.binary(), len(lengths), buffers)
