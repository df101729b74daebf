"""The closing summary of a run: what came in, how good the model is, what was released."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from features.config import Config
from features.errors import DataError
from features.manifest import Manifest, read_manifest
from serving.golden import GOLDEN_FILE
from serving.release import latest_version, model_directory, model_name

__all__ = ["PREDICTIONS_FILE", "share_of_the_way", "summary_lines"]

PREDICTIONS_FILE = "predictions.txt"


def summary_lines(out: Path, config: Config) -> Iterator[str]:
    """Yield the lines of the summary.

    Args:
        out: Directory of the run.
        config: Its configuration.

    Raises:
        DataError: A step has not run yet.
    """
    metrics = _read_json(out / "train" / "metrics.json", "make train")
    verification = _read_json(out / "verify.json", "make verify")
    version = latest_version(model_directory(out, config))
    yield f"Summary of {config.name}"
    yield from _rows(read_manifest(out / "data"))
    yield from _quality(metrics, config)
    yield f"  strategy    {_strategy(metrics)}"
    yield f"  exported    {model_name(config)} version {version.name}: {version}"
    yield f"  verified    {_verified(verification, version)}"
    yield from _prediction(out, version)


def share_of_the_way(auc: float, attainable: float) -> float:
    """Return how much of the way from chance to the attainable AUC a model has gone.

    >>> share_of_the_way(0.74, 0.75)
    0.96
    """
    return (auc - 0.5) / (attainable - 0.5)


def _rows(manifest: Manifest) -> Iterator[str]:
    rejected = sum(manifest.rejects.values())
    reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(manifest.rejects.items()))
    yield f"  rows in     {manifest.rows:,}"
    yield f"  rejected    {rejected:,}" + (f": {reasons}" if reasons else "")
    splits = (f"{split.examples:,} {name}" for name, split in manifest.splits.items())
    yield f"  examples    {', '.join(splits)}"


def _quality(metrics: dict[str, Any], config: Config) -> Iterator[str]:
    test = metrics.get("test") or {}
    auc = test.get("auc")
    if auc is None:
        yield "  test AUC    undefined: the test split has one class alone or no rows"
        return
    attainable = _attainable(config)
    beside = ""
    if attainable is not None:
        share = share_of_the_way(auc, attainable)
        beside = f"; attainable {attainable:.4f}, {share:.1%} of the way from 0.5"
    yield f"  test AUC    {auc:.4f}{beside}"
    if test.get("calibration") is not None:
        yield f"  calibration {test['calibration']:.3f} (mean prediction over mean label)"


def _attainable(config: Config) -> float | None:
    """Return the oracle's AUC where the log was generated, on the part that tests the model."""
    if not isinstance(config.log.path, str):
        return None
    log = Path(config.log.path)
    oracle = log.with_name(f"{log.name.split('.')[0]}.oracle.json")
    if not oracle.is_file():
        return None
    content = _read_json(oracle, "make generate")
    auc = content.get("oracle_auc_last_tenth", content.get("oracle_auc"))
    return None if auc is None else float(auc)


def _strategy(metrics: dict[str, Any]) -> str:
    strategy = metrics.get("strategy", "unknown")
    if isinstance(strategy, dict):
        return f"{strategy.get('name')}: {strategy.get('reason')}"
    reason = metrics.get("strategy_reason") or metrics.get("reason")
    return f"{strategy}: {reason}" if reason else str(strategy)


def _verified(verification: dict[str, Any], version: Path) -> str:
    outcome = "passed" if verification["passed"] else "FAILED"
    number = verification["model_version"]
    older = "" if str(number) == version.name else f" (version {number}, not the newest)"
    return (
        f"{outcome} against {verification['server']} ({verification['server_version']}), "
        f"{verification['rows']} golden rows, largest difference "
        f"{max(verification['max_difference'].values()):.2g}{older}"
    )


def _prediction(out: Path, version: Path) -> Iterator[str]:
    predictions = out / PREDICTIONS_FILE
    if not predictions.is_file():
        return
    with predictions.open() as served, (version / GOLDEN_FILE).open(encoding="utf-8") as golden:
        probability, row = served.readline().strip(), json.loads(golden.readline())["inputs"]
    shown = ", ".join(f"{name}={value}" for name, value in list(row.items())[:4])
    yield f"  prediction  {float(probability):.4f} for {shown}, …"


def _read_json(file: Path, command: str) -> dict[str, Any]:
    try:
        return dict(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise DataError(
            "a summary needs every step of the run",
            received=str(error),
            where=str(file),
            remedy=f"run `{command}` with the same CONFIG and OUT",
        ) from error
