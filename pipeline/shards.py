"""Writes pieces of shards, and joins them to whole ones.

TFRecord files can be put one after the other, gzipped ones too, so a block's rows are written as
pieces in any order by any worker, and a shard is its pieces in the order of their offsets. A piece
written twice is the same file.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from features.atomic import write_whole
from features.config import DataConfig
from features.manifest import Shard, SplitName
from features.tensorflow import tf
from features.transform import Transform
from pipeline.encode import example_columns, serialise
from pipeline.layout import Layout, Piece, shard_name
from pipeline.workspace import Workspace

__all__ = ["WrittenPiece", "join_pieces", "write_pieces"]


@dataclass(frozen=True)
class WrittenPiece:
    """A piece on disk.

    Attributes:
        split: Its split.
        shard: Its shard's number.
        offset: Place of its first row in the split.
        examples: Number of examples.
        path: Its file.
    """

    split: SplitName
    shard: int
    offset: int
    examples: int
    path: str


def write_pieces(
    workspace: Workspace,
    layout: Layout,
    data: DataConfig,
    transform: Transform,
    split: SplitName,
    block: str,
    rows: pa.RecordBatch,
) -> list[WrittenPiece]:
    """Encode a block's rows of a split and write them, one file a shard they fall into."""
    columns = example_columns(transform, rows.take(pa.array(layout.order(split, block, len(rows)))))
    examples = serialise(columns)
    return [
        _write_piece(workspace, data, split, piece, examples)
        for piece in layout.pieces(split, block, len(rows))
    ]


def _write_piece(
    workspace: Workspace,
    data: DataConfig,
    split: SplitName,
    piece: Piece,
    examples: Sequence[bytes],
) -> WrittenPiece:
    target = workspace.folder("pieces") / f"{split}-{piece.shard:05d}-{piece.offset:012d}"

    def write(path: Path) -> None:
        with tf.io.TFRecordWriter(str(path), data.compression) as writer:
            for example in examples[piece.start : piece.stop]:
                writer.write(example)

    write_whole(target, write)
    return WrittenPiece(split, piece.shard, piece.offset, piece.stop - piece.start, str(target))


def join_pieces(
    workspace: Workspace,
    layout: Layout,
    split: SplitName,
    shard: int,
    pieces: Iterable[WrittenPiece],
) -> Shard:
    """Put a shard's pieces together in their order; without any it is an empty file."""
    ordered = sorted(set(pieces), key=lambda piece: piece.offset)
    name = shard_name(split, shard, layout.shards[split])
    target = workspace.folder("data") / name

    def write(path: Path) -> None:
        with open(path, "wb") as whole:
            for piece in ordered:
                with open(piece.path, "rb") as part:
                    shutil.copyfileobj(part, whole, 1 << 20)

    write_whole(target, write)
    examples = sum(piece.examples for piece in ordered)
    return Shard(file=name, examples=examples, bytes=target.stat().st_size)
