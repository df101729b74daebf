"""The vectorised reader against a slow obvious one, on random texts and any cut of them."""

from __future__ import annotations

import csv
import io
import tempfile
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from pipeline.log.dialect import Dialect
from pipeline.log.records import find_records
from pipeline.log.text import text_blocks
from tests.pipeline.log.reading import Outcome, configure, read

COLUMNS = ("a", "b", "click")
CSV = Dialect(",", '"', "utf-8", 1024)
DIALECTS = ["excel", "unix"]  # the second quotes every field
EXAMPLES = settings(max_examples=150, deadline=None)

values = st.lists(st.sampled_from(["x", "é", '"', ",", "\n", "\r\n", " ", "5"]), max_size=6).map(
    "".join
)


@st.composite
def well_formed(draw: st.DrawFn) -> str:
    """Text as a CSV writer leaves it, with blank lines and rows of any length."""
    row = st.lists(values, min_size=1, max_size=4)
    good = st.tuples(values, values, st.sampled_from(["0", "1", "", "x"])).map(list)
    rows = draw(st.lists(st.one_of(good, good, row, st.just([])), max_size=12))
    stream = io.StringIO()
    end = draw(st.sampled_from(["\n", "\r\n"]))
    csv.writer(stream, draw(st.sampled_from(DIALECTS)), lineterminator=end).writerows(rows)
    return stream.getvalue()


def read_text(text: bytes, block_bytes: int = 1 << 20) -> Outcome:
    """Read text in blocks smaller than a configuration allows, so that small texts are cut."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.csv"
        path.write_bytes(text)
        config = configure(path, COLUMNS[:2], columns=COLUMNS, missing=("",), max_record_bytes=1024)
        return read(
            config.model_copy(
                update={"data": config.data.model_copy(update={"block_bytes": block_bytes})}
            )
        )


@EXAMPLES
@given(well_formed())
def test_a_written_file_is_read_as_the_csv_module_reads_it(text: str) -> None:
    found = read_text(text.encode())
    rows = [row for row in csv.reader(io.StringIO(text, newline="")) if row]
    whole = [row for row in rows if len(row) == 3]
    labelled = [row for row in whole if row[2].strip() in ("0", "1")]
    expected = [(_none(row[0]), _none(row[1]), float(row[2])) for row in labelled]
    assert [(row["a"], row["b"], row["__label__"]) for row in found.rows] == expected
    reasons = [reason for _, reason in found.reasons]
    assert reasons.count("too_few_fields") == sum(len(row) < 3 for row in rows)
    assert reasons.count("too_many_fields") == sum(len(row) > 3 for row in rows)


def _none(value: str) -> str | None:
    return value if value.strip(" \t") else None


anything = st.lists(
    st.sampled_from(["1", "x", ",", '"', "\n", "\r\n", "\r", "a,b,1\n", '"q",', "\0", "é", "\n\n"]),
    max_size=60,
).map(lambda parts: "".join(parts).encode())


@EXAMPLES
@given(anything, st.integers(1, 64))
@example(b'"\n"\n1', 1)
def test_any_cut_of_any_text_gives_the_same_rows_and_rejects(text: bytes, size: int) -> None:
    whole, cut = read_text(text), read_text(text, size)
    assert (cut.rows, cut.dropped) == (whole.rows, whole.dropped)
    assert refused(cut) == refused(whole)


def refused(outcome: Outcome) -> list[tuple[int, str, bytes]]:
    return [(reject.line, reject.reason, reject.raw) for reject in outcome.rejects]


@EXAMPLES
@given(anything)
def test_records_tile_the_text_and_follow_the_slow_rules(text: bytes) -> None:
    records = find_records(text, CSV, final=True)
    found = [text[a:b] for a, b in zip(records.starts, records.ends, strict=True)]
    assert b"".join(found) == text
    assert [(record, bool(mark)) for record, mark in zip(found, records.unclosed, strict=True)] == (
        slow_records(text.decode())
    )
    before = [text.count(b"\n", 0, start) for start in records.starts]
    assert records.lines.tolist() == before


def slow_records(text: str) -> list[tuple[bytes, bool]]:
    """Cut text into records letter by letter; each with whether a quote never closes."""
    found, start, at, field_start = [], 0, 0, True
    while at < len(text):
        if field_start and text[at] == '"':
            close = slow_close(text, at)
            spans = close is not None and "\n" in text[at:close]
            follows = text[close + 1 : close + 2] if close is not None else ""
            if close is None or (spans and follows not in ("", ",", "\n", "\r")):
                end = text.find("\n", at)
                end = len(text) if end < 0 else end + 1
                found.append((text[start:end].encode(), True))
                start, at, field_start = end, end, True
                continue
            at, field_start = close + 1, False
            continue
        field_start = text[at] in ",\n"
        at += 1
        if text[at - 1] == "\n":
            found.append((text[start:at].encode(), False))
            start = at
    return [*found, (text[start:].encode(), False)] if start < len(text) else found


def slow_close(text: str, opening: int) -> int | None:
    at = opening + 1
    while at < len(text):
        if text[at] == '"':
            if text[at + 1 : at + 2] != '"':
                return at
            at += 1
        at += 1
    return None


@EXAMPLES
@given(anything)
def test_every_record_is_accepted_rejected_or_dropped(text: bytes) -> None:
    found = read_text(text)
    counted = len(found.rows) + len(found.rejects) + sum(found.dropped.values())
    assert counted == len(find_records(text, CSV, final=True).starts)


@EXAMPLES
@given(anything, st.integers(1, 64), st.integers(4, 40))
def test_a_cut_stream_has_the_same_records_as_the_whole(text: bytes, size: int, limit: int) -> None:
    dialect = Dialect(",", '"', "utf-8", limit)
    found = []
    for block in text_blocks(io.BytesIO(text), dialect, size, 0, 1, "log.csv"):
        records = find_records(block.text, dialect, final=True)
        rows = zip(records.starts, records.ends, records.lines, records.unclosed, strict=True)
        found += [
            (block.start + a, block.start + b, block.first_line + n, u) for a, b, n, u in rows
        ]
    whole = find_records(text, dialect, final=True)
    assert found == list(
        zip(whole.starts, whole.ends, whole.lines + 1, whole.unclosed, strict=True)
    )
