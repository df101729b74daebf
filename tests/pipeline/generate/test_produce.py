from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from features.auc import auc
from pipeline.generate.blocks import LogKind
from pipeline.generate.broken import KINDS as BROKEN_KINDS
from pipeline.generate.command import KINDS
from pipeline.generate.impressions import ImpressionLog
from pipeline.generate.produce import Order, generate, in_order
from pipeline.generate.sinks import log_target

ROWS = 70_000


def written(path: Path, kind: type[LogKind] = ImpressionLog, **order: Any) -> Path:
    order = {"rows": ROWS, "seed": 5, "broken_every": 10_000} | order
    generate(Order(kind=kind, target=log_target(kind, path), **order))
    return path


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("log")
    return written(folder / "log.csv", probabilities=folder / "p.parquet")


@pytest.fixture(scope="module")
def oracle(log: Path) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(log.with_name("log.oracle.json").read_text())
    return read


def intact_lines(log: Path) -> dict[int, list[str]]:
    """Return the fields of each line that probabilities speak of, by line number."""
    lines = log.read_bytes().split(b"\n")
    numbers = pq.read_table(log.with_name("p.parquet"))["line"].to_pylist()
    return {n: next(csv.reader([lines[n - 1].decode()])) for n in numbers}


@pytest.mark.parametrize("name", list(KINDS))
def test_threads_do_not_change_the_bytes(tmp_path: Path, name: str) -> None:
    suffix = "tsv" if name == "criteo" else "csv"
    one = written(tmp_path / f"one.{suffix}", KINDS[name], workers=1)
    three = written(tmp_path / f"three.{suffix}", KINDS[name], workers=3)
    assert one.read_bytes() == three.read_bytes()


@pytest.mark.parametrize("suffix", ["csv.gz", "jsonl", "parquet"])
def test_every_format_repeats_its_bytes(tmp_path: Path, suffix: str) -> None:
    one = written(tmp_path / f"one.{suffix}", rows=2000)
    two = written(tmp_path / f"two.{suffix}", rows=2000)
    assert one.read_bytes() == two.read_bytes()


def test_another_seed_is_another_log(tmp_path: Path) -> None:
    one = written(tmp_path / "one.csv", rows=2000, seed=1)
    two = written(tmp_path / "two.csv", rows=2000, seed=2)
    assert one.read_bytes() != two.read_bytes()


def test_gzip_holds_the_same_text(tmp_path: Path) -> None:
    plain = written(tmp_path / "plain.csv", rows=2000)
    zipped = written(tmp_path / "zipped.csv.gz", rows=2000)
    assert gzip.decompress(zipped.read_bytes()) == plain.read_bytes()


def test_formats_hold_the_same_values(tmp_path: Path) -> None:
    lines = written(tmp_path / "log.jsonl", rows=2000).read_text().splitlines()
    table = pq.read_table(written(tmp_path / "log.parquet", rows=2000)).to_pylist()
    stamp = "%Y-%m-%dT%H:%M:%SZ"
    typed = [row | {"timestamp": row["timestamp"].strftime(stamp)} for row in table]
    assert [json.loads(line) for line in lines] == typed


def test_the_log_has_as_many_lines_as_rows_and_a_header(log: Path) -> None:
    assert log.read_bytes().count(b"\n") == ROWS + 1


def test_the_oracle_is_the_auc_of_the_true_probabilities(log: Path, oracle: dict[str, Any]) -> None:
    truth = pq.read_table(log.with_name("p.parquet"))
    labels = [int(fields[-1]) for fields in intact_lines(log).values()]
    assert oracle["oracle_auc"] == pytest.approx(auc(labels, truth["probability"]), abs=1e-12)


def test_the_oracle_of_the_last_tenth_is_that_of_the_last_rows_by_time(
    log: Path, oracle: dict[str, Any]
) -> None:
    truth = pq.read_table(log.with_name("p.parquet"))
    seconds = truth["timestamp"].to_numpy().astype("datetime64[s]").astype(np.int64)
    last = seconds >= oracle["last_tenth_from"]
    expected = auc(truth["label"].to_numpy()[last], truth["probability"].to_numpy()[last])
    assert oracle["oracle_auc_last_tenth"] == pytest.approx(expected, abs=1e-12)


def test_about_a_tenth_of_the_rows_is_the_last_tenth(log: Path, oracle: dict[str, Any]) -> None:
    seconds = pq.read_table(log.with_name("p.parquet"))["timestamp"].to_numpy()
    from_then = seconds.astype("datetime64[s]").astype(np.int64) >= oracle["last_tenth_from"]
    assert from_then.mean() == pytest.approx(0.1, abs=0.001)


def test_the_oracle_logloss_is_that_of_the_true_probabilities(
    log: Path, oracle: dict[str, Any]
) -> None:
    truth = pq.read_table(log.with_name("p.parquet"))
    p, label = truth["probability"].to_numpy().astype(float), truth["label"].to_numpy()
    expected = -np.mean(np.where(label == 1, np.log(p), np.log1p(-p)))
    assert oracle["oracle_logloss"] == pytest.approx(expected, abs=1e-9)


def test_clicks_follow_the_true_probabilities(log: Path) -> None:
    truth = pq.read_table(log.with_name("p.parquet"))
    p, label = truth["probability"].to_numpy().astype(float), truth["label"].to_numpy()
    deviation = np.sqrt((p * (1 - p)).sum())
    assert abs(label.sum() - p.sum()) < 4 * deviation


def test_rows_without_a_probability_are_exactly_the_broken_ones(log: Path) -> None:
    numbers = set(pq.read_table(log.with_name("p.parquet"))["line"].to_pylist())
    lines = log.read_bytes().split(b"\n")
    broken = [lines[n - 1] for n in range(2, ROWS + 2) if n not in numbers]
    assert sorted(map(fault_of, broken)) == sorted(BROKEN_KINDS[s % 6] for s in range(7))


def test_broken_lines_are_counted_by_kind(oracle: dict[str, Any]) -> None:
    counts = dict.fromkeys(BROKEN_KINDS, 1) | {BROKEN_KINDS[0]: 2}
    assert oracle["broken_lines_by_kind"] == counts


def fault_of(line: bytes) -> str:
    """Find what is wrong with a broken line, without the code that broke it."""
    try:
        fields = next(csv.reader([line.decode()]))
    except UnicodeDecodeError:
        return "invalid_utf8"
    if len(fields) != 16:
        return "too_few_fields" if len(fields) < 16 else "too_many_fields"
    if not fields[0].startswith("2026-03-"):
        return "unparsable_timestamp"
    return "label_missing" if fields[-1] == "" else "bad_label"


def test_no_broken_lines_on_request(tmp_path: Path) -> None:
    path = written(tmp_path / "log.csv", broken_every=0)
    assert all(len(fields) == 16 for fields in csv.reader(path.read_text().splitlines()))


def test_nothing_but_the_wanted_files_is_left(tmp_path: Path) -> None:
    written(tmp_path / "log.csv", rows=10)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["log.csv", "log.oracle.json"]


def test_a_failure_leaves_no_file(tmp_path: Path) -> None:
    def stop(rows: int) -> None:
        raise KeyboardInterrupt

    target = log_target(ImpressionLog, tmp_path / "log.csv")
    with pytest.raises(KeyboardInterrupt):
        generate(Order(ImpressionLog, 10, 1, target), stop)
    assert list(tmp_path.iterdir()) == []


def test_results_come_in_order_whatever_the_threads() -> None:
    assert list(in_order(lambda index: index * index, 50, 4)) == [i * i for i in range(50)]
