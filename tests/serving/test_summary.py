import json
from pathlib import Path
from typing import Any

import pytest

from features.errors import DataError
from features.manifest import Manifest, Split
from serving.summary import summary_lines
from tests.serving.tiny import tiny_config


@pytest.fixture
def out(tmp_path: Path) -> Path:
    split = Split(examples=80, positives=20, first_time=None, last_time=None, shards=())
    (tmp_path / "data").mkdir()
    Manifest(
        name="tiny", key="k", fingerprint="f", compression="", has_weight=False, has_group=False,
        rows=83, rejects={"bad_label": 2, "too_few_fields": 1}, dropped={}, inputs=(),
        splits={"train": split}, versions={},
    ).write(tmp_path / "data")  # fmt: skip
    _metrics(tmp_path, {"auc": 0.74, "calibration": 1.01})
    (tmp_path / "export" / "tiny" / "3").mkdir(parents=True)
    verification = {
        "server": "the embedded server", "server_version": "TensorFlow 2.21.0", "rows": 40,
        "max_difference": {"rank": 2e-8}, "model_version": 3, "passed": True,
    }  # fmt: skip
    (tmp_path / "verify.json").write_text(json.dumps(verification))
    return tmp_path


def _metrics(out: Path, test: dict[str, Any]) -> None:
    (out / "train").mkdir(exist_ok=True)
    strategy = {"name": "default", "reason": "one device"}
    content = {"test": test, "strategy": strategy}
    (out / "train" / "metrics.json").write_text(json.dumps(content))


def _text(out: Path) -> str:
    log = {
        "path": str(out / "log.csv"),
        "label": {"column": "click"},
        "timestamp": {"column": "time"},
    }
    return "\n".join(summary_lines(out, tiny_config(log=log)))


def test_rejected_rows_are_counted_by_reason(out: Path) -> None:
    assert "3: 2 bad_label, 1 too_few_fields" in _text(out)


def test_the_auc_stands_beside_the_attainable_one(out: Path) -> None:
    oracle = {"oracle_auc": 0.9, "oracle_auc_last_tenth": 0.75}
    (out / "log.oracle.json").write_text(json.dumps(oracle))
    assert "0.7400; attainable 0.7500, 96.0% of the way from 0.5" in _text(out)


def test_an_undefined_auc_is_not_shown_as_a_number(out: Path) -> None:
    _metrics(out, {"auc": None})
    assert "undefined" in _text(out)


def test_it_says_what_was_verified_and_against_what(out: Path) -> None:
    assert "passed against the embedded server (TensorFlow 2.21.0), 40 golden rows" in _text(out)


def test_a_version_that_is_not_the_verified_one_is_told(out: Path) -> None:
    (out / "export" / "tiny" / "4").mkdir()
    assert "(version 3, not the newest)" in _text(out)


def test_a_step_that_has_not_run_is_named(out: Path) -> None:
    (out / "verify.json").unlink()
    with pytest.raises(DataError, match="make verify"):
        _text(out)
