"""Real logs, where they lie beside the checkout."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pipeline.log.reading import configure, read

DATA = Path(__file__).parents[4] / "shared" / "data"
BANDIT = DATA / "open_bandit"
MOVIES = DATA / "ml_latest_small"

bandit = pytest.mark.skipif(not BANDIT.is_dir(), reason="no Open Bandit log beside the checkout")
movies = pytest.mark.skipif(not MOVIES.is_dir(), reason="no MovieLens log beside the checkout")
TIME = {"column": "timestamp", "unit": "iso"}


@bandit
def test_open_bandit_twice_in_one_file_has_a_header_in_its_middle(tmp_path: Path) -> None:
    text = (BANDIT / "men_bts.csv").read_bytes()
    (tmp_path / "twice.csv").write_bytes(text + text)
    found = read(configure(tmp_path / "twice.csv", ("item_id",), timestamp=TIME))
    assert len(found.rows) == 20_000
    assert (found.rejects, found.dropped) == ([], {"duplicate_header": 1})
    assert sum(found.column("__label__")) == 2 * 69


@bandit
def test_open_bandit_items_are_joined(tmp_path: Path) -> None:
    join = {"path": str(BANDIT / "men_items.csv"), "on": "item_id"}
    config = configure(
        BANDIT / "men_*.csv",
        ("item_id", "item_feature_1"),
        ("item_feature_0",),
        timestamp=TIME,
        joins=[join],
    )
    logs = [str(BANDIT / "men_bts.csv"), str(BANDIT / "men_random.csv")]
    log = config.log.model_copy(update={"path": tuple(logs)})
    found = read(config.model_copy(update={"log": log}))
    assert (len(found.rows), sum(found.column("__label__"))) == (20_000, 115)
    assert None not in found.column("item_feature_1")
    first = found.rows[0]
    assert (first["item_id"], first["__time__"]) == ("2", 1574553663)


@movies
def test_movielens_ratings_are_joined_with_their_films(tmp_path: Path) -> None:
    join = {"path": str(MOVIES / "movies.csv"), "on": "movieId"}
    config = configure(
        MOVIES / "ratings.csv",
        ("userId", "movieId", "title"),
        multi=("genres",),
        timestamp={"column": "timestamp"},
        joins=[join],
        block_bytes=100_000,
        label={"column": "rating", "at_least": 4},
    )
    found = read(config)
    assert (len(found.rows), found.rejects) == (100_836, [])
    assert found.ranges > 20
    assert found.rows[0] == {
        "__label__": 1.0,
        "__time__": 964982703,
        "__row__": 2,
        "userId": "1",
        "movieId": "1",
        "title": "Toy Story (1995)",
        "genres": "Adventure|Animation|Children|Comedy|Fantasy",
    }
