from hypothesis import given
from hypothesis import strategies as st

from features.manifest import Shard, Split
from models.sharding import plan_reading


def split(counts: list[int]) -> Split:
    shards = tuple(
        Shard(file=f"train-{k:05d}", examples=count, bytes=0) for k, count in enumerate(counts)
    )
    return Split(examples=sum(counts), positives=0, first_time=None, last_time=None, shards=shards)


def test_files_are_dealt_where_there_are_enough() -> None:
    plan = plan_reading(split([100, 103]), worker_batch=10, workers=2)
    assert (plan.by, plan.steps) == ("file", 11)
    assert plan.reason == "by file: 2 files for 2 workers, 103 and 100 rows"


def test_records_are_dealt_where_files_are_fewer_than_workers() -> None:
    plan = plan_reading(split([203]), worker_batch=10, workers=2)
    assert (plan.by, plan.steps) == ("record", 11)
    assert plan.reason == "by record: 1 files are fewer than 2 workers"


def test_records_are_dealt_where_files_are_too_uneven() -> None:
    plan = plan_reading(split([10, 100]), worker_batch=10, workers=2)
    assert (plan.by, plan.steps) == ("record", 6)
    assert plan.reason.endswith("takes 10 steps instead of 6")


def test_records_are_dealt_where_exactness_is_asked_for() -> None:
    assert plan_reading(split([50, 50]), 10, 2, "record").by == "record"


def test_an_empty_split_has_no_steps() -> None:
    assert plan_reading(split([0, 0]), 10, 2).steps == 0


@given(st.lists(st.integers(0, 60), min_size=1, max_size=6), st.integers(1, 9), st.integers(1, 4))
def test_every_row_has_a_place_in_its_workers_steps(
    counts: list[int], worker_batch: int, workers: int
) -> None:
    plan = plan_reading(split(counts), worker_batch, workers)
    assert plan.steps * worker_batch * workers >= sum(counts)
    if plan.by == "file":
        rows = [sum(shard.examples for shard in files) for files in plan.files]
        assert sum(rows) == sum(counts)
        assert max(rows) <= plan.steps * worker_batch
