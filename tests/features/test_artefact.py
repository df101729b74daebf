from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from features.artefact import CODE_VERSION, Artefact
from features.errors import DataError
from features.tensorflow import tf
from features.transform import Transform
from tests.features.configure import config_of, encoded, transform_of

CONFIG = config_of(
    {"kind": "numeric", "name": "x"},
    {"kind": "vocabulary", "name": "c"},
    {"kind": "hash", "name": "h", "column": "c", "buckets": 1000},
    {"kind": "cross", "name": "z", "of": ["c", "h"], "buckets": 1000},
    {"kind": "multi", "name": "m", "column": "c", "separator": " ", "max_length": 2},
)
VALUES = ["é", "new", "[UNK]", None, "a b"]
NUMBERS = [1.0, None, 3.0, 5.0, -1.0]


def _transform() -> Transform:
    return transform_of(CONFIG, x=[1, 3], c=["é", "[UNK]"])


GOLDEN = {
    "sparse": [[3, 26, 70], [1, 280, 662], [2, 281, 604], [0, 0, 543], [1, 878, 570]],
    "dense": [[-1.0], [0.0], [1.0], [3.0], [-3.0]],
    "multi": [[[3, 0]], [[1, 0]], [[2, 0]], [[0, 0]], [[1, 1]]],
}


def test_the_encoding_has_not_changed_under_this_code_version() -> None:
    """Whoever has to change these values has to change CODE_VERSION as well."""
    assert (CODE_VERSION, encoded(_transform(), x=NUMBERS, c=VALUES)) == ("1", GOLDEN)


def test_a_stored_transformation_is_the_same_when_loaded(tmp_path: Path) -> None:
    transform = _transform()
    transform.save(tmp_path / "transform")
    transform.save(tmp_path / "transform")
    loaded = Transform.load(tmp_path / "transform")
    assert loaded.fingerprint == transform.fingerprint
    assert encoded(loaded, x=NUMBERS, c=VALUES) == GOLDEN
    assert [path.name for path in tmp_path.iterdir()] == ["transform"]


def test_a_changed_vocabulary_is_found_out_and_both_fingerprints_are_named(tmp_path: Path) -> None:
    transform = _transform()
    transform.save(tmp_path)
    (tmp_path / "vocabularies" / "c.txt").write_text("x\ny\n")
    with pytest.raises(DataError, match="fingerprint") as raised:
        Artefact.load(tmp_path)
    assert str(raised.value.received).count(transform.fingerprint) == 1


def test_a_directory_without_a_transformation_names_the_command(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="transform.json") as raised:
        Artefact.load(tmp_path)
    assert "make preprocess" in raised.value.remedy


LOADER = """
import sys, tensorflow as tf
model = tf.saved_model.load(sys.argv[1])
nan = float("nan")
texts = ["é", "new", "[UNK]", "", "a b"]
inputs = {"x": tf.constant([1, nan, 3, 5, -1.0]), "c": tf.constant(texts)}
print({name: value.numpy().tolist() for name, value in sorted(model.encode(inputs).items())})
"""


def test_an_export_loads_elsewhere_without_this_code_and_its_training_files(tmp_path: Path) -> None:
    transform = _transform()
    transform.save(tmp_path / "transform")
    transform = Transform.load(tmp_path / "transform")
    module = tf.Module()
    module.transform = transform
    signature = {"x": tf.TensorSpec([None], tf.float32), "c": tf.TensorSpec([None], tf.string)}
    module.encode = tf.function(transform, [signature])
    tf.saved_model.save(module, str(tmp_path / "export"))
    (tmp_path / "export").rename(tmp_path / "moved")
    (tmp_path / "transform").rename(tmp_path / "gone")
    loaded = subprocess.run(
        [sys.executable, "-c", LOADER, str(tmp_path / "moved")],
        cwd=tmp_path,
        env={"PATH": "", "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert loaded.stdout.strip() == str(dict(sorted(GOLDEN.items()))), loaded.stderr
