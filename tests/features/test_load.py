from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from features.errors import ConfigError
from features.load import load_config, parse_config, shipped_configs, store_config


def tree(**sections: Any) -> dict[str, Any]:
    smallest: dict[str, Any] = {
        "name": "shop",
        "log": {"path": "log.csv", "label": {"column": "click"}},
        "split": {"by": "random"},
        "features": [{"kind": "vocabulary", "name": "item_id"}],
    }
    return {**smallest, **sections}


@pytest.mark.parametrize("name", shipped_configs())
def test_shipped_configurations_are_valid(name: str) -> None:
    assert load_config(name).name == name


@pytest.mark.parametrize(
    ("sections", "received", "where", "remedy"),
    [
        ({"model": {"knid": "deepfm"}}, "knid", "model.knid", "did you mean kind?"),
        ({"model": {"kind": "deepmf"}}, "deepmf", "model.kind", "did you mean deepfm?"),
        ({"modle": {}}, "modle", "modle", "did you mean model?"),
        (
            {"features": [{"kind": "vocabulary", "name": "a", "min_cuont": 2}]},
            "min_cuont",
            "features.0.vocabulary.min_cuont",
            "did you mean min_count?",
        ),
        (
            {"features": [{"kind": "vocabularly", "name": "a"}]},
            "vocabularly",
            "features.0",
            "did you mean vocabulary?",
        ),
        ({"train": {"batch_size": 0}}, "0", "train.batch_size", "range"),
        ({"log": {"path": "x.csv"}}, "nothing", "log.label", ""),
    ],
)
def test_a_fault_names_key_value_and_remedy(
    sections: dict[str, Any], received: str, where: str, remedy: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_config(tree(**sections), "shop.toml")
    assert received in str(caught.value.received)
    assert "shop.toml" in caught.value.where and where in caught.value.where
    assert remedy in caught.value.remedy


@pytest.mark.parametrize(
    ("override", "section", "key", "value"),
    [
        ("model.embedding_dim=32", "model", "embedding_dim", 32),
        ("model.kind=wide_deep", "model", "kind", "wide_deep"),
        ("log.path=a.csv", "log", "path", "a.csv"),
        ('log.path=["a.csv", "b.csv"]', "log", "path", ("a.csv", "b.csv")),
        ("model.hidden=[8, 4]", "model", "hidden", (8, 4)),
    ],
)
def test_an_override_is_read_as_toml_or_else_as_a_string(
    override: str, section: str, key: str, value: object
) -> None:
    assert getattr(getattr(load_config("default", [override]), section), key) == value


def test_an_override_reaches_a_feature_by_name() -> None:
    config = load_config("default", ["features.item_id.min_count=7"])
    assert [feature.min_count for feature in config.features if feature.name == "item_id"] == [7]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "override", ["model.kind", "=3", "name.x=1", "features.nobody.min_count=1"]
)
def test_an_override_that_names_nothing_is_an_error(override: str) -> None:
    with pytest.raises(ConfigError):
        load_config("default", [override])


def test_a_missing_file_suggests_the_nearest_configuration(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="did you mean default"):
        load_config("defualt")


def test_the_stored_configuration_reads_back(tmp_path: Path) -> None:
    import json

    config = load_config("default")
    store_config(config, tmp_path / "run")
    stored = json.loads((tmp_path / "run" / "config.json").read_text())
    assert parse_config(stored, "stored") == config
