"""The columnar JSON parser against the exact one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from features.config import TimestampConfig
from pipeline.log.block import RawBlock
from pipeline.log.dialect import Dialect
from pipeline.log.json_columns import JsonKinds, read_columns
from pipeline.log.json_lines import parse_json_lines
from pipeline.log.records import find_records
from pipeline.log.times import times
from pipeline.log.values import missing_as_null, numbers, strings

NAMES = ("s", "n", "m")
KINDS = JsonKinds(frozenset({"n"}), {"m": "|"})
JSONL = Dialect("", "", "utf-8", 1 << 20)


def columns_of(text: bytes) -> dict[str, Any] | None:
    records = find_records(text, JSONL, final=True)
    return read_columns(text, records.starts, records.ends, NAMES, KINDS, JSONL)


def exactly(text: bytes) -> RawBlock:
    """Parse with a NUL byte in a line of its own, which no columnar parse takes."""
    return parse_json_lines(text + b"\0\n", 1, "log.jsonl", NAMES, KINDS, JSONL)


def clean(columns: dict[str, Any]) -> list[list[Any]]:
    text = [missing_as_null(strings(columns[name], "|"), ("",), False) for name in ("s", "m")]
    found = numbers(columns["n"], "n", "log.jsonl")
    values = [None if value != value else value for value in found.values.tolist()]
    return [
        *(part.to_pylist() for part in text),
        values,
        found.malformed.tolist(),
        found.too_large.tolist(),
    ]


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=4),
    st.sampled_from(["2019-11-24 00:01:03", "1e3", "-0", "1,000"]),
)
columns = st.fixed_dictionaries(
    {},
    optional={
        "s": st.one_of(scalars, st.text(max_size=3), st.integers(-9, 9)),
        "n": st.one_of(st.integers(-9, 9), st.floats(width=32), scalars),
        "m": st.one_of(st.lists(st.sampled_from(["a", "é", "b"])), scalars),
        "other": st.one_of(scalars, st.just({"deep": [1]})),
    },
)


@settings(max_examples=300, deadline=None)
@given(st.lists(columns, min_size=1, max_size=6), st.booleans())
def test_what_the_columnar_parser_takes_it_reads_as_the_exact_one(
    rows: list[dict[str, Any]], ascii_only: bool
) -> None:
    text = "".join(json.dumps(row, ensure_ascii=ascii_only) + "\n" for row in rows)
    encoded = text.encode("utf-8", "surrogatepass")
    columnar = columns_of(encoded)
    if columnar is not None:
        slow = exactly(encoded)
        assert [reject.reason for reject in slow.rejects] == ["nul_byte"]
        assert clean(columnar) == clean(slow.columns)


@pytest.mark.parametrize(
    "line",
    [
        b'{"s": "a", "n": 1, "m": ["x", "y"]}\n',
        b'{"s": 7, "n": 1.5, "m": "x|y"}\r\n',
        b'{"s": "2019-09-04 00:01:03", "n": -0.5, "m": []}\n',
    ],
)
def test_usual_lines_are_read_by_columns(line: bytes) -> None:
    assert columns_of(line * 3) is not None


@pytest.mark.parametrize(
    "text",
    [
        b'{"s": 1.0}\n',
        b'{"s": -0}\n',
        b'{"s": "a"}\n{"s": 1}\n',
        b'{"s": "a"} {"s": "b"}\n',
        b'{"s":\n"a"}\n',
        b'{"s": ["a"]}\n',
        b'{"n": 1e999}\n',
        b"nonsense\n",
    ],
)
def test_what_columns_would_change_is_left_to_the_exact_parser(text: bytes) -> None:
    assert columns_of(text) is None


def test_whole_seconds_stay_whole() -> None:
    found = columns_of(b'{"s": 1574553663}\n')
    assert found is not None
    config = TimestampConfig(column="s")
    assert times(found["s"], config, 1.8e9, "log.jsonl").seconds.tolist() == [1574553663]
