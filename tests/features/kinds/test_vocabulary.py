from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from features.errors import DataError
from tests.features.configure import batch_of, config_of, encoded, learnt, transform_of


def _ids(
    settings: dict[str, Any], train: Sequence[str | None], raw: Sequence[str | None]
) -> list[int]:
    config = config_of({"kind": "vocabulary", "name": "c", **settings})
    return [row[0] for row in encoded(transform_of(config, c=train), c=raw)["sparse"]]


def test_ids_are_missing_then_unseen_then_values_by_count_and_then_by_value() -> None:
    train = ["b", "a", "c", "c", None]
    assert _ids({}, train, [None, "", "new", "c", "a", "b"]) == [0, 0, 1, 2, 3, 4]


def test_a_spelling_of_a_missing_value_is_missing_in_a_request_too() -> None:
    assert _ids({}, ["a"], ["NA", " NULL ", "\\N", "nan", "na"]) == [0, 0, 0, 0, 1]


def test_a_literal_unk_is_a_value_like_any_other() -> None:
    assert _ids({}, ["[UNK]", "[UNK]", "a"], ["[UNK]", "a", "unseen"]) == [2, 3, 1]


def test_values_are_normalised_alike_when_counted_and_when_looked_up() -> None:
    train = ["Ä ", "ä", " b", "Ωmega"]
    ids = _ids({"normalise": "strip_lower"}, train, ["ä", " Ä", "B", "ωMEGA", "  "])
    assert ids == [2, 2, 3, 4, 0]


def test_without_normalisation_white_space_counts() -> None:
    assert _ids({"normalise": "none"}, ["a", "a", "a "], ["a", "a ", " a"]) == [2, 3, 1]


def test_rare_values_are_out_of_vocabulary() -> None:
    assert _ids({"min_count": 2}, ["a", "a", "b"], ["a", "b"]) == [2, 1]


def test_the_most_frequent_values_are_kept() -> None:
    assert _ids({"max_size": 1}, ["a", "b", "b"], ["a", "b"]) == [1, 2]


def test_unseen_values_spread_over_their_buckets() -> None:
    ids = _ids({"oov_buckets": 8}, ["a"], [f"new {i}" for i in range(200)])
    assert set(ids) == set(range(1, 9))


def test_a_value_with_a_line_break_is_out_of_vocabulary_and_counted() -> None:
    config = config_of({"kind": "vocabulary", "name": "c"})
    train = ["a", "red\nshoes", "red\nshoes", "x\ry"]
    transform = transform_of(config, c=train)
    assert encoded(transform, c=["a", "red\nshoes", "x\ry"])["sparse"] == [[2], [1], [1]]
    assert transform.artefact.statistics.vocabularies["c"].unrepresentable == 3


def test_a_value_with_a_nul_byte_and_a_long_value_have_ids() -> None:
    assert _ids({}, ["a\0b", "z" * 100_000], ["a\0b", "z" * 100_000, "a"]) == [2, 3, 1]


def test_a_vocabulary_without_entries_is_an_error_with_its_reason() -> None:
    config = config_of({"kind": "vocabulary", "name": "c", "min_count": 5})
    with pytest.raises(DataError, match="at least one value") as raised:
        learnt(config, batch_of(config, c=["a", "b"]))
    assert "2 distinct values" in str(raised.value)


def _given(path: Any, content: bytes, normalise: str = "strip") -> list[int]:
    (path / "v.txt").write_bytes(content)
    settings = {"file": str(path / "v.txt"), "normalise": normalise}
    return _ids(settings, [], ["a", "b", "c", "d"])


def test_a_given_file_may_have_blank_lines_line_ends_and_a_byte_order_mark(tmp_path: Any) -> None:
    assert _given(tmp_path, b"\xef\xbb\xbfa\nb \n\nc\r\n") == [2, 3, 4, 1]


def test_a_given_file_with_a_value_twice_after_stripping_names_both_lines(tmp_path: Any) -> None:
    with pytest.raises(DataError, match="each value once") as raised:
        _given(tmp_path, b"a\nb\nb \n\nc\r\n")
    assert "'b' in lines 2 and 3" in str(raised.value)


@pytest.mark.parametrize("content", [b"", b"\n \n", b"caf\xe9\n"])
def test_a_given_file_that_is_empty_or_not_utf8_is_an_error(tmp_path: Any, content: bytes) -> None:
    with pytest.raises(DataError, match="vocabulary file"):
        _given(tmp_path, content)


def test_a_given_file_that_is_not_there_is_an_error(tmp_path: Any) -> None:
    with pytest.raises(DataError, match="can be read"):
        _ids({"file": str(tmp_path / "none.txt")}, [], ["a"])
