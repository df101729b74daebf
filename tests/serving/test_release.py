import os
from collections.abc import Callable
from pathlib import Path

import pytest

from features.errors import DataError, ServingError
from serving.release import draft, latest_version, publish, versions


def _publish(directory: Path) -> Path:
    with draft(directory) as path:
        (path / "saved_model.pb").write_text("model")
        return publish(path, directory)


def test_versions_only_grow(tmp_path: Path) -> None:
    assert [_publish(tmp_path).name for _ in range(3)] == ["1", "2", "3"]


def test_a_version_that_was_removed_below_the_newest_is_not_given_again(tmp_path: Path) -> None:
    (tmp_path / "7" / "x").mkdir(parents=True)
    assert _publish(tmp_path).name == "8"


def test_a_version_that_appears_meanwhile_is_not_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename: Callable[[Path, Path], None] = os.rename

    def rename_after_another(source: Path, target: Path) -> None:
        if not target.exists() and target.name == "1":
            (target / "other").mkdir(parents=True)
        rename(source, target)

    monkeypatch.setattr(os, "rename", rename_after_another)
    assert _publish(tmp_path).name == "2"
    assert (tmp_path / "1" / "other").is_dir()


def test_a_draft_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(KeyError), draft(tmp_path) as path:
        (path / "variables").mkdir()
        raise KeyError
    assert list(tmp_path.iterdir()) == []


def test_only_positive_integers_are_versions(tmp_path: Path) -> None:
    for name in ("1", "12", "0", "-3", "1a", ".tmp-9", "²"):
        (tmp_path / name).mkdir()
    (tmp_path / "99").write_text("a file")
    assert versions(tmp_path) == [1, 12]


def test_the_newest_is_by_number_and_not_by_spelling(tmp_path: Path) -> None:
    for name in ("9", "10"):
        (tmp_path / name).mkdir()
    assert latest_version(tmp_path).name == "10"


def test_no_version_names_the_command_that_makes_one(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="make export"):
        latest_version(tmp_path)


def test_a_directory_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ServingError, match="can be written"), draft(tmp_path / "file" / "tiny"):
        pass
