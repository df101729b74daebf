from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from features.columnar import encode
from features.kinds import MultiValued
from features.transform import Transform
from tests.features.configure import batch_of, config_of, learnt, raw_of, some_examples

CONFIG = config_of(
    {"kind": "numeric", "name": "x", "log1p": True, "indicator": True},
    {"kind": "numeric", "name": "y", "column": "x", "clip": [-5, 5]},
    {"kind": "bucketised", "name": "q", "column": "x", "boundaries": [-1, 0, 1]},
    {"kind": "vocabulary", "name": "c", "normalise": "strip_lower", "oov_buckets": 3},
    {"kind": "hash", "name": "h", "column": "c", "buckets": 7, "normalise": "none"},
    {"kind": "multi", "name": "g", "max_length": 2, "separator": "||"},
    {"kind": "multi", "name": "k", "column": "g", "max_length": 3, "buckets": 5},
    {"kind": "time_part", "name": "hour", "part": "hour", "utc_offset_hours": 5.5},
    {"kind": "cross", "name": "z", "of": ["c", "hour"], "buckets": 11},
)
ROW = st.tuples(
    st.none() | st.floats(width=32),
    st.none() | st.sampled_from(["a", " A", "É", "é ", "[UNK]", "NA", "new\n", ""]) | st.text(),
    st.none() | st.text(alphabet="ab| ", max_size=9),
    st.integers(-1, 2**32),
)
TRAIN = batch_of(
    CONFIG, x=[1.5, -2, None], c=["a", "É", "[UNK]"], g=["a||b", "b", None], t=[0, 1, 2]
)
TRANSFORM = Transform.of(CONFIG, learnt(CONFIG, TRAIN))


def _columns(rows: list[tuple[Any, ...]]) -> dict[str, list[Any]]:
    return {name: [row[at] for row in rows] for at, name in enumerate("xcgt")}


def _unpacked(inputs: dict[str, Any]) -> list[list[list[int]]]:
    """Return the ragged ids by row and feature, read one after the other."""
    ids = iter(inputs["multi_ids"].tolist())
    return [
        [[next(ids) for _ in range(length)] for length in lengths]
        for lengths in inputs["multi_lengths"].tolist()
    ]


@some_examples
@given(st.lists(ROW, max_size=12))
def test_batches_are_encoded_as_the_function_encodes_whole_columns(
    rows: list[tuple[Any, ...]],
) -> None:
    columns = _columns(rows)
    fast = encode(TRANSFORM, batch_of(CONFIG, **columns))
    slow = TRANSFORM(raw_of(TRANSFORM, **columns))
    assert np.array_equal(fast["dense"], slow["dense"])
    assert np.array_equal(fast["sparse"], slow["sparse"])
    padded = [[[*ids, 0, 0, 0][:3] for ids in row] for row in _unpacked(fast)]
    assert np.asarray(slow["multi"]).tolist() == padded


def _split(field: str | None, separator: str, length: int) -> list[str]:
    """Split as the documentation says, in Python."""
    if field is None or field.strip(" \t\n\v\f\r") in CONFIG.log.missing:
        return []
    values = [value.strip(" \t\n\v\f\r") for value in field.split(separator)]
    return [value for value in values if value][:length]


@some_examples
@given(st.lists(ROW, max_size=12))
def test_batches_are_encoded_as_plain_python_would(rows: list[tuple[Any, ...]]) -> None:
    feature = next(each for each in CONFIG.features if isinstance(each, MultiValued))
    places = {"b": 0, "a": 1}
    columns = _columns(rows)
    inputs = encode(TRANSFORM, batch_of(CONFIG, **columns))
    for row, (x, c, g, _), ids in zip(inputs["sparse"], rows, _unpacked(inputs), strict=True):
        missing = x is None or not np.isfinite(x)
        assert row[0] == (0 if missing else 1 + sum(x >= cut for cut in (-1, 0, 1)))
        value = (c or "").strip(" \t\n\v\f\r")
        known = {"[unk]": 4, "a": 5, "é": 6}
        if value in CONFIG.log.missing:
            assert row[1] == 0
        elif value.isascii() or value in "Éé":
            assert row[1] == known.get(value.lower(), row[1] if row[1] in (1, 2, 3) else None)
        kept = _split(g, feature.separator, feature.max_length)
        assert ids[0] == [2 + places[each] if each in places else 1 for each in kept]


def test_a_dictionary_encoded_column_is_encoded_like_a_plain_one() -> None:
    batch = batch_of(CONFIG, **_columns([(1.0, "a", "b", 5), (None, None, None, -1)]))
    at = batch.schema.get_field_index("c")
    coded = batch.set_column(at, "c", batch.column("c").dictionary_encode())
    for name, plain in encode(TRANSFORM, batch).items():
        assert np.array_equal(encode(TRANSFORM, coded)[name], plain)


def test_a_batch_without_rows_is_encoded() -> None:
    inputs = encode(TRANSFORM, batch_of(CONFIG, x=[], c=[], g=[], t=[]))
    assert {name: value.shape for name, value in inputs.items()} == {
        "dense": (0, 3),
        "sparse": (0, 5),
        "multi_ids": (0,),
        "multi_lengths": (0, 2),
    }


def test_a_sliced_batch_is_encoded_like_its_rows() -> None:
    rows = [(float(at), "ab"[at % 2], "a||b", at) for at in range(6)]
    batch = batch_of(CONFIG, **_columns(rows))
    sliced, copied = batch.slice(2, 3), batch.take(pa.array([2, 3, 4]))
    for name, values in encode(TRANSFORM, copied).items():
        assert np.array_equal(encode(TRANSFORM, sliced)[name], values)
