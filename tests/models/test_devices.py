from pathlib import Path

import pytest

from features.config import TrainConfig
from features.errors import TrainingError
from features.tensorflow import tf
from models.cluster import Cluster
from models.devices import build_strategy, find_devices, host_memory_bytes, local_replicas
from models.strategy import Choice, StrategyName


def meminfo(tmp_path: Path, kib: int) -> Path:
    path = tmp_path / "meminfo"
    path.write_text(f"MemTotal:       {kib} kB\nMemFree:        1 kB\n")
    return path


def test_memory_is_the_hosts_without_a_control_group(tmp_path: Path) -> None:
    assert host_memory_bytes(meminfo(tmp_path, 8), (tmp_path / "absent",)) == 8192


@pytest.mark.parametrize(("limit", "expected"), [("4096", 4096), ("max", 8192), ("99999", 8192)])
def test_memory_is_no_more_than_the_control_groups(
    tmp_path: Path, limit: str, expected: int
) -> None:
    path = tmp_path / "memory.max"
    path.write_text(limit + "\n")
    assert host_memory_bytes(meminfo(tmp_path, 8), (path,)) == expected


def test_configured_memory_is_taken() -> None:
    devices = find_devices(TrainConfig(device_memory_bytes=123), environment={})
    assert devices.memory_bytes == 123


def test_logical_devices_are_counted() -> None:
    devices = find_devices(TrainConfig(), environment={})
    if devices.kind == "cpu":
        assert devices.count == len(tf.config.list_logical_devices("CPU"))
    else:
        assert devices.count == len(tf.config.list_logical_devices("GPU"))


def test_a_tpu_that_is_named_is_the_device() -> None:
    assert find_devices(TrainConfig(), environment={"TPU_NAME": "local"}).kind == "tpu"


def test_mirrored_has_a_replica_on_each_device() -> None:
    strategy = build_strategy(Choice("mirrored", ""), TrainConfig())
    kind = "GPU" if tf.config.list_logical_devices("GPU") else "CPU"
    assert local_replicas(strategy, Cluster()) == len(tf.config.list_logical_devices(kind))


def test_default_has_one_replica() -> None:
    strategy = build_strategy(Choice("default", ""), TrainConfig())
    assert local_replicas(strategy, Cluster()) == 1


@pytest.mark.parametrize("name", ["parameter_server", "tpu"])
def test_a_strategy_of_a_later_version_is_refused(name: StrategyName) -> None:
    with pytest.raises(TrainingError, match="not available yet"):
        build_strategy(Choice(name, ""), TrainConfig())


def test_nccl_without_a_gpu_is_refused() -> None:
    if tf.config.list_physical_devices("GPU"):
        pytest.skip("there is a GPU")
    with pytest.raises(TrainingError, match="no GPU"):
        build_strategy(Choice("multi_worker", ""), TrainConfig(communication="nccl"))
