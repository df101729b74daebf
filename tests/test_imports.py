from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAY_IMPORT = {
    "features": {"features"},
    "pipeline": {"pipeline", "features"},
    "models": {"models", "features"},
    "serving": {"serving", "models", "features"},
}


def imported_packages(file: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.split(".")[0])
    return names


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_imports_go_one_way(package: str) -> None:
    for file in (ROOT / package).rglob("*.py"):
        forbidden = imported_packages(file) & (MAY_IMPORT.keys() - MAY_IMPORT[package])
        assert not forbidden, f"{file} imports {forbidden}"


# The messages of the serving protocol come out of TensorFlow once it is set up.
IMPORTS_TENSORFLOW = {
    ROOT / "features" / "tensorflow.py",
    ROOT / "serving" / "protocol" / "apis.py",
}


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_tensorflow_and_keras_are_imported_in_one_place(package: str) -> None:
    for file in (ROOT / package).rglob("*.py"):
        if file not in IMPORTS_TENSORFLOW:
            assert not imported_packages(file) & {"tensorflow", "keras", "tf_keras"}, file


def test_features_import_neither_beam_nor_models() -> None:
    for file in (ROOT / "features").rglob("*.py"):
        assert not imported_packages(file) & {"apache_beam", "tensorflow_recommenders"}, file


@pytest.mark.parametrize("package", ["pipeline", "models", "serving"])
def test_a_wrong_configuration_fails_before_tensorflow_is_imported(package: str) -> None:
    step = {"pipeline": "preprocess", "models": "train", "serving": "export"}[package]
    command = [sys.executable, "-X", "importtime", "-m", package, step]
    run = subprocess.run(
        [*command, "--set", "model.knid=deepfm"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == 2
    assert "did you mean kind?" in run.stderr
    modules = {line.split("|")[-1].strip() for line in run.stderr.splitlines() if "|" in line}
    assert "pydantic" in modules
    assert not modules & {"tensorflow", "apache_beam"}
