"""Which `tf.distribute` strategy the tables call for, with the reason in words.

MultiWorkerMirroredStrategy replicates tables: it adds speed and never makes a table fit. Only
parameter servers hold more than one process can.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from features.config import ModelConfig
from features.errors import TrainingError
from features.spec import InputSpec
from models.cluster import Cluster

__all__ = ["Choice", "Devices", "StrategyName", "choose_strategy", "table_bytes"]

StrategyName = Literal["default", "mirrored", "multi_worker", "parameter_server", "tpu"]
Optimizer = Literal["adagrad", "lazy_adam", "ftrl"]

FLOAT_BYTES = 4
SLOTS: dict[Optimizer, int] = {"adagrad": 1, "lazy_adam": 2, "ftrl": 2}
"""Values that an optimizer keeps beside each weight of a table."""

RESERVED_SHARE = 0.2
"""Share of a device left to activations, gradients and buffers."""


@dataclass(frozen=True)
class Devices:
    """The devices of one process.

    Attributes:
        kind: `cpu`, `gpu` or `tpu`.
        count: How many replicas they hold.
        memory_bytes: Memory of one of them.
    """

    kind: Literal["cpu", "gpu", "tpu"]
    count: int
    memory_bytes: int

    @property
    def table_memory_bytes(self) -> int:
        """Memory of one of them that tables may fill."""
        return int(self.memory_bytes * (1 - RESERVED_SHARE))

    def __str__(self) -> str:
        """Return the devices in words."""
        kind = self.kind.upper() + ("" if self.count == 1 else "s")
        return f"{self.count} {kind} with {readable_bytes(self.memory_bytes)} each"


@dataclass(frozen=True)
class Choice:
    """A strategy and why it is the one.

    Attributes:
        name: The strategy.
        reason: One sentence.
    """

    name: StrategyName
    reason: str


def table_bytes(spec: InputSpec, model: ModelConfig, optimizer: Optimizer) -> dict[str, int]:
    """Return the bytes of each table, first-order weights and optimizer slots included.

    A row holds D weights where a feature of the deep part uses the table, and one of the first
    order where a feature of the wide part does; each weight has the optimizer's slots beside it.
    """
    weight_bytes = FLOAT_BYTES * (1 + SLOTS[optimizer])
    return {
        table: rows * _row_weights(spec, table, model.embedding_dim) * weight_bytes
        for table, rows in spec.tables.items()
    }


def _row_weights(spec: InputSpec, table: str, embedding_dim: int) -> int:
    uses = {feature.use for feature in (*spec.sparse, *spec.multi) if feature.table == table}
    return embedding_dim * bool(uses & {"both", "deep"}) + bool(uses & {"both", "wide"})


def choose_strategy(
    table_bytes: int,
    devices: Devices,
    cluster: Cluster,
    wanted: Literal["auto"] | StrategyName = "auto",
) -> Choice:
    """Decide how to train.

    Args:
        table_bytes: Bytes of all tables with their optimizer slots.
        devices: Devices of each process.
        cluster: The cluster; one process without `TF_CONFIG`.
        wanted: The configured strategy, or `auto`.

    Raises:
        TrainingError: Nothing holds the tables, or the configured strategy does not go with the
            devices or the cluster.
    """
    name = _by_cluster(table_bytes, devices, cluster) if wanted == "auto" else wanted
    if wanted != "auto":
        _check_wanted(wanted, devices, cluster)
    _check_fits(name, table_bytes, devices, cluster)
    return Choice(name, _reason(name, table_bytes, devices, cluster, named=wanted != "auto"))


def _by_cluster(table_bytes: int, devices: Devices, cluster: Cluster) -> StrategyName:
    if devices.kind == "tpu":
        return "tpu"
    if cluster.servers and (table_bytes > devices.table_memory_bytes or _only_servers(cluster)):
        return "parameter_server"
    if cluster.world_size > 1:
        return "multi_worker"
    return "mirrored" if devices.count > 1 else "default"


def _only_servers(cluster: Cluster) -> bool:
    """Return whether the processes were started for servers: a server itself has no other role."""
    return cluster.task == "ps" or cluster.chief is not None


def _check_wanted(wanted: StrategyName, devices: Devices, cluster: Cluster) -> None:
    several, servers = cluster.world_size > 1, bool(cluster.servers)
    needs: dict[StrategyName, tuple[bool, str]] = {
        "default": (not several and not servers, "one process"),
        "mirrored": (not several and not servers, "one process"),
        "multi_worker": (bool(cluster.trainers) and not servers, "workers alone in TF_CONFIG"),
        "parameter_server": (servers, "parameter servers in TF_CONFIG"),
        "tpu": (devices.kind == "tpu", "a TPU"),
    }
    holds, need = needs[wanted]
    if not holds:
        raise TrainingError(
            f"the strategy {wanted} needs {need}",
            received=f"{cluster.world}; {devices}",
            where="train.strategy",
            remedy="set train.strategy=auto, or start the processes that the strategy needs",
        )


def _check_fits(name: StrategyName, needed: int, devices: Devices, cluster: Cluster) -> None:
    held = devices.table_memory_bytes * (len(cluster.servers) if name == "parameter_server" else 1)
    if needed <= held:
        return
    holder = f"{len(cluster.servers)} parameter servers" if cluster.servers else str(devices)
    raise TrainingError(
        "the tables with their optimizer slots fit the memory that holds them",
        received=f"{needed} bytes needed ({readable_bytes(needed)}), {held} bytes there are "
        f"({readable_bytes(held)}; {RESERVED_SHARE:.0%} of a device is kept for the step)",
        where=f"strategy {name} on {holder}",
        remedy="add parameter servers (more workers only replicate tables), raise min_count, "
        "lower hash buckets or model.embedding_dim, or use train.table_optimizer=adagrad",
    )


def _reason(
    name: StrategyName, needed: int, devices: Devices, cluster: Cluster, *, named: bool
) -> str:
    tables = f"tables with slots take {readable_bytes(needed)}"
    reasons: dict[StrategyName, str] = {
        "default": f"{tables} and fit the one device ({devices}); one replica needs no exchange",
        "mirrored": f"{tables} and fit each of {devices}, which share the global batch",
        "multi_worker": f"{tables} and fit each worker; {cluster.world} in TF_CONFIG hold a copy "
        "each and share the global batch",
        "parameter_server": f"{tables}; {len(cluster.servers)} parameter servers in TF_CONFIG "
        f"hold a part each, one worker has {readable_bytes(devices.table_memory_bytes)} for them",
        "tpu": f"{tables} and fit the TPU that was named ({devices})",
    }
    return ("named in train.strategy: " if named else "") + reasons[name]


def readable_bytes(count: int) -> str:
    """Return a size in words.

    >>> readable_bytes(1536), readable_bytes(12)
    ('1.5 KiB', '12 bytes')
    """
    size, units = float(count), ["bytes", "KiB", "MiB", "GiB", "TiB"]
    while size >= 1024 and len(units) > 1:
        size, units = size / 1024, units[1:]
    return f"{count} bytes" if units[0] == "bytes" else f"{size:.1f} {units[0]}"
