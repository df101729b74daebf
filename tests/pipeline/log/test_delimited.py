"""CSV and TSV: structure, encodings, headers."""

from __future__ import annotations

import codecs
from pathlib import Path

import pytest

from features.errors import DataError
from tests.pipeline.log.reading import configure, read


def write(folder: Path, text: bytes, name: str = "log.csv") -> Path:
    path = folder / name
    path.write_bytes(text)
    return path


def test_a_quoted_field_may_hold_separators_and_line_breaks(tmp_path: Path) -> None:
    text = b'user_id,item_id,click,query\n1,7,1,"red\nshoes, 2"\n2,8,0,blue\n'
    found = read(configure(write(tmp_path, text), ("user_id", "query")))
    assert found.rows == [
        {"__label__": 1.0, "__row__": 2, "user_id": "1", "query": "red\nshoes, 2"},
        {"__label__": 0.0, "__row__": 4, "user_id": "2", "query": "blue"},
    ]


def test_a_byte_order_mark_and_crlf_are_no_part_of_the_values(tmp_path: Path) -> None:
    path = write(tmp_path, b"\xef\xbb\xbfuser_id,item_id,click\r\n1,7,1\r\n")
    found = read(configure(path, ("user_id",)))
    assert found.rows == [{"__label__": 1.0, "__row__": 2, "user_id": "1"}]


def test_a_byte_that_is_no_utf8_costs_one_row(tmp_path: Path) -> None:
    path = write(tmp_path, "q,click\nbleu,0\ncaf\xe9,1\nrot,1\n".encode("latin-1"))
    found = read(configure(path, ("q",)))
    assert found.column("q") == ["bleu", "rot"]
    assert [(r.line, r.reason, r.raw) for r in found.rejects] == [
        (3, "invalid_utf8", b"caf\xe9,1\n")
    ]


def test_latin_1_is_read_where_it_is_configured_and_rejects_stay_as_they_were(
    tmp_path: Path,
) -> None:
    path = write(tmp_path, "q,click\ncaf\xe9,1\n\xfcber,x\n".encode("latin-1"))
    found = read(configure(path, ("q",), encoding="latin-1"))
    assert found.column("q") == ["caf\xe9"]
    assert found.rejects[0].raw == b"\xfcber,x\n"


def test_five_spellings_of_a_missing_value_are_alike(tmp_path: Path) -> None:
    text = b'u,age,price,click\n1,,3.5,0\n2,NA,,1\n3,"",nan,0\n4,30,\\N,1\n5,31\n'
    found = read(configure(write(tmp_path, text), ("u",), ("age", "price")))
    assert found.column("age") == [None, None, None, 30.0]
    assert found.column("price") == [3.5, None, None, None]
    assert found.reasons == [(6, "too_few_fields")]


def test_a_short_row_is_padded_where_that_is_configured(tmp_path: Path) -> None:
    text = b"click,u,age\n1,a\n0,b,7\n1\n0,c,8,9\n"
    found = read(configure(write(tmp_path, text), ("u",), ("age",), short_rows="pad"))
    assert found.column("u") == ["a", "b", None]
    assert found.column("age") == [None, 7.0, None]
    assert found.reasons == [(5, "too_many_fields")]


def test_spaces_around_a_spelling_of_missing_do_not_hide_it(tmp_path: Path) -> None:
    found = read(configure(write(tmp_path, b"u,n,click\n NA , 3 ,1\n x ,  ,0\n"), ("u",), ("n",)))
    assert found.column("u") == [None, " x "]
    assert found.column("n") == [3.0, None]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"1,2\n", "too_few_fields"),
        (b"1,2,3,4\n", "too_many_fields"),
        (b"a\0b,2,1\n", "nul_byte"),
        (b'"a\0b",2,1\n', "nul_byte"),
        (b"\xff,2,1\n", "invalid_utf8"),
        (b'"abc,2,1\n', "unclosed_quote"),
        (b"u,2," + b"9" * 2000 + b"\n", "record_too_large"),
        (b"u,abc,1\n", "not_a_number:n"),
        (b'u,"1,000",1\n', "not_a_number:n"),
        (b"u,1_000,1\n", "not_a_number:n"),
        (b"u,0x10,1\n", "not_a_number:n"),
        (b"u,1e39,1\n", "number_too_large:n"),
        (b"u,1e999,1\n", "number_too_large:n"),
        (b"u,2,\n", "missing_label"),
        (b'u,2,""\n', "missing_label"),
        (b"u,2,2\n", "bad_label"),
        (b"u,2,-1\n", "bad_label"),
        (b"u,2,true\n", "bad_label"),
        (b"u,2,yes\n", "bad_label"),
    ],
)
def test_a_bad_line_is_kept_whole_with_its_reason(tmp_path: Path, line: bytes, reason: str) -> None:
    path = write(tmp_path, b"u,n,click\nfirst,1,1\n" + line + b"last,2,0\n")
    found = read(configure(path, ("u",), ("n",), max_record_bytes=1024))
    assert found.column("u") == ["first", "last"]
    assert found.column("__row__") == [2, 4]
    assert [(r.line, r.reason, r.raw) for r in found.rejects] == [(3, reason, line)]


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        ("1e3", 1000.0),
        ("+4", 4.0),
        ("-.5", -0.5),
        ("3.", 3.0),
        ("NaN", None),
        ("inf", None),
        ("-Infinity", None),
        ("99999999999999999999", 1e20),
        ("", None),
    ],
)
@pytest.mark.parametrize("neighbour", ["5", "abc"])
def test_a_number_is_read_alike_beside_good_and_bad_ones(
    tmp_path: Path, literal: str, value: float | None, neighbour: str
) -> None:
    path = write(tmp_path, f"n,click\n{literal},1\n{neighbour},0\n".encode())
    found = read(configure(path, (), ("n",)))
    assert found.column("n")[0] == (value if value is None else pytest.approx(value, rel=1e-7))


def test_a_stray_quote_inside_a_field_is_a_letter(tmp_path: Path) -> None:
    path = write(tmp_path, b'u,click\n5" pipe,1\nb,0\n6" "pipe,1\n"q",0\n')
    found = read(configure(path, ("u",)))
    assert found.column("u") == ['5" pipe', "b", '6" "pipe', "q"]


def test_a_quote_that_never_closes_costs_one_line(tmp_path: Path) -> None:
    rows = b"".join(b"u%d,%d\n" % (at, at % 2) for at in range(500))
    path = write(tmp_path, b'u,click\n"open,1\n' + rows)
    found = read(configure(path, ("u",), max_record_bytes=1024, block_bytes=1024))
    assert len(found.rows) == 500
    assert found.reasons == [(2, "unclosed_quote")]


def test_a_quote_that_would_close_inside_a_later_field_costs_one_line(tmp_path: Path) -> None:
    path = write(tmp_path, b'u,click\n"open,1\na,0\n"b",1\nc,0\n')
    found = read(configure(path, ("u",)))
    assert found.column("u") == ["a", "b", "c"]
    assert found.reasons == [(2, "unclosed_quote")]


def test_blank_lines_are_dropped_and_counted(tmp_path: Path) -> None:
    path = write(tmp_path, b"u,click\n\na,1\r\n\r\n\nb,0")
    found = read(configure(path, ("u",)))
    assert (found.column("u"), found.column("__row__")) == (["a", "b"], [3, 6])
    assert found.dropped == {"blank_line": 3}


def test_a_file_of_the_label_alone(tmp_path: Path) -> None:
    path = write(tmp_path, b"click\n1\n\n0\nNA\n")
    config = configure(path, ("click",))
    found = read(config)
    assert found.column("__label__") == [1.0, 0.0]
    assert (found.reasons, found.dropped) == ([(5, "missing_label")], {"blank_line": 1})


def test_a_carriage_return_inside_a_field_is_no_line_end(tmp_path: Path) -> None:
    found = read(configure(write(tmp_path, b"u,click\na\rb,1\nc,0\r\n"), ("u",)))
    assert found.column("u") == ["a\rb", "c"]


@pytest.mark.parametrize(
    "again", [b"u,n,click\n", b'"u",n,"click"\r\n', b"\xef\xbb\xbfu,n,click\n"]
)
def test_a_second_header_is_dropped_and_counted(tmp_path: Path, again: bytes) -> None:
    path = write(tmp_path, b"u,n,click\na,1,1\n" + again + b"b,2,0\n")
    found = read(configure(path, ("u",), ("n",)))
    assert found.column("u") == ["a", "b"]
    assert (found.rejects, found.dropped) == ([], {"duplicate_header": 1})


def test_a_second_header_is_found_where_any_label_is_allowed(tmp_path: Path) -> None:
    path = write(tmp_path, b"u,click\na,buy\nu,click\nb,view\n")
    label = {"column": "click", "positive": ["buy"]}
    found = read(configure(path, ("u",), label=label))
    assert found.column("__label__") == [1.0, 0.0]
    assert found.dropped == {"duplicate_header": 1}


def test_a_second_header_in_another_order_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path, b"u,n,click\na,1,1\nclick,u,n\n1,b,2\n")
    with pytest.raises(DataError, match="same order"):
        read(configure(path, ("u",), ("n",)))


def test_files_may_order_their_columns_each_its_own_way(tmp_path: Path) -> None:
    first = write(tmp_path, b"u,n,click\na,1,1\n", "a.csv")
    second = write(tmp_path, b"click,extra,n,u\n0,x,2,b\n", "b.csv")
    found = read(configure([first, second], ("u",), ("n",)))
    assert [(r["u"], r["n"], r["__label__"]) for r in found.rows] == [("a", 1, 1), ("b", 2, 0)]


@pytest.mark.parametrize(
    ("header", "told"),
    [
        (b"user_id,click", "did you mean 'user_id'"),
        (b"userid,userid,click", "2 times"),
        (b"clicks,userid", "did you mean 'clicks'"),
    ],
)
def test_a_wrong_header_is_one_clear_error(tmp_path: Path, header: bytes, told: str) -> None:
    path = write(tmp_path, header + b"\n1,2,3\n")
    with pytest.raises(DataError, match=told):
        read(configure(path, ("userid",)))


def test_a_repeated_column_that_is_not_read_does_no_harm(tmp_path: Path) -> None:
    found = read(configure(write(tmp_path, b"x,u,x,click\n1,a,2,1\n"), ("u",)))
    assert found.column("u") == ["a"]


@pytest.mark.parametrize("text", [b"", b"u,click\n", b"u,click", codecs.BOM_UTF8 + b"u,click\r\n"])
def test_a_file_without_rows_has_no_ranges(tmp_path: Path, text: bytes) -> None:
    assert read(configure(write(tmp_path, text), ("u",))).ranges == 0


def test_utf_16_is_refused_in_words(tmp_path: Path) -> None:
    path = write(tmp_path, "u,click\na,1\n".encode("utf-16"))
    with pytest.raises(DataError, match="UTF-16"):
        read(configure(path, ("u",)))


def test_declared_columns_mean_that_the_first_line_is_a_row(tmp_path: Path) -> None:
    path = write(tmp_path, b'1\ta"b\t3\n0\t\t4\n', "day_0.tsv")
    found = read(configure(path, ("u",), ("n",), columns=("click", "u", "n")))
    assert found.column("u") == ['a"b', None]
    assert found.column("__row__") == [1, 2]


def test_a_separator_of_its_own(tmp_path: Path) -> None:
    path = write(tmp_path, b"1|24|M\n2|53|F\n", "u.user")
    found = read(
        configure(
            path,
            ("g",),
            ("click",),
            separator="|",
            columns=("click", "age", "g"),
            label={"column": "click", "at_least": 2},
        )
    )
    assert (found.column("g"), found.column("__label__")) == (["M", "F"], [0.0, 1.0])
