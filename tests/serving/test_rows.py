import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from features.errors import DataError
from features.spec import RawColumn
from serving.rows import arrays_of_rows, candidate_groups, read_json_rows, take

USER = RawColumn("user", "string", required=False)
ITEM = RawColumn("item", "string", required=True)
PRICE = RawColumn("price", "number", required=False)
TIME = RawColumn("time", "time", required=False)


def test_missing_values_become_what_a_request_sends() -> None:
    arrays = arrays_of_rows([{"user": None, "price": None}], [USER, PRICE, TIME], "rows")
    assert arrays["user"].tolist() == [b""]
    assert math.isnan(arrays["price"][0])
    assert arrays["time"].tolist() == [-1]


def test_an_infinite_number_is_missing() -> None:
    assert math.isnan(arrays_of_rows([{"price": math.inf}], [PRICE], "rows")["price"][0])


def test_text_keeps_its_nul_and_its_unicode() -> None:
    arrays = arrays_of_rows([{"user": "žluť\0"}], [USER], "rows")
    assert arrays["user"].tolist() == ["žluť\0".encode()]


@pytest.mark.parametrize("value", ["cheap", "1,000", True, [1]])
def test_a_number_that_is_none_is_named_by_line_and_column(value: object) -> None:
    with pytest.raises(DataError, match="rows, line 12, column 'price'"):
        arrays_of_rows([{"price": value}], [PRICE], "rows", lines=[12])


def test_a_time_beyond_int64_is_an_error() -> None:
    with pytest.raises(DataError, match="line 1, column 'time'"):
        arrays_of_rows([{"time": 2**70}], [TIME], "rows")


@pytest.mark.parametrize("row", [{}, {"item": None}, {"item": ""}])
def test_a_missing_required_value_is_an_error(row: dict[str, object]) -> None:
    with pytest.raises(DataError, match="required column"):
        arrays_of_rows([row], [ITEM], "rows")


def test_a_line_that_is_no_object_is_named(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text('{"a": 1}\n[1]\n')
    with pytest.raises(DataError, match="line 2"):
        read_json_rows(file)


@given(
    st.lists(
        st.tuples(st.sampled_from([b"a", b"b"]), st.sampled_from([1.0, 2.0, math.nan])), min_size=1
    )
)
def test_groups_of_candidates_hold_every_row_once(rows: list[tuple[bytes, float]]) -> None:
    arrays = {
        "user": np.array([row[0] for row in rows], dtype=object),
        "price": np.array([row[1] for row in rows], dtype=np.float32),
    }
    groups = candidate_groups(arrays)
    assert sorted(int(row) for group in groups for row in group) == list(range(len(rows)))


@given(st.lists(st.sampled_from([b"a", b"b"]), min_size=1))
def test_shared_values_spread_back_to_the_rows(values: list[bytes]) -> None:
    arrays = {"user": np.array(values, dtype=object)}
    rows = np.arange(len(values))
    shared = take(arrays, rows, share=True)["user"]
    assert np.broadcast_to(shared, [len(values)]).tolist() == values
