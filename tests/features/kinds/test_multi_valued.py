from __future__ import annotations

from tests.features.configure import config_of, encoded, transform_of

GENRES = {"kind": "multi", "name": "g", "max_length": 3}


def test_values_keep_their_order_and_are_padded_with_zero() -> None:
    transform = transform_of(config_of(GENRES), g=["a|b", "a"])
    rows = encoded(transform, g=["b|a", "new", "a|b|a|b"])["multi"]
    assert rows == [[[3, 2, 0]], [[1, 0, 0]], [[2, 3, 2]]]


def test_an_empty_field_is_all_zeros() -> None:
    transform = transform_of(config_of(GENRES), g=["a"])
    rows = encoded(transform, g=[None, "", "|", " | ", "NA"])["multi"]
    assert rows == [[[0, 0, 0]]] * 5


def test_empty_values_are_dropped_before_the_first_are_kept() -> None:
    transform = transform_of(config_of(GENRES), g=["a|b|c"])
    assert encoded(transform, g=["|a|| b | |c"])["multi"] == [[[2, 3, 4]]]


def test_only_values_that_are_kept_are_counted() -> None:
    transform = transform_of(config_of({**GENRES, "max_length": 1}), g=["a|z", "b|z", "a"])
    vocabulary = transform.artefact.statistics.vocabularies["g"]
    assert vocabulary.values.to_pylist() == [b"a", b"b"]


def test_a_separator_may_have_several_characters() -> None:
    transform = transform_of(config_of({**GENRES, "separator": "||"}), g=["a||b|c"])
    assert encoded(transform, g=["b|c||a|||a"])["multi"] == [[[3, 2, 1]]]


def test_hashed_values_have_ids_from_one() -> None:
    transform = transform_of(config_of({**GENRES, "buckets": 1}), g=[])
    assert encoded(transform, g=["x|y", None])["multi"] == [[[1, 1, 0]], [[0, 0, 0]]]


def test_features_of_different_length_are_padded_to_the_longest() -> None:
    short = {"kind": "multi", "name": "s", "max_length": 1, "buckets": 1}
    transform = transform_of(config_of(GENRES, short), g=["a"], s=["b"])
    assert encoded(transform, g=["a|a"], s=["x|y"])["multi"] == [[[2, 2, 0], [1, 0, 0]]]


def test_a_shared_vocabulary_counts_single_and_multi_valued_columns_together() -> None:
    config = config_of(
        {"kind": "multi", "name": "history", "table": "item"},
        {"kind": "vocabulary", "name": "item"},
    )
    transform = transform_of(config, history=["b|b", "b"], item=["a", "b"])
    inputs = encoded(transform, history=["a|b"], item=["b"])
    assert inputs["multi"][0][0][:2] == [3, 2]
    assert inputs["sparse"] == [[2]]
    assert transform.spec.tables == {"item": 4}
