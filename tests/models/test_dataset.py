from pathlib import Path
from typing import Any

import numpy as np
import pytest

from features.tensorflow import tf
from models.dataset import Examples, distributed_batches, replica_batches
from tests.models.records import SPEC, tags, write_data


def read(examples: Examples, **order: Any) -> list[dict[str, Any]]:
    return list(replica_batches(examples, **order).as_numpy_iterator())


def rows(batches: list[dict[str, Any]]) -> list[int]:
    return [int(row) for b in batches for row in b["dense"][b["mask"], 0]]


def global_batches(
    directory: Path, manifest: Any, size: int, local: int, workers: int, **order: Any
) -> list[list[int]]:
    """Rows of each global batch, the replicas of the first worker first."""
    examples = Examples(directory, manifest, SPEC, "train", size, local, workers, "record")
    parts = [read(examples, worker=worker, **order) for worker in range(workers)]
    return [
        [row for part in parts for row in rows(part[step * local : (step + 1) * local])]
        for step in range(examples.steps)
    ]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Any:
    directory = tmp_path_factory.mktemp("data")
    return directory, write_data(directory, [40, 0, 41, 22])


def test_a_batch_has_the_inputs_of_its_rows(data: Any) -> None:
    directory, manifest = data
    batch = read(Examples(directory, manifest, SPEC, "train", 8))[0]
    assert {name: (v.dtype.name, v.shape) for name, v in batch.items()} == {
        "dense": ("float32", (8, 2)),
        "sparse": ("int64", (8, 2)),
        "multi": ("int64", (8, 2, 3)),
        "label": ("float32", (8,)),
        "weight": ("float32", (8,)),
        "group": ("int64", (8,)),
        "mask": ("bool", (8,)),
    }
    padded = [[(values + [0, 0, 0])[:3] for values in tags(row)] for row in range(8)]
    assert batch["multi"].tolist() == padded
    assert batch["sparse"].tolist() == [[row, row % 7] for row in range(8)]
    assert batch["label"].tolist() == [row % 2 for row in range(8)]


def test_weight_and_group_are_read_where_there_are_any(tmp_path: Path) -> None:
    manifest = write_data(tmp_path, [3], {"weight": [2.5], "group": [-(1 << 60)]})
    batch = read(Examples(tmp_path, manifest, SPEC, "train", 4))[0]
    assert batch["weight"].tolist() == [2.5, 2.5, 2.5, 0.0]
    assert batch["group"].tolist() == [-(1 << 60)] * 3 + [0]


def test_shapes_are_static(data: Any) -> None:
    directory, manifest = data
    spec = replica_batches(Examples(directory, manifest, SPEC, "train", 8)).element_spec
    assert all(part.shape.is_fully_defined() for part in spec.values())


def test_without_shuffling_rows_come_once_in_their_own_order(data: Any) -> None:
    directory, manifest = data
    batches = read(Examples(directory, manifest, SPEC, "train", 8))
    assert rows(batches) == list(range(103))
    assert [int(b["mask"].sum()) for b in batches] == [8] * 12 + [7]


def test_padding_has_neither_weight_nor_values(data: Any) -> None:
    directory, manifest = data
    last = read(Examples(directory, manifest, SPEC, "train", 8))[-1]
    assert last["mask"].tolist() == [True] * 7 + [False]
    assert [float(np.abs(part[-1]).sum()) for part in last.values()] == [0.0] * len(last)


def test_shuffling_keeps_every_row_once_and_padding_last(data: Any) -> None:
    directory, manifest = data
    batches = read(Examples(directory, manifest, SPEC, "train", 8), shuffle_rows=32)
    assert rows(batches) != list(range(103))
    assert sorted(rows(batches)) == list(range(103))
    assert [int(b["mask"].sum()) for b in batches] == [8] * 12 + [7]


def test_seed_and_epoch_decide_the_order(data: Any) -> None:
    directory, manifest = data
    examples = Examples(directory, manifest, SPEC, "train", 8)
    orders = [
        rows(read(examples, seed=seed, epoch=epoch, shuffle_rows=200))
        for seed, epoch in [(1, 0), (1, 0), (1, 1), (2, 0)]
    ]
    assert orders[0] == orders[1]
    assert len({tuple(order) for order in orders}) == 3


def test_the_order_does_not_depend_on_tensorflows_global_seed(data: Any) -> None:
    directory, manifest = data
    examples = Examples(directory, manifest, SPEC, "train", 8)
    tf.random.set_seed(1)
    first = rows(read(examples, shuffle_rows=200))
    tf.random.set_seed(2)
    assert rows(read(examples, shuffle_rows=200)) == first


@pytest.mark.parametrize("skip", [1, 5, 7])
def test_skipping_batches_gives_the_rest_of_the_epoch(data: Any, skip: int) -> None:
    directory, manifest = data
    examples = Examples(directory, manifest, SPEC, "train", 8, local_replicas=2)
    order = {"seed": 3, "epoch": 1, "shuffle_rows": 50}
    whole = [rows([batch]) for batch in read(examples, **order)]
    rest = [rows([batch]) for batch in read(examples, skip_batches=skip, **order)]
    assert rest == whole[2 * skip :]


@pytest.mark.parametrize(("size", "local", "workers"), [(4, 2, 1), (2, 2, 2), (4, 1, 2)])
@pytest.mark.parametrize("shuffle_rows", [0, 40])
def test_global_batches_do_not_depend_on_who_trains(
    data: Any, size: int, local: int, workers: int, shuffle_rows: int
) -> None:
    directory, manifest = data
    order = {"seed": 5, "epoch": 2, "shuffle_rows": shuffle_rows}
    one = global_batches(directory, manifest, 8, 1, 1, **order)
    assert global_batches(directory, manifest, size, local, workers, **order) == one


def test_workers_with_uneven_files_get_as_many_batches(tmp_path: Path) -> None:
    manifest = write_data(tmp_path, [100, 103])
    examples = Examples(tmp_path, manifest, SPEC, "train", 10, workers=2)
    assert examples.plan.by == "file"
    parts = [read(examples, worker=worker, shuffle_rows=64) for worker in range(2)]
    assert [len(part) for part in parts] == [11, 11]
    assert sorted(rows(parts[0]) + rows(parts[1])) == list(range(203))


def test_a_worker_without_rows_gets_empty_batches(tmp_path: Path) -> None:
    manifest = write_data(tmp_path, [3])
    examples = Examples(tmp_path, manifest, SPEC, "train", 8, workers=2)
    parts = [read(examples, worker=worker) for worker in range(2)]
    assert [[int(b["mask"].sum()) for b in part] for part in parts] == [[3], [0]]


def test_gzip_shards_are_read(tmp_path: Path) -> None:
    from tests.models.records import example, features, manifest_of, write_shard

    shard = write_shard(
        tmp_path / "train-00000-of-00001.tfrecord.gz",
        [example(features(row)) for row in range(5)],
        "GZIP",
    )
    manifest = manifest_of([shard]).model_copy(update={"compression": "GZIP"})
    assert rows(read(Examples(tmp_path, manifest, SPEC, "train", 8))) == list(range(5))


def test_a_mirrored_strategy_deals_a_global_batch_in_order(data: Any) -> None:
    directory, manifest = data
    devices = [device.name for device in tf.config.list_logical_devices("CPU")]
    strategy = tf.distribute.MirroredStrategy(devices)
    examples = Examples(directory, manifest, SPEC, "train", 4, len(devices))
    dealt = [
        [int(part[0, 0]) for part in strategy.experimental_local_results(batch["dense"])]
        for batch in distributed_batches(strategy, examples)
    ]
    firsts = [first for step in dealt for first in step]
    real = range(0, 103, 4)
    assert firsts[: len(real)] == list(real)
    assert {len(step) for step in dealt} == {len(devices)}
