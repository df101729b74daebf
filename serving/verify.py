"""Proves that served scores are the trained ones: golden rows through every signature."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from features.atomic import write_text
from features.errors import ServingError
from features.spec import RawColumn
from serving.backends import Backend
from serving.client import PredictionClient
from serving.golden import Golden, Scores, largest_difference, read_golden
from serving.requests import requests_of
from serving.signatures import PROBABILITY, SIGNATURES

__all__ = ["Difference", "Verification", "compare", "verify", "write_verification"]

BATCH_ROWS = 64
START_TIMEOUT_SECONDS = 120


@dataclass(frozen=True)
class Difference:
    """Where a signature's scores differ most from the trained ones.

    Attributes:
        signature: Name of the signature.
        largest: The largest absolute difference.
        row: Number of its golden row, from 1.
        trained: Score that the trained model gave it.
        served: Score that the server gave it.
    """

    signature: str
    largest: float
    row: int
    trained: float
    served: float


@dataclass(frozen=True)
class Verification:
    """What was verified against what, and the outcome.

    Attributes:
        backend: Kind of the server.
        server: What the server is, in words.
        server_version: Its version, as far as it is known.
        model: Name of the model.
        model_version: Version of the model.
        rows: Number of golden rows.
        differences: By signature.
        allowed: Largest difference that passes.
    """

    backend: str
    server: str
    server_version: str
    model: str
    model_version: int
    rows: int
    differences: tuple[Difference, ...]
    allowed: float

    @property
    def worst(self) -> Difference:
        """The signature that differs most."""
        return max(self.differences, key=lambda difference: difference.largest)

    @property
    def passed(self) -> bool:
        """Whether every difference is allowed."""
        return self.worst.largest <= self.allowed

    def line(self) -> str:
        """Return the outcome in one line."""
        outcome = "verified" if self.passed else "NOT verified"
        return (
            f"{outcome}: {self.model} version {self.model_version} against {self.server} "
            f"({self.server_version}), {self.rows} golden rows through "
            f"{', '.join(one.signature for one in self.differences)}; "
            f"largest difference {self.worst.largest:.2g} (allowed {self.allowed:g})"
        )


def verify(
    backend: Backend, version: Path, model: str, columns: Sequence[RawColumn], allowed: float
) -> Verification:
    """Send golden rows through every signature of a server and compare scores.

    Args:
        backend: The server.
        version: Directory of the version, with its golden rows.
        model: Name of the model.
        columns: Raw columns of the model.
        allowed: Largest difference that passes.

    Raises:
        ServingError: The server does not answer, or refuses a request.
    """
    golden, number = read_golden(version, columns), int(version.name)
    with PredictionClient(backend.address, model, number) as client:
        client.wait_until_available(START_TIMEOUT_SECONDS)
        differences = tuple(
            compare(signature, golden.scores, _served(client, signature, golden, columns))
            for signature in SIGNATURES
        )
    return Verification(
        backend=backend.kind,
        server=backend.name,
        server_version=backend.version,
        model=model,
        model_version=number,
        rows=len(golden.scores),
        differences=differences,
        allowed=allowed,
    )


def compare(signature: str, trained: Scores, served: Scores) -> Difference:
    """Compare the scores of one signature, `(B,) float32` both."""
    largest, row = largest_difference(trained, served)
    return Difference(signature, largest, row + 1, float(trained[row]), float(served[row]))


def write_verification(verification: Verification, file: Path) -> None:
    """Write the outcome, passed or not."""
    content = {
        **asdict(verification),
        "max_difference": {one.signature: one.largest for one in verification.differences},
        "passed": verification.passed,
        "verified_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    write_text(file, json.dumps(content, indent=2) + "\n")


def check(verification: Verification) -> None:
    """Refuse a version whose served scores are not the trained ones.

    Raises:
        ServingError: A difference is larger than allowed.
    """
    worst = verification.worst
    if not verification.passed:
        raise ServingError(
            f"a served score is within {verification.allowed:g} of the trained one",
            received=f"{worst.served:.8g} where the trained model gave {worst.trained:.8g}",
            where=f"golden row {worst.row}, signature {worst.signature}, {verification.server}",
            remedy="serve the version that was exported here, and do not release this one",
        )


def _served(
    client: PredictionClient, signature: str, golden: Golden, columns: Sequence[RawColumn]
) -> Scores:
    served = np.full(len(golden.scores), np.nan, dtype=np.float32)
    for request in requests_of(signature, golden.arrays, columns, BATCH_ROWS):
        served[request.rows] = client.predict(request.inputs, signature)[PROBABILITY]
    return served
