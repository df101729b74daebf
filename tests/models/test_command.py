import json
import os
from pathlib import Path

import pytest

from features.command import main
from models.__main__ import COMMANDS
from models.display import displayed

TOML = """
name = "small"
[log]
path = "log.csv"
label = { column = "click" }
[split]
by = "random"
[[features]]
kind = "numeric"
name = "x"
"""


@pytest.fixture
def run(tmp_path: Path) -> list[str]:
    config = tmp_path / "small.toml"
    config.write_text(TOML)
    return ["--config", str(config), "--out", str(tmp_path / "out")]


@pytest.mark.parametrize("command", ["train", "plan", "validate"])
def test_a_missing_data_set_names_the_command_that_makes_it(
    run: list[str], command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main("models", "", COMMANDS, [command, *run]) == 2
    assert "make preprocess" in capsys.readouterr().err


def test_a_wrong_tf_config_is_told_before_any_data_is_read(
    run: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TF_CONFIG", "{")
    assert main("models", "", COMMANDS, ["train", *run]) == 2
    assert "TF_CONFIG is JSON" in capsys.readouterr().err


def test_local_workers_inside_a_cluster_are_refused(
    run: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = {"worker": ["127.0.0.1:1", "127.0.0.1:2"]}
    config = {"cluster": cluster, "task": {"type": "worker", "index": 0}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(config))
    assert main("models", "", COMMANDS, ["train", *run, "--workers", "2"]) == 2
    assert "unset TF_CONFIG" in capsys.readouterr().err


def test_no_workers_at_all_are_refused(run: list[str]) -> None:
    assert main("models", "", COMMANDS, ["train", *run, "--workers", "0"]) == 2


def test_what_the_chief_sends_is_shown_by_the_parent(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    sent = tmp_path / "sent"
    with (
        sent.open("wb") as stream,
        displayed({"CTR_PROGRESS_FD": str(os.dup(stream.fileno()))}) as chief,
    ):
        chief.line("2 workers")
    with displayed({}) as parent:
        for message in sent.read_text().splitlines():
            parent.receive(message)
        parent.receive('{"line": "half of a mess')
    assert capsys.readouterr().out == "2 workers\n"
