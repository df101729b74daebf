"""Which files a source names, and what each of them is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from features.config import SourceConfig
from features.errors import DataError
from pipeline.log import files

__all__ = ["LogFile", "find_files"]

Format = Literal["csv", "tsv", "jsonl", "parquet"]
SUFFIXES: dict[str, Format] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}
PARQUET_MAGIC = b"PAR1"


@dataclass(frozen=True)
class LogFile:
    """One file of a source.

    Attributes:
        path: Its path.
        format: What it holds.
        gzip: Whether it is compressed.
    """

    path: str
    format: Format
    gzip: bool


def find_files(source: SourceConfig, where: str) -> list[LogFile]:
    """Return the files of a source in the configured order; those of a glob are sorted.

    Args:
        source: Path, glob or list of both.
        where: Key path of the source in the configuration, for errors.

    Raises:
        DataError: A file is missing, a glob matches nothing, or the format cannot be told.
    """
    patterns = (source.path,) if isinstance(source.path, str) else source.path
    found: dict[str, LogFile] = {}
    for pattern in patterns:
        for path in _matches(pattern, where):
            found.setdefault(path, _describe(path, source, where))
    return list(found.values())


def _matches(pattern: str, where: str) -> list[str]:
    paths = files.matches(pattern)
    if paths:
        return paths
    is_glob = any(letter in pattern for letter in "*?[")
    raise DataError(
        "a glob matches at least one file" if is_glob else "an input file exists",
        received=pattern,
        where=f"{where}.path",
        remedy="mend the path; it is relative to the directory the command runs in",
    )


def _describe(path: str, source: SourceConfig, where: str) -> LogFile:
    gzip = files.is_gzip(path)
    named = source.format if source.format != "auto" else _by_suffix(path)
    named = named or _by_content(path, source)
    if named is None:
        raise DataError(
            "a file's format is known by its suffix: " + " ".join(SUFFIXES),
            received=path,
            where=f"{where}.format",
            remedy=f'set {where}.format to "csv", "tsv", "jsonl" or "parquet"',
        )
    return LogFile(path, named, gzip and named != "parquet")


def _by_suffix(path: str) -> Format | None:
    name = path.rsplit("/", 1)[-1].lower().removesuffix(".gz").removesuffix(".gzip")
    return next((kind for suffix, kind in SUFFIXES.items() if name.endswith(suffix)), None)


def _by_content(path: str, source: SourceConfig) -> Format | None:
    with files.open_file(path) as stream:
        if stream.read(len(PARQUET_MAGIC)) == PARQUET_MAGIC:
            return "parquet"
    return "csv" if source.separator is not None else None
