"""Turns merged partial results into the statistics that the transformation uses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from features.config import Config
from features.kinds import Bucketised, MultiValued, Numeric, Vocabulary
from features.raw import raw_columns
from features.statistics.analysis import Partial
from features.statistics.counts import ValueCounts
from features.statistics.histogram import Histogram, merge_histograms
from features.statistics.learnt import ColumnSummary, Statistics, VocabularyTable
from features.statistics.moments import Moments
from features.statistics.vocabulary import counted_vocabulary, given_vocabulary
from features.strings import missing_lookup

__all__ = ["finish"]

Found = TypeVar("Found", ColumnSummary, Moments, Histogram, ValueCounts)


def finish(config: Config, partials: Mapping[str, Partial]) -> Statistics:
    """Return the statistics of the training split.

    Args:
        config: The configuration.
        partials: Merged results of `analyse` over all its batches.

    Raises:
        DataError: A vocabulary has no entries, or a given one cannot be used.
    """
    return Statistics(
        columns=_columns(config, partials),
        numbers={
            feature.name: _found(partials, f"moments/{feature.name}", Moments()).summary()
            for feature in config.features
            if isinstance(feature, Numeric) and feature.needs_moments
        },
        boundaries={
            feature.name: _found(
                partials, f"histogram/{feature.name}", merge_histograms([])
            ).boundaries(feature.quantiles)
            for feature in config.features
            if isinstance(feature, Bucketised) and feature.quantiles is not None
        },
        vocabularies=_vocabularies(config, partials),
    )


def _columns(config: Config, partials: Mapping[str, Partial]) -> dict[str, ColumnSummary]:
    names = [column.name for column in raw_columns(config)]
    return {name: _found(partials, f"column/{name}", ColumnSummary(0, 0)) for name in names}


def _vocabularies(config: Config, partials: Mapping[str, Partial]) -> dict[str, VocabularyTable]:
    vocabularies: dict[str, VocabularyTable] = {}
    missing = missing_lookup(config.log.missing)
    for feature in config.features:
        if not isinstance(feature, Vocabulary | MultiValued) or not feature.counts_vocabulary:
            continue
        table = feature.table_name
        if table in vocabularies:
            continue
        if feature.file is not None:
            vocabularies[table] = given_vocabulary(feature)
        else:
            counts = _found(partials, f"counts/{table}", ValueCounts())
            vocabularies[table] = counted_vocabulary(feature, counts, missing)
    return vocabularies


def _found(partials: Mapping[str, Partial], name: str, default: Found) -> Found:
    """Return a partial result of the default's type; the default where there was no batch."""
    found = partials.get(name, default)
    if not isinstance(found, type(default)):
        raise TypeError(f"{name} is a {type(found).__name__}, not a {type(default).__name__}")
    return found
