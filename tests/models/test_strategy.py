from typing import Any

import pytest

from features.config import ModelConfig
from features.errors import TrainingError
from features.spec import InputSpec, MultiInput, SparseInput
from models.cluster import Cluster
from models.strategy import Devices, choose_strategy, table_bytes

GIB = 1 << 30
CPU = Devices("cpu", 1, 10 * GIB)
TWO_GPUS = Devices("gpu", 2, 10 * GIB)
TPU = Devices("tpu", 8, 16 * GIB)
ALONE = Cluster()
TWO_WORKERS = Cluster(workers=("a:1", "b:1"))
SERVERS = Cluster(workers=("a:1", "b:1"), servers=("c:1", "d:1", "e:1"))
CHIEF = Cluster(workers=("a:1",), chief="z:1", servers=("c:1",), task="chief")


@pytest.mark.parametrize(
    ("needed", "devices", "cluster", "name"),
    [
        (GIB, CPU, ALONE, "default"),
        (8 * GIB, CPU, ALONE, "default"),
        (GIB, TWO_GPUS, ALONE, "mirrored"),
        (GIB, CPU, TWO_WORKERS, "multi_worker"),
        (GIB, TWO_GPUS, TWO_WORKERS, "multi_worker"),
        (20 * GIB, CPU, SERVERS, "parameter_server"),
        (GIB, CPU, CHIEF, "parameter_server"),
        (GIB, TPU, ALONE, "tpu"),
    ],
)
def test_tables_devices_and_cluster_decide(
    needed: int, devices: Devices, cluster: Cluster, name: str
) -> None:
    assert choose_strategy(needed, devices, cluster).name == name


def test_the_reason_has_the_numbers() -> None:
    choice = choose_strategy(GIB, CPU, ALONE)
    assert choice.reason == (
        "tables with slots take 1.0 GiB and fit the one device (1 CPU with 10.0 GiB each); "
        "one replica needs no exchange"
    )


@pytest.mark.parametrize(
    ("needed", "devices", "cluster"),
    [
        (9 * GIB, CPU, ALONE),
        (9 * GIB, TWO_GPUS, ALONE),
        (9 * GIB, CPU, TWO_WORKERS),
        (25 * GIB, CPU, SERVERS),
        (13 * GIB, TPU, ALONE),
    ],
)
def test_what_fits_nowhere_names_both_numbers_of_bytes(
    needed: int, devices: Devices, cluster: Cluster
) -> None:
    with pytest.raises(TrainingError) as raised:
        choose_strategy(needed, devices, cluster)
    held = devices.table_memory_bytes * (len(cluster.servers) or 1)
    assert f"{needed} bytes needed" in str(raised.value.received)
    assert f"{held} bytes there are" in str(raised.value.received)


@pytest.mark.parametrize(
    ("wanted", "devices", "cluster"),
    [
        ("default", CPU, ALONE),
        ("mirrored", CPU, ALONE),
        ("multi_worker", CPU, TWO_WORKERS),
        ("parameter_server", CPU, SERVERS),
        ("tpu", TPU, ALONE),
    ],
)
def test_a_named_strategy_is_taken(wanted: Any, devices: Devices, cluster: Cluster) -> None:
    choice = choose_strategy(GIB, devices, cluster, wanted)
    assert choice.name == wanted
    assert choice.reason.startswith("named in train.strategy")


@pytest.mark.parametrize(
    ("wanted", "devices", "cluster"),
    [
        ("default", CPU, TWO_WORKERS),
        ("mirrored", TWO_GPUS, TWO_WORKERS),
        ("multi_worker", CPU, ALONE),
        ("multi_worker", CPU, SERVERS),
        ("parameter_server", CPU, TWO_WORKERS),
        ("tpu", TWO_GPUS, ALONE),
    ],
)
def test_a_named_strategy_that_the_cluster_contradicts_is_an_error(
    wanted: Any, devices: Devices, cluster: Cluster
) -> None:
    with pytest.raises(TrainingError, match=f"the strategy {wanted} needs"):
        choose_strategy(GIB, devices, cluster, wanted)


@pytest.mark.parametrize(("optimizer", "copies"), [("adagrad", 2), ("lazy_adam", 3), ("ftrl", 3)])
def test_a_table_counts_first_order_weights_and_slots(optimizer: Any, copies: int) -> None:
    spec = InputSpec(
        (),
        (SparseInput("u", 100, "u", "both"), SparseInput("w", 10, "w", "wide")),
        (MultiInput("g", 7, "g", "deep", 3, "mean"),),
    )
    counted = table_bytes(spec, ModelConfig(embedding_dim=4), optimizer)
    expected = {"u": 100 * 5, "w": 10 * 1, "g": 7 * 4}
    assert counted == {table: weights * 4 * copies for table, weights in expected.items()}


def test_a_shared_table_counts_once() -> None:
    spec = InputSpec((), (SparseInput("a", 10, "t", "deep"), SparseInput("b", 10, "t", "wide")), ())
    assert table_bytes(spec, ModelConfig(embedding_dim=4), "adagrad") == {"t": 10 * 5 * 4 * 2}
