"""Whether a data set is whole and is the one that the transformation made.

`check_shards` is quick and runs before every training; `validate` reads every record, and says
which one is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from google.protobuf.message import DecodeError

from features.errors import DataError
from features.manifest import Manifest, Shard, SplitName
from features.records import DENSE, GROUP, LABEL, MULTI_IDS, MULTI_LENGTHS, SPARSE, WEIGHT
from features.spec import InputSpec
from features.tensorflow import tf
from models.parsing import parser

__all__ = ["check_fingerprint", "check_shards", "reading", "validate"]

AGAIN = "run `make preprocess` again"
RECORDS_AT_A_TIME = 1024


def check_fingerprint(manifest: Manifest, fingerprint: str, directory: Path) -> None:
    """Refuse a data set that another transformation made.

    Raises:
        DataError: The fingerprints differ.
    """
    if manifest.fingerprint != fingerprint:
        raise DataError(
            "data and transformation have one fingerprint",
            received=f"data {manifest.fingerprint}, transformation {fingerprint}",
            where=str(directory),
            remedy=AGAIN,
        )


def check_shards(directory: Path, manifest: Manifest) -> None:
    """Refuse a data set whose files are not those of its manifest, by name and size.

    Raises:
        DataError: A shard is missing, cut short, longer, or not of this data set; or there is
            nothing to train on.
    """
    for name, split in manifest.splits.items():
        for shard in split.shards:
            _check_shard(directory / shard.file, shard)
        _check_no_others(directory, name, split.shards)
    if not manifest.splits["train"].examples:
        raise DataError(
            "the training split has at least one example",
            received="0 examples",
            where=str(directory),
            remedy="widen the split or give a log with more rows, then run `make preprocess`",
        )


def _check_shard(path: Path, shard: Shard) -> None:
    if not path.is_file():
        raise _error("every shard of the manifest is there", "no such file", str(path))
    size = path.stat().st_size
    if size != shard.bytes:
        rule = "a shard has the size that the manifest says"
        raise _error(rule, f"{size} bytes instead of {shard.bytes}", str(path))


def _check_no_others(directory: Path, name: SplitName, shards: Sequence[Shard]) -> None:
    found = {path.name for path in directory.glob(f"{name}-*.tfrecord*")}
    others = sorted(found - {shard.file for shard in shards})
    if others:
        raise _error("every shard is in the manifest", ", ".join(others), str(directory))


@contextmanager
def reading(
    directory: Path, manifest: Manifest, spec: InputSpec, splits: Sequence[SplitName]
) -> Iterator[None]:
    """Turn a fault that TensorFlow meets in the input into one that names file and record.

    A fault that no record of these splits explains is not the data's, and is passed on.

    Raises:
        DataError: A record of these splits is damaged or not of this data set.
    """
    try:
        yield
    except (tf.errors.InvalidArgumentError, tf.errors.DataLossError, UnicodeDecodeError) as error:
        try:
            validate(directory, manifest, spec, splits)
        except DataError as found:
            raise found from error
        raise


def validate(
    directory: Path,
    manifest: Manifest,
    spec: InputSpec,
    splits: Sequence[SplitName] = ("train", "eval", "test"),
    progress: Callable[[int], None] = lambda records: None,
) -> int:
    """Read every record of the splits, with its checksum, and parse it.

    Args:
        directory: The data directory.
        manifest: Its manifest.
        spec: The model's inputs.
        splits: The splits to read.
        progress: Called with the number of records read since the last call.

    Returns:
        The number of records.

    Raises:
        DataError: The first record that is damaged or not of this data set.
    """
    parse = tf.function(parser(spec, manifest), reduce_retracing=True)
    total = 0
    for name in splits:
        for shard in manifest.splits[name].shards:
            for records in _blocks(directory / shard.file, manifest.compression, shard.examples):
                _check_block(parse, records, spec, manifest)
                progress(len(records.serialised))
                total += len(records.serialised)
    return total


class _Block:
    """Some records of a file; `first` is the place of the first, counted from 0."""

    def __init__(self, path: Path, first: int, serialised: list[bytes]) -> None:
        self.path, self.first, self.serialised = path, first, serialised

    def where(self, index: int) -> str:
        return f"{self.path}, record {self.first + index}"


def _blocks(path: Path, compression: str, examples: int) -> Iterator[_Block]:
    serialised: list[bytes] = []
    first = 0
    try:
        for record in tf.data.TFRecordDataset(str(path), compression).as_numpy_iterator():
            serialised.append(record)
            if len(serialised) == RECORDS_AT_A_TIME:
                yield _Block(path, first, serialised)
                first, serialised = first + len(serialised), []
    except (tf.errors.DataLossError, tf.errors.NotFoundError) as error:
        # Whatever came before the damage is checked first, so that the earliest fault is named.
        yield _Block(path, first, serialised)
        where = f"{path}, record {first + len(serialised)}"
        raise _error("a record is whole and has its checksum", error.message, where) from error
    yield _Block(path, first, serialised)
    found = first + len(serialised)
    if found != examples:
        rule = "a shard has the records that the manifest says"
        raise _error(rule, f"{found} records instead of {examples}", str(path))


def _check_block(
    parse: Callable[[Any], Any], block: _Block, spec: InputSpec, manifest: Manifest
) -> None:
    if not block.serialised:
        return
    try:
        parse(tf.constant(block.serialised))
    except (tf.errors.InvalidArgumentError, UnicodeDecodeError) as error:
        # TensorFlow quotes the bytes of the record, which Python may fail to decode as a message.
        for index, serialised in enumerate(block.serialised):
            _check_record(serialised, block.where(index), spec, manifest)
        raise _error("records can be parsed", str(error), block.where(0)) from error


def _check_record(serialised: bytes, where: str, spec: InputSpec, manifest: Manifest) -> None:
    try:
        example = tf.train.Example.FromString(serialised)
    except DecodeError as error:
        raise _error("a record is a tf.Example", str(error), where) from error
    for name, kind, count in _layout(spec, manifest):
        _check_feature(example.features.feature, name, kind, count, where)
    feature = example.features.feature
    if spec.sparse:
        ids = feature[SPARSE].int64_list.value
        for value, sparse in zip(ids, spec.sparse, strict=True):
            _check_id(value, sparse.rows, sparse.name, where)
    if spec.multi:
        ids, lengths = feature[MULTI_IDS].int64_list.value, feature[MULTI_LENGTHS].int64_list.value
        _check_multi(list(ids), list(lengths), spec, where)


def _layout(spec: InputSpec, manifest: Manifest) -> Iterator[tuple[str, str, int | None]]:
    """Name, kind and number of values of each feature of a record; None is any number."""
    yield LABEL, "float_list", 1
    if manifest.has_weight:
        yield WEIGHT, "float_list", 1
    if manifest.has_group:
        yield GROUP, "int64_list", 1
    if spec.dense:
        yield DENSE, "float_list", len(spec.dense)
    if spec.sparse:
        yield SPARSE, "int64_list", len(spec.sparse)
    if spec.multi:
        yield MULTI_IDS, "int64_list", None
        yield MULTI_LENGTHS, "int64_list", len(spec.multi)


def _check_feature(features: Any, name: str, kind: str, count: int | None, where: str) -> None:
    found = features[name].WhichOneof("kind") if name in features else None
    at = f"{where}, feature {name}"
    if found != kind and not (found is None and count is None):
        raise _error(f"{name} is a {kind}", found or "no such feature", at)
    values = len(getattr(features[name], kind).value)
    if count is not None and values != count:
        raise _error(f"{name} has {count} values", f"{values} values", at)


def _check_id(value: int, rows: int, name: str, where: str) -> None:
    if not 0 <= value < rows:
        raise _error(f"an id is in [0, {rows})", value, f"{where}, feature {name}")


def _check_multi(ids: list[int], lengths: list[int], spec: InputSpec, where: str) -> None:
    if sum(lengths) != len(ids):
        rule = f"{MULTI_LENGTHS} add up to the number of {MULTI_IDS}"
        raise _error(rule, f"{lengths} for {len(ids)} ids", f"{where}, feature {MULTI_LENGTHS}")
    start = 0
    for length, multi in zip(lengths, spec.multi, strict=True):
        if not 0 <= length <= multi.max_length:
            at = f"{where}, feature {multi.name}"
            raise _error(f"an example has 0 to {multi.max_length} values", length, at)
        for value in ids[start : start + length]:
            _check_id(value, multi.rows, multi.name, where)
        start += length


def _error(rule: str, received: object, where: str) -> DataError:
    return DataError(rule, received=received, where=where, remedy=AGAIN)
