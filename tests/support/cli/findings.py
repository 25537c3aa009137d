"""Findings for tests of the output formats, hostile ones too."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable

from doiuri_cli.output import Counts, References, Report, _writer
from doiuri_cli.readers._bibliography import Lacking
from doiuri_cli.rules import RULES, Finding, Fix
from hypothesis import given
from hypothesis import strategies as st

# What breaks formats: ends of CDATA, attributes, cells and commands, and what no format can hold as it is
PIECES = [
    "]]>",
    "<!--",
    '"',
    "'",
    "&amp;",
    "::error::",
    "##vso[task.x]",
    "##[error]",
    "%0A",
    "\n",
    "\r\n",
    "\t",
    "\0",
    "\x1b[31m",
    "\x85",
    "\u2028",
    "\u202e",
    "\ud800",
    "\udcff",
    "\ufffe",
    "\U0001f600",
    "e\u0301",
    "漢",
    "|",
    "`",
    "\\",
    "*",
    "@all",
    "[x](y)",
    "a:b,c",
    " ",
    "docs",
    "/",
]
TEXTS = st.lists(st.sampled_from(PIECES) | st.characters(), max_size=8).map("".join)
# A path that the operating system can have: no NUL, and surrogates only for bytes that are not UTF-8
PATHS = TEXTS.map(lambda text: re.sub("[\0\ud800-\udc7f\udd00-\udfff]", "", text)).filter(
    lambda text: text.strip("/.") and os.fsdecode(text.encode("utf-8", "surrogateescape")) == text
)
FIXES = st.none() | st.builds(
    lambda start, length, text, safe: Fix(start, start + length, text, safe),
    st.integers(0, 10**6),
    st.integers(0, 99),
    TEXTS,
    st.booleans(),
)


@st.composite
def findings(draw: st.DrawFn) -> Finding:
    """A finding of any rule, with any text everywhere."""
    line, column = draw(st.integers(1, 999)), draw(st.integers(1, 300))
    lines, length = draw(st.integers(0, 2)), draw(st.integers(1, 200))
    cell = draw(st.none() | st.integers(1, 99))
    end = column + length if lines == 0 else length
    return Finding(
        draw(PATHS),
        line,
        column,
        line + lines,
        end,
        draw(st.sampled_from([*RULES])),
        draw(TEXTS.filter(bool)),
        doi=draw(st.none() | TEXTS),
        cell=cell,
        entry=draw(st.none() | TEXTS.filter(bool)),
        fix=draw(FIXES),
        excerpt=draw(TEXTS) * draw(st.integers(0, 20)),
        in_file=None if cell is None else (line + 50, column, line + lines + 50, end),
    )


REFERENCES = st.builds(
    References,
    st.lists(TEXTS.filter(bool), max_size=3),
    st.lists(st.builds(Lacking, TEXTS.filter(bool), st.none() | TEXTS.filter(bool)), max_size=3),
)
REPORTS = st.builds(
    Report,
    st.lists(findings(), max_size=5),
    st.just(Counts(files=3, dois=9, known=4, asked=3, requests=1)),
    st.none() | REFERENCES,
)


def for_any_report(test: Callable[[Report], None]) -> Callable[[], None]:
    """Run a test on many reports."""
    return given(REPORTS)(test)


def written(report: Report, name: str) -> str:
    """A report in a format; it must be possible to encode it."""
    stream = io.StringIO()
    _writer(name)(report, stream)
    stream.getvalue().encode("utf-8")
    return stream.getvalue()


def finding(code: str = "not-found", path: str = "docs/methods.md", **others: object) -> Finding:
    """A finding on line 41."""
    values: dict[str, object] = {
        "line": 41,
        "column": 21,
        "end_line": 41,
        "end_column": 64,
        "message": "10.1371/journal.pone.013187 is not registered",
        "doi": "10.1371/journal.pone.013187",
        "excerpt": "as shown by [Smith](https://doi.org/10.1371/journal.pone.013187).",
    }
    return Finding(path, code=code, **(values | others))  # type: ignore[arg-type]


def report(*found: Finding) -> Report:
    """A report on some findings."""
    return Report(found, Counts(files=1, dois=1, known=1))
