import gzip
from pathlib import Path

import pytest

from features.errors import DataError
from serving.columns import column_notes
from serving.input_rows import column_names, read_rows
from tests.serving.tiny import COLUMNS, tiny_config

HEADER = "item_id,user-id,price,time\n"


def _rows(file: Path, text: str) -> list[dict[str, object]]:
    file.write_text(text)
    return [dict(row.values) for row in read_rows(file, COLUMNS, tiny_config())]


def test_csv_values_have_the_types_of_their_columns(tmp_path: Path) -> None:
    rows = _rows(tmp_path / "rows.csv", HEADER + "i1,u1,1e3,1700000000\n")
    assert rows == [{"item_id": "i1", "user-id": "u1", "price": 1000.0, "time": 1700000000}]


@pytest.mark.parametrize("spelling", ["", '""', "NA", "\\N", "null"])
def test_every_configured_spelling_is_a_missing_value(tmp_path: Path, spelling: str) -> None:
    rows = _rows(tmp_path / "rows.csv", HEADER + f"i1,u1,{spelling},\n")
    assert rows[0]["price"] is None and rows[0]["time"] is None


def test_a_byte_order_mark_is_no_part_of_the_first_name(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_bytes(b"\xef\xbb\xbfitem_id,price\r\ni1,2\r\n")
    assert column_names(file, tiny_config()) == ("item_id", "price")


def test_a_bad_number_is_named_by_its_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="line 3, column 'price'"):
        _rows(tmp_path / "rows.csv", HEADER + "i1,u1,2,\ni2,u2,cheap,\n")


def test_a_quoted_line_break_does_not_split_a_row(tmp_path: Path) -> None:
    rows = _rows(tmp_path / "rows.csv", HEADER + 'i1,"u\n1, x",2,\n')
    assert [row["user-id"] for row in rows] == ["u\n1, x"]


def test_a_ragged_line_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="line 2"):
        _rows(tmp_path / "rows.csv", HEADER + "i1,u1\n")


def test_json_lines_may_be_gzip(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl.gz"
    file.write_bytes(gzip.compress(b'{"item_id": "i1", "price": null, "more": 1}\n'))
    rows = [dict(row.values) for row in read_rows(file, COLUMNS, tiny_config())]
    assert rows == [{"item_id": "i1", "user-id": None, "price": None, "time": None}]


@pytest.mark.parametrize(
    "text", ["2023-11-14T22:13:20Z", "2023-11-14T23:13:20+01:00", "2023-11-14 22:13:20"]
)
def test_a_time_may_be_spelt_in_iso(tmp_path: Path, text: str) -> None:
    assert _rows(tmp_path / "rows.csv", HEADER + f"i1,,,{text}\n")[0]["time"] == 1_700_000_000


def test_invalid_utf8_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_bytes(HEADER.encode() + b"caf\xe9,,,\n")
    with pytest.raises(DataError, match="UTF-8"):
        list(read_rows(file, COLUMNS, tiny_config()))


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="--input"):
        column_names(tmp_path / "none.csv", tiny_config())


def test_unknown_and_absent_columns_are_noted() -> None:
    notes = column_notes(["item_id", "price", "colour"], COLUMNS, "rows.csv")
    assert notes.ignored == ("colour",)
    assert notes.absent == ("user-id", "time")


def test_a_missing_required_column_is_named() -> None:
    with pytest.raises(DataError, match="'item_id'"):
        column_notes(["price"], COLUMNS, "rows.csv")
