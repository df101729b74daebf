"""The kinds of features, one a file, and the union that the configuration is read into.

Each kind answers how it is configured, which raw columns it reads, which statistics of the
training split it needs, how many table rows it has, and how raw values become model inputs.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from features.kinds.bucketised import Bucketised
from features.kinds.cross import Cross
from features.kinds.hashed import Hashed
from features.kinds.multi_valued import MultiValued
from features.kinds.numeric import Numeric
from features.kinds.time_part import TimePart
from features.kinds.vocabulary import Vocabulary

__all__ = [
    "Bucketised",
    "Cross",
    "Feature",
    "Hashed",
    "MultiValued",
    "Numeric",
    "TimePart",
    "Vocabulary",
]

Feature = Annotated[
    Numeric | Bucketised | Vocabulary | Hashed | Cross | MultiValued | TimePart,
    Field(discriminator="kind"),
]
