"""What label, timestamp, weight, user and required columns accept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.log.reading import NOW, Outcome, configure, read

MORNING = 1_574_553_663


def read_values(folder: Path, column: str, values: list[str], **log: Any) -> Outcome:
    path = folder / "log.csv"
    path.write_text(f"u,{column},click\n" + "".join(f'a,"{value}",1\n' for value in values))
    return read(configure(path, ("u",), **log))


@pytest.mark.parametrize(
    ("unit", "value"),
    [
        ("s", "1574553663"),
        ("s", " 1574553663 "),
        ("s", "1574553663.97"),
        ("s", "1.574553663e9"),
        ("ms", "1574553663979"),
        ("us", "1574553663979311"),
        ("iso", "2019-11-24 00:01:03.979311+00:00"),
        ("iso", "2019-11-24T00:01:03Z"),
        ("iso", "2019-11-24T00:01:03.979Z"),
        ("iso", "2019-11-24T02:01:03+02:00"),
        ("iso", "2019-11-23T22:01:03.123456789-02:00"),
        ("iso", "2019-11-24 00:01:03"),
        ("iso", "20191124T000103Z"),
    ],
)
@pytest.mark.parametrize("neighbour", [None, "", "nonsense"])
def test_a_time_is_read_alike_alone_and_beside_bad_ones(
    tmp_path: Path, unit: str, value: str, neighbour: str | None
) -> None:
    values = [value] if neighbour is None else [neighbour, value]
    found = read_values(tmp_path, "t", values, timestamp={"column": "t", "unit": unit})
    assert found.column("__time__") == [MORNING]
    expected = {None: [], "": ["missing_timestamp"], "nonsense": ["bad_timestamp"]}[neighbour]
    assert [reason for _, reason in found.reasons] == expected


def test_iso_times_with_and_without_zone_may_be_mixed(tmp_path: Path) -> None:
    values = ["2019-11-24 00:01:03", "2019-11-24T02:01:03+02:00", "2019-11-24T00:01:03Z"]
    found = read_values(tmp_path, "t", values, timestamp={"column": "t", "unit": "iso"})
    assert found.column("__time__") == [MORNING] * 3


def test_a_format_of_its_own_is_read_as_utc(tmp_path: Path) -> None:
    settings = {"column": "t", "unit": "format", "format": "%y%m%d%H"}
    found = read_values(
        tmp_path, "t", ["14102100", "14103023", "1410", "14132100"], timestamp=settings
    )
    assert found.column("__time__") == [1_413_849_600, 1_414_710_000]
    assert found.reasons == [(4, "bad_timestamp"), (5, "bad_timestamp")]


@pytest.mark.parametrize(
    ("unit", "value", "reason"),
    [
        ("s", "1574553663979", "timestamp_out_of_range"),
        ("ms", "1574553663", "timestamp_out_of_range"),
        ("s", "-5", "timestamp_out_of_range"),
        ("s", "0", "timestamp_out_of_range"),
        ("s", "99999999999999999999999", "timestamp_out_of_range"),
        ("s", str(int(NOW) + 24 * 3600 + 1), "timestamp_in_future"),
        ("iso", "2031-01-01T00:00:00Z", "timestamp_in_future"),
        ("iso", "1969-12-31T00:00:00Z", "timestamp_out_of_range"),
        ("iso", "2019-13-01", "bad_timestamp"),
        ("s", "2019-11-24", "bad_timestamp"),
        ("iso", "1574553663", "bad_timestamp"),
    ],
)
def test_a_time_that_cannot_be_is_rejected(
    tmp_path: Path, unit: str, value: str, reason: str
) -> None:
    found = read_values(tmp_path, "t", [value], timestamp={"column": "t", "unit": unit})
    assert found.reasons == [(2, reason)]


def test_a_time_within_the_allowed_future_is_taken(tmp_path: Path) -> None:
    soon = str(int(NOW) + 24 * 3600)
    found = read_values(tmp_path, "t", [soon], timestamp={"column": "t"})
    assert found.column("__time__") == [int(soon)]


def test_a_weight_is_finite_and_not_negative(tmp_path: Path) -> None:
    found = read_values(tmp_path, "w", ["0", "2.5", "-1", "inf", "", "x"], weight="w")
    assert found.column("__weight__") == [0.0, 2.5]
    assert [reason for _, reason in found.reasons] == [
        "bad_weight",
        "missing_weight",
        "missing_weight",
        "bad_weight",
    ]


def test_a_required_column_must_have_a_value(tmp_path: Path) -> None:
    found = read_values(tmp_path, "v", ["x", "NA", ""], required=("v",), user="v")
    assert found.column("__user__") == ["x"]
    assert found.reasons == [(3, "missing_required:v"), (4, "missing_required:v")]


def test_a_user_may_be_missing_where_it_is_not_required(tmp_path: Path) -> None:
    assert read_values(tmp_path, "v", ["x", "NA"], user="v").column("__user__") == ["x", None]


@pytest.mark.parametrize(
    ("label", "values", "labels", "reasons"),
    [
        ({}, ["0", "1", "0.0", "1.0", " 1 "], [0, 1, 0, 1, 1], []),
        ({}, ["NaN", "01", "1.5"], [], ["missing_label", "bad_label", "bad_label"]),
        ({"at_least": 4}, ["3.5", "4", "5.0", "x", "nan"], [0, 1, 1],
         ["bad_label", "missing_label"]),
        ({"positive": ["buy", "cart"]}, ["buy", "pv", " cart", "\\N"], [1, 0, 1],
         ["missing_label"]),
    ],
)  # fmt: skip
def test_a_label_follows_its_rule_and_a_missing_one_is_never_zero(
    tmp_path: Path, label: dict[str, Any], values: list[str], labels: list[int], reasons: list[str]
) -> None:
    found = read_values(tmp_path, "y", values, label={"column": "y", **label})
    assert found.column("__label__") == labels
    assert [reason for _, reason in found.reasons] == reasons
