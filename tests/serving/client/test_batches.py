import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from serving.client.batches import split_rows

sizes = st.lists(st.integers(1, 20), max_size=60)


def slow_split(row_bytes: list[int], max_rows: int, max_bytes: int) -> list[list[int]]:
    batches: list[list[int]] = []
    for size in row_bytes:
        fits = batches and len(batches[-1]) < max_rows and sum(batches[-1]) + size <= max_bytes
        if fits:
            batches[-1].append(size)
        else:
            batches.append([size])
    return batches


@given(sizes, st.integers(1, 10), st.integers(1, 50))
def test_batches_are_those_of_filling_one_after_the_other(
    row_bytes: list[int], max_rows: int, max_bytes: int
) -> None:
    bounds = split_rows(np.array(row_bytes, np.int64), max_rows, max_bytes)
    found = [row_bytes[start:end] for start, end in bounds]
    assert found == slow_split(row_bytes, max_rows, max_bytes)
