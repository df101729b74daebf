import subprocess
import sys
from pathlib import Path

import pytest

from serving.demo import steps
from serving.doctor import checksum_path, examine, mismatches
from serving.summary import share_of_the_way

COMMANDS = ("export", "verify", "predict", "serve", "doctor", "demo", "summary")


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-X", "importtime", "-m", "serving", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("command", ["export", "verify", "predict", "serve", "demo", "summary"])
def test_a_wrong_configuration_fails_before_tensorflow_is_imported(command: str) -> None:
    done = _run(command, "--set", "model.embeding_dim=8")
    assert done.returncode == 2
    assert "embedding_dim" in done.stderr
    assert "tensorflow" not in {line.split("|")[-1].strip() for line in done.stderr.splitlines()}


@pytest.mark.parametrize(
    ("command", "remedy"),
    [
        ("export", "make preprocess"),
        ("verify", "make export"),
        ("predict", "make export"),
        ("serve", "make export"),
        ("summary", "make train"),
    ],
)
def test_a_step_without_its_input_names_the_command(
    command: str, remedy: str, tmp_path: Path
) -> None:
    done = _run(command, "--out", str(tmp_path))
    assert done.returncode == 2
    assert remedy in done.stderr
    assert "Traceback" not in done.stderr


def test_help_names_every_command() -> None:
    done = _run("--help")
    assert all(command in done.stdout for command in COMMANDS)


def test_the_demonstration_passes_the_run_on_to_every_step() -> None:
    run = ["--config", "default", "--out", "out/x", "--set", "train.epochs=1"]
    todo = steps(run, Path("out/x"), missing_log=Path("log.csv"))
    assert [step.arguments[:2] for step in todo] == [
        ("pipeline", "generate"),
        ("pipeline", "preprocess"),
        ("models", "train"),
        ("serving", "export"),
        ("serving", "verify"),
        ("serving", "predict"),
    ]
    assert all(step.arguments[2:8] == tuple(run) for step in todo[1:])


def test_a_log_that_is_there_is_not_generated_again() -> None:
    assert steps([], Path("out"), missing_log=None)[0].title == "preprocess"


def test_this_machine_has_what_the_pipeline_needs() -> None:
    fatal = [str(finding) for finding in examine() if finding.is_fatal]
    assert fatal == []


def test_a_version_that_does_not_fit_is_named_with_what_is_needed() -> None:
    found = mismatches(["tensorflow==2.21.0", "rich>=14"], {"tensorflow": "2.20.0", "rich": None})
    assert found == ["tensorflow 2.20.0 is installed, ==2.21.0 is needed", "rich is not installed"]


def test_the_slow_checksum_is_said_to_be_slow() -> None:
    assert checksum_path(lambda name: name == "crcmod") == ("crcmod, in pure Python", False)
    assert checksum_path(lambda name: name == "google_crc32c")[1]


def test_chance_is_nothing_of_the_way_and_the_oracle_all_of_it() -> None:
    assert share_of_the_way(0.5, 0.8) == 0.0
    assert share_of_the_way(0.8, 0.8) == 1.0
