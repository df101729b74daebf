"""The training loop: epochs of updates, each epoch followed by evaluation and a decision."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from features.config import TrainConfig
from features.errors import TrainingError
from features.tensorflow import tf
from models.checkpoints import Checkpoints
from models.metrics import Metrics
from models.progress import Progress, after_batches, after_epoch
from models.step import Rates, Trainable
from models.tensorboard import Board

__all__ = ["Loop", "Report", "run_loop"]

# A loss is read from the device this often; in between, updates are queued without waiting.
READ_STEPS = 20


@dataclass(frozen=True)
class Report:
    """What a progress bar shows.

    Attributes:
        epoch: Epoch under way, counted from 0.
        epochs: Most epochs.
        position: Batches of the epoch that are done.
        steps: Batches of the epoch.
        loss: Mean of the epoch's losses so far.
        examples_per_second: Training speed so far.
    """

    epoch: int
    epochs: int
    position: int
    steps: int
    loss: float
    examples_per_second: float


@dataclass(frozen=True)
class Loop:
    """Everything an epoch needs, so that the loop itself is a list of steps.

    Attributes:
        config: Training settings.
        trainable: Model and optimizers.
        step: What `train_step` returns.
        batches: Per-replica batches of an epoch, from a position on.
        evaluate: Returns the validation metrics of the present weights.
        rates: Learning rates by number of updates, before the plateau factor.
        checkpoints: Checkpoints of the run.
        board: TensorBoard.
        steps: Batches of an epoch, for each replica.
        examples: Examples of the training split.
        global_batch: Examples of a batch on all replicas.
        report: Called as training goes on.
    """

    config: TrainConfig
    trainable: Trainable
    step: Callable[..., Any]
    batches: Callable[[int, int], Iterable[Any]]
    evaluate: Callable[[], Metrics]
    rates: Callable[[int], Rates]
    checkpoints: Checkpoints
    board: Board
    steps: int
    examples: int
    global_batch: int
    report: Callable[[Report], None]


def run_loop(loop: Loop, progress: Progress) -> Progress:
    """Train from a state to the end, and load the weights of the best epoch.

    Raises:
        TrainingError: The loss is not finite.
    """
    while not progress.finished(loop.config):
        progress = _train_epoch(loop, progress)
        metrics = loop.evaluate()
        progress = _end_epoch(loop, progress, metrics)
    if progress.best_epoch is not None:
        loop.checkpoints.restore_best(progress.best_epoch)
    return progress


def _end_epoch(loop: Loop, progress: Progress, metrics: Metrics) -> Progress:
    updates = math.ceil(loop.steps / loop.config.accumulate)
    entry = {
        "epoch": progress.epoch,
        "step": progress.step,
        "loss": progress.loss_sum / max(1, updates),
        "rate_factor": progress.rate_factor,
        "eval": metrics,
    }
    auc = metrics["auc"]
    ended = after_epoch(progress, auc if isinstance(auc, float) else None, loop.config, entry)
    if ended.best_epoch == progress.epoch:
        loop.checkpoints.save_best(progress.epoch)
    loop.checkpoints.save(ended)
    loop.checkpoints.drop_other_best(ended.best_epoch)
    loop.board.epoch(ended.step, entry, loop.trainable)
    return ended


def _train_epoch(loop: Loop, progress: Progress) -> Progress:
    """Run the rest of an epoch."""
    pending: list[Any] = []
    started = time.perf_counter()
    gradients: dict[str, Any] = {}
    for batches in _groups(loop, progress):
        loss, gradients = loop.step(batches, *_arguments(loop, progress))
        pending.append(loss)
        progress = _counted(loop, progress, len(batches))
        if loop.board.histograms_due(progress.step):
            loop.board.gradients(progress.step, gradients)
        save = _checkpoint_due(loop, progress)
        if save or len(pending) == READ_STEPS or progress.position == loop.steps:
            progress = _read(loop, progress, pending, time.perf_counter() - started)
            started = time.perf_counter()
        if save:
            loop.checkpoints.save(progress)
    loop.board.gradients(progress.step, gradients)
    return progress


def _groups(loop: Loop, progress: Progress) -> Iterator[tuple[Any, ...]]:
    """Yield the batches of each update; the last update of an epoch may have fewer."""
    batches = iter(loop.batches(progress.epoch, progress.position))
    while group := tuple(islice(batches, loop.config.accumulate)):
        yield group


def _arguments(loop: Loop, progress: Progress) -> tuple[Any, Any, Any]:
    rates, factor = loop.rates(progress.step), progress.rate_factor
    return (
        tf.constant(progress.step, tf.int32),
        tf.constant(rates.dense * factor, tf.float32),
        tf.constant(rates.tables * factor, tf.float32),
    )


def _counted(loop: Loop, progress: Progress, batches: int) -> Progress:
    before = min(loop.examples, progress.position * loop.global_batch)
    after = min(loop.examples, (progress.position + batches) * loop.global_batch)
    return after_batches(progress, batches, 0.0, after - before, 0.0)


def _checkpoint_due(loop: Loop, progress: Progress) -> bool:
    every = loop.config.checkpoint_steps
    return every > 0 and progress.step % every == 0 and progress.position < loop.steps


def _read(loop: Loop, progress: Progress, pending: list[Any], seconds: float) -> Progress:
    """Read the losses of the updates that are queued, and empty the queue."""
    losses = [float(loss) for loss in pending]
    pending.clear()
    _check_finite(losses, progress)
    progress = replace(
        progress,
        loss_sum=progress.loss_sum + sum(losses),
        seconds=progress.seconds + seconds,
    )
    rates, factor = loop.rates(progress.step - 1), progress.rate_factor
    loop.board.steps(progress.step, losses, Rates(rates.dense * factor, rates.tables * factor))
    updates = math.ceil(progress.position / loop.config.accumulate)
    loop.report(
        Report(
            progress.epoch,
            loop.config.epochs,
            progress.position,
            loop.steps,
            progress.loss_sum / updates,
            progress.examples / max(progress.seconds, 1e-9),
        )
    )
    return progress


def _check_finite(losses: list[float], progress: Progress) -> None:
    for back, loss in enumerate(reversed(losses)):
        if not math.isfinite(loss) and all(map(math.isfinite, losses[: -back - 1])):
            raise TrainingError(
                "the loss is finite at every step",
                received=loss,
                where=f"epoch {progress.epoch + 1}, step {progress.step - back}; "
                "the last good checkpoint is kept",
                remedy="lower train.learning_rate and train.table_learning_rate, set "
                "train.clip_norm, or clip dense features",
            )
