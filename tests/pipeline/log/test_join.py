"""Side tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from features.errors import DataError
from tests.pipeline.log.reading import Outcome, configure, read


def read_joined(
    folder: Path, side: str, numbers: tuple[str, ...] = ("price",), **join: Any
) -> Outcome:
    (folder / "log.csv").write_text("item,click\n1,1\n2,0\n9,1\n,0\n")
    (folder / "items.csv").write_bytes(side.encode("latin-1"))
    settings = {"path": str(folder / "items.csv"), "on": "item"} | join
    return read(configure(folder / "log.csv", ("title",), numbers, joins=[settings]))


def test_columns_come_by_key_and_are_missing_where_no_key_matches(tmp_path: Path) -> None:
    found = read_joined(tmp_path, 'item,title,price\n2,"b, c",1.5\n1,NA,nan\n')
    assert found.column("title") == [None, "b, c", None, None]
    assert found.column("price") == [None, 1.5, None, None]


def test_a_key_of_another_name_and_a_file_without_header(tmp_path: Path) -> None:
    found = read_joined(
        tmp_path,
        "1|caf\xe9|3\n2|b|4\n",
        columns=("id", "title", "price"),
        key="id",
        separator="|",
        encoding="latin-1",
    )
    assert found.column("title") == ["caf\xe9", "b", None, None]


@pytest.mark.parametrize(
    ("side", "told"),
    [
        ("item,title,price\n1,a,1\n1,b,2\n", "1 twice"),
        ("item,title,price\n,a,1\n", "without a key"),
        ("item,title,price\n1,a,abc\n", "not_a_number:price"),
        ("item,title,price\n1,a\n", "too_few_fields"),
        ("item,title,price\n", "0 rows"),
        ("id,title,price\n1,a,2\n", "'item'"),
        ("item,titel,price\n1,a,2\n", "did you mean 'titel'"),
        ("item,title,price,click\n1,a,2,1\n", "'click' in both"),
    ],
)
def test_a_wrong_side_table_is_one_clear_error(tmp_path: Path, side: str, told: str) -> None:
    with pytest.raises(DataError, match=told):
        read_joined(tmp_path, side)


def test_take_leaves_other_columns_out(tmp_path: Path) -> None:
    side = "item,title,price,click\n1,a,2,1\n"
    assert read_joined(tmp_path, side, take=("title", "price")).column("title")[0] == "a"


def test_grouplens_own_three_files_are_joined(tmp_path: Path) -> None:
    (tmp_path / "u.data").write_text("196\t242\t3\t881250949\n186\t302\t4\t891717742\n")
    (tmp_path / "u.user").write_text("186|39|F|executive|00000\n196|49|M|writer|55105\n")
    item = (
        "242|Caf\xe9 (1996)|24-Jan-1997||http://x|0|1\n302|L.A. (1997)|01-Jan-1997||http://y|1|0\n"
    )
    (tmp_path / "u.item").write_bytes(item.encode("latin-1"))
    users = {
        "path": str(tmp_path / "u.user"),
        "on": "user_id",
        "format": "csv",
        "separator": "|",
        "columns": ("user_id", "age", "gender", "occupation", "zip_code"),
    }
    items = {
        "path": str(tmp_path / "u.item"),
        "on": "item_id",
        "format": "csv",
        "separator": "|",
        "encoding": "latin-1",
        "columns": ("item_id", "title", "released", "video", "url", "unknown", "action"),
    }
    config = configure(
        tmp_path / "u.data",
        ("user_id", "gender", "title"),
        ("age",),
        format="tsv",
        columns=("user_id", "item_id", "rating", "timestamp"),
        label={"column": "rating", "at_least": 4},
        timestamp={"column": "timestamp"},
        joins=[users, items],
    )
    assert read(config).rows == [
        {
            "__label__": 0.0,
            "__time__": 881250949,
            "__row__": 1,
            "user_id": "196",
            "gender": "M",
            "title": "Caf\xe9 (1996)",
            "age": 49.0,
        },
        {
            "__label__": 1.0,
            "__time__": 891717742,
            "__row__": 2,
            "user_id": "186",
            "gender": "F",
            "title": "L.A. (1997)",
            "age": 39.0,
        },
    ]
