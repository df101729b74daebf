import json
from typing import Any

import pytest

from features.errors import TrainingError
from models.cluster import Cluster, parse_tf_config, read_cluster, tf_config

WORKERS = ["10.0.0.1:2222", "10.0.0.2:2222"]


def config(cluster: object, task: object) -> str:
    return json.dumps({"cluster": cluster, "task": task})


def test_no_tf_config_is_one_process() -> None:
    cluster = read_cluster({})
    assert (cluster.world_size, cluster.is_chief, cluster.world) == (1, True, "1 worker")


def test_two_workers_are_told_as_two_workers() -> None:
    cluster = parse_tf_config(config({"worker": WORKERS}, {"type": "worker", "index": 1}))
    assert cluster == Cluster(workers=tuple(WORKERS), index=1)
    assert (cluster.world, cluster.rank, cluster.is_chief) == ("2 workers", 1, False)


def test_worker_0_is_the_chief_where_there_is_none() -> None:
    assert parse_tf_config(config({"worker": WORKERS}, {"type": "worker", "index": 0})).is_chief


def test_worker_0_is_not_the_chief_where_there_is_one() -> None:
    cluster = {"chief": ["10.0.0.9:1"], "worker": WORKERS}
    parsed = parse_tf_config(config(cluster, {"type": "worker", "index": 0}))
    assert (parsed.is_chief, parsed.rank, parsed.world_size) == (False, 1, 3)


def test_parameter_servers_are_told() -> None:
    cluster = {"chief": ["a:1"], "worker": ["b:1"], "ps": ["c:1", "d:1"]}
    parsed = parse_tf_config(config(cluster, {"type": "chief", "index": 0}))
    assert parsed.world == "2 workers, 2 parameter servers"


def test_what_is_written_is_read_back() -> None:
    text = tf_config({"worker": ("a:1", "b:2")}, "worker", 1)
    assert parse_tf_config(text) == Cluster(workers=("a:1", "b:2"), index=1)


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("{not json", "TF_CONFIG"),
        ("[1]", "TF_CONFIG"),
        (config({"worker": WORKERS}, {"type": "worker", "index": 2}), "task.index"),
        (config({"worker": WORKERS}, {"type": "worker", "index": -1}), "task.index"),
        (config({"worker": WORKERS}, {"type": "worker", "index": "0"}), "task.index"),
        (config({"worker": WORKERS}, {"type": "worker", "index": True}), "task.index"),
        (config({"worker": WORKERS}, {"type": "worker"}), "task.index"),
        (config({"worker": WORKERS}, {"index": 0}), "task.type"),
        (config({"worker": WORKERS}, {"type": "master", "index": 0}), "task.type"),
        (config({"worker": WORKERS}, {"type": "chief", "index": 0}), "task.index"),
        (config({"worker": WORKERS}, None), "task"),
        (config({"master": WORKERS}, {"type": "worker", "index": 0}), "cluster.master"),
        (config({"worker": ["a:1", "a:1"]}, {"type": "worker", "index": 0}), "cluster.worker[0]"),
        (config({"worker": ["a:1"], "ps": ["a:1"]}, {"type": "ps", "index": 0}), "cluster.worker"),
        (config({"worker": ["a:1", "b"]}, {"type": "worker", "index": 0}), "cluster.worker[1]"),
        (config({"worker": ["a:0"]}, {"type": "worker", "index": 0}), "cluster.worker[0]"),
        (config({"worker": ["a:22x"]}, {"type": "worker", "index": 0}), "cluster.worker[0]"),
        (config({"worker": ["a:65536"]}, {"type": "worker", "index": 0}), "cluster.worker[0]"),
        (config({"worker": "a:1"}, {"type": "worker", "index": 0}), "cluster.worker"),
        (config({"ps": ["a:1"]}, {"type": "ps", "index": 0}), "cluster.worker"),
        (config({"chief": ["a:1", "b:1"]}, {"type": "chief", "index": 0}), "cluster.chief"),
    ],
)
def test_a_wrong_field_is_named(text: str, field: str) -> None:
    with pytest.raises(TrainingError) as raised:
        read_cluster({"TF_CONFIG": text})
    assert field in raised.value.where


@pytest.mark.parametrize("value", [" ", "{}", '{"cluster": {}}'])
def test_an_empty_description_is_one_process(value: Any) -> None:
    assert read_cluster({"TF_CONFIG": value}) == Cluster()
