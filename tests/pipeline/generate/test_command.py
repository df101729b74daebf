from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from features.errors import DataError
from pipeline.generate.command import add_arguments, run


def generated(*words: object) -> int:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return run(parser.parse_args([str(word) for word in words]))


@pytest.mark.parametrize(
    ("words", "where"),
    [
        (("--rows", 0), "--rows"),
        (("--seed", -1), "--seed"),
        (("--workers", 0), "--workers"),
        (("--broken-every", -5), "--broken-every"),
    ],
)
def test_an_option_out_of_range_is_named(
    tmp_path: Path, words: tuple[object, ...], where: str
) -> None:
    with pytest.raises(DataError) as caught:
        generated("--out", tmp_path / "log.csv", *words)
    assert caught.value.where == where


@pytest.mark.parametrize(
    ("kind", "name"),
    [("default", "log.xls"), ("default", "log"), ("default", "log.parquet.gz"),
     ("criteo", "log.csv"), ("avazu", "log.parquet")],
)  # fmt: skip
def test_an_unknown_suffix_is_refused(tmp_path: Path, kind: str, name: str) -> None:
    with pytest.raises(DataError, match="ends in"):
        generated("--kind", kind, "--rows", 10, "--out", tmp_path / name)


def test_a_directory_that_cannot_be_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(DataError, match="can be written to"):
        generated("--rows", 10, "--out", tmp_path / "file" / "log.csv")


def test_a_directory_as_the_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "log.csv").mkdir()
    with pytest.raises(DataError, match="names a file"):
        generated("--rows", 10, "--out", tmp_path / "log.csv")


def test_a_directory_that_is_missing_is_made(tmp_path: Path) -> None:
    generated("--rows", 10, "--out", tmp_path / "a" / "b" / "log.csv")
    assert (tmp_path / "a" / "b" / "log.csv").read_text().count("\n") == 11


def test_the_same_order_again_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    generated("--rows", 10, "--out", tmp_path / "log.csv")
    before = (tmp_path / "log.csv").stat().st_mtime_ns
    generated("--rows", 10, "--out", tmp_path / "log.csv")
    assert (tmp_path / "log.csv").stat().st_mtime_ns == before
    assert "up to date" in capsys.readouterr().out


@pytest.mark.parametrize("words", [("--rows", 11), ("--seed", 9), ("--kind", "avazu")])
def test_another_order_writes_the_log_anew(tmp_path: Path, words: tuple[object, ...]) -> None:
    generated("--rows", 10, "--out", tmp_path / "log.csv")
    before = (tmp_path / "log.csv").read_bytes()
    generated("--rows", 10, "--out", tmp_path / "log.csv", *words)
    assert (tmp_path / "log.csv").read_bytes() != before


def test_a_log_cut_short_is_written_anew(tmp_path: Path) -> None:
    generated("--rows", 10, "--out", tmp_path / "log.csv")
    whole = (tmp_path / "log.csv").read_bytes()
    (tmp_path / "log.csv").write_bytes(whole[:-20])
    generated("--rows", 10, "--out", tmp_path / "log.csv")
    assert (tmp_path / "log.csv").read_bytes() == whole


def test_a_single_row_has_no_attainable_auc(tmp_path: Path) -> None:
    generated("--rows", 1, "--out", tmp_path / "log.csv")
    assert json.loads((tmp_path / "log.oracle.json").read_text())["oracle_auc"] is None
