"""The transformation: raw columns to model inputs, one function for training and serving."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from features.artefact import VOCABULARIES, Artefact
from features.config import Config
from features.kinds import Cross, Feature, MultiValued, Numeric
from features.kinds.settings import Known, SparseSettings
from features.lookup import open_vocabulary
from features.records import DENSE, MULTI, SPARSE
from features.spec import InputSpec, RawColumn
from features.statistics.learnt import Statistics
from features.strings import missing_lookup
from features.tensorflow import tf

__all__ = ["Transform"]


class Transform(tf.Module):  # type: ignore[misc]
    """Encodes raw columns as model inputs.

    A `tf.Module` whose vocabularies are assets, so a model that holds it exports it whole.
    """

    def __init__(self, artefact: Artefact, directory: Path | None = None) -> None:
        """Open the lookups of a transformation.

        Args:
            artefact: Settings and statistics.
            directory: Where it is stored; without one, vocabularies are written to a temporary
                directory that lives as long as this object.
        """
        super().__init__(name="transform")
        self.artefact = artefact
        if directory is None:
            temporary = Path(tempfile.mkdtemp(prefix="transform-"))
            weakref.finalize(self, shutil.rmtree, temporary, ignore_errors=True)
            files = artefact.write_vocabularies(temporary)
        else:
            tables = artefact.statistics.vocabularies
            files = {table: directory / VOCABULARIES / f"{table}.txt" for table in tables}
        self.missing = missing_lookup(artefact.missing)
        self.lookups = {table: open_vocabulary(file) for table, file in files.items()}

        self.graph_encode_each = tf.function(self.encode_each, [self._raw_signature()])
        self.graph_assemble = tf.function(self.assemble, [self._encoded_signature()])

    @classmethod
    def of(cls, config: Config, statistics: Statistics) -> Transform:
        """Make the transformation of a configuration with the statistics of its training split."""
        return cls(Artefact.of(config, statistics))

    @classmethod
    def load(cls, directory: str | Path) -> Transform:
        """Read a stored transformation.

        Raises:
            DataError: There is none, or it is not what was saved.
        """
        return cls(Artefact.load(directory), Path(directory).absolute())

    def save(self, directory: str | Path) -> None:
        """Store the transformation; see `features.artefact`.

        Raises:
            DataError: It cannot be written.
        """
        self.artefact.save(directory)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what it is made of; tables are opened anew."""
        return Transform, (self.artefact,)

    @property
    def raw(self) -> tuple[RawColumn, ...]:
        """The raw columns it reads."""
        return self.artefact.raw

    @property
    def spec(self) -> InputSpec:
        """The model inputs it makes."""
        return self.artefact.spec

    @property
    def fingerprint(self) -> str:
        """SHA-256 of all that decides what it makes."""
        return self.artefact.fingerprint

    @property
    def known(self) -> Known:
        """What features may use when they encode."""
        return Known(self.artefact.statistics, self.missing, self.lookups)

    def columns(self) -> Iterator[tuple[Feature, RawColumn]]:
        """Yield each feature that reads a raw column, with that column."""
        times = [column for column in self.raw if column.type == "time"]
        by_name = {column.name: column for column in self.raw}
        for feature in self.artefact.features:
            reads = feature.reads(times[0].name if times else None)
            if reads is not None:
                yield feature, by_name[reads[0]]

    def _raw_signature(self) -> dict[str, Any]:
        types = {"string": tf.string, "number": tf.float32, "time": tf.int64}
        return {column.name: tf.TensorSpec([None], types[column.type]) for column in self.raw}

    def _encoded_signature(self) -> dict[str, Any]:
        signature = {}
        for feature, _ in self.columns():
            if isinstance(feature, Numeric):
                shape = [None, len(feature.inputs)]
                signature[feature.name] = tf.TensorSpec(shape, tf.float32)
            elif not isinstance(feature, MultiValued):
                signature[feature.name] = tf.TensorSpec([None], tf.int64)
        return signature

    def __call__(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        """Encode raw columns.

        Args:
            raw: Columns by name, each (B,): strings (`""` is missing), float32 numbers (NaN is
                missing), int64 Unix seconds (-1 is missing).

        Returns:
            `dense` `(B, N) float32`, `sparse` `(B, F) int64` and `multi` `(B, M, L) int64`, each
            where there are such features.
        """
        encoded = self.encode_each(raw)
        inputs = self.assemble(encoded)
        multi = [encoded[feature.name] for feature in self.spec.multi]
        if multi:
            padded = [ids.to_tensor(shape=[None, self.spec.max_length]) for ids in multi]
            inputs[MULTI] = tf.stack(padded, axis=1)
        return inputs

    def encode_each(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        """Encode raw columns feature by feature, crosses aside; columns may differ in length."""
        known = self.known
        return {
            feature.name: feature.encode(raw[column.name], known)
            for feature, column in self.columns()
        }

    def assemble(self, encoded: Mapping[str, Any]) -> dict[str, Any]:
        """Cross encoded features and put them side by side, multi-valued ones aside.

        Args:
            encoded: Encoded features by name, as `Feature.encode` returns them; no crosses.

        Returns:
            `dense` `(B, N) float32` and `sparse` `(B, F) int64`.
        """
        dense, sparse = [], []
        for feature in self.artefact.features:
            if isinstance(feature, Numeric):
                dense.append(encoded[feature.name])
            elif isinstance(feature, Cross):
                parts = tf.stack([encoded[part] for part in feature.of], axis=-1)
                sparse.append(feature.encode(parts, self.known))
            elif isinstance(feature, SparseSettings) and not isinstance(feature, MultiValued):
                sparse.append(encoded[feature.name])
        inputs = {}
        if dense:
            inputs[DENSE] = tf.concat(dense, axis=-1)
        if sparse:
            inputs[SPARSE] = tf.stack(sparse, axis=-1)
        return inputs
