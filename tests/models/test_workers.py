import json
import os
import sys
from pathlib import Path

import pytest

from models.launch import run_workers
from tests.models.records import write_data


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, object]]:
    """What two real processes saw of 100 and 103 rows in batches of 10 a replica."""
    directory = tmp_path_factory.mktemp("data")
    write_data(directory, [100, 103]).write(directory)
    command = [sys.executable, "-m", "tests.models.reading_worker", str(directory)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    run_workers(command, 2, directory / "logs", environment=environment)
    return [json.loads((directory / f"seen-{k}.json").read_text()) for k in range(2)]


def test_both_workers_know_their_world(seen: list[dict[str, object]]) -> None:
    assert [each["world"] for each in seen] == ["2 workers", "2 workers"]


def test_uneven_shards_end_together_with_every_row_seen_once(seen: list[dict[str, object]]) -> None:
    epochs = seen[0]["epochs"]
    assert isinstance(epochs, list)
    assert [len(steps) for steps in epochs] == [11, 11]
    assert [sum(steps) for steps in epochs] == [203 * 204 / 2] * 2


def test_workers_agree_on_every_step(seen: list[dict[str, object]]) -> None:
    assert seen[0]["epochs"] == seen[1]["epochs"]
