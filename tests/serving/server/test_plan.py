from hypothesis import given
from hypothesis import strategies as st

from serving.server.plan import plan_versions

versions = st.sets(st.integers(1, 9))
keeps = st.integers(1, 4)


@given(versions, versions, versions, keeps)
def test_the_last_version_is_never_unloaded(
    on_disk: set[int], loaded: set[int], failed: set[int], keep: int
) -> None:
    plan = plan_versions(on_disk, loaded, failed, keep)
    assert not loaded or loaded - set(plan.unload)


@given(versions, versions, versions, keeps)
def test_following_the_plan_ends_with_the_newest_that_can_be_loaded(
    on_disk: set[int], loaded: set[int], broken: set[int], keep: int
) -> None:
    loaded -= broken
    failed: set[int] = set()
    before = set(loaded)
    for _ in range(20):
        plan = plan_versions(on_disk, loaded, failed, keep)
        for version in plan.load[:1]:
            (failed if version in broken else loaded).add(version)
        loaded -= set(plan.unload)
    newest = set(sorted(on_disk - broken)[-keep:])
    assert loaded == (newest or set(sorted(before)[-1:]))


def test_the_newest_is_loaded_first() -> None:
    assert plan_versions([1, 2, 3], [], [], 2).load == (3, 2)


def test_a_rollback_loads_the_older_version_before_the_newer_goes() -> None:
    assert plan_versions([1], [2, 3], [], 2).load == (1,)
    assert plan_versions([1], [1, 2, 3], [], 2).unload == (2, 3)
