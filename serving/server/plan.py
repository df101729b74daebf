"""Which versions to load and to unload: a decision about numbers alone."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

__all__ = ["Plan", "plan_versions"]


@dataclass(frozen=True)
class Plan:
    """What to do next.

    Attributes:
        load: Versions to load, newest first.
        unload: Versions to unload, oldest first; empty while there is something to load.
    """

    load: tuple[int, ...] = ()
    unload: tuple[int, ...] = ()


def plan_versions(
    on_disk: Collection[int], loaded: Collection[int], failed: Collection[int], keep: int
) -> Plan:
    """Return the next step towards serving the newest `keep` versions that can be loaded.

    A version that failed takes nobody's place. Loading comes before unloading, so that there is
    always something to answer with, and the last version stays even when its directory is gone.

    Args:
        on_disk: Versions that have a directory.
        loaded: Versions that answer requests.
        failed: Versions that cannot be loaded as they are.
        keep: How many to keep, at least 1.

    >>> plan_versions(on_disk=[1, 2, 3], loaded=[1, 2], failed=[], keep=2)
    Plan(load=(3,), unload=())
    >>> plan_versions(on_disk=[1, 2, 3], loaded=[1, 2, 3], failed=[], keep=2)
    Plan(load=(), unload=(1,))
    >>> plan_versions(on_disk=[1, 2, 3], loaded=[1, 2], failed=[3], keep=2)
    Plan(load=(), unload=())
    >>> plan_versions(on_disk=[], loaded=[1, 2], failed=[], keep=2)
    Plan(load=(), unload=(1,))
    """
    wanted = sorted(set(on_disk) - set(failed), reverse=True)[:keep]
    missing = tuple(version for version in wanted if version not in loaded)
    if missing:
        return Plan(load=missing)
    kept = set(wanted) or {max(loaded, default=0)}
    return Plan(unload=tuple(sorted(set(loaded) - kept)))
