"""The devices of this process and the memory that each of them has."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from features.config import TrainConfig
from features.errors import TrainingError
from features.tensorflow import tf
from models.cluster import Cluster
from models.strategy import Choice, Devices

__all__ = ["build_strategy", "find_devices", "host_memory_bytes", "local_replicas"]

NVIDIA_SMI_SECONDS = 30.0

MEMINFO = Path("/proc/meminfo")
CGROUP_LIMITS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)


def find_devices(config: TrainConfig, environment: Mapping[str, str] = os.environ) -> Devices:
    """Return the TPU that is named, or the GPUs, or the logical CPUs of this process.

    Nothing is initialised: a multi-worker strategy has to be built before any device is used.
    Memory is `train.device_memory_bytes`, else what the GPU says, else that of the host or of the
    control group, whichever is less. Logical CPUs share it.
    """
    configured = config.device_memory_bytes
    tpus = _logical_count("TPU")
    if tpus or environment.get("TPU_NAME"):
        return Devices("tpu", max(1, tpus), configured or host_memory_bytes())
    gpus = _logical_count("GPU")
    if gpus:
        return Devices("gpu", gpus, configured or _gpu_memory_bytes())
    cpus = _logical_count("CPU")
    return Devices("cpu", cpus, configured or host_memory_bytes() // cpus)


def host_memory_bytes(meminfo: Path = MEMINFO, limits: tuple[Path, ...] = CGROUP_LIMITS) -> int:
    """Return the memory that this process may use: the host's, or less by its control group."""
    total = next(
        int(line.split()[1]) * 1024
        for line in meminfo.read_text().splitlines()
        if line.startswith("MemTotal:")
    )
    texts = [path.read_text().strip() for path in limits if path.is_file()]
    return min([total, *(int(text) for text in texts if text.isdigit())])


def build_strategy(choice: Choice, config: TrainConfig) -> Any:
    """Return the `tf.distribute.Strategy` of a choice.

    Raises:
        TrainingError: It needs a device that is not there, or is not available in this version.
    """
    if choice.name == "default":
        return tf.distribute.get_strategy()
    if choice.name == "mirrored":
        return tf.distribute.MirroredStrategy(_replica_devices())
    if choice.name == "multi_worker":
        return tf.distribute.MultiWorkerMirroredStrategy(
            communication_options=_communication(config)
        )
    raise TrainingError(
        "the strategy is one that this version can train with",
        received=f"{choice.name} (not available yet in this version)",
        where="train.strategy",
        remedy="use tables that fit one worker, with default, mirrored or multi_worker",
    )


def local_replicas(strategy: Any, cluster: Cluster) -> int:
    """Return the number of replicas in this process."""
    return int(strategy.num_replicas_in_sync) // cluster.world_size


def _replica_devices() -> list[str]:
    kind = "GPU" if tf.config.list_logical_devices("GPU") else "CPU"
    return [device.name for device in tf.config.list_logical_devices(kind)]


def _communication(config: TrainConfig) -> Any:
    implementations = tf.distribute.experimental.CommunicationImplementation
    if config.communication == "nccl" and not tf.config.list_logical_devices("GPU"):
        raise TrainingError(
            "NCCL exchanges gradients between GPUs",
            received="no GPU",
            where="train.communication",
            remedy="set train.communication to auto or ring",
        )
    implementation = implementations[config.communication.upper()]
    return tf.distribute.experimental.CommunicationOptions(implementation=implementation)


def _logical_count(kind: str) -> int:
    devices = tf.config.list_physical_devices(kind)
    return sum(len(tf.config.get_logical_device_configuration(d) or (d,)) for d in devices)


def _gpu_memory_bytes() -> int:
    """Return the memory of the smallest GPU."""
    try:
        answer = subprocess.run(
            ("nvidia-smi", "--query-gpu=memory.total", "--format=csv,noheader,nounits"),
            capture_output=True,
            text=True,
            check=True,
            timeout=NVIDIA_SMI_SECONDS,
        ).stdout
        return min(int(line) for line in answer.splitlines()) << 20
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise TrainingError(
            "the memory of a GPU is known",
            received=f"nvidia-smi: {error}",
            where="train.device_memory_bytes",
            remedy="set train.device_memory_bytes",
        ) from error
