"""JSON lines, Parquet, gzip, and which files a source names."""

from __future__ import annotations

import gzip
import hashlib
import json
import pickle
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from features.errors import DataError
from pipeline.log import checksum, find_files, plan_ranges, read_range
from tests.pipeline.log.reading import configure, read


def write_json(folder: Path, *lines: str, name: str = "log.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(line + "\n" for line in lines))
    return path


def test_json_numbers_in_a_text_column_stay_as_they_were_written(tmp_path: Path) -> None:
    path = write_json(
        tmp_path,
        '{"u": 1, "n": 2, "click": 1}',
        '{"u": 1.50, "n": "3", "click": 0}',
        '{"u": 123456789012345678901234567890, "n": null, "click": "1"}',
        '{"u": true, "click": 0.0}',
        '{"click": 1, "u": "x", "n": NaN}',
    )
    found = read(configure(path, ("u",), ("n",)))
    assert found.column("u") == ["1", "1.50", "123456789012345678901234567890", "true", "x"]
    assert found.column("n") == [2.0, 3.0, None, None, None]
    assert found.column("__label__") == [1, 0, 1, 0, 1]


def test_a_json_array_is_joined_by_the_feature_s_separator(tmp_path: Path) -> None:
    path = write_json(
        tmp_path,
        '{"g": ["a", null, 2], "click": 1}',
        '{"g": [], "click": 0}',
        '{"g": "x|y", "click": 0}',
    )
    assert read(configure(path, multi=("g",))).column("g") == ["a|2", None, "x|y"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"u": "a", "click": 1', "bad_json"),
        ("[1, 2]", "bad_json"),
        ("nonsense", "bad_json"),
        ('{"u": {"id": 1}, "click": 1}', "nested_value:u"),
        ('{"u": ["a"], "click": 1}', "nested_value:u"),
        ('{"u": "a"}', "missing_label"),
        ('{"u": "a", "click": null}', "missing_label"),
        ('{"u": "a", "click": true}', "bad_label"),
        ('{"u": "\\ud800", "click": 1}', "invalid_utf8"),
        ("[" * 100_000, "bad_json"),
    ],
)
def test_a_bad_json_line_is_kept_whole(tmp_path: Path, line: str, reason: str) -> None:
    path = write_json(tmp_path, '{"u": "b", "click": 0}', "", line)
    found = read(configure(path, ("u",)))
    assert found.reasons == [(3, reason)]
    assert found.rejects[0].raw == line.encode() + b"\n"
    assert found.dropped == {"blank_line": 1}


def test_a_json_key_that_no_line_has_is_an_error_with_a_hint(tmp_path: Path) -> None:
    path = write_json(tmp_path, '{"user": "a", "click": 1}')
    with pytest.raises(DataError, match="did you mean 'user'"):
        read(configure(path, ("users",)))


@pytest.mark.parametrize("size", [1024, 1 << 20])
def test_json_lines_are_the_same_however_they_are_cut(tmp_path: Path, size: int) -> None:
    path = write_json(tmp_path, *[json.dumps({"u": f"é{at}", "click": 1}) for at in range(300)])
    found = read(configure(path, ("u",), block_bytes=size))
    assert found.column("u") == [f"é{at}" for at in range(300)]
    assert found.column("__row__") == list(range(1, 301))


def write_parquet(folder: Path, rows_per_group: int = 2, **columns: Any) -> Path:
    path = folder / "log.parquet"
    pq.write_table(pa.table(columns), path, row_group_size=rows_per_group)
    return path


def test_parquet_types_are_read_as_their_text_and_numbers(tmp_path: Path) -> None:
    path = write_parquet(
        tmp_path,
        u=pa.array([7, None, 9], pa.int64()),
        d=pa.array(["x", "NA", "y"]).dictionary_encode(),
        g=pa.array([["a", "b"], [], ["c", None]]),
        n=pa.array([1.5, float("nan"), 2]),
        click=pa.array([1, 0, 1], pa.int8()),
        t=pa.array([datetime(2019, 11, 24, 0, 1, 3, 979311, UTC)] * 3, pa.timestamp("ns", "UTC")),
    )
    config = configure(path, ("u", "d"), ("n",), ("g",), timestamp={"column": "t", "unit": "iso"})
    found = read(config)
    assert found.column("u") == ["7", None, "9"]
    assert found.column("d") == ["x", None, "y"]
    assert found.column("g") == ["a|b", None, "c"]
    assert found.column("n") == [1.5, None, 2.0]
    assert found.column("__time__") == [1574553663] * 3
    assert found.column("__row__") == [1, 2, 3]
    assert found.ranges == 2


def test_a_rejected_parquet_row_is_kept_as_json(tmp_path: Path) -> None:
    path = write_parquet(tmp_path, u=["a", "b", "c"], more=[1, 2, 3], click=[1, 0, 5])
    found = read(configure(path, ("u",)))
    assert found.reasons == [(3, "bad_label")]
    assert json.loads(found.rejects[0].raw) == {"u": "c", "more": 3, "click": 5}


def test_a_parquet_column_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    path = write_parquet(tmp_path, n=[{"a": 1}], click=[1])
    with pytest.raises(DataError, match="'n'"):
        read(configure(path, (), ("n",)))


def test_a_broken_parquet_file_is_an_error(tmp_path: Path) -> None:
    path = write_parquet(tmp_path, u=["a"], click=[1])
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(DataError, match="whole"):
        read(configure(path, ("u",)))


def rows_text(count: int) -> bytes:
    return b"u,click\n" + b"".join(b'"u\n%d",%d\n' % (at, at % 2) for at in range(count))


@pytest.mark.parametrize("name", ["log.csv.gz", "log.csv"])
def test_gzip_is_told_by_its_bytes_and_read_in_blocks(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(rows_text(500)))
    found = read(configure(path, ("u",), block_bytes=1024))
    assert found.column("u") == [f"u\n{at}" for at in range(500)]
    assert found.column("__row__") == list(range(2, 1002, 2))
    assert found.ranges == 1


@pytest.mark.parametrize("keep", [10, 60, 200])
def test_a_gzip_cut_short_is_an_error_that_names_it(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "log.csv.gz"
    path.write_bytes(gzip.compress(rows_text(500))[:keep])
    with pytest.raises(DataError, match="gzip file is whole") as raised:
        read(configure(path, ("u",)))
    assert raised.value.where == str(path)


def test_a_gzip_with_flipped_bytes_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "log.csv.gz"
    packed = bytearray(gzip.compress(rows_text(500)))
    packed[-6] ^= 0xFF
    path.write_bytes(bytes(packed))
    with pytest.raises(DataError, match="gzip file is whole"):
        read(configure(path, ("u",)))


def test_a_glob_is_sorted_and_a_list_keeps_its_order(tmp_path: Path) -> None:
    for name in ("b.csv", "a.csv", "c.tsv", "d.parquet"):
        (tmp_path / name).write_text("u,click\n")
    config = configure([tmp_path / "c.tsv", tmp_path / "*.csv", tmp_path / "a.csv"], ("u",))
    found = find_files(config.log, "log")
    assert [(Path(file.path).name, file.format) for file in found] == [
        ("c.tsv", "tsv"),
        ("a.csv", "csv"),
        ("b.csv", "csv"),
    ]


@pytest.mark.parametrize("name", ["*.csv", "log.csv"])
def test_no_file_is_an_error_at_its_key(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError) as raised:
        find_files(configure(tmp_path / name, ("u",)).log, "log")
    assert raised.value.where == "log.path"


def test_an_unknown_suffix_asks_for_the_format(tmp_path: Path) -> None:
    (tmp_path / "log.dat").write_text("u,click\n")
    with pytest.raises(DataError) as raised:
        find_files(configure(tmp_path / "log.dat", ("u",)).log, "log")
    assert "log.format" in raised.value.remedy


def test_a_checksum_is_that_of_the_stored_bytes(tmp_path: Path) -> None:
    path = tmp_path / "log.csv.gz"
    path.write_bytes(gzip.compress(b"u,click\n"))
    stored = path.read_bytes()
    found = checksum(str(path))
    assert (found.bytes, found.sha256) == (len(stored), hashlib.sha256(stored).hexdigest())


def test_ranges_tile_the_file_and_travel_small(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_bytes(rows_text(1000))
    config = configure(path, ("u",), block_bytes=2048)
    (file,) = find_files(config.log, "log")
    parts = list(plan_ranges(file, config))
    assert parts[0].start == len(b"u,click\n")
    assert [part.start + part.length for part in parts] == [
        *(part.start for part in parts[1:]),
        path.stat().st_size,
    ]
    assert max(part.length for part in parts) <= 2048
    assert pickle.loads(pickle.dumps(parts)) == parts
    assert len(pickle.dumps(parts[0])) < 1024


def test_a_file_that_was_cut_since_it_was_planned_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_bytes(rows_text(100))
    config = configure(path, ("u",))
    (file,) = find_files(config.log, "log")
    (part,) = plan_ranges(file, config)
    path.write_bytes(rows_text(90))
    with pytest.raises(DataError, match="stays as it is"):
        list(read_range(part, config))
