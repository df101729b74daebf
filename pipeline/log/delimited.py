"""A block of CSV or TSV to raw columns: Arrow's parser, and an exact slow one where it is needed.

Records that are no rows (blank, undecodable, with a NUL byte, unclosed, too large) are taken out
first, so that row `i` of what Arrow returns is record `i` of what is left; where the counts
differ all the same, the block is parsed record by record.
"""

from __future__ import annotations

import codecs
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from features.errors import DataError
from pipeline.log.block import Faults, RawBlock, Reject
from pipeline.log.dialect import Dialect, split_record
from pipeline.log.records import Records, find_records

__all__ = ["Layout", "parse_delimited"]

Ints = npt.NDArray[np.int64]
BATCH_BYTES = 1 << 20
BLANK = "blank_line"
HEADER = "duplicate_header"


@dataclass(frozen=True)
class Layout:
    """What a file's text holds and what of it is read.

    Attributes:
        path: The file.
        names: Its columns.
        wanted: Columns to read, a part of `names`.
        label: The label's column, where a header in mid-file is looked for; none for side tables.
        missing: Spellings of a missing value.
        pad: Whether a row with too few fields is padded rather than rejected.
    """

    path: str
    names: tuple[str, ...]
    wanted: tuple[str, ...]
    label: str | None
    missing: tuple[str, ...]
    pad: bool


def parse_delimited(text: bytes, first_line: int, layout: Layout, dialect: Dialect) -> RawBlock:
    """Parse a block that starts and ends where records do.

    Raises:
        DataError: A header in mid-file has other columns in another order.
    """
    records = find_records(text, dialect, final=True)
    faults = _structure(text, records, dialect)
    arrays = _fast(text, records, faults, layout, dialect)
    if arrays is None:
        arrays = _careful(text, records, faults, layout, dialect)
    arrays = _drop_headers(arrays, text, records, faults, layout, dialect)
    rows = faults.good

    def raw(some: Ints) -> list[bytes]:
        return [text[records.starts[at] : records.ends[at]] for at in rows[some]]

    reasons = [faults.reason(at) for at in faults.bad]
    rejects = [
        Reject(
            layout.path,
            first_line + int(records.lines[at]),
            reason,
            text[records.starts[at] : records.ends[at]],
        )
        for at, reason in zip(faults.bad, reasons, strict=True)
        if reason not in (BLANK, HEADER)
    ]
    dropped = Counter(reason for reason in reasons if reason in (BLANK, HEADER))
    columns = dict(zip(layout.wanted, arrays, strict=True))
    spaced = b" " in text or (dialect.separator != "\t" and b"\t" in text)
    return RawBlock(
        columns, records.lines[rows] + first_line, raw, True, spaced, rejects, dict(dropped)
    )


def _structure(text: bytes, records: Records, dialect: Dialect) -> Faults:
    faults = Faults(len(records.starts))
    lengths = records.ends - records.starts
    for at in np.flatnonzero(lengths <= 2):
        if not text[records.starts[at] : records.ends[at]].strip(b"\r\n"):
            faults.mark(np.array([at]), BLANK)
    faults.mark(records.unclosed, "unclosed_quote")
    faults.mark(lengths > dialect.max_record_bytes, "record_too_large")
    if b"\0" in text:
        zeros = np.flatnonzero(np.frombuffer(text, np.uint8) == 0)
        faults.mark(_record_of(zeros, records), "nul_byte")
    if dialect.encoding == "utf-8":
        faults.mark(_undecodable(text, records), "invalid_utf8")
    return faults


def _record_of(places: Ints, records: Records) -> Ints:
    return np.unique(np.searchsorted(records.ends, places, side="right"))


def _undecodable(text: bytes, records: Records) -> Ints:
    if text.isascii() or _decodes(text):
        return np.empty(0, np.int64)
    suspects = _record_of(np.flatnonzero(np.frombuffer(text, np.uint8) >= 0x80), records)
    return np.array(
        [at for at in suspects if not _decodes(text[records.starts[at] : records.ends[at]])],
        np.int64,
    )


def _decodes(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def _fast(
    text: bytes, records: Records, faults: Faults, layout: Layout, dialect: Dialect
) -> list[pa.Array] | None:
    """Parse by Arrow; none where its records may not be ours."""
    if b"\r" in text and text.count(b"\r") != text.count(b"\r\n"):
        return None
    good = faults.good
    kept = text if len(good) == len(faults.codes) else _splice(text, records, good)
    parsed = _arrow(kept, records, layout, dialect)
    if parsed is None:
        return None
    arrays, skipped = parsed
    if skipped:
        if not records.regular or layout.pad:
            return None
        _mark_ragged(text, records, faults, layout, dialect)
    return arrays if not arrays or len(arrays[0]) == len(faults.good) else None


def _splice(text: bytes, records: Records, good: Ints) -> bytes:
    """Join runs of good records."""
    if not len(good):
        return b""
    breaks = np.flatnonzero(np.diff(good) > 1)
    first = np.concatenate(([good[0]], good[breaks + 1]))
    last = np.concatenate((good[breaks], [good[-1]]))
    runs = zip(records.starts[first], records.ends[last], strict=True)
    return b"".join(text[start:end] for start, end in runs)


def _arrow(
    text: bytes, records: Records, layout: Layout, dialect: Dialect
) -> tuple[list[pa.Array], int] | None:
    if not text:
        return [pa.array([], pa.string()) for _ in layout.wanted], 0
    if dialect.encoding != "utf-8" and not text.isascii():
        text = text.decode(dialect.encoding).encode()
    skipped: list[object] = []

    def skip(row: object) -> str:
        skipped.append(row)
        return "skip"

    # Names by position, since a file may repeat a name that is not read.
    names = [str(at) for at in range(len(layout.names))]
    wanted = [str(layout.names.index(name)) for name in layout.wanted]
    longest = int((records.ends - records.starts).max())
    quoted = bool(dialect.quote) and dialect.quote.encode() in text
    try:
        table = pacsv.read_csv(
            pa.BufferReader(text),
            pacsv.ReadOptions(column_names=names, block_size=max(BATCH_BYTES, 4 * longest)),
            pacsv.ParseOptions(
                delimiter=dialect.separator,
                quote_char=dialect.quote if quoted else False,
                newlines_in_values=quoted,
                invalid_row_handler=skip,
            ),
            pacsv.ConvertOptions(
                check_utf8=False,
                column_types=dict.fromkeys(wanted, pa.string()),
                include_columns=wanted,
                null_values=list(layout.missing),
                strings_can_be_null=True,
            ),
        )
    except pa.ArrowInvalid:
        return None
    return [table.column(name).combine_chunks() for name in wanted], len(skipped)


def _mark_ragged(
    text: bytes, records: Records, faults: Faults, layout: Layout, dialect: Dialect
) -> None:
    data = np.frombuffer(text, np.uint8)
    places = np.flatnonzero(data == ord(dialect.separator))
    if dialect.quote and dialect.quote.encode() in text:
        quotes = np.flatnonzero(data == ord(dialect.quote))
        places = places[np.searchsorted(quotes, places) % 2 == 0]
    fields = np.searchsorted(places, records.ends) - np.searchsorted(places, records.starts) + 1
    faults.mark(fields < len(layout.names), "too_few_fields")
    faults.mark(fields > len(layout.names), "too_many_fields")


def _careful(
    text: bytes, records: Records, faults: Faults, layout: Layout, dialect: Dialect
) -> list[pa.Array]:
    """Parse record by record."""
    rows, few, many = [], [], []
    wanted = [layout.names.index(name) for name in layout.wanted]
    for at in faults.good:
        fields = _fields(text[records.starts[at] : records.ends[at]], dialect)
        lacking = len(layout.names) - len(fields)
        if lacking < 0:
            many.append(at)
        elif lacking and not layout.pad:
            few.append(at)
        else:
            fields += [""] * lacking
            rows.append([fields[place] for place in wanted])
    faults.mark(np.array(few, np.int64), "too_few_fields")
    faults.mark(np.array(many, np.int64), "too_many_fields")
    missing = frozenset(layout.missing)
    columns: Sequence[Sequence[str]] = list(zip(*rows, strict=True)) or [()] * len(wanted)
    return [
        pa.array([None if value in missing else value for value in column], pa.string())
        for column in columns
    ]


def _fields(record: bytes, dialect: Dialect) -> list[str]:
    text = record.removesuffix(b"\n").removesuffix(b"\r").decode(dialect.encoding)
    return split_record(text, dialect)


def _drop_headers(
    arrays: list[pa.Array],
    text: bytes,
    records: Records,
    faults: Faults,
    layout: Layout,
    dialect: Dialect,
) -> list[pa.Array]:
    """Drop rows that are the header again; they have a column's name for a label."""
    if layout.label is None:
        return arrays
    label = arrays[layout.wanted.index(layout.label)]
    names = [*layout.names, f"\ufeff{layout.label}"]
    suspects = np.flatnonzero(pc.is_in(label, pa.array(names, pa.string())).to_numpy(False))
    headers = []
    for at, row in zip(suspects, faults.good[suspects], strict=True):
        record = text[records.starts[row] : records.ends[row]].removeprefix(codecs.BOM_UTF8)
        if _is_header(_fields(record, dialect), layout):
            headers.append(at)
    if not headers:
        return arrays
    keep = np.ones(len(label), np.bool_)
    keep[headers] = False
    faults.mark(faults.good[np.array(headers)], HEADER)
    return [array.filter(pa.array(keep)) for array in arrays]


def _is_header(fields: list[str], layout: Layout) -> bool:
    if fields == list(layout.names):
        return True
    if sorted(fields) != sorted(layout.names):
        return False
    raise DataError(
        "a header in the middle of a file has the same columns in the same order",
        received=", ".join(fields[:20]),
        where=layout.path,
        remedy="write the parts to files of their own; each file has its own header",
    )
