from __future__ import annotations

from typing import Any

import pytest

from features.check import check_config
from features.config import Config
from features.errors import ConfigError
from tests.features.configure import config_of

A = {"kind": "hash", "name": "a", "buckets": 5}
B = {"kind": "vocabulary", "name": "b"}
X = {"kind": "numeric", "name": "x"}
M = {"kind": "multi", "name": "m"}
CROSS = {"kind": "cross", "name": "ab", "of": ["a", "b"], "buckets": 5}


@pytest.mark.parametrize(
    ("features", "rule", "received"),
    [
        ([A, A], "name is used once", "'a' twice"),
        ([A, B, {**CROSS, "of": ["a", "c"]}], "single-valued", "'c' (not a feature)"),
        ([A, B, CROSS, {**CROSS, "name": "n", "of": ["a", "ab"]}], "single-valued", "(cross)"),
        ([A, M, {**CROSS, "of": ["a", "m"]}], "single-valued", "(multi)"),
        ([A, X, {**CROSS, "of": ["a", "x"]}], "single-valued", "(numeric)"),
        ([A, B, {**CROSS, "of": ["a", "a"]}], "each of its parts once", "a, a"),
        ([X, {**A, "column": "x"}], "read as one type", "'x' as number and as string"),
        ([{**X, "column": "click"}], "no feature reads the label", "'click'"),
        ([{**A, "table": "t"}, {**B, "table": "t"}], "share a table", "hash"),
        ([B, {**M, "table": "b", "oov_buckets": 2}], "share a table", "vocabulary"),
    ],
)
def test_features_that_do_not_fit_are_refused(
    features: list[dict[str, Any]], rule: str, received: str
) -> None:
    with pytest.raises(ConfigError, match=rule) as raised:
        check_config(config_of(*features))
    assert received in str(raised.value.received)


def test_features_that_fit_are_accepted() -> None:
    check_config(config_of(A, B, X, M, CROSS, {**B, "name": "c", "table": "b"}))


def test_a_time_part_needs_a_timestamp() -> None:
    config = config_of({"kind": "time_part", "name": "h", "part": "hour"}, timestamp=None)
    with pytest.raises(ConfigError, match=r"needs the log's timestamp|needs log.timestamp"):
        check_config(config)


@pytest.mark.parametrize("by", ["time", "user"])
def test_a_split_needs_its_column(by: str) -> None:
    config = config_of(A, timestamp=None)
    tree = {**config.model_dump(exclude_unset=True), "split": {"by": by}}
    with pytest.raises(ConfigError, match=f"split by {by} needs"):
        check_config(Config.model_validate(tree))


def test_an_undeclared_column_is_refused() -> None:
    with pytest.raises(ConfigError, match="declares"):
        check_config(config_of(A, columns=["click", "t", "b"]))
    with pytest.raises(ConfigError, match="declares"):
        check_config(config_of(A, columns=["click", "t", "a"], required=["z"]))


def test_a_column_that_a_join_adds_is_declared() -> None:
    join = {"path": "items.csv", "on": "t", "take": ["a"]}
    check_config(config_of(A, columns=["click", "t"], joins=[join]))
