"""Raw columns to a clean batch: each row is accepted whole, or refused with its first fault.

Faults are looked for in this order: label, timestamp, weight, required columns, numbers.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from features.config import Config, LabelConfig, TimestampConfig
from pipeline.log.block import Faults, ParsedBlock, RawBlock, Reject
from pipeline.log.join import Side, add_side
from pipeline.log.times import times
from pipeline.log.values import SPACES, missing_as_null, numbers, strings, wrong_type
from pipeline.log.wanted import wanted_columns

__all__ = ["clean_block"]

LABELS = pa.array(["0", "0.0", "1", "1.0"], pa.string())
LABEL_VALUES = np.array([0, 0, 1, 1], np.float32)


def clean_block(
    block: RawBlock, path: str, config: Config, sides: tuple[Side, ...], now: float
) -> ParsedBlock:
    """Clean a block.

    Args:
        block: Raw columns.
        path: Their file.
        config: What the columns mean.
        sides: Side tables.
        now: The clock, in Unix seconds.

    Raises:
        DataError: A Parquet column is of a type that cannot be read as configured.
    """
    cleaner = _Cleaner(block, path, config, now)
    cleaner.join(sides)
    cleaner.add_log_columns()
    cleaner.add_features()
    return cleaner.finish()


class _Cleaner:
    """A block's clean columns, and its faults, as they come to be."""

    def __init__(self, block: RawBlock, path: str, config: Config, now: float) -> None:
        self._block, self._path, self._config, self._now = block, path, config, now
        self._wanted = wanted_columns(config)
        self._separators = dict(self._wanted.separators)
        self._columns = {name: self._with_nulls(name) for name in block.columns}
        self._faults = Faults(len(block.lines))
        self._clean: dict[str, pa.Array] = {}

    def _with_nulls(self, name: str) -> pa.Array:
        values = self._block.columns[name]
        if pa.types.is_string(values.type) and (self._block.spaced or not self._block.missing_done):
            missing = self._config.log.missing
            return missing_as_null(values, missing, self._block.missing_done)
        return values

    def _text(self, name: str) -> pa.Array:
        values = self._columns[name]
        if pa.types.is_string(values.type):
            return values
        try:
            text = strings(values, self._separators.get(name))
        except (TypeError, pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise wrong_type(name, values.type, "text", self._path) from error
        return missing_as_null(text, self._config.log.missing, False)

    def join(self, sides: tuple[Side, ...]) -> None:
        """Add the columns of side tables."""
        for side in sides:
            self._columns.update(add_side(self._text(side.on), side))

    def add_log_columns(self) -> None:
        """Add label, weight, time, user and line."""
        log = self._config.log
        self._add_label(log.label)
        if log.timestamp:
            self._add_time(log.timestamp)
        if log.weight:
            self._add_weight(log.weight)
        if log.user:
            self._clean["__user__"] = self._text(log.user)
        self._clean["__row__"] = pa.array(self._block.lines)

    def _add_label(self, config: LabelConfig) -> None:
        values = self._columns[config.column]
        self._faults.mark(_nulls(values), "missing_label")
        if config.at_least is not None:
            found = numbers(values, config.column, self._path)
            self._faults.mark(found.missing, "missing_label")
            self._faults.mark(found.malformed | found.too_large, "bad_label")
            labels = (found.values >= config.at_least).astype(np.float32)
        elif config.positive is not None:
            text = pc.utf8_trim(self._text(config.column), SPACES)
            positive = pc.is_in(text, pa.array(config.positive, pa.string()))
            labels = positive.to_numpy(zero_copy_only=False).astype(np.float32)
        else:
            text = pc.utf8_trim(self._text(config.column), SPACES)
            codes = pc.fill_null(pc.index_in(text, LABELS), -1).to_numpy(zero_copy_only=False)
            self._faults.mark(codes < 0, "bad_label")
            labels = LABEL_VALUES[codes]
        self._clean["__label__"] = pa.array(labels)

    def _add_time(self, config: TimestampConfig) -> None:
        found = times(self._columns[config.column], config, self._now, self._path)
        self._faults.mark(found.missing, "missing_timestamp")
        self._faults.mark(found.malformed, "bad_timestamp")
        self._faults.mark(found.out_of_range, "timestamp_out_of_range")
        self._faults.mark(found.future, "timestamp_in_future")
        self._clean["__time__"] = pa.array(found.seconds)

    def _add_weight(self, name: str) -> None:
        found = numbers(self._columns[name], name, self._path)
        self._faults.mark(found.missing, "missing_weight")
        self._faults.mark(found.malformed | found.too_large, "bad_weight")
        self._faults.mark(np.nan_to_num(found.values) < 0, "bad_weight")
        self._clean["__weight__"] = pa.array(found.values.astype(np.float32))

    def add_features(self) -> None:
        """Add the columns that features read."""
        for name in self._config.log.required:
            self._faults.mark(_nulls(self._columns[name]), f"missing_required:{name}")
        for column in self._wanted.raw:
            if column.type == "number":
                self._clean[column.name] = self._numbers(column.name, column.required)
            elif column.type == "string":
                self._clean[column.name] = self._text(column.name)

    def _numbers(self, name: str, required: bool) -> pa.Array:
        found = numbers(self._columns[name], name, self._path, self._block.spaced)
        if required:
            self._faults.mark(found.missing, f"missing_required:{name}")
        self._faults.mark(found.malformed, f"not_a_number:{name}")
        self._faults.mark(found.too_large, f"number_too_large:{name}")
        return pa.array(found.values.astype(np.float32), mask=np.isnan(found.values))

    def finish(self) -> ParsedBlock:
        """Return the rows without a fault, and those with one."""
        order = ["__label__", "__weight__", "__time__", "__user__", "__row__"]
        names = [name for name in order if name in self._clean]
        names += [name for name in self._clean if name not in order]
        batch = pa.record_batch([self._clean[name] for name in names], names=names)
        bad = self._faults.bad
        if not len(bad):
            return ParsedBlock(batch, self._block.rejects, self._block.dropped)
        batch = batch.take(pa.array(self._faults.good))
        rejects = [*self._block.rejects, *self._rejects(bad)]
        rejects.sort(key=lambda reject: reject.line)
        return ParsedBlock(batch, rejects, self._block.dropped)

    def _rejects(self, bad: npt.NDArray[np.int64]) -> list[Reject]:
        rows = zip(bad, self._block.raw(bad), strict=True)
        lines, reason = self._block.lines, self._faults.reason
        return [Reject(self._path, int(lines[at]), reason(at), raw) for at, raw in rows]


def _nulls(values: pa.Array) -> npt.NDArray[np.bool_]:
    found: npt.NDArray[np.bool_] = pc.is_null(values).to_numpy(zero_copy_only=False)
    return found
