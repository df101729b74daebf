"""Which columns of the log a configuration needs, and whether a file has them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from features.config import Config
from features.errors import DataError
from features.kinds import MultiValued
from features.raw import raw_columns
from features.spec import RawColumn

__all__ = ["Wanted", "check_names", "wanted_columns"]


@dataclass(frozen=True)
class Wanted:
    """The columns that a run reads.

    Attributes:
        raw: Columns that features read.
        names: All columns: those of `raw`, label, timestamp, user, weight, join and required ones.
        separators: Separator of each multi-valued column.
        numeric: Columns that are read as numbers and as nothing else.
    """

    raw: tuple[RawColumn, ...]
    names: tuple[str, ...]
    separators: tuple[tuple[str, str], ...]
    numeric: frozenset[str]


@lru_cache(maxsize=16)
def wanted_columns(config: Config) -> Wanted:
    """Return the columns that a configuration needs."""
    log, raw = config.log, raw_columns(config)
    time = log.timestamp.column if log.timestamp else None
    names = [log.label.column, time]
    names += [log.weight, log.user, *(join.on for join in log.joins), *log.required]
    names += [column.name for column in raw]
    separators = {
        feature.column or feature.name: feature.separator
        for feature in config.features
        if isinstance(feature, MultiValued)
    }
    others = {log.label.column, time, log.user, *(join.on for join in log.joins)}
    numeric = frozenset(column.name for column in raw if column.type == "number") - others
    known = tuple(dict.fromkeys(name for name in names if name is not None))
    return Wanted(raw, known, tuple(separators.items()), numeric)


def check_names(
    names: Sequence[str],
    needed: Iterable[str],
    provided: Iterable[str],
    path: str,
    near: Iterable[str] = (),
) -> None:
    """Check a file's column names.

    Args:
        names: Columns of the file.
        needed: Columns that are read.
        provided: Columns that come from side tables.
        path: The file.
        near: Other names to suggest.

    Raises:
        DataError: A needed column is missing, stands twice, or comes from a side table as well.
    """
    provided = set(provided)
    for name in needed:
        count = names.count(name)
        if count > 1:
            raise _error(
                "a column that is read stands once in a file",
                f"{name!r} {count} times",
                path,
                "rename the others, or declare the names in log.columns",
            )
        if count and name in provided:
            raise _error(
                "a column comes from the log or from one side table",
                f"{name!r} in both",
                path,
                "leave it out of the join's `take`, or rename it",
            )
        if not count and name not in provided:
            raise _missing(name, names, near, path)


def _missing(name: str, names: Sequence[str], near: Iterable[str], path: str) -> DataError:
    nearest = difflib.get_close_matches(name, [*names, *near], n=1, cutoff=0.5)
    hint = f"did you mean {nearest[0]!r}? " if nearest else ""
    shown = ", ".join(map(repr, names[:20])) + (", …" if len(names) > 20 else "")
    return _error(
        "a file has every column that the configuration reads",
        f"no column {name!r} among {shown}",
        path,
        f"{hint}mend the name in the configuration or the file's header",
    )


def _error(rule: str, received: str, where: str, remedy: str) -> DataError:
    return DataError(rule, received=received, where=where, remedy=remedy)
