"""The layout of a TFRecord example, which the Beam stage writes and the trainer reads.

label          float   1     0 or 1
weight         float   1     where a weight column is configured
group          int64   1     hash of the user, where a user column is configured
dense          float   N
sparse         int64   F     ids, each below its feature's rows
multi_ids      int64   any   ids of all multi-valued features, one after the other
multi_lengths  int64   M     how many of them each feature has
"""

from __future__ import annotations

__all__ = ["DENSE", "GROUP", "LABEL", "MULTI", "MULTI_IDS", "MULTI_LENGTHS", "SPARSE", "WEIGHT"]

LABEL = "label"
WEIGHT = "weight"
GROUP = "group"
DENSE = "dense"
SPARSE = "sparse"
MULTI = "multi"
MULTI_IDS = "multi_ids"
MULTI_LENGTHS = "multi_lengths"
