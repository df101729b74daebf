"""From a configuration and a run directory to a training job that runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from features.artefact import Artefact
from features.config import Config
from features.errors import TrainingError
from features.manifest import read_manifest
from models.cluster import Cluster
from models.display import Display
from models.launch import run_workers
from models.outcome import up_to_date
from models.rendezvous import meet

__all__ = ["describe_outcome", "finished", "start_workers", "train_here"]


def finished(config: Config, out: Path) -> dict[str, Any] | None:
    """Return the outcome of a run with which nothing has changed; None where there is work.

    Raises:
        DataError: The data set or its transformation is missing or not whole.
    """
    from models.validate import check_fingerprint, check_shards

    artefact, manifest = Artefact.load(out / "transform"), read_manifest(out / "data")
    check_fingerprint(manifest, artefact.fingerprint, out / "data")
    artefact.check_configured(config, out / "transform")
    check_shards(out / "data", manifest)
    return up_to_date(config, out, artefact.fingerprint)


def train_here(config: Config, out: Path, cluster: Cluster, display: Display) -> dict[str, Any]:
    """Train as this process of the cluster.

    Raises:
        DataError: The data set is damaged.
        TrainingError: Training cannot start or go on.
    """
    meet(cluster, config.train.worker_timeout_seconds, display.line)
    from features.transform import Transform
    from models.devices import build_strategy
    from models.plan import make_plan
    from models.train import Job, train
    from models.validate import reading

    plan = make_plan(config, Artefact.load(out / "transform").spec, cluster)
    # Before anything else uses a device: collectives can only be set up at the start.
    strategy = build_strategy(plan.choice, config.train)
    display.line(plan.describe())
    job = Job(config, Transform.load(out / "transform"), out, strategy, plan.choice, cluster)
    display.line(f"{'input':<12}{job.examples('train').plan.reason}")
    with (
        _peers(cluster),
        reading(out / "data", job.manifest, job.spec, ("train", "eval", "test")),
    ):
        return train(job, display.report)


def start_workers(
    arguments: list[str], workers: int, out: Path, receive: Callable[[str], None]
) -> None:
    """Train by so many local workers, each of which is `python -m models train` with TF_CONFIG.

    Raises:
        TrainingError: A worker failed; all have ended.
    """
    command = [sys.executable, "-m", "models", "train", *arguments]
    run_workers(command, workers, out / "train-workers", progress=receive)


def describe_outcome(outcome: dict[str, Any]) -> str:
    """Return the result of training in words."""
    parts = [_described(split, outcome[split]) for split in ("eval", "test")]
    speed = f"{outcome['examples_per_second']:,.0f} examples/s, {outcome['seconds']:.1f} s"
    best = f"best epoch {outcome['best_epoch']} of {outcome['epochs']}"
    return "\n".join([*parts, f"{'trained':<12}{outcome['steps']} steps, {best}, {speed}"])


def _described(split: str, metrics: dict[str, Any]) -> str:
    def number(name: str) -> str:
        value = metrics.get(name)
        return "undefined" if value is None else f"{value:.4f}"

    return (
        f"{split:<12}AUC {number('auc')}, logloss {number('logloss')}, "
        f"calibration {number('calibration')}, {metrics['examples']} examples"
    )


@contextmanager
def _peers(cluster: Cluster) -> Iterator[None]:
    """Turn the fault that a vanished worker leaves in the others into one that says so."""
    from features.tensorflow import tf

    try:
        yield
    except (tf.errors.UnavailableError, tf.errors.AbortedError) as error:
        if cluster.world_size == 1:
            raise
        raise TrainingError(
            "every worker is there until training ends",
            received=str(error).splitlines()[0],
            where=f"worker {cluster.rank} of {cluster.world}",
            remedy="look at the logs of the other workers and start all of them again; training "
            "goes on from the last checkpoint",
        ) from error
