"""The cluster that `TF_CONFIG` describes, checked before TensorFlow is imported.

TensorFlow reads `TF_CONFIG` late and trusts it: a wrong index or a missing peer makes it wait for
ever. Every fault that the text itself shows is an error here, with the field named.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

from features.errors import TrainingError

__all__ = ["Cluster", "TaskType", "parse_tf_config", "read_cluster", "tf_config"]

VARIABLE = "TF_CONFIG"
TaskType = Literal["chief", "worker", "ps", "evaluator"]
_TASK_TYPES: tuple[TaskType, ...] = get_args(TaskType)


@dataclass(frozen=True)
class Cluster:
    """The tasks of a training job and which of them this process is.

    Attributes:
        workers: Addresses `host:port` of the workers, by index.
        chief: Address of the chief; None where worker 0 is the chief.
        servers: Addresses of the parameter servers, by index.
        task: Type of this process.
        index: Index of this process among those of its type.

    >>> Cluster(workers=("a:1", "b:1"), index=1).world
    '2 workers'
    """

    workers: tuple[str, ...] = ()
    chief: str | None = None
    servers: tuple[str, ...] = ()
    task: TaskType = "worker"
    index: int = 0

    @property
    def trainers(self) -> tuple[str, ...]:
        """Addresses of the tasks that train together, the chief first."""
        return ((self.chief,) if self.chief else ()) + self.workers

    @property
    def world_size(self) -> int:
        """Number of tasks that train together; 1 without a cluster."""
        return max(1, len(self.trainers))

    @property
    def rank(self) -> int:
        """Place of this process among those that train together."""
        return self.index + (1 if self.chief and self.task == "worker" else 0)

    @property
    def is_chief(self) -> bool:
        """Whether this process saves, logs and reports for all."""
        return self.task in ("chief", "worker") and self.rank == 0

    @property
    def world(self) -> str:
        """The cluster in words."""
        servers = f", {_count(len(self.servers), 'parameter server')}" if self.servers else ""
        return _count(self.world_size, "worker") + servers


def read_cluster(environment: Mapping[str, str] = os.environ) -> Cluster:
    """Return the cluster that the environment describes; one process where it describes none.

    Raises:
        TrainingError: `TF_CONFIG` is not a valid description of a cluster with this task in it.
    """
    text = environment.get(VARIABLE, "").strip()
    return parse_tf_config(text) if text else Cluster()


def parse_tf_config(text: str) -> Cluster:
    """Return the cluster that the value of `TF_CONFIG` describes.

    Raises:
        TrainingError: It is not JSON, or a field is missing, unknown or contradicts another.
    """
    config = _section(_json(text), VARIABLE)
    if not config.get("cluster"):
        return Cluster()
    addresses = _addresses(_section(config["cluster"], "cluster"))
    task, index = _task(_section(config.get("task"), "task"), addresses)
    return Cluster(
        workers=addresses.get("worker", ()),
        chief=next(iter(addresses.get("chief", ())), None),
        servers=addresses.get("ps", ()),
        task=task,
        index=index,
    )


def tf_config(addresses: Mapping[TaskType, tuple[str, ...]], task: TaskType, index: int) -> str:
    """Return the value of `TF_CONFIG` for one task of a cluster.

    >>> tf_config({"worker": ("a:1", "b:1")}, "worker", 1)
    '{"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 1}}'
    """
    return json.dumps(
        {
            "cluster": {kind: list(hosts) for kind, hosts in addresses.items()},
            "task": {"type": task, "index": index},
        }
    )


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError as error:
        raise _error(f"{VARIABLE} is JSON", f"{error}: {text[:200]}", VARIABLE) from error


def _section(value: object, field: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _error(f"{field} is a JSON object", json.dumps(value), field)
    return value


def _addresses(cluster: dict[str, Any]) -> dict[TaskType, tuple[str, ...]]:
    for kind in cluster:
        _check_type(kind, f"cluster.{kind}")
    addresses = {cast(TaskType, kind): _hosts(kind, cluster[kind]) for kind in cluster}
    if len(addresses.get("chief", ())) > 1:
        raise _error("a cluster has one chief", list(addresses["chief"]), "cluster.chief")
    if not addresses.get("worker") and not addresses.get("chief"):
        raise _error("a cluster has a worker", sorted(addresses), "cluster.worker")
    _check_distinct(addresses)
    return addresses


def _hosts(kind: str, value: object) -> tuple[str, ...]:
    field = f"cluster.{kind}"
    if not isinstance(value, list) or not all(isinstance(host, str) for host in value):
        raise _error(f"{field} is a list of addresses", json.dumps(value), field)
    for index, host in enumerate(value):
        _check_address(host, f"{field}[{index}]")
    return tuple(value)


def _check_address(address: str, field: str) -> None:
    host, separator, port = address.rpartition(":")
    valid_port = port.isascii() and port.isdigit() and 0 < int(port) < 1 << 16
    if not (separator and host and valid_port) or host.strip() != host:
        raise _error("an address is host:port, with a port of 1 to 65535", address, field)


def _check_distinct(addresses: Mapping[TaskType, tuple[str, ...]]) -> None:
    uses = Counter(host for hosts in addresses.values() for host in hosts)
    for kind, hosts in addresses.items():
        for index, host in enumerate(hosts):
            if uses[host] > 1:
                rule = "each task has an address of its own"
                raise _error(rule, f"{host}, {uses[host]} times", f"cluster.{kind}[{index}]")


def _task(
    task: dict[str, Any], addresses: Mapping[TaskType, tuple[str, ...]]
) -> tuple[TaskType, int]:
    kind, index = task.get("type"), task.get("index")
    _check_type(kind, "task.type")
    tasks = len(addresses.get(cast(TaskType, kind), ()))
    if not isinstance(index, int) or isinstance(index, bool):
        raise _error("task.index is a whole number", json.dumps(index), "task.index")
    # An evaluator takes no part in the cluster, so that it need not be listed.
    if kind != "evaluator" and not 0 <= index < tasks:
        rule = f"task.index is one of the cluster's {tasks} {kind} tasks, counted from 0"
        raise _error(rule, index, "task.index")
    return cast(TaskType, kind), index


def _check_type(kind: object, field: str) -> None:
    if kind not in _TASK_TYPES:
        raise _error(f"a task type is one of {', '.join(_TASK_TYPES)}", json.dumps(kind), field)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


def _error(rule: str, received: object, field: str) -> TrainingError:
    where = VARIABLE if field == VARIABLE else f"{VARIABLE}, field {field}"
    remedy = "correct it, or unset TF_CONFIG to train in one process"
    return TrainingError(rule, received=received, where=where, remedy=remedy)
