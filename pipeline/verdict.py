"""Whether a log is good enough to train on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from features.config import Config
from features.errors import DataError
from pipeline.blocks import StagedBlock

__all__ = ["check_blocks"]


def check_blocks(blocks: Sequence[StagedBlock], config: Config) -> Iterator[int]:
    """Yield the number of accepted rows, if the log has rows and few enough are rejected.

    Raises:
        DataError: The log is empty, or too many of its rows are rejected.
    """
    accepted = sum(block.accepted for block in blocks)
    rejects: Counter[str] = Counter()
    for block in blocks:
        rejects.update(block.rejects)
    rejected = rejects.total()
    if accepted + rejected == 0:
        raise DataError(
            "a log has at least one row",
            received="0 rows",
            where=f"log.path={config.log.path}",
            remedy="give a log with rows in log.path",
        )
    if accepted == 0 or rejected > config.log.max_rejected * (accepted + rejected):
        raise _too_many(blocks, rejects, accepted + rejected, config)
    yield accepted


def _too_many(
    blocks: Sequence[StagedBlock], rejects: Counter[str], rows: int, config: Config
) -> DataError:
    lines = [f"{rejects.total()} of {rows} rows rejected"]
    for reason, count in rejects.most_common(10):
        samples = [sample for block in blocks for sample in block.samples.get(reason, ())]
        lines.append(f"{count} x {reason}, such as")
        lines.extend(f"  {sample}" for sample in samples[:2])
    return DataError(
        f"at most {config.log.max_rejected:.2%} of the rows are rejected (log.max_rejected)",
        received="\n            ".join(lines),
        where=f"log.path={config.log.path}",
        remedy=_remedy(rejects),
    )


def _remedy(rejects: Counter[str]) -> str:
    reason = rejects.most_common(1)[0][0]
    hints = {
        "timestamp_out_of_range": "set log.timestamp.unit to the log's unit (s, ms, us, iso)",
        "bad_timestamp": "set log.timestamp.unit or log.timestamp.format to the log's",
        "bad_label": "give a rule for the label: log.label.at_least or log.label.positive",
        "too_few_fields": "check log.separator and log.columns, or set log.short_rows=pad",
        "too_many_fields": "check log.separator, log.quote and log.columns",
        "invalid_utf8": "set log.encoding to the log's",
    }
    return hints.get(reason, "mend the log or the configuration, or raise log.max_rejected")
