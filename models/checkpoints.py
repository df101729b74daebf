"""Checkpoints of a run: whole or not there, each with the state that is not a tensor.

    train/run.json                          what the checkpoints belong to
    train/checkpoints/step-000000123/       weights.index, weights.data-…, progress.json
    train/best/epoch-0002/                  weights of the best epoch

All workers take part in a save, since some variables are averaged over replicas when they are
read; only the chief's files stay.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from features.errors import TrainingError
from features.tensorflow import tf
from models.progress import Progress
from models.step import Trainable

__all__ = ["Checkpoints", "load_weights"]

KEPT = 3
# What reading a damaged checkpoint raises beside TensorFlow's own errors; a short file is the last.
UNREADABLE = (OSError, ValueError, TypeError, AssertionError, RuntimeError, LookupError)


@dataclass(frozen=True)
class Checkpoints:
    """The checkpoints of one run.

    Attributes:
        directory: `OUT/train`.
        trainable: What is saved and restored.
        chief: Whether this process is the one whose files stay.
    """

    directory: Path
    trainable: Trainable
    chief: bool = True

    def save(self, progress: Progress) -> None:
        """Save everything, then drop all but the latest few."""
        target = self.directory / "checkpoints" / f"step-{progress.step:09d}-{progress.epoch:04d}"

        def write(folder: Path) -> None:
            self._checkpoint().write(str(folder / "weights"))
            (folder / "progress.json").write_text(progress.to_json())

        self._publish(target, write)
        if self.chief:
            for old in self._found()[:-KEPT]:
                shutil.rmtree(old, ignore_errors=True)

    def save_best(self, epoch: int) -> None:
        """Keep the weights of an epoch, and of no other."""
        target = best_directory(self.directory, epoch)
        self._publish(
            target,
            lambda folder: self._weights().write(str(folder / "weights")),
        )

    def drop_other_best(self, epoch: int | None) -> None:
        """Drop kept weights of all epochs but this."""
        if self.chief and epoch is not None:
            kept = best_directory(self.directory, epoch)
            for folder in kept.parent.glob("epoch-*"):
                if folder != kept:
                    shutil.rmtree(folder, ignore_errors=True)

    def restore(self) -> Progress:
        """Restore the latest checkpoint that can be read, and return its state.

        One that is damaged is skipped for the one before, with a warning.
        """
        initial = [variable.numpy() for variable in self._variables()]
        for folder in reversed(self._found()):
            try:
                progress = Progress.from_json((folder / "progress.json").read_text())
                self._checkpoint().read(str(folder / "weights")).assert_consumed()
                return progress
            except (*UNREADABLE, tf.errors.OpError):
                warnings.warn(
                    f"{folder} is damaged; going on from the one before", RuntimeWarning, 2
                )
        for variable, value in zip(self._variables(), initial, strict=True):
            variable.assign(value)
        return Progress()

    def restore_best(self, epoch: int) -> None:
        """Load the weights that were kept of an epoch."""
        load_weights(self.trainable.model.network, best_directory(self.directory, epoch))

    def _checkpoint(self) -> Any:
        return tf.train.Checkpoint(
            network=self.trainable.model.network,
            dense_optimizer=self.trainable.dense_optimizer,
            table_optimizer=self.trainable.table_optimizer,
        )

    def _weights(self) -> Any:
        return tf.train.Checkpoint(network=self.trainable.model.network)

    def _variables(self) -> list[Any]:
        optimizers = (self.trainable.dense_optimizer, self.trainable.table_optimizer)
        return [
            *self.trainable.model.network.variables,
            *(variable for optimizer in optimizers for variable in optimizer.variables()),
        ]

    def _found(self) -> list[Path]:
        return sorted((self.directory / "checkpoints").glob("step-*"))

    def _publish(self, target: Path, write: Callable[[Path], Any]) -> None:
        """Write into a folder beside the target and rename it; drop it where not the chief."""
        with _folder_beside(target, self.chief) as folder:
            write(folder)
            if self.chief:
                shutil.rmtree(target, ignore_errors=True)
                os.replace(folder, target)


@contextmanager
def _folder_beside(target: Path, chief: bool) -> Iterator[Path]:
    if chief:
        target.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=".partial-", dir=target.parent if chief else None))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def best_directory(train_directory: Path, epoch: int) -> Path:
    """Return where the weights of an epoch are kept."""
    return train_directory / "best" / f"epoch-{epoch:04d}"


def load_weights(network: Any, folder: Path) -> None:
    """Load weights into a network.

    Raises:
        TrainingError: The files are missing, damaged, or of another network.
    """
    try:
        status = tf.train.Checkpoint(network=network).read(str(folder / "weights"))
        status.assert_existing_objects_matched()
    except (*UNREADABLE, tf.errors.OpError) as error:
        raise TrainingError(
            "the weights of the best epoch can be read into the configured network",
            received=str(error).splitlines()[0],
            where=str(folder),
            remedy="train again with `make train`",
        ) from error


def claim(train_directory: Path, owner: dict[str, str]) -> None:
    """Note what the checkpoints of a run belong to, or check that it is the same.

    Raises:
        TrainingError: There are checkpoints of something else.
    """
    file = train_directory / "run.json"
    if file.exists() and any((train_directory / "checkpoints").glob("step-*")):
        _check_owner(json.loads(file.read_text()), owner, file)
    train_directory.mkdir(parents=True, exist_ok=True)
    partial = file.with_suffix(".partial")
    partial.write_text(json.dumps(owner, indent=2) + "\n")
    os.replace(partial, file)


def _check_owner(found: dict[str, str], owner: dict[str, str], file: Path) -> None:
    for name, value in owner.items():
        if found.get(name) != value:
            raise TrainingError(
                f"a run goes on from checkpoints of the same {name}",
                received=f"checkpoints of {name} {found.get(name)}, now {value}",
                where=str(file),
                remedy=f"remove {file.parent} to train anew, or restore what it was trained with",
            )
