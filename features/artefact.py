"""The stored transformation: settings, statistics and vocabularies, and the fingerprint of them.

    DIR/transform.json            settings and statistics, for people too
    DIR/vocabularies/TABLE.txt    one value a line, in the order of ids

Nothing here needs TensorFlow, so a step that is up to date finds out quickly.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import uuid
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
from pydantic import TypeAdapter, ValidationError

from features.config import Config
from features.errors import DataError
from features.kinds import Feature, MultiValued, Numeric
from features.kinds.settings import SparseSettings
from features.raw import raw_columns
from features.spec import InputSpec, MultiInput, RawColumn, SparseInput
from features.statistics.learnt import ColumnSummary, NumberSummary, Statistics, VocabularyTable

__all__ = ["CODE_VERSION", "Artefact"]

CODE_VERSION = "1"
"""Version of the encoding. Whoever changes what a raw value is encoded to changes this as well."""
FILE_NAME = "transform.json"
VOCABULARIES = "vocabularies"
_FEATURES: TypeAdapter[tuple[Feature, ...]] = TypeAdapter(tuple[Feature, ...])
_COLUMNS: TypeAdapter[dict[str, ColumnSummary]] = TypeAdapter(dict[str, ColumnSummary])
_NUMBERS: TypeAdapter[dict[str, NumberSummary]] = TypeAdapter(dict[str, NumberSummary])
_RAW: TypeAdapter[tuple[RawColumn, ...]] = TypeAdapter(tuple[RawColumn, ...])


@dataclass(frozen=True)
class Artefact:
    """All that a transformation is made of.

    Attributes:
        features: The features, in the order of the configuration.
        raw: The raw columns that they read.
        missing: Spellings of a missing string.
        statistics: What was learnt from the training split.
    """

    features: tuple[Feature, ...]
    raw: tuple[RawColumn, ...]
    missing: tuple[str, ...]
    statistics: Statistics

    @classmethod
    def of(cls, config: Config, statistics: Statistics) -> Artefact:
        """Put a configuration and the statistics of its training split together."""
        return cls(config.features, raw_columns(config), config.log.missing, statistics)

    @cached_property
    def spec(self) -> InputSpec:
        """The model's inputs."""
        numeric = [feature for feature in self.features if isinstance(feature, Numeric)]
        sparse = [feature for feature in self.features if isinstance(feature, SparseSettings)]
        return InputSpec(
            dense=tuple(name for feature in numeric for name in feature.inputs),
            sparse=tuple(
                SparseInput(*self._looked_up(feature))
                for feature in sparse
                if not isinstance(feature, MultiValued)
            ),
            multi=tuple(
                MultiInput(*self._looked_up(feature), feature.max_length, feature.combiner)
                for feature in sparse
                if isinstance(feature, MultiValued)
            ),
        )

    def _looked_up(self, feature: SparseSettings) -> tuple[str, int, str, Any]:
        return feature.name, feature.rows(self.statistics), feature.table_name, feature.use

    def check_configured(self, config: Config, where: Path) -> None:
        """Check that the features are still those that the configuration asks for.

        Raises:
            DataError: The configuration has changed since.
        """
        asked = Artefact.of(config, self.statistics)
        if asked.fingerprint == self.fingerprint:
            return
        before, now = set(self.features), set(asked.features)
        names = ", ".join(sorted({feature.name for feature in before ^ now}))
        raise DataError(
            "a data set is made with the features of the configuration",
            received=f"a configuration that differs in {names or 'columns of the log'}",
            where=str(where),
            remedy="run `make preprocess` again, or use the configuration that it was run with",
        )

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of settings, statistics, the content of vocabularies, and the code's version."""
        content = self._content()
        for feature in content["features"]:
            feature.pop("file", None)
        canonical = json.dumps(content, sort_keys=True, ensure_ascii=True, allow_nan=False)
        return hashlib.sha256(canonical.encode()).hexdigest()

    def _content(self) -> dict[str, Any]:
        statistics = self.statistics
        return {
            "code_version": CODE_VERSION,
            "missing": list(self.missing),
            "raw": [asdict(column) for column in self.raw],
            "features": [feature.model_dump(mode="json") for feature in self.features],
            "statistics": {
                "columns": {key: asdict(value) for key, value in statistics.columns.items()},
                "numbers": {key: asdict(value) for key, value in statistics.numbers.items()},
                "boundaries": {key: list(value) for key, value in statistics.boundaries.items()},
                "vocabularies": {
                    table: _described(vocabulary)
                    for table, vocabulary in statistics.vocabularies.items()
                },
            },
        }

    def write_vocabularies(self, directory: Path) -> dict[str, Path]:
        """Write the vocabulary files into a directory and return them by table."""
        directory.mkdir(parents=True, exist_ok=True)
        files = {}
        for table, vocabulary in self.statistics.vocabularies.items():
            files[table] = directory / f"{table}.txt"
            files[table].write_bytes(vocabulary.text())
        return files

    def save(self, directory: str | Path) -> None:
        """Write the directory beside its place and rename it; an older one is replaced.

        Raises:
            DataError: It cannot be written.
        """
        target = Path(directory)
        part = target.parent / f"{target.name}.tmp-{uuid.uuid4().hex}"
        try:
            self.write_vocabularies(part / VOCABULARIES)
            content = {"fingerprint": self.fingerprint, **self._content()}
            text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
            (part / FILE_NAME).write_text(text, encoding="utf-8")
            _replace(part, target)
        except OSError as error:
            raise DataError(
                "the transformation can be written",
                received=error.strerror or error,
                where=str(target),
                remedy="make room, mend the permissions or choose another OUT",
            ) from error
        finally:
            shutil.rmtree(part, ignore_errors=True)

    @classmethod
    def load(cls, directory: str | Path) -> Artefact:
        """Read a stored transformation and prove that it is whole.

        Raises:
            DataError: There is none, it cannot be read, or its content has another fingerprint.
        """
        path = Path(directory) / FILE_NAME
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            artefact = cls._parsed(content, path.parent / VOCABULARIES)
            stored, found = content["fingerprint"], artefact.fingerprint
        except FileNotFoundError as error:
            raise DataError(
                "a transformation is a directory with transform.json and its vocabularies",
                received=f"no {Path(str(error.filename)).name}",
                where=str(directory),
                remedy="run `make preprocess` with the same CONFIG and OUT",
            ) from error
        except (OSError, ValueError, KeyError, TypeError, ValidationError) as error:
            raise DataError(
                "a stored transformation has the fields that preprocessing writes",
                received=f"{type(error).__name__}: {error}",
                where=str(path),
                remedy="run `make preprocess` again",
            ) from error
        if stored != found:
            raise DataError(
                "a stored transformation has the fingerprint that it was saved with",
                received=f"content with {found}, saved with {stored}, code version "
                f"{CODE_VERSION}, saved by {content['code_version']}",
                where=str(directory),
                remedy="restore the directory, or run `make preprocess` again",
            )
        return artefact

    @classmethod
    def _parsed(cls, content: dict[str, Any], vocabularies: Path) -> Artefact:
        found = content["statistics"]
        tables = {
            table: _read(vocabularies / f"{table}.txt", description)
            for table, description in found["vocabularies"].items()
        }
        return cls(
            features=_FEATURES.validate_python(content["features"]),
            raw=_RAW.validate_python(content["raw"]),
            missing=tuple(content["missing"]),
            statistics=Statistics(
                columns=_COLUMNS.validate_python(found["columns"]),
                numbers=_NUMBERS.validate_python(found["numbers"]),
                boundaries={key: tuple(cuts) for key, cuts in found["boundaries"].items()},
                vocabularies=tables,
            ),
        )


def _described(vocabulary: VocabularyTable) -> dict[str, Any]:
    return {
        "size": len(vocabulary.values),
        "sha256": vocabulary.sha256,
        "distinct": vocabulary.distinct,
        "occurrences": vocabulary.occurrences,
        "kept_occurrences": vocabulary.kept_occurrences,
        "unrepresentable": vocabulary.unrepresentable,
    }


def _read(file: Path, description: dict[str, Any]) -> VocabularyTable:
    """Read a vocabulary; the description's size and checksum are computed anew, not believed."""
    values = file.read_bytes().split(b"\n")[:-1]
    kept = ("distinct", "occurrences", "kept_occurrences", "unrepresentable")
    return VocabularyTable(
        pa.array(values, pa.large_binary()), **{key: description[key] for key in kept}
    )


def _replace(part: Path, target: Path) -> None:
    """Rename a directory to a place that an older one may hold, which is then removed."""
    target.parent.mkdir(parents=True, exist_ok=True)
    old = part.with_name(f"{part.name}-old")
    if target.exists():
        target.rename(old)
    part.rename(target)
    shutil.rmtree(old, ignore_errors=True)
