"""The Beam graph from log files to TFRecord shards.

Elements are small: ranges, names of staged blocks, partial statistics and names of pieces. Rows
travel through files in the workspace, which every worker can reach, so a shuffle never holds them
and memory does not grow with the log. Every write has a name that its content decides, so that a
bundle may be tried again.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import apache_beam as beam
from apache_beam.pvalue import AsIter, AsSingleton

from features.artefact import Artefact
from features.atomic import write_text
from features.config import Config
from features.errors import PipelineError
from features.manifest import Shard
from features.statistics import analyse, finish, merge
from features.transform import Transform
from pipeline.blocks import (
    GoldenRow,
    StagedBlock,
    golden_rows,
    split_counts,
    split_rows,
    stage,
    times_of,
)
from pipeline.layout import BlockCounts, Layout, plan_layout
from pipeline.log.plan import Range
from pipeline.log.read import plan_ranges
from pipeline.log.sources import LogFile
from pipeline.shards import WrittenPiece, join_pieces, write_pieces
from pipeline.split import SPLITS, SplitPlan, merge_times, plan_split
from pipeline.summary import summarise
from pipeline.verdict import check_blocks
from pipeline.workspace import Workspace

__all__ = ["LogToRecords"]


class LogToRecords(beam.PTransform):  # type: ignore[misc]
    """Numbered log files to shards; `summary.json` in the workspace is written last."""

    def __init__(self, config: Config, workspace: Workspace) -> None:
        """Take the configuration and the place for all files."""
        super().__init__()
        self.config, self.workspace = config, workspace

    def expand(self, files: beam.PCollection[tuple[int, LogFile]]) -> beam.PCollection[str]:
        """String the steps together in the order in which the data flows."""
        config, workspace = self.config, self.workspace
        ranges = (
            files
            | "PlanRanges" >> _step(workspace, _plan_ranges, config)
            | "SpreadRanges" >> beam.Reshuffle()
        )
        blocks = (
            ranges
            | "Parse" >> _step(workspace, _stage, workspace, config)
            | "Spread" >> beam.Reshuffle()
        )
        verdict = (
            blocks
            | "AllBlocks" >> beam.combiners.ToList()
            | "CheckRejects" >> _step(workspace, check_blocks, config)
        )
        times = blocks | "CountTimes" >> beam.Map(times_of)
        plan = (
            times
            | "AddTimes" >> beam.CombineGlobally(merge_times)
            | "PlanSplit" >> beam.Map(_plan_split, config, AsIter(verdict))
        )
        counts = blocks | "CountSplits" >> beam.Map(split_counts, AsSingleton(plan))
        transform = (
            blocks
            | "Analyse" >> beam.FlatMap(_analyse, config, AsSingleton(plan))
            | "MergeStatistics" >> beam.CombinePerKey(_merge)
            | "AllStatistics" >> beam.combiners.ToDict()
            | "SaveTransform" >> _step(workspace, _save_transform, workspace, config)
        )
        golden = (
            blocks
            | "GoldenRows" >> beam.FlatMap(golden_rows, config, AsSingleton(plan))
            | "KeepGolden" >> beam.CombineGlobally(_least, config.data.golden_rows)
            | "WriteGolden" >> beam.Map(_write_golden, workspace)
        )
        layout = (
            counts
            | "AllCounts" >> beam.combiners.ToList()
            | "PlanLayout" >> beam.Map(_plan_layout, config)
        )
        pieces = blocks | "Encode" >> beam.FlatMap(
            _encode,
            workspace,
            config,
            AsSingleton(plan),
            AsSingleton(layout),
            AsSingleton(transform),
        )
        shards = (
            pieces
            | "AllPieces" >> beam.combiners.ToList()
            | "JoinPieces" >> beam.Map(_join, workspace, AsSingleton(layout))
        )
        return shards | "Summarise" >> beam.Map(
            _summarise,
            workspace,
            AsIter(blocks),
            AsIter(counts),
            AsSingleton(transform),
            AsIter(golden),
        )


def _step(workspace: Workspace, function: Any, *arguments: Any) -> beam.PTransform:
    """Map to any number of results; an error is left where the command line finds it."""

    def process(element: Any) -> Iterator[Any]:
        try:
            yield from function(element, *arguments)
        except PipelineError as error:
            workspace.fail(error)
            raise

    return beam.FlatMap(process)


def _plan_ranges(numbered: tuple[int, LogFile], config: Config) -> Iterator[tuple[int, Range]]:
    number, file = numbered
    for part in plan_ranges(file, config):
        yield number, part


def _stage(
    numbered: tuple[int, Range], workspace: Workspace, config: Config
) -> Iterator[StagedBlock]:
    return stage(workspace, config, *numbered)


def _plan_split(times: Any, config: Config, verdict: Iterable[None]) -> SplitPlan:
    list(verdict)
    return plan_split(config.split, times)


def _analyse(block: StagedBlock, config: Config, plan: SplitPlan) -> Iterator[tuple[str, Any]]:
    yield from analyse(config, split_rows(block, plan)[SPLITS.index("train")]).items()


def _merge(parts: Iterable[Any]) -> Any:
    return merge(list(parts))


def _save_transform(
    statistics: dict[str, Any], workspace: Workspace, config: Config
) -> Iterator[str]:
    folder = workspace.folder("transform")
    Artefact.of(config, finish(config, statistics)).save(folder)
    yield str(folder)


def _least(rows: Iterable[Any], count: int) -> list[GoldenRow]:
    flat = (row for part in rows for row in (part if isinstance(part, list) else [part]))
    return heapq.nsmallest(count, flat)


def _write_golden(rows: list[GoldenRow], workspace: Workspace) -> int:
    lines = "".join(f"{row}\n" for _, _, row in rows)
    write_text(workspace.folder("data") / "golden.jsonl", lines)
    return len(rows)


def _plan_layout(counts: list[BlockCounts], config: Config) -> Layout:
    return plan_layout(config.data, counts)


@lru_cache(maxsize=1)
def _load_transform(folder: str) -> Transform:
    return Transform.load(folder)


def _encode(
    block: StagedBlock,
    workspace: Workspace,
    config: Config,
    plan: SplitPlan,
    layout: Layout,
    transform: str,
) -> Iterator[WrittenPiece]:
    loaded = _load_transform(transform)
    for split, rows in zip(SPLITS, split_rows(block, plan), strict=True):
        if rows.num_rows:
            yield from write_pieces(
                workspace, layout, config.data, loaded, split, block.block, rows
            )


def _join(pieces: list[WrittenPiece], workspace: Workspace, layout: Layout) -> list[Shard]:
    return [
        join_pieces(
            workspace,
            layout,
            split,
            shard,
            (piece for piece in pieces if (piece.split, piece.shard) == (split, shard)),
        )
        for split in SPLITS
        for shard in range(layout.shards[split])
    ]


def _summarise(
    shards: list[Shard],
    workspace: Workspace,
    blocks: Iterable[StagedBlock],
    counts: Iterable[BlockCounts],
    transform: str,
    golden: Iterable[int],
) -> str:
    list(golden)
    summary = summarise(shards, list(blocks), list(counts), transform)
    write_text(Path(workspace.root) / "summary.json", json.dumps(summary))
    return "summary.json"
