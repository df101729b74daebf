"""A release, from trained weights to a published version: the named steps in their order."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from features.config import Config
from features.errors import ServingError
from features.spec import RawColumn
from serving.golden import (
    Golden,
    Scores,
    check_scores,
    read_golden_rows,
    score_golden,
    write_golden,
)
from serving.release import (
    draft,
    latest_version,
    model_directory,
    model_name,
    publish,
    read_record,
    versions,
    write_record,
)
from serving.rows import Arrays
from serving.trained import TrainedRun

__all__ = ["Export", "export", "release_model"]

KEY_FILES = ("signatures.py", "requests.py", "golden.py", "warmup.py", "rows.py", "export.py")
SOFTWARE = ("tensorflow", "tf-keras", "numpy")


@dataclass(frozen=True)
class Export:
    """A published version.

    Attributes:
        version: Its directory.
        is_new: False where the newest version already was made from the same.
        golden_rows: Number of golden rows that were compared; 0 where nothing was.
        max_difference: Largest difference of the reloaded model's score to the trained model's.
    """

    version: Path
    is_new: bool
    golden_rows: int
    max_difference: float


def export(out: Path, config: Config, run: TrainedRun) -> Export:
    """Export the trained model of a run, unless the newest version was made from the same.

    Args:
        out: Directory of the run.
        config: Its configuration.
        run: What was trained.

    Raises:
        DataError: A step before is missing.
        ServingError: The model is not fit for release, or versions cannot be written.
    """
    directory = model_directory(out, config)
    key = export_key(run, config)
    if _is_exported(directory, key):
        return Export(latest_version(directory), False, 0, 0.0)
    rows = read_golden_rows(out / "data" / "golden.jsonl")
    from serving.trained import load_run

    transform, model = load_run(out, config, run)
    record = _record(key, run, config, transform.raw)
    return release_model(directory, config, transform, model, rows, record)


def release_model(
    directory: Path,
    config: Config,
    transform: Any,
    model: Any,
    rows: Sequence[dict[str, Any]],
    record: dict[str, Any],
) -> Export:
    """Export, check and publish a model.

    Args:
        directory: The directory of versions.
        config: Configuration of the run.
        transform: The transformation, with `raw`, its raw columns.
        model: The Keras model, from model inputs to logits.
        rows: Golden rows, raw.
        record: What the version is made from.

    Raises:
        ServingError: The reloaded model does not score as the trained one, or is constant.
    """
    from serving.saved_model import parity, save, trained_scores
    from serving.warmup import check_warmup, write_warmup

    name, columns = model_name(config), tuple(transform.raw)
    golden = score_golden(rows, columns, _predictor(trained_scores, transform, model, columns))
    check_scores(golden.scores)
    with draft(directory) as version:
        save(version, columns, transform, model)
        write_golden(golden, version)
        write_warmup(version, name, golden.arrays, columns, config.serving.warmup_batch)
        check_warmup(version, name)
        difference = parity(version, golden, columns)
        _check_parity(difference, config, golden)
        write_record(version, record)
        published = publish(version, directory)
    return Export(published, True, len(rows), max(difference.values()))


def export_key(run: TrainedRun, config: Config) -> str:
    """Return a hash of all that a version is made from: training, settings and code."""
    digest = hashlib.sha256()
    for part in (run.fingerprint, run.key, model_name(config), config.serving.model_dump_json()):
        digest.update(part.encode() + b"\0")
    for file in KEY_FILES:
        digest.update((Path(__file__).parent / file).read_bytes() + b"\0")
    return digest.hexdigest()


def _predictor(
    trained_scores: Callable[..., Scores],
    transform: Any,
    model: Any,
    columns: Sequence[RawColumn],
) -> Callable[[Arrays], Scores]:
    return lambda arrays: np.asarray(trained_scores(transform, model, columns, arrays))


def _is_exported(directory: Path, key: str) -> bool:
    published = versions(directory)
    return bool(published) and read_record(directory / str(published[-1])).get("key") == key


def _check_parity(difference: dict[str, float], config: Config, golden: Golden) -> None:
    worst = max(difference, key=lambda signature: difference[signature])
    if not difference[worst] <= config.serving.max_difference:
        raise ServingError(
            f"the reloaded model scores within {config.serving.max_difference} of the trained one",
            received=f"a difference of {difference[worst]:.3g} over {len(golden.scores)} rows",
            where=f"signature {worst}",
            remedy="nothing was published; export again, and report it if it stays",
        )


def _record(
    key: str, run: TrainedRun, config: Config, columns: Sequence[RawColumn]
) -> dict[str, Any]:
    return {
        "key": key,
        "model_name": model_name(config),
        "fingerprint": run.fingerprint,
        "training_key": run.key,
        "columns": [
            {"name": column.name, "type": column.type, "required": column.required}
            for column in columns
        ],
        "config": json.loads(config.model_dump_json()),
        "versions": {name: importlib.metadata.version(name) for name in SOFTWARE},
    }
