"""The errors a user can meet, and what each says.

    PipelineError
    ├── ConfigError     the configuration is wrong
    ├── DataError       a log, a data set or a file of a run is wrong
    ├── TrainingError   training cannot start or go on
    └── ServingError    an export, a server or a request is wrong

A message has four parts: the rule, the value received, where, and the remedy.
"""

from __future__ import annotations

__all__ = ["ConfigError", "DataError", "PipelineError", "ServingError", "TrainingError"]


class PipelineError(Exception):
    """A fault that the user can mend; the command line prints it without a traceback.

    Args:
        rule: What has to hold, as a sentence without a full stop.
        received: The value that breaks the rule.
        where: File and line, key path or feature name.
        remedy: What the user can do about it.

    >>> print(DataError("a log has at least one row", received="0 rows", where="log.csv",
    ...                 remedy="give a log with rows in log.path"))
    a log has at least one row
      received: 0 rows
      where:    log.csv
      remedy:   give a log with rows in log.path
    """

    def __init__(self, rule: str, *, received: object, where: str, remedy: str) -> None:
        """Keep the four parts."""
        super().__init__(rule, received, where, remedy)
        self.rule, self.received, self.where, self.remedy = rule, received, where, remedy

    def __reduce__(self) -> tuple[object, ...]:
        """Errors cross process borders in Beam workers, so they pickle."""
        return _rebuild, (type(self), self.rule, self.received, self.where, self.remedy)

    def __str__(self) -> str:
        """Return the four parts, one a line."""
        return (
            f"{self.rule}\n  received: {self.received}\n"
            f"  where:    {self.where}\n  remedy:   {self.remedy}"
        )


def _rebuild(
    kind: type[PipelineError], rule: str, received: object, where: str, remedy: str
) -> PipelineError:
    return kind(rule, received=received, where=where, remedy=remedy)


class ConfigError(PipelineError):
    """The configuration is wrong."""


class DataError(PipelineError):
    """A log, a data set or a file of a run is wrong."""


class TrainingError(PipelineError):
    """Training cannot start or go on."""


class ServingError(PipelineError):
    """An export, a server or a request is wrong."""
