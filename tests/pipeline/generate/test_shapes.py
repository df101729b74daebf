from __future__ import annotations

import csv
import re
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from pipeline.generate.avazu import AvazuLog
from pipeline.generate.blocks import LogKind
from pipeline.generate.criteo import CriteoLog
from pipeline.generate.impressions import ImpressionLog
from pipeline.generate.produce import Order, generate
from pipeline.generate.sinks import log_target
from pipeline.generate.taobao import TaobaoLog

ROWS = 40_000

Rows = list[list[str]]


def rows_of(folder: Path, kind: type[LogKind], name: str) -> Rows:
    generate(Order(kind, ROWS, 3, log_target(kind, folder / name)))
    separator = kind.shape.separator.decode()
    return list(csv.reader((folder / name).read_text().splitlines(), delimiter=separator))


@pytest.fixture(scope="module")
def default(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, str]]:
    header, *rows = rows_of(tmp_path_factory.mktemp("default"), ImpressionLog, "log.csv")
    return [dict(zip(header, row, strict=True)) for row in rows]


@pytest.fixture(scope="module")
def criteo(tmp_path_factory: pytest.TempPathFactory) -> Rows:
    return rows_of(tmp_path_factory.mktemp("criteo"), CriteoLog, "log.tsv")


@pytest.fixture(scope="module")
def avazu(tmp_path_factory: pytest.TempPathFactory) -> Rows:
    return rows_of(tmp_path_factory.mktemp("avazu"), AvazuLog, "log.csv")


@pytest.fixture(scope="module")
def taobao(tmp_path_factory: pytest.TempPathFactory) -> Rows:
    return rows_of(tmp_path_factory.mktemp("taobao"), TaobaoLog, "log.csv")


def test_default_rows_stand_in_the_order_of_time(default: list[dict[str, str]]) -> None:
    times = [row["timestamp"] for row in default]
    assert times == sorted(times)


def test_default_rows_span_fourteen_days(default: list[dict[str, str]]) -> None:
    first, last = (datetime.fromisoformat(default[i]["timestamp"]) for i in (0, -1))
    assert timedelta(days=13, hours=23) < last - first < timedelta(days=14)


def test_default_traffic_is_low_at_night(default: list[dict[str, str]]) -> None:
    hours = Counter(row["timestamp"][11:13] for row in default)
    assert hours["03"] * 5 < hours["20"]


def test_default_requests_belong_to_one_user(default: list[dict[str, str]]) -> None:
    users: dict[str, set[str]] = {}
    for row in default:
        users.setdefault(row["request_id"], set()).add(row["user_id"])
    assert len(users) > ROWS / 6 and all(len(of_request) == 1 for of_request in users.values())


@pytest.mark.parametrize("column", ["brand", "city", "user_age"])
def test_default_missing_values_have_two_spellings(
    default: list[dict[str, str]], column: str
) -> None:
    assert {"", "NA"} <= {row[column] for row in default}


def test_default_tags_are_of_varying_number(default: list[dict[str, str]]) -> None:
    assert {len(row["tags"].split("|")) for row in default} == {1, 2, 3, 4, 5}


def test_default_values_are_awkward(default: list[dict[str, str]]) -> None:
    seen = {row["brand"] for row in default} | {row["city"] for row in default}
    assert all(any(mark in value for value in seen) for mark in (",", '"', "ø"))


def test_default_items_have_a_long_tail(default: list[dict[str, str]]) -> None:
    counts = sorted(Counter(row["item_id"] for row in default).values(), reverse=True)
    assert sum(counts[: len(counts) // 10]) > 0.35 * ROWS


def test_default_base_rate_is_as_wanted(default: list[dict[str, str]]) -> None:
    assert sum(row["click"] == "1" for row in default) / ROWS == pytest.approx(0.2, abs=0.01)


def test_criteo_rows_have_forty_fields(criteo: Rows) -> None:
    assert len(criteo) == ROWS and {len(row) for row in criteo} == {40}


def test_criteo_labels_are_zero_and_one(criteo: Rows) -> None:
    assert {row[0] for row in criteo} == {"0", "1"}


def test_criteo_integers_are_integers_or_missing(criteo: Rows) -> None:
    assert all(re.fullmatch(r"(-?\d+)?", value) for row in criteo for value in row[1:14])


def test_criteo_has_negative_integers_in_its_second_alone(criteo: Rows) -> None:
    negative = {i for row in criteo for i, value in enumerate(row[1:14]) if value[:1] == "-"}
    assert negative == {1}


def test_criteo_categories_are_eight_hexadecimal_digits_or_missing(criteo: Rows) -> None:
    assert all(re.fullmatch(r"([0-9a-f]{8})?", value) for row in criteo for value in row[14:])


def test_criteo_has_columns_that_nearly_never_repeat_and_columns_that_do(criteo: Rows) -> None:
    distinct = [len({row[i] for row in criteo}) for i in range(14, 40)]
    assert distinct[2] > ROWS / 3 and distinct[8] == 3


def test_criteo_misses_most_of_its_twenty_second_category(criteo: Rows) -> None:
    share = sum(row[14 + 21] == "" for row in criteo) / ROWS
    assert share == pytest.approx(0.76, abs=0.02)


def test_avazu_has_the_columns_of_the_set(avazu: Rows) -> None:
    assert avazu[0] == list(AvazuLog.shape.columns) and {len(row) for row in avazu} == {24}


def test_avazu_hours_are_written_as_in_the_set_and_ascend(avazu: Rows) -> None:
    hours = [row[2] for row in avazu[1:]]
    assert hours == sorted(hours) and (hours[0], hours[-1]) == ("14102100", "14103023")


def test_avazu_ids_are_distinct_and_exceed_signed_integers(avazu: Rows) -> None:
    ids = {int(row[0]) for row in avazu[1:]}
    assert len(ids) == ROWS and max(ids) > 2**63


def test_taobao_behaviours_are_those_of_the_set(taobao: Rows) -> None:
    assert {row[3] for row in taobao} == {"pv", "buy", "cart", "fav"}


def test_taobao_users_stand_together_and_in_the_order_of_time(taobao: Rows) -> None:
    keys = [(int(row[0]), int(row[4])) for row in taobao]
    assert keys == sorted(keys)


def test_taobao_times_are_the_nine_days_of_the_set(taobao: Rows) -> None:
    seconds = [int(row[4]) for row in taobao]
    assert 1_511_539_200 <= min(seconds) < max(seconds) < 1_511_539_200 + 9 * 86_400


def test_taobao_items_have_one_category(taobao: Rows) -> None:
    assert len({(row[1], row[2]) for row in taobao}) == len({row[1] for row in taobao})
