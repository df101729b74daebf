from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from features.errors import DataError
from features.manifest import Manifest
from models.dataset import Examples, replica_batches
from models.validate import check_fingerprint, check_shards, reading, validate
from tests.models.records import SPEC, example, features, manifest_of, write_data, write_shard

FIRST = "train-00000-of-00002.tfrecord"
SECOND = "train-00001-of-00002.tfrecord"


def with_record(directory: Path, change: dict[str, Any], at: int = 3) -> Manifest:
    """Write two shards, the second with one record that is changed."""
    good = [example(features(row)) for row in range(6)]
    values = {name: v for name, v in (features(at) | change).items() if v is not None}
    bad = [*good[:at], example(values), *good[at + 1 :]]
    return manifest_of([write_shard(directory / FIRST, good), write_shard(directory / SECOND, bad)])


@pytest.mark.parametrize(
    ("change", "feature", "received"),
    [
        ({"sparse": [1000, 0]}, "user", "1000"),
        ({"sparse": [0, -1]}, "item", "-1"),
        ({"multi_ids": [50], "multi_lengths": [1, 0]}, "tags", "50"),
        ({"multi_ids": [1, 9], "multi_lengths": [1, 1]}, "genres", "9"),
        ({"multi_ids": [1] * 4, "multi_lengths": [4, 0]}, "tags", "4"),
        ({"multi_ids": [1], "multi_lengths": [1, 1]}, "multi_lengths", "[1, 1] for 1 ids"),
        ({"dense": [1, 2]}, "dense", "int64_list"),
        ({"sparse": [1.0, 2.0]}, "sparse", "float_list"),
        ({"dense": [1.0]}, "dense", "1 values"),
        ({"sparse": [1, 2, 3]}, "sparse", "3 values"),
        ({"label": None}, "label", "no such feature"),
    ],
)
def test_a_wrong_record_is_refused_by_the_reader_and_named(
    tmp_path: Path, change: dict[str, Any], feature: str, received: str
) -> None:
    manifest = with_record(tmp_path, change)
    with pytest.raises(DataError) as raised, reading(tmp_path, manifest, SPEC, ["train"]):
        list(replica_batches(Examples(tmp_path, manifest, SPEC, "train", 4)))
    assert raised.value.where == f"{tmp_path / SECOND}, record 3, feature {feature}"
    assert str(raised.value.received) == received


def test_a_record_that_is_no_example_is_named(tmp_path: Path) -> None:
    shard = write_shard(tmp_path / "train-0.tfrecord", [example(features(0)), b"\x99 no example"])
    with pytest.raises(DataError) as raised:
        validate(tmp_path, manifest_of([shard]), SPEC, ["train"])
    assert raised.value.where.endswith("train-0.tfrecord, record 1")


def test_a_flipped_byte_is_named_by_file_and_record(tmp_path: Path) -> None:
    manifest = write_data(tmp_path, [5, 5])
    content = bytearray((tmp_path / SECOND).read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / SECOND).write_bytes(content)
    check_shards(tmp_path, manifest)
    with pytest.raises(DataError) as raised:
        validate(tmp_path, manifest, SPEC, ["train"])
    assert raised.value.where == f"{tmp_path / SECOND}, record 2"


def test_a_shard_that_was_cut_is_named_with_its_last_record(tmp_path: Path) -> None:
    manifest = write_data(tmp_path, [5, 5])
    (tmp_path / FIRST).write_bytes((tmp_path / FIRST).read_bytes()[:-7])
    with pytest.raises(DataError) as raised:
        validate(tmp_path, manifest, SPEC, ["train"])
    assert raised.value.where == f"{tmp_path / FIRST}, record 4"


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-7])


def extra(path: Path) -> None:
    path.with_name("train-00002-of-00003.tfrecord").write_bytes(b"")


@pytest.mark.parametrize(
    ("damage", "rule"),
    [
        (cut, "a shard has the size that the manifest says"),
        (Path.unlink, "every shard of the manifest is there"),
        (extra, "every shard is in the manifest"),
    ],
)
def test_a_damaged_data_set_is_refused_before_training(
    tmp_path: Path, damage: Callable[[Path], None], rule: str
) -> None:
    manifest = write_data(tmp_path, [5, 5])
    check_shards(tmp_path, manifest)
    damage(tmp_path / SECOND)
    with pytest.raises(DataError) as raised:
        check_shards(tmp_path, manifest)
    assert raised.value.rule == rule


def test_an_empty_shard_is_valid(tmp_path: Path) -> None:
    manifest = write_data(tmp_path, [5, 0])
    check_shards(tmp_path, manifest)
    assert validate(tmp_path, manifest, SPEC, ["train"]) == 5


def test_an_empty_training_split_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="at least one example"):
        check_shards(tmp_path, write_data(tmp_path, [0]))


def test_two_fingerprints_are_both_named(tmp_path: Path) -> None:
    manifest = write_data(tmp_path, [1])
    check_fingerprint(manifest, "abc", tmp_path)
    with pytest.raises(DataError, match="data abc, transformation xyz"):
        check_fingerprint(manifest, "xyz", tmp_path)
