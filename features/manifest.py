"""The manifest of a data set: written last, so that a directory with one is complete."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from features.atomic import write_text
from features.errors import DataError
from features.kinds.settings import Settings

__all__ = ["Manifest", "InputFile", "Shard", "Split", "SplitName", "read_manifest"]

FILE_NAME = "manifest.json"
SplitName = Literal["train", "eval", "test"]


class InputFile(Settings):
    """An input file as it was when it was read.

    Attributes:
        path: Path as configured or found.
        bytes: Size.
        sha256: Checksum of its content.
    """

    path: str
    bytes: int
    sha256: str


class Shard(Settings):
    """One TFRecord file.

    Attributes:
        file: Name in the data directory.
        examples: Number of examples.
        bytes: Size.
    """

    file: str
    examples: int
    bytes: int


class Split(Settings):
    """One split.

    Attributes:
        examples: Number of examples.
        positives: Number of examples with label 1.
        first_time: Earliest time, in Unix seconds, where the log has timestamps.
        last_time: Latest time, in Unix seconds.
        shards: Its files.
    """

    examples: int
    positives: int
    first_time: int | None
    last_time: int | None
    shards: tuple[Shard, ...]


class Manifest(Settings):
    """What a data set holds and what it was made from.

    Attributes:
        name: Name of the data set's configuration.
        key: Hash of configuration, inputs and code; equal keys need no second run.
        fingerprint: Fingerprint of the feature transformation.
        compression: `GZIP` or none.
        has_weight: Whether examples have a `weight`.
        has_group: Whether examples have a `group`.
        rows: Rows in the log, rejected ones included.
        rejects: Number of rejected rows by reason.
        dropped: Number of lines by reason that are no rows, such as a second header.
        inputs: Input files.
        splits: The splits by name.
        versions: Versions of the software that wrote it.
    """

    name: str
    key: str
    fingerprint: str
    compression: Literal["", "GZIP"]
    has_weight: bool
    has_group: bool
    rows: int
    rejects: dict[str, int]
    dropped: dict[str, int]
    inputs: tuple[InputFile, ...]
    splits: dict[SplitName, Split]
    versions: dict[str, str]

    def write(self, directory: str | Path) -> None:
        """Write the manifest beside its place and rename it."""
        write_text(Path(directory) / FILE_NAME, self.model_dump_json(indent=2) + "\n")


def read_manifest(directory: str | Path) -> Manifest:
    """Read the manifest of a complete data set.

    Raises:
        DataError: The directory has no manifest, or one that is not readable.
    """
    path = Path(directory) / FILE_NAME
    try:
        return Manifest.model_validate(json.loads(path.read_text()))
    except FileNotFoundError as error:
        raise DataError(
            "a directory without a manifest is not a data set",
            received="no manifest.json",
            where=str(directory),
            remedy="run `make preprocess` with the same CONFIG and OUT",
        ) from error
    except (ValidationError, ValueError, OSError) as error:
        raise DataError(
            "a manifest has the fields that preprocessing writes",
            received=str(error),
            where=str(path),
            remedy="run `make preprocess` again",
        ) from error
