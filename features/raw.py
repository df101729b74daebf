"""Which raw columns the features read, and as what type: what a request has to send."""

from __future__ import annotations

from features.config import Config
from features.errors import ConfigError
from features.spec import RawColumn, RawType

__all__ = ["raw_columns"]


def raw_columns(config: Config) -> tuple[RawColumn, ...]:
    """Return the raw columns that features read, each once, in order of first use.

    A column of type `time` is the log's timestamp, parsed to Unix seconds.

    Raises:
        ConfigError: Features read one column as different types, or a time part has no timestamp.
    """
    timestamp = config.log.timestamp.column if config.log.timestamp else None
    types: dict[str, RawType] = {}
    for feature in config.features:
        reads = feature.reads(timestamp)
        if reads is None:
            continue
        column, raw_type = reads
        if types.setdefault(column, raw_type) != raw_type:
            raise ConfigError(
                "a column is read as one type",
                received=f"column {column!r} as {types[column]} and as {raw_type}",
                where=f"features, {feature.name!r}",
                remedy="give the features kinds that read the same type, or write the column twice",
            )
    return tuple(RawColumn(name, kind, name in config.log.required) for name, kind in types.items())
