"""The one place where TensorFlow is imported: late, with legacy Keras, without start-up noise.

TensorFlow Recommenders and the distribution strategies need legacy Keras, which TensorFlow picks
only if `TF_USE_LEGACY_KERAS` is set before its import. Commands that end early (`--help`, a wrong
configuration, a step that is up to date) never pay for the import, since `tf` loads on first use.
"""

from __future__ import annotations

import glob
import importlib
import os
import re
import sys
import tempfile
import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from features.errors import ConfigError

__all__ = ["tf"]

_INFO_LINE = re.compile(
    rb"I\d{4} |WARNING: All log messages before absl::InitializeLog|"
    rb"To enable the following instructions"
)
_INFO_OR_NO_GPU = re.compile(_INFO_LINE.pattern + rb"|E\d{4} .*failed call to cuInit")


class _LazyTensorFlow(types.ModuleType):
    """Stands for the module `tensorflow` and imports it when an attribute is first read."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(_tensorflow(), name)


def _tensorflow() -> types.ModuleType:
    if os.environ.setdefault("TF_USE_LEGACY_KERAS", "1") != "1":
        raise ConfigError(
            "TensorFlow Recommenders and the distribution strategies need legacy Keras",
            received=f"TF_USE_LEGACY_KERAS={os.environ['TF_USE_LEGACY_KERAS']}",
            where="environment",
            remedy="unset TF_USE_LEGACY_KERAS or set it to 1",
        )
    if "tensorflow" in sys.modules:
        return sys.modules["tensorflow"]
    # Level 1 drops INFO lines alone (which instructions, which devices were not found).
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")
    with _without_noise():
        tensorflow = importlib.import_module("tensorflow")
        # The first look for devices, here so that a missing GPU does not read as an error.
        tensorflow.config.list_physical_devices()
    return tensorflow


@contextmanager
def _without_noise() -> Iterator[None]:
    """Drop INFO lines that native code writes before its log level is read; keep all others.

    On a machine without a GPU driver the failed look for one is no error and is dropped too.
    """
    noise = _INFO_LINE if glob.glob("/dev/nvidia*") else _INFO_OR_NO_GPU
    sys.stderr.flush()
    terminal = os.dup(2)
    with tempfile.TemporaryFile() as caught:
        os.dup2(caught.fileno(), 2)
        try:
            yield
        finally:
            sys.stderr.flush()
            os.dup2(terminal, 2)
            os.close(terminal)
            caught.seek(0)
            lines = [line for line in caught.readlines() if not noise.match(line)]
            os.write(2, b"".join(lines))


if TYPE_CHECKING:
    import tensorflow as tf
else:
    tf = _LazyTensorFlow("tensorflow")
