"""The columns of a file of rows beside those of the model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from features.errors import DataError
from features.spec import RawColumn

__all__ = ["Notes", "column_notes"]


@dataclass(frozen=True)
class Notes:
    """What a person should know about the columns of a file.

    Attributes:
        ignored: Columns that the model does not know.
        absent: Optional columns that the file lacks, so that they are missing in every row.
    """

    ignored: tuple[str, ...]
    absent: tuple[str, ...]

    def lines(self) -> list[str]:
        """Return a line for each kind of note that there is."""
        return [
            f"note: {text}: {', '.join(names)}"
            for text, names in (
                ("ignored columns that the model does not know", self.ignored),
                ("optional columns that are not there count as missing", self.absent),
            )
            if names
        ]


def column_notes(found: Iterable[str], columns: Sequence[RawColumn], where: str) -> Notes:
    """Compare the columns of a file with those of the model.

    Raises:
        DataError: A required column is not there.
    """
    names, known = list(found), {column.name for column in columns}
    lacking = [column for column in columns if column.name not in names]
    required = [column.name for column in lacking if column.required]
    if required:
        raise DataError(
            "rows to predict have every required column",
            received=f"no column {', '.join(map(repr, required))} among {', '.join(names)}"[:400],
            where=where,
            remedy=f"add the column; the model requires "
            f"{', '.join(column.name for column in columns if column.required)}",
        )
    return Notes(
        ignored=tuple(name for name in names if name not in known),
        absent=tuple(column.name for column in lacking),
    )
