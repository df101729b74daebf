"""`train/metrics.json`: what a run came to, written last; its key says whether it is up to date."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from features.config import Config
from features.errors import TrainingError
from features.manifest import read_manifest

__all__ = ["owner_of", "read_outcome", "run_key", "up_to_date", "write_outcome"]

FILE_NAME = "metrics.json"


def owner_of(config: Config, data_key: str, fingerprint: str) -> dict[str, str]:
    """Return what checkpoints belong to, each part with a name for messages."""
    settings = config.model_dump_json(include={"model", "train"})
    return {
        "fingerprint": fingerprint,
        "configuration": _hash(settings),
        "data set": data_key,
        "code": _code_hash(),
    }


def run_key(owner: dict[str, str]) -> str:
    """Return the key of a run; equal keys give equal models.

    >>> run_key({"a": "1"}) == run_key({"a": "1"}), run_key({"a": "1"}) == run_key({"a": "2"})
    (True, False)
    """
    return _hash(json.dumps(owner, sort_keys=True))


def read_outcome(train_directory: Path) -> dict[str, Any] | None:
    """Return what a finished run wrote; None where there is none."""
    file = train_directory / FILE_NAME
    try:
        outcome: dict[str, Any] = json.loads(file.read_text())
        return outcome
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise TrainingError(
            "the metrics of a finished run can be read",
            received=str(error),
            where=str(file),
            remedy="remove the file and train again with `make train`",
        ) from error


def up_to_date(config: Config, out: Path, fingerprint: str) -> dict[str, Any] | None:
    """Return what a finished run of the same data, settings and code wrote; None without one.

    TensorFlow is not imported.

    Args:
        config: The configuration.
        out: Directory of the run.
        fingerprint: Fingerprint of its transformation.
    """
    outcome = read_outcome(out / "train")
    if outcome is None:
        return None
    owner = owner_of(config, read_manifest(out / "data").key, fingerprint)
    return outcome if outcome["key"] == run_key(owner) else None


def write_outcome(train_directory: Path, outcome: dict[str, Any]) -> None:
    """Write the metrics beside their place and rename them."""
    with tempfile.NamedTemporaryFile("w", dir=train_directory, delete=False) as stream:
        json.dump(outcome, stream, indent=2, allow_nan=False)
        stream.write("\n")
    os.replace(stream.name, train_directory / FILE_NAME)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _code_hash() -> str:
    """Return a hash of this package's code: a change of the trainer is a reason to train again."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return _hash("".join(file.read_text() for file in files))
