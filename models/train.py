"""The whole of training, as a list of steps; `load_trained` gives the exporter its result."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from features.config import Config
from features.errors import TrainingError
from features.manifest import Manifest, SplitName, read_manifest
from features.spec import InputSpec
from features.tensorflow import tf
from features.transform import Transform
from models.checkpoints import Checkpoints, best_directory, claim, load_weights
from models.cluster import Cluster
from models.dataset import Examples, distributed_batches
from models.evaluate import predict, score_step
from models.learning_rate import dense_schedule, table_schedule
from models.loop import Loop, Report, run_loop
from models.metrics import Metrics, compute_metrics, prior_entropy
from models.network import build_model
from models.outcome import owner_of, read_outcome, run_key, write_outcome
from models.progress import Progress
from models.step import Rates, Trainable, build_trainable, train_step
from models.strategy import Choice
from models.tensorboard import Board

__all__ = ["Job", "load_trained", "train"]


def train(job: Job, report: Callable[[Report], None] = lambda report: None) -> dict[str, Any]:
    """Train a model from the data set of a run, and write `OUT/train`.

    Args:
        job: What to train, and where.
        report: Called as training goes on, for a progress bar.

    Returns:
        What `metrics.json` holds.

    Raises:
        DataError: There is no complete data set.
        TrainingError: The data set is empty or of another transformation, there are checkpoints
            of another run, or the loss is not finite.
    """
    job.check()
    job.start()
    tf.keras.utils.set_random_seed(job.config.train.seed)
    trainable = build_trainable(job.strategy, job.spec, job.config.model, job.config.train)
    checkpoints = Checkpoints(job.directory, trainable, job.chief)
    progress = checkpoints.restore()
    job.wait_for_all()
    evaluate = _evaluator(job, trainable)
    loop = _loop(job, trainable, checkpoints, evaluate, report)
    progress = run_loop(loop, progress)
    outcome = _outcome(job, evaluate, progress)
    if job.chief:
        write_outcome(job.directory, outcome)
    return outcome


def load_trained(out: str | Path, config: Config, transform: Transform) -> Any:
    """Return the trained `tf.keras.Model` with the weights of the best epoch.

    Args:
        out: Directory of the run.
        config: Its configuration.
        transform: The transformation that it was trained under.

    Raises:
        TrainingError: Nothing was trained there, or under another transformation.
    """
    directory = Path(out) / "train"
    outcome = read_outcome(directory)
    if outcome is None:
        raise TrainingError(
            "a model is trained before it is used",
            received="no metrics.json",
            where=str(directory),
            remedy="run `make train` with the same CONFIG and OUT",
        )
    _check_fingerprint(outcome["fingerprint"], transform.fingerprint, directory)
    network = build_model(transform.spec, config.model, config.train.seed)
    load_weights(network, best_directory(directory, outcome["best_epoch"] - 1))
    return network


@dataclass(frozen=True)
class Job:
    """What a process of a training job knows at its start.

    Attributes:
        config: Configuration.
        transform: The transformation of the data set.
        out: Directory of the run; the data set is in `OUT/data`.
        strategy: The `tf.distribute.Strategy`.
        choice: Its name and the reason for it.
        cluster: The workers.
    """

    config: Config
    transform: Transform
    out: Path
    strategy: Any
    choice: Choice
    cluster: Cluster = Cluster()

    @property
    def directory(self) -> Path:
        """Where the run's files go."""
        return self.out / "train"

    @property
    def chief(self) -> bool:
        """Whether this process saves, logs and reports for all."""
        return self.cluster.is_chief

    @property
    def spec(self) -> InputSpec:
        """The model's inputs."""
        return self.transform.spec

    @property
    def replicas(self) -> int:
        """Replicas of all workers."""
        return int(self.strategy.num_replicas_in_sync)

    @cached_property
    def manifest(self) -> Manifest:
        """The manifest of the data set."""
        return read_manifest(self.out / "data")

    @cached_property
    def owner(self) -> dict[str, str]:
        """What checkpoints belong to."""
        return owner_of(self.config, self.manifest.key, self.transform.fingerprint)

    @property
    def prior(self) -> float:
        """Share of positives in the training split."""
        split = self.manifest.splits["train"]
        return split.positives / split.examples

    def examples(self, split: SplitName) -> Examples:
        """Return a split as this job reads it."""
        return Examples(
            directory=self.out / "data",
            manifest=self.manifest,
            spec=self.spec,
            split=split,
            batch_size=self.config.train.batch_size,
            local_replicas=self.replicas // self.cluster.world_size,
            workers=self.cluster.world_size,
        )

    def check(self) -> None:
        """Check what can be checked before anything is built.

        Raises:
            TrainingError: No rows to train on, or a data set of another transformation.
        """
        data = self.out / "data"
        _check_fingerprint(self.manifest.fingerprint, self.transform.fingerprint, data)
        if not self.manifest.splits["train"].examples:
            raise TrainingError(
                "the training split has at least one example",
                received="0 examples",
                where=str(data),
                remedy="look at the rejects and at [split] in the configuration",
            )

    def start(self) -> None:
        """Drop a finished run, claim the directory, and wait until all workers see that."""
        self.wait_for_all()
        if self.chief:
            if read_outcome(self.directory) is not None:
                shutil.rmtree(self.directory)
            claim(self.directory, self.owner)
        self.wait_for_all()

    def wait_for_all(self) -> None:
        """Return when every worker has come this far."""
        if self.cluster.world_size > 1:
            ones = self.strategy.run(tf.function(lambda: tf.constant(1.0)))
            self.strategy.reduce("SUM", ones, axis=None)


def _loop(
    job: Job,
    trainable: Trainable,
    checkpoints: Checkpoints,
    evaluate: Callable[[SplitName], Metrics],
    report: Callable[[Report], None],
) -> Loop:
    config, examples = job.config.train, job.examples("train")
    dense = dense_schedule(config, job.replicas)
    tables = table_schedule(config, job.replicas)

    def batches(epoch: int, position: int) -> Any:
        return distributed_batches(
            job.strategy,
            examples,
            worker=job.cluster.rank,
            seed=config.seed,
            epoch=epoch,
            shuffle_rows=config.shuffle_rows,
            skip_batches=position,
        )

    return Loop(
        config=config,
        trainable=trainable,
        step=train_step(job.strategy, trainable, config),
        batches=batches,
        evaluate=lambda: evaluate("eval"),
        rates=lambda step: Rates(dense.rate(step), tables.rate(step)),
        checkpoints=checkpoints,
        board=Board(job.directory / "logs" if job.chief else None, config.histogram_steps),
        steps=examples.steps,
        examples=job.manifest.splits["train"].examples,
        global_batch=examples.global_batch,
        report=report if job.chief else lambda report: None,
    )


def _evaluator(job: Job, trainable: Trainable) -> Callable[[SplitName], Metrics]:
    score = score_step(job.strategy, trainable.model)

    def evaluate(split: SplitName) -> Metrics:
        examples = job.examples(split)
        batches = distributed_batches(job.strategy, examples, worker=job.cluster.rank)
        predictions = predict(score, batches if examples.steps else (), job.manifest.has_group)
        return compute_metrics(predictions, job.prior)

    return evaluate


def _outcome(
    job: Job, evaluate: Callable[[SplitName], Metrics], progress: Progress
) -> dict[str, Any]:
    config = job.config.train
    return {
        "key": run_key(job.owner),
        "fingerprint": job.transform.fingerprint,
        "model": job.config.model.kind,
        "eval": evaluate("eval"),
        "test": evaluate("test"),
        "baseline": prior_entropy(job.prior),
        "strategy": {"name": job.choice.name, "reason": job.choice.reason},
        "replicas": job.replicas,
        "global_batch": config.batch_size * job.replicas * config.accumulate,
        "learning_rate": {
            "dense": dense_schedule(config, job.replicas).peak,
            "tables": table_schedule(config, job.replicas).peak,
        },
        "examples_per_second": progress.examples / max(progress.seconds, 1e-9),
        "seconds": progress.seconds,
        "steps": progress.step,
        "epochs": progress.epoch,
        "best_epoch": (progress.best_epoch or 0) + 1,
        "history": list(progress.history),
    }


def _check_fingerprint(found: str, expected: str, where: Path) -> None:
    if found != expected:
        raise TrainingError(
            "data, transformation and model have one fingerprint",
            received=f"{found} there, {expected} in the transformation",
            where=str(where),
            remedy="run `make preprocess train` with one CONFIG and OUT",
        )
