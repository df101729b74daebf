from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from features.config import DataConfig
from pipeline.layout import BlockCounts, plan_layout
from pipeline.split import SPLITS


def blocks_of(sizes: list[tuple[int, int, int]]) -> list[BlockCounts]:
    none = (None, None, None)
    return [BlockCounts(f"{at:05d}", size, (0, 0, 0), none, none) for at, size in enumerate(sizes)]


sizes_of_blocks = st.lists(st.tuples(*[st.integers(0, 30)] * 3), max_size=12)


@given(sizes_of_blocks, st.integers(1, 9))
def test_every_row_has_one_place_and_shards_are_equal_to_within_one(
    sizes: list[tuple[int, int, int]], shards: int
) -> None:
    layout = plan_layout(DataConfig(shards=shards), blocks_of(sizes))
    for at, split in enumerate(SPLITS):
        places: list[int] = []
        filled = np.zeros(layout.shards[split], int)
        for number, size in enumerate(sizes):
            for piece in layout.pieces(split, f"{number:05d}", size[at]):
                places += range(piece.offset, piece.offset + piece.stop - piece.start)
                filled[piece.shard] += piece.stop - piece.start
        assert sorted(places) == list(range(sum(size[at] for size in sizes)))
        assert filled.max() - filled.min() <= 1


@given(sizes_of_blocks)
def test_the_layout_does_not_depend_on_the_order_in_which_blocks_come(
    sizes: list[tuple[int, int, int]],
) -> None:
    blocks = blocks_of(sizes)
    assert plan_layout(DataConfig(), blocks) == plan_layout(DataConfig(), blocks[::-1])


def test_training_rows_are_mixed_and_held_out_rows_stay_in_order() -> None:
    layout = plan_layout(DataConfig(), blocks_of([(100, 100, 0)]))
    order = layout.order("train", "00000", 100)
    assert sorted(order) == list(range(100)) and order.tolist() != list(range(100))
    assert layout.order("eval", "00000", 100).tolist() == list(range(100))
