import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from features.errors import DataError, ServingError
from features.spec import RawColumn
from features.tensorflow import tf
from serving.export import Export, export, release_model
from serving.golden import check_scores, read_golden, score_golden
from serving.protocol.apis import meta_graph_pb2  # noqa: F401  (registers the messages)
from serving.release import versions
from serving.rows import arrays_of_rows
from serving.saved_model import trained_scores
from serving.signatures import SIGNATURES, serving_module
from serving.trained import TrainedRun, find_run
from serving.warmup import WARMUP_FILE, check_warmup
from tests.serving.tiny import COLUMNS, TinyTransform, golden_rows, tiny_config, tiny_model


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Export:
    directory = tmp_path_factory.mktemp("export")
    transform = TinyTransform(directory / "items.txt")
    return release_model(
        directory / "tiny", tiny_config(), transform, tiny_model(), golden_rows(), {"key": "k"}
    )


@pytest.fixture(scope="module")
def loaded(released: Export) -> object:
    return tf.saved_model.load(str(released.version))


def test_the_reloaded_model_repeats_the_trained_scores(released: Export) -> None:
    assert released.is_new and released.golden_rows == 40
    assert released.max_difference <= 1e-6


def test_nothing_but_the_version_is_left_after_a_release(released: Export) -> None:
    assert [entry.name for entry in released.version.parent.iterdir()] == ["1"]


def test_vocabularies_travel_as_assets(released: Export) -> None:
    assert (released.version / "assets" / "items.txt").is_file()


def test_optional_columns_alone_have_defaults(released: Export) -> None:
    from tensorflow.core.protobuf.saved_model_pb2 import SavedModel

    saved = SavedModel.FromString((released.version / "saved_model.pb").read_bytes())
    definition = saved.meta_graphs[0].signature_def["serving_default"]
    assert set(definition.inputs) == {"item_id", "user-id", "price", "time"}
    assert set(definition.defaults) == {"user-id", "price", "time"}
    shapes = {tuple(d.size for d in v.tensor_shape.dim) for v in definition.defaults.values()}
    assert shapes == {(1,)}


def test_a_missing_optional_column_scores_as_a_missing_value(loaded: object) -> None:
    items = tf.constant(["i3", "i7", "new"])
    defaults = {
        "user_id": tf.constant([""]),
        "price": tf.constant([np.nan], tf.float32),
        "time": tf.constant([-1], tf.int64),
    }
    call = loaded.signatures["serving_default"]  # type: ignore[attr-defined]
    spread = call(item_id=items, **defaults)["probability"].numpy()
    whole = {name: tf.repeat(value, 3) for name, value in defaults.items()}
    np.testing.assert_array_equal(spread, call(item_id=items, **whole)["probability"].numpy())


def test_an_empty_example_batch_scores_nothing(loaded: object) -> None:
    call = loaded.signatures["serving_examples"]  # type: ignore[attr-defined]
    assert call(examples=tf.constant([], tf.string))["probability"].shape == (0,)


def test_an_example_without_a_required_column_is_refused_by_name(loaded: object) -> None:
    call = loaded.signatures["serving_examples"]  # type: ignore[attr-defined]
    with pytest.raises(tf.errors.InvalidArgumentError, match="item_id"):
        call(examples=tf.constant([b""]))


def test_rank_scores_one_user_against_many_items(loaded: object) -> None:
    call = loaded.signatures["rank"]  # type: ignore[attr-defined]
    shared = {
        "user_id": tf.constant(["u1"]),
        "price": tf.constant([0.25]),
        "time": tf.constant([3600], tf.int64),
    }
    together = call(item_id=tf.constant(["i1", "i2", "i9"]), **shared)["probability"].numpy()
    alone = [
        call(item_id=tf.constant([item]), **shared)["probability"].numpy()[0]
        for item in ("i1", "i2", "i9")
    ]
    assert together.shape == (3,)
    np.testing.assert_allclose(together, alone, atol=1e-6)


def test_columns_that_fit_no_batch_are_refused(loaded: object) -> None:
    call = loaded.signatures["serving_default"]  # type: ignore[attr-defined]
    with pytest.raises(tf.errors.InvalidArgumentError):
        call(
            item_id=tf.constant(["i1", "i2", "i3"]),
            user_id=tf.constant(["u1", "u2"]),
            price=tf.constant([0.5]),
            time=tf.constant([0], tf.int64),
        )


def test_the_model_loads_elsewhere_with_tensorflow_alone(released: Export, tmp_path: Path) -> None:
    moved = tmp_path / "moved"
    shutil.copytree(released.version, moved)
    expected = read_golden(released.version, COLUMNS).scores[0]
    code = (
        "import json, sys, tensorflow as tf\n"
        f"row = json.loads(open({str(moved / 'assets.extra/golden.jsonl')!r}).readline())\n"
        "x = row['inputs']\n"
        f"f = tf.saved_model.load({str(moved)!r}).signatures['serving_default']\n"
        "nan = float('nan')\n"
        "y = f(item_id=tf.constant([x['item_id']]), user_id=tf.constant([x['user-id'] or '']),\n"
        "      price=tf.constant([nan if x['price'] is None else x['price']]),\n"
        "      time=tf.constant([-1 if x['time'] is None else x['time']], tf.int64))\n"
        "assert not {'features', 'serving', 'models'} & set(sys.modules)\n"
        "print(float(y['probability'][0]))\n"
    )
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, text=True,
        capture_output=True, timeout=120, check=True,
    )  # fmt: skip
    assert abs(float(done.stdout) - expected) <= 1e-6


def test_warmup_has_one_real_request_for_each_signature(released: Export) -> None:
    check_warmup(released.version, "tiny")
    records = list(tf.data.TFRecordDataset(str(released.version / WARMUP_FILE)))
    assert len(records) == len(SIGNATURES)


def test_warmup_for_another_model_is_refused(released: Export) -> None:
    with pytest.raises(ServingError, match="warm-up"):
        check_warmup(released.version, "other")


def test_a_constant_model_is_not_released(tmp_path: Path) -> None:
    model = tiny_model()
    model.set_weights([np.zeros_like(weights) for weights in model.get_weights()])
    transform = TinyTransform(tmp_path / "items.txt")
    with pytest.raises(ServingError, match="depends on the row"):
        release_model(tmp_path / "tiny", tiny_config(), transform, model, golden_rows(), {})
    assert versions(tmp_path / "tiny") == []


def test_a_model_that_scores_otherwise_after_reloading_is_not_released(tmp_path: Path) -> None:
    class Skewed(TinyTransform):
        """Does something else inside a graph, as a transformation with Python state would."""

        def __call__(self, raw):  # type: ignore[no-untyped-def]
            inputs = super().__call__(raw)
            shift = 0.0 if tf.executing_eagerly() else 0.5
            return {**inputs, "dense": inputs["dense"] + shift}

    transform = Skewed(tmp_path / "items.txt")
    with pytest.raises(ServingError, match="reloaded model scores"):
        release_model(tmp_path / "tiny", tiny_config(), transform, tiny_model(), golden_rows(), {})
    assert list((tmp_path / "tiny").iterdir()) == []


def test_scores_that_are_not_finite_are_refused() -> None:
    with pytest.raises(ServingError, match="finite"):
        check_scores(np.array([0.5, np.nan], dtype=np.float32))


def test_a_column_name_that_tensorflow_cannot_serve_is_an_error(tmp_path: Path) -> None:
    columns = (RawColumn("user id", "string", required=False),)
    with pytest.raises(ServingError, match="'user id'"):
        serving_module(columns, TinyTransform(tmp_path / "items.txt"), tiny_model())


def test_names_that_differ_in_punctuation_alone_are_an_error(tmp_path: Path) -> None:
    columns = (RawColumn("a-b", "string", False), RawColumn("a_b", "string", False))
    with pytest.raises(ServingError, match="case or punctuation"):
        serving_module(columns, TinyTransform(tmp_path / "items.txt"), tiny_model())


def test_an_export_before_preprocessing_names_the_command(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="make preprocess"):
        find_run(tmp_path)


def test_an_export_without_golden_rows_names_the_command(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="make preprocess"):
        export(tmp_path, tiny_config(), TrainedRun("fingerprint", "key"))


def test_golden_rows_come_back_as_they_were(released: Export, tmp_path: Path) -> None:
    transform, model = TinyTransform(tmp_path / "items.txt"), tiny_model()
    rows = golden_rows()
    golden = score_golden(rows, COLUMNS, lambda a: trained_scores(transform, model, COLUMNS, a))
    back = read_golden(released.version, COLUMNS)
    np.testing.assert_array_equal(back.scores, golden.scores)
    expected = arrays_of_rows(rows, COLUMNS, "rows")
    for name, values in back.arrays.items():
        np.testing.assert_array_equal(values, expected[name])
