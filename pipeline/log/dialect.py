"""How a text file marks its fields and records, and how one record is taken apart."""

from __future__ import annotations

from dataclasses import dataclass

from features.config import SourceConfig
from features.errors import ConfigError

__all__ = ["Dialect", "dialect_of", "split_record"]

SEPARATORS = {"csv": ",", "tsv": "\t", "jsonl": ""}
QUOTES = {"csv": '"', "tsv": "", "jsonl": ""}


@dataclass(frozen=True)
class Dialect:
    """The marks of a text format; JSON lines have neither separator nor quote.

    Attributes:
        separator: Field separator, one ASCII character, or none.
        quote: Quote character, or none.
        encoding: Encoding of the text.
        max_record_bytes: Size of the largest record.
    """

    separator: str
    quote: str
    encoding: str
    max_record_bytes: int


def dialect_of(source: SourceConfig, format: str, max_record_bytes: int = 1 << 20) -> Dialect:
    """Return the marks of a source's text files.

    Raises:
        ConfigError: A mark is not ASCII, or is a line end.
    """
    separator = source.separator if source.separator and format != "jsonl" else SEPARATORS[format]
    quote = source.quote if source.quote is not None and format != "jsonl" else QUOTES[format]
    for key, mark in (("separator", separator), ("quote", quote)):
        if not mark.isascii() or mark in ("\r", "\n", "\0"):
            raise ConfigError(
                f"a {key} is one ASCII character that is not a line end",
                received=repr(mark),
                where=f"{source.path}: {key}",
                remedy=f"choose another {key}",
            )
    return Dialect(separator, quote, source.encoding, max_record_bytes)


def split_record(record: str, dialect: Dialect) -> list[str]:
    '''Take one record apart, exactly; a quote counts only at the start of a field.

    >>> split_record('1,"a, ""b""",5" pipe', Dialect(",", '"', "utf-8", 1024))
    ['1', 'a, "b"', '5" pipe']
    '''
    fields, place = [], 0
    while True:
        value, place = _field(record, place, dialect)
        fields.append(value)
        if place >= len(record):
            return fields
        place += 1


def _field(record: str, place: int, dialect: Dialect) -> tuple[str, int]:
    """Return the field that starts at a place, and the place of the separator after it."""
    quoted = ""
    if dialect.quote and record.startswith(dialect.quote, place):
        quoted, place = _quoted(record, place + 1, dialect.quote)
    end = record.find(dialect.separator, place)
    end = len(record) if end < 0 else end
    return quoted + record[place:end], end


def _quoted(record: str, place: int, quote: str) -> tuple[str, int]:
    pieces = []
    while (end := record.find(quote, place)) >= 0:
        pieces.append(record[place:end])
        if not record.startswith(quote, end + 1):
            return quote.join(pieces), end + 1
        place = end + 2
    return quote.join([*pieces, record[place:]]), len(record)
