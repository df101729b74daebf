import json
from pathlib import Path

import pytest

from features.errors import DataError, ServingError
from features.manifest import Manifest
from serving.export import export, export_key
from serving.release import draft, publish, versions, write_record
from serving.trained import TrainedRun, find_run
from tests.serving.tiny import tiny_config


def _preprocessed(out: Path, fingerprint: str) -> None:
    (out / "data").mkdir()
    Manifest(
        name="tiny", key="k", fingerprint=fingerprint, compression="", has_weight=False,
        has_group=False, rows=1, rejects={}, dropped={}, inputs=(), splits={}, versions={},
    ).write(out / "data")  # fmt: skip


def _trained(out: Path, fingerprint: str, key: str) -> None:
    (out / "train").mkdir()
    outcome = {"fingerprint": fingerprint, "key": key}
    (out / "train" / "metrics.json").write_text(json.dumps(outcome))


def test_a_finished_training_is_known_by_its_key(tmp_path: Path) -> None:
    _preprocessed(tmp_path, "aaaa")
    _trained(tmp_path, "aaaa", "key")
    assert find_run(tmp_path) == TrainedRun("aaaa", "key")


def test_a_model_of_another_fingerprint_is_refused_and_both_are_named(tmp_path: Path) -> None:
    _preprocessed(tmp_path, "aaaa")
    _trained(tmp_path, "bbbb", "key")
    with pytest.raises(ServingError, match="bbbb where aaaa"):
        find_run(tmp_path)


def test_an_export_before_training_names_the_command(tmp_path: Path) -> None:
    _preprocessed(tmp_path, "aaaa")
    with pytest.raises(DataError, match="make train"):
        find_run(tmp_path)


def test_an_export_of_the_same_training_makes_no_new_version(tmp_path: Path) -> None:
    run, config = TrainedRun("aaaa", "key"), tiny_config()
    directory = tmp_path / "export" / "tiny"
    with draft(directory) as version:
        write_record(version, {"key": export_key(run, config)})
        publish(version, directory)
    assert not export(tmp_path, config, run).is_new
    assert versions(directory) == [1]


@pytest.mark.parametrize("other", [TrainedRun("bbbb", "key"), TrainedRun("aaaa", "another key")])
def test_another_training_has_another_key(other: TrainedRun) -> None:
    run, config = TrainedRun("aaaa", "key"), tiny_config()
    assert export_key(other, config) != export_key(run, config)
