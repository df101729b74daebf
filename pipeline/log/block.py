"""Blocks on their way from raw text to clean rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

__all__ = ["Faults", "ParsedBlock", "RawBlock", "Reject"]


@dataclass(frozen=True)
class Reject:
    """A row that was refused.

    Attributes:
        file: Path of its file.
        line: Its first line, or its row in Parquet, from 1.
        reason: Why, as `reason` or `reason:column`.
        raw: The whole row as it stands in the file; Parquet rows are written as JSON.
    """

    file: str
    line: int
    reason: str
    raw: bytes


@dataclass(frozen=True)
class ParsedBlock:
    """What came of a block of the log; rows are those accepted and those rejected.

    Attributes:
        batch: Clean rows.
        rejects: Rows that were refused, in the order of the file.
        dropped: Number of lines that are no rows, by reason.
    """

    batch: pa.RecordBatch
    rejects: list[Reject]
    dropped: dict[str, int]

    @property
    def rows(self) -> int:
        """Number of rows, rejected ones included."""
        return int(self.batch.num_rows) + len(self.rejects)


class Faults:
    """The first fault found of each row.

    Args:
        rows: Number of rows, R.
    """

    def __init__(self, rows: int) -> None:
        """Start with no faults."""
        self.codes = np.zeros(rows, np.int16)
        self._reasons: list[str] = [""]

    def mark(self, rows: npt.NDArray[np.bool_] | npt.NDArray[np.int64], reason: str) -> None:
        """Give rows, by mask or by index, a reason, unless they have one already."""
        indices = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
        fresh = indices[self.codes[indices] == 0]
        if len(fresh):
            if reason not in self._reasons:
                self._reasons.append(reason)
            self.codes[fresh] = self._reasons.index(reason)

    @property
    def good(self) -> npt.NDArray[np.int64]:
        """Rows without a fault."""
        return np.flatnonzero(self.codes == 0)

    @property
    def bad(self) -> npt.NDArray[np.int64]:
        """Rows with a fault."""
        return np.flatnonzero(self.codes)

    def reason(self, row: int) -> str:
        """Return a row's reason."""
        return self._reasons[int(self.codes[row])]


@dataclass(frozen=True)
class RawBlock:
    """Rows of well-formed structure, their values as they were written.

    Attributes:
        columns: Columns by name, R values each: strings, or whatever Parquet holds.
        lines: `(R,) int64` line of each row.
        raw: Returns the whole text of given rows.
        missing_done: Whether missing spellings are null already, but for those with spaces around.
        spaced: Whether values may have spaces around them at all.
        rejects: Records that are no rows.
        dropped: Number of lines that are no rows, by reason.
    """

    columns: dict[str, pa.Array]
    lines: npt.NDArray[np.int64]
    raw: Callable[[npt.NDArray[np.int64]], list[bytes]]
    missing_done: bool = False
    spaced: bool = True
    rejects: list[Reject] = field(default_factory=list)
    dropped: dict[str, int] = field(default_factory=dict)
