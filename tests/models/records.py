"""A small data set of real TFRecords whose dense value is the number of the row."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from features.manifest import Manifest, Shard, Split
from features.spec import InputSpec, MultiInput, SparseInput
from features.tensorflow import tf

SPEC = InputSpec(
    ("row", "half"),
    (SparseInput("user", 1000, "user", "both"), SparseInput("item", 7, "item", "both")),
    (
        MultiInput("tags", 50, "tags", "deep", 3, "mean"),
        MultiInput("genres", 9, "genres", "deep", 2, "sum"),
    ),
)


def tags(row: int) -> list[list[int]]:
    return [[1 + (row + k) % 49 for k in range(row % 4)], [1 + row % 8] * (row % 3)]


def features(row: int) -> dict[str, Any]:
    lists = tags(row)
    return {
        "label": [float(row % 2)],
        "dense": [float(row), row / 2],
        "sparse": [row % 1000, row % 7],
        "multi_ids": [value for values in lists for value in values],
        "multi_lengths": [len(values) for values in lists],
    }


def example(values: Mapping[str, Sequence[int] | Sequence[float]]) -> bytes:
    feature = {}
    for name, numbers in values.items():
        if any(isinstance(number, float) for number in numbers):
            feature[name] = tf.train.Feature(float_list=tf.train.FloatList(value=numbers))
        else:
            feature[name] = tf.train.Feature(int64_list=tf.train.Int64List(value=numbers))
    serialised = tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()
    assert isinstance(serialised, bytes)
    return serialised


def write_shard(path: Path, records: Sequence[bytes], compression: str = "") -> Shard:
    if records:
        with tf.io.TFRecordWriter(str(path), compression) as writer:
            for record in records:
                writer.write(record)
    else:
        path.write_bytes(b"")
    return Shard(file=path.name, examples=len(records), bytes=path.stat().st_size)


def split_of(shards: Sequence[Shard]) -> Split:
    return Split(
        examples=sum(shard.examples for shard in shards),
        positives=0,
        first_time=None,
        last_time=None,
        shards=tuple(shards),
    )


def write_data(
    directory: Path, counts: Sequence[int], extra: Mapping[str, Any] | None = None
) -> Manifest:
    """Write a training split with so many rows in each shard; rows are numbered from 0."""
    shards, first = [], 0
    for number, count in enumerate(counts):
        path = directory / f"train-{number:05d}-of-{len(counts):05d}.tfrecord"
        rows = range(first, first + count)
        records = [example(features(row) | dict(extra or {})) for row in rows]
        shards.append(write_shard(path, records))
        first += count
    return manifest_of(shards, has_weight="weight" in (extra or {}), has_group=bool(extra))


def manifest_of(
    shards: Sequence[Shard], *, has_weight: bool = False, has_group: bool = False
) -> Manifest:
    return Manifest(
        name="test",
        key="key",
        fingerprint="abc",
        compression="",
        has_weight=has_weight,
        has_group=has_group,
        rows=sum(shard.examples for shard in shards),
        rejects={},
        dropped={},
        inputs=(),
        splits={"train": split_of(shards)},
        versions={},
    )
