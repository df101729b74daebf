"""What training will do and why, worked out before anything runs."""

from __future__ import annotations

from dataclasses import dataclass

from features.config import Config
from features.spec import InputSpec
from models.cluster import Cluster
from models.devices import find_devices
from models.learning_rate import dense_schedule, table_schedule
from models.strategy import Choice, Devices, choose_strategy, readable_bytes, table_bytes

__all__ = ["Plan", "make_plan"]

SHOWN_TABLES = 5


@dataclass(frozen=True)
class Plan:
    """How a configuration will be trained on this cluster.

    Attributes:
        config: Configuration.
        cluster: The workers.
        devices: Devices of each worker.
        tables: Bytes of each table with its optimizer slots.
        choice: The strategy and why.
    """

    config: Config
    cluster: Cluster
    devices: Devices
    tables: dict[str, int]
    choice: Choice

    @property
    def replicas(self) -> int:
        """Replicas of all workers; a worker without GPUs is one."""
        if self.choice.name == "default":
            return 1
        if self.choice.name == "multi_worker" and self.devices.kind == "cpu":
            return self.cluster.world_size
        return self.cluster.world_size * self.devices.count

    @property
    def global_batch(self) -> int:
        """Examples behind one optimizer step."""
        train = self.config.train
        return train.batch_size * self.replicas * train.accumulate

    def describe(self) -> str:
        """Return the plan in words, one subject a line."""
        train = self.config.train
        accumulated = f" × {train.accumulate} accumulated" if train.accumulate > 1 else ""
        batch = f"{train.batch_size} a replica × {self.replicas}{accumulated}"
        lines = {
            "devices": f"{self.devices}; {self.cluster.world}",
            "strategy": f"{self.choice.name}: {self.choice.reason}",
            "tables": f"{readable_bytes(sum(self.tables.values()))} with {train.table_optimizer} "
            f"slots in {len(self.tables)} tables{self._largest()}",
            "batch": f"{self.global_batch} ({batch})",
            "dense rate": str(dense_schedule(train, self.replicas)),
            "table rate": str(table_schedule(train, self.replicas)),
        }
        return "\n".join(f"{name:<12}{text}" for name, text in lines.items())

    def _largest(self) -> str:
        largest = sorted(self.tables.items(), key=lambda item: -item[1])[:SHOWN_TABLES]
        shown = ", ".join(f"{table} {readable_bytes(size)}" for table, size in largest)
        return f" (largest: {shown})" if shown else ""


def make_plan(config: Config, spec: InputSpec, cluster: Cluster) -> Plan:
    """Decide how to train; no device is initialised.

    Raises:
        TrainingError: Nothing holds the tables, or the configured strategy cannot be had.
    """
    devices = find_devices(config.train)
    tables = table_bytes(spec, config.model, config.train.table_optimizer)
    choice = choose_strategy(sum(tables.values()), devices, cluster, config.train.strategy)
    return Plan(config, cluster, devices, tables, choice)
