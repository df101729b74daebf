"""Preprocessing as a whole: a log in, a complete data set out, or an error and nothing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions

from features.artefact import CODE_VERSION
from features.config import Config
from features.errors import DataError
from features.load import store_config
from features.manifest import InputFile, Manifest, read_manifest
from pipeline.graph import LogToRecords
from pipeline.log.files import checksum
from pipeline.log.sources import LogFile, find_files
from pipeline.progress import watched
from pipeline.summary import manifest_of, versions
from pipeline.workspace import Workspace, open_workspace

__all__ = ["preprocess"]

RUNNERS = {"direct": "apache_beam.runners.portability.fn_api_runner.FnApiRunner"}


def preprocess(
    config: Config,
    out: Path,
    *,
    runner: str = "direct",
    options: Sequence[str] = (),
    force: bool = False,
) -> tuple[Manifest, bool]:
    """Write the data set of a configuration.

    Args:
        config: The configuration of the run.
        out: Directory of the run.
        runner: A Beam runner; `direct` runs in this process.
        options: Further Beam options, as on a command line.
        force: Whether to replace what another run left, or do again what is up to date.

    Returns:
        The manifest, and whether it was written now (or else was up to date).

    Raises:
        DataError: The log, or the directory, is not as it has to be.
    """
    files = find_files(config.log, "log")
    inputs = [checksum(file.path) for file in (*files, *_side_files(config))]
    key = _key(config, inputs)
    if not force and (manifest := _earlier(out, config, key)):
        return manifest, False
    with open_workspace(out) as workspace:
        _run(config, files, workspace, runner, options, sum(file.bytes for file in inputs))
        manifest = _finish(config, key, inputs, workspace)
        workspace.publish(("transform", "rejects", "data"), out)
    store_config(config, out)
    return manifest, True


def _side_files(config: Config) -> list[LogFile]:
    return [
        file
        for at, join in enumerate(config.log.joins)
        for file in find_files(join, f"log.joins.{at}")
    ]


def _key(config: Config, inputs: Sequence[InputFile]) -> str:
    sections = config.model_dump(mode="json", include={"name", "log", "split", "data", "features"})
    sections["log"].pop("path")
    content = [(Path(file.path).name, file.sha256) for file in inputs]
    text = json.dumps([sections, content, CODE_VERSION, versions()], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _earlier(out: Path, config: Config, key: str) -> Manifest | None:
    """Return the manifest of an equal run; refuse a directory with another data set."""
    if not (out / "data").exists():
        return None
    manifest = read_manifest(out / "data")
    if manifest.name != config.name:
        raise DataError(
            "a directory holds the runs of one configuration",
            received=f"data of {manifest.name!r}, asked for {config.name!r}",
            where=f"OUT={out}",
            remedy="choose another OUT, or replace what is there with --force",
        )
    complete = all(
        (out / "data" / shard.file).is_file()
        and (out / "data" / shard.file).stat().st_size == shard.bytes
        for split in manifest.splits.values()
        for shard in split.shards
    )
    return manifest if manifest.key == key and complete else None


def _run(
    config: Config,
    files: Sequence[LogFile],
    workspace: Workspace,
    runner: str,
    options: Sequence[str],
    log_bytes: int,
) -> None:
    for folder in ("staged", "rejects", "pieces", "data"):
        workspace.folder(folder)
    flags = [f"--runner={RUNNERS.get(runner, runner)}", *options]
    try:
        with (
            watched(workspace, log_bytes, config.data.block_bytes),
            beam.Pipeline(options=PipelineOptions(flags)) as pipeline,
        ):
            numbered = pipeline | beam.Create(list(enumerate(files)), reshuffle=False)
            _ = numbered | LogToRecords(config, workspace)
    except Exception as error:
        if failure := workspace.failure():
            raise failure from error
        raise


def _finish(
    config: Config, key: str, inputs: Sequence[InputFile], workspace: Workspace
) -> Manifest:
    summary = json.loads((Path(workspace.root) / "summary.json").read_text())
    manifest = manifest_of(config, key, inputs, summary)
    manifest.write(workspace.folder("data"))
    return manifest
