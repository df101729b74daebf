"""Which example goes to which shard, known before any is written.

The rows of a split have one order: its blocks in a random order, and in the training split the
rows of a block in a random order too. Shard `k` of `S` holds the rows `[k n / S, (k+1) n / S)` of
that order, so shards are equal to within one example, whoever writes them and however often.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from features.config import DataConfig
from features.manifest import SplitName
from pipeline.split import SPLITS

__all__ = ["BlockCounts", "Layout", "Piece", "plan_layout", "shard_name"]


@dataclass(frozen=True)
class BlockCounts:
    """What one block adds to each split.

    Attributes:
        block: Name of the block.
        examples: Examples by split, in the order of `SPLITS`.
        positives: Examples with label 1 by split.
        first_time: Earliest Unix second by split, where there are times.
        last_time: Latest Unix second by split.
    """

    block: str
    examples: tuple[int, ...]
    positives: tuple[int, ...]
    first_time: tuple[int | None, ...]
    last_time: tuple[int | None, ...]


@dataclass(frozen=True)
class Piece:
    """Consecutive rows of a block that lie in one shard.

    Attributes:
        shard: Number of the shard.
        start: First row, in the block's own order.
        stop: Row after the last.
        offset: Place of the first row in the whole split.
    """

    shard: int
    start: int
    stop: int
    offset: int


@dataclass(frozen=True)
class Layout:
    """Sizes and order of all splits.

    Attributes:
        seed: Seed of the order.
        totals: Examples by split.
        shards: Shards by split.
        offsets: Place of the first row of each block by split.
    """

    seed: int
    totals: Mapping[SplitName, int]
    shards: Mapping[SplitName, int]
    offsets: Mapping[SplitName, Mapping[str, int]]

    def pieces(self, split: SplitName, block: str, rows: int) -> Iterator[Piece]:
        """Yield the pieces of a block's rows of a split, by shard."""
        total, shards = self.totals[split], self.shards[split]
        edges = [shard * total // shards for shard in range(shards + 1)]
        first = self.offsets[split][block]
        for shard, (low, high) in enumerate(zip(edges, edges[1:], strict=False)):
            start, stop = max(low, first), min(high, first + rows)
            if start < stop:
                yield Piece(shard, start - first, stop - first, start)

    def order(self, split: SplitName, block: str, rows: int) -> npt.NDArray[np.int64]:
        """Return the order of a block's rows of a split, `(rows,) int64`."""
        if split != "train":
            return np.arange(rows)
        seed = [self.seed, *block.encode()]
        return np.random.default_rng(seed).permutation(rows)


def plan_layout(config: DataConfig, blocks: Iterable[BlockCounts]) -> Layout:
    """Give every block its place in every split."""
    ordered = sorted(blocks, key=lambda block: block.block)
    shards = (config.shards, *[max(1, config.shards // 4)] * 2)
    totals, offsets = {}, {}
    for at, split in enumerate(SPLITS):
        places = np.random.default_rng([config.seed, at]).permutation(len(ordered))
        mixed = [ordered[place] for place in places] if split == "train" else ordered
        ends = np.cumsum([0, *(block.examples[at] for block in mixed)])
        totals[split] = int(ends[-1])
        offsets[split] = {
            block.block: int(end) for block, end in zip(mixed, ends[:-1], strict=True)
        }
    return Layout(config.seed, totals, dict(zip(SPLITS, shards, strict=True)), offsets)


def shard_name(split: str, shard: int, shards: int) -> str:
    """Return the file name of a shard.

    >>> shard_name("train", 0, 4)
    'train-00000-of-00004.tfrecord'
    """
    return f"{split}-{shard:05d}-of-{shards:05d}.tfrecord"
