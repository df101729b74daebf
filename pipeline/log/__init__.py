"""Behaviour logs to clean Arrow record batches, with every refused row kept and its reason said.

    find_files -> plan_ranges -> read_range -> ParsedBlock(batch, rejects, dropped)

`find_files` names the files of a source, `plan_ranges` cuts one file where records end, and
`read_range` turns a range into clean blocks. All three are pure but for reading the files.
"""

from pipeline.log.block import ParsedBlock, Reject
from pipeline.log.files import checksum
from pipeline.log.join import Side, load_sides
from pipeline.log.plan import Range
from pipeline.log.read import plan_ranges, read_range
from pipeline.log.sources import LogFile, find_files
from pipeline.log.wanted import Wanted, wanted_columns

__all__ = [
    "LogFile",
    "ParsedBlock",
    "Range",
    "Reject",
    "Side",
    "Wanted",
    "checksum",
    "find_files",
    "load_sides",
    "plan_ranges",
    "read_range",
    "wanted_columns",
]
