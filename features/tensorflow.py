"""The one place where TensorFlow is imported: late, with legacy Keras, without start-up noise.

TensorFlow Recommenders and the distribution strategies need legacy Keras, which TensorFlow picks
only if `TF_USE_LEGACY_KERAS` is set before its import. Commands that end early (`--help`, a wrong
configuration, a step that is up to date) never pay for the import, since `tf` loads on first use.
"""

from __future__ import annotations

import importlib
import os
import types
from typing import TYPE_CHECKING, Any

from features.errors import ConfigError

__all__ = ["tf"]


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
    # Level 1 drops INFO lines alone (which instructions, which devices were not found).
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")
    return importlib.import_module("tensorflow")


if TYPE_CHECKING:
    import tensorflow as tf
else:
    tf = _LazyTensorFlow("tensorflow")
