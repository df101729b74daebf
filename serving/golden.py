"""Golden rows: raw rows with the scores that the trained model gave them.

They travel in `assets.extra/`, so that whoever holds the directory can replay them against any
server, and they are what decides whether an export may be released.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from features.errors import DataError, ServingError
from features.spec import RawColumn
from serving.rows import Arrays, Row, arrays_of_rows, read_json_rows

__all__ = [
    "GOLDEN_FILE",
    "Golden",
    "check_scores",
    "largest_difference",
    "read_golden",
    "read_golden_rows",
    "score_golden",
    "write_golden",
]

GOLDEN_FILE = Path("assets.extra") / "golden.jsonl"

Scores = NDArray[np.float32]


@dataclass(frozen=True)
class Golden:
    """Golden rows as a request has them, and their scores.

    Attributes:
        rows: Values by column name.
        arrays: The same as `(B,)` arrays.
        scores: `(B,) float32`, the probabilities that the trained model gave.
    """

    rows: Sequence[Row]
    arrays: Arrays
    scores: Scores


def read_golden_rows(path: Path) -> list[dict[str, Any]]:
    """Read the raw golden rows that preprocessing kept.

    Raises:
        DataError: There are none.
    """
    if not path.is_file():
        raise _no_rows("no such file", path)
    rows = read_json_rows(path)
    if not rows:
        raise _no_rows("an empty file", path)
    return rows


def score_golden(
    rows: Sequence[Row], columns: Sequence[RawColumn], predict: Callable[[Arrays], Scores]
) -> Golden:
    """Score golden rows with the trained model.

    Args:
        rows: The raw rows.
        columns: Raw columns of the model.
        predict: The trained model, from `(B,)` raw columns to `(B,) float32` probabilities.
    """
    arrays = arrays_of_rows(rows, columns, "golden rows")
    return Golden(rows, arrays, predict(arrays))


def write_golden(golden: Golden, version: Path) -> None:
    """Write golden rows and their scores into a version's `assets.extra/`."""
    file = version / GOLDEN_FILE
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", encoding="utf-8") as stream:
        for row, score in zip(golden.rows, golden.scores.tolist(), strict=True):
            line = {"inputs": dict(row), "probability": score}
            stream.write(json.dumps(line, ensure_ascii=False) + "\n")


def read_golden(version: Path, columns: Sequence[RawColumn]) -> Golden:
    """Read the golden rows that travel with a version.

    Raises:
        DataError: The file is missing or broken.
    """
    file = version / GOLDEN_FILE
    lines = read_golden_rows(file)
    try:
        rows = [line["inputs"] for line in lines]
        scores = np.array([line["probability"] for line in lines], dtype=np.float32)
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(
            "a golden row has `inputs` and `probability`",
            received=repr(error),
            where=str(file),
            remedy="run `make export` again",
        ) from error
    return Golden(rows, arrays_of_rows(rows, columns, str(file)), scores)


def check_scores(scores: Scores) -> None:
    """Refuse scores of a model that does not tell its rows apart.

    Args:
        scores: `(B,) float32` probabilities of golden rows.

    Raises:
        ServingError: A score is not finite, or all are equal (case of a dead network).
    """
    if not np.isfinite(scores).all():
        row = int(np.flatnonzero(~np.isfinite(scores))[0])
        raise _bad_scores("is finite", f"{scores[row]} for golden row {row + 1}")
    if len(scores) > 1 and float(np.ptp(scores)) == 0.0:
        raise _bad_scores("depends on the row", f"{scores[0]} for each of {len(scores)} rows")


def largest_difference(expected: Scores, received: Scores) -> tuple[float, int]:
    """Return the largest absolute difference and the index of its row.

    A score that is not finite is infinitely far away.

    >>> largest_difference(np.float32([0.5, 0.25]), np.float32([0.5, 0.5]))
    (0.25, 1)
    """
    difference = np.abs(expected.astype(np.float64) - received.astype(np.float64))
    difference[~np.isfinite(difference)] = np.inf
    row = int(np.argmax(difference))
    return float(difference[row]), row


def _no_rows(received: str, path: Path) -> DataError:
    return DataError(
        "golden rows prove that served scores are the trained ones",
        received=received,
        where=str(path),
        remedy="run `make preprocess` with the same CONFIG and OUT",
    )


def _bad_scores(rule: str, received: str) -> ServingError:
    return ServingError(
        f"the score of a golden row {rule}",
        received=received,
        where="the trained model",
        remedy="look at train/metrics.json and the learning rate, train again, then export",
    )
