"""The only place that opens paths: local files, and Beam's file systems for `scheme://` paths."""

from __future__ import annotations

import glob
import hashlib
import os
from typing import BinaryIO, cast

from features.errors import DataError
from features.manifest import InputFile

__all__ = ["checksum", "is_gzip", "matches", "open_file", "size_bytes"]

CHUNK_BYTES = 1 << 20
GZIP_MAGIC = b"\x1f\x8b"


def open_file(path: str) -> BinaryIO:
    """Open a file for reading bytes as they are stored; gzip is not undone.

    Raises:
        DataError: The file is missing or not readable.
    """
    try:
        if "://" in path:
            return _open_remote(path)
        return open(path, "rb")
    except OSError as error:
        raise DataError(
            "an input file exists and is readable",
            received=error.strerror or str(error),
            where=path,
            remedy="mend the path in the configuration, or the file's permissions",
        ) from error


def _open_remote(path: str) -> BinaryIO:
    from apache_beam.io.filesystem import CompressionTypes
    from apache_beam.io.filesystems import FileSystems

    stream = FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED)
    return cast(BinaryIO, stream)


def matches(pattern: str) -> list[str]:
    """Return the files that a path or glob names, sorted; none where there is no such file."""
    if "://" in pattern:
        from apache_beam.io.filesystems import FileSystems

        return sorted(found.path for found in FileSystems.match([pattern])[0].metadata_list)
    if os.path.isfile(pattern):
        return [pattern]
    return sorted(path for path in glob.glob(pattern, recursive=True) if os.path.isfile(path))


def size_bytes(path: str) -> int:
    """Return a file's size in bytes."""
    with open_file(path) as stream:
        return stream.seek(0, os.SEEK_END)


def is_gzip(path: str) -> bool:
    """Say whether a file's first bytes are gzip's, whatever its name."""
    with open_file(path) as stream:
        return stream.read(len(GZIP_MAGIC)) == GZIP_MAGIC


def checksum(path: str) -> InputFile:
    """Return a file's path, size and SHA-256, read in pieces of 1 MiB."""
    digest, total = hashlib.sha256(), 0
    with open_file(path) as stream:
        while piece := stream.read(CHUNK_BYTES):
            digest.update(piece)
            total += len(piece)
    return InputFile(path=path, bytes=total, sha256=digest.hexdigest())
