"""What has to hold between the parts of a configuration, checked before any data is read."""

from __future__ import annotations

from collections.abc import Iterator

from features.config import Config
from features.errors import ConfigError
from features.kinds import Cross, Feature, MultiValued, Numeric
from features.kinds.settings import SparseSettings
from features.raw import raw_columns

__all__ = ["check_config", "check_features"]


def check_config(config: Config, where: str = "configuration") -> None:
    """Check that the sections of a configuration fit together.

    Args:
        config: A configuration, each key of which is valid.
        where: Name of its source, for messages.

    Raises:
        ConfigError: They contradict each other.
    """
    needs = {"time": ("timestamp", config.log.timestamp), "user": ("user", config.log.user)}
    key, value = needs.get(config.split.by, ("", "not needed"))
    if value is None:
        raise ConfigError(
            f"a split by {config.split.by} needs log.{key}",
            received=f"split.by={config.split.by} without log.{key}",
            where=where,
            remedy=f"configure log.{key} or choose another split.by",
        )
    check_features(config, where)


def check_features(config: Config, where: str = "configuration") -> None:
    """Check that features fit the log and each other.

    Raises:
        ConfigError: A name is used twice, a cross or a shared table is impossible, a feature reads
            the label, or a column is not one of those declared.
    """
    raw_columns(config)
    _check_names(config, where)
    _check_columns(config, where)
    for feature in config.features:
        if isinstance(feature, Cross):
            _check_cross(feature, config, where)
    _check_tables(config, where)


def _check_names(config: Config, where: str) -> None:
    seen: set[str] = set()
    for name in _input_names(config):
        if name in seen:
            raise ConfigError(
                "a feature's name is used once",
                received=f"{name!r} twice",
                where=f"{where}, features",
                remedy="rename one of them and give it `column`",
            )
        seen.add(name)


def _input_names(config: Config) -> Iterator[str]:
    for feature in config.features:
        yield from feature.inputs if isinstance(feature, Numeric) else (feature.name,)


def _check_columns(config: Config, where: str) -> None:
    timestamp = config.log.timestamp and config.log.timestamp.column
    declared = _declared_columns(config)
    for feature in config.features:
        reads = feature.reads(str(timestamp))
        if reads and reads[0] == config.log.label.column:
            raise ConfigError(
                "no feature reads the label",
                received=f"column {reads[0]!r}, which is log.label.column",
                where=f"{where}, feature {feature.name!r}",
                remedy="remove the feature: a request has no label",
            )
        if reads:
            _check_declared(reads[0], declared, f"{where}, feature {feature.name!r}")
    for column in config.log.required:
        _check_declared(column, declared, f"{where}, key log.required")


def _declared_columns(config: Config) -> frozenset[str] | None:
    """Return the columns of the joined log; None where they are known from its files alone."""
    if config.log.columns is None or any(
        join.take is None and join.columns is None for join in config.log.joins
    ):
        return None
    taken = (join.take or join.columns or () for join in config.log.joins)
    return frozenset(config.log.columns).union(*taken)


def _check_declared(column: str, declared: frozenset[str] | None, where: str) -> None:
    if declared is not None and column not in declared:
        raise ConfigError(
            "a column is one of those that the log or a join declares",
            received=column,
            where=where,
            remedy=f"use one of {', '.join(sorted(declared))}",
        )


def _check_cross(cross: Cross, config: Config, where: str) -> None:
    features: dict[str, Feature] = {feature.name: feature for feature in config.features}
    allowed = [name for name, feature in features.items() if _can_be_crossed(feature)]
    for part in cross.of:
        if part not in allowed:
            kind = features[part].kind if part in features else "not a feature"
            raise ConfigError(
                "a cross is of single-valued sparse features that are not crosses themselves",
                received=f"{part!r} ({kind})",
                where=f"{where}, feature {cross.name!r}, key of",
                remedy=f"use two or more of {', '.join(allowed) or 'them, after adding some'}",
            )
    if len(set(cross.of)) < len(cross.of):
        raise ConfigError(
            "a cross names each of its parts once",
            received=", ".join(cross.of),
            where=f"{where}, feature {cross.name!r}, key of",
            remedy="remove the repeated part",
        )


def _can_be_crossed(feature: Feature) -> bool:
    return isinstance(feature, SparseSettings) and not isinstance(feature, Cross | MultiValued)


def _check_tables(config: Config, where: str) -> None:
    first: dict[str, SparseSettings] = {}
    for feature in config.features:
        if not isinstance(feature, SparseSettings):
            continue
        owner = first.setdefault(feature.table_name, feature)
        rules = owner.id_rule(), feature.id_rule()
        if rules[0] != rules[1]:
            raise ConfigError(
                "features that share a table give equal values equal ids, so they are set alike",
                received=f"{owner.name!r}: {rules[0]}; {feature.name!r}: {rules[1]}",
                where=f"{where}, table {feature.table_name!r}",
                remedy="give both the same settings, or tables of their own",
            )
