from pathlib import Path

import pytest

from serving.server.directory import find_versions, fingerprint


def test_only_directories_named_by_a_positive_integer_are_versions(tmp_path: Path) -> None:
    names = ["1", "20", "0", "-3", "007", "5.tmp", ".6", "v8", "٣", "1e3", "9" * 19]
    for name in names:
        (tmp_path / name).mkdir()
    (tmp_path / "4").write_text("a file")
    assert find_versions(tmp_path) == {1: tmp_path / "1", 20: tmp_path / "20"}


def test_a_missing_directory_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        find_versions(tmp_path / "nowhere")


def test_a_fingerprint_changes_when_a_file_is_added(tmp_path: Path) -> None:
    before = fingerprint(tmp_path)
    (tmp_path / "variables").mkdir()
    (tmp_path / "variables" / "variables.index").write_text("x")
    assert fingerprint(tmp_path) != before


def test_a_fingerprint_stays_while_nothing_changes(tmp_path: Path) -> None:
    (tmp_path / "saved_model.pb").write_text("x")
    assert fingerprint(tmp_path) == fingerprint(tmp_path)
