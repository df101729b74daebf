"""What a run has trained: its identity without TensorFlow, and the model with it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from features.config import Config
from features.errors import DataError, ServingError
from features.manifest import read_manifest
from models.outcome import read_outcome

__all__ = ["TrainedRun", "find_run", "load_run"]


@dataclass(frozen=True)
class TrainedRun:
    """A finished training.

    Attributes:
        fingerprint: Fingerprint of the transformation that its inputs were made by.
        key: Identifies the training: the same key, the same weights.
    """

    fingerprint: str
    key: str


def find_run(out: Path) -> TrainedRun:
    """Return the identity of what was trained, without loading it.

    Raises:
        DataError: Nothing was preprocessed or trained yet.
        ServingError: The model was trained under another transformation.
    """
    manifest = read_manifest(out / "data")
    directory = out / "train"
    outcome = read_outcome(directory)
    if outcome is None:
        raise DataError(
            "a model is trained before it is exported",
            received="no metrics.json",
            where=str(directory),
            remedy="run `make train` with the same CONFIG and OUT",
        )
    _check_same(manifest.fingerprint, outcome["fingerprint"], directory)
    return TrainedRun(outcome["fingerprint"], outcome["key"])


def load_run(out: Path, config: Config, run: TrainedRun) -> tuple[Any, Any]:
    """Load the transformation and the trained model.

    Raises:
        ServingError: The transformation is not the one that was trained under.
    """
    from features.transform import Transform
    from models.train import load_trained

    transform = Transform.load(out / "transform")
    transform.artefact.check_configured(config, out / "transform")
    _check_same(transform.fingerprint, run.fingerprint, out / "transform")
    return transform, load_trained(out, config, transform)


def _check_same(expected: str, found: str, where: Path) -> None:
    if expected != found:
        raise ServingError(
            "a model is exported with the transformation that it was trained under",
            received=f"fingerprint {found[:12]} where {expected[:12]} is expected",
            where=str(where),
            remedy="run `make train` again after `make preprocess`",
        )
