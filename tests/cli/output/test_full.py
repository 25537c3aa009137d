"""``full`` and ``concise``: for people at a terminal."""

from __future__ import annotations

import io
import itertools
import sys
import time
import unicodedata

import pytest
from doiuri_cli.commands import show_progress
from doiuri_cli.files import Source
from doiuri_cli.output import Report
from doiuri_cli.output._terminal import write_full
from doiuri_cli.readers import Part
from doiuri_cli.rules import Finding, Fix, finding_at
from support.cli.findings import finding, for_any_report, report, written

SAFE = Fix(0, 1, "x", safe=True)
UNSAFE = Fix(0, 1, "x", safe=False)


def found(text: str, piece: str, **others: object) -> Finding:
    """The finding about a piece of a text."""
    start = text.index(piece)
    span = start, start + len(piece)
    return finding_at(Source("a.md", text), Part(text), span, "not-found", "no", **others)  # type: ignore[arg-type]


def shown(text: str, piece: str) -> tuple[str, str]:
    """The excerpt of a finding, and the carets."""
    _, line, carets = written(report(found(text, piece)), "full").splitlines()
    assert line[5:8] == carets[5:8] == " | "
    return line[8:], carets[8:]


def test_the_sample_of_the_manual() -> None:
    notebook = finding(
        "not-https",
        "docs/intro.ipynb",
        cell=7,
        line=3,
        column=18,
        message="http://dx.doi.org/10.1000/182",
        fix=SAFE,
    )
    entry = finding(
        "field-form",
        "paper.bib",
        entry="smith2020",
        line=88,
        column=11,
        message="the DOI field holds a link",
        fix=SAFE,
    )
    assert written(report(finding(), notebook, entry), "full") == (
        "docs/methods.md:41:21: error[not-found] 10.1371/journal.pone.013187 is not registered\n"
        "   41 | as shown by [Smith](https://doi.org/10.1371/journal.pone.013187).\n"
        "      |                     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
        "docs/intro.ipynb:cell 7:3:18: warning[not-https] http://dx.doi.org/10.1000/182 [*]\n"
        "paper.bib:88:11: warning[field-form] smith2020: the DOI field holds a link [*]\n"
    )


def test_only_a_safe_fix_is_marked_and_needs_no_excerpt() -> None:
    text = written(report(finding("look-alike", fix=UNSAFE)), "full")
    assert "[*]" not in text
    assert len(text.splitlines()) == 3


def test_concise_has_one_line_each() -> None:
    lines = written(report(finding(), finding("not-https", fix=SAFE)), "concise").splitlines()
    assert lines[0].endswith("013187 is not registered")
    assert lines[1].endswith("013187 is not registered [*]")
    assert len(lines) == 2


def test_carets_line_up_by_columns() -> None:
    for before, columns in {
        "漢字 ": 5,
        "\uff21 ": 3,  # full-width A
        "cafe\u0301 ": 5,
        "\u1112\u1161\u11ab ": 3,  # Hangul, composed from three letters
        "\U0001f600 ": 3,
        "\x1b[31m": 8,  # shown as \\x1b[31m
        "\u202e": 6,  # shown as \\u202e
    }.items():
        line, carets = shown(f"{before}10.1000/182 end", "10.1000/182")
        assert line.endswith("10.1000/182 end")
        assert carets == " " * columns + "^" * 11, before


def test_wide_characters_get_two_carets() -> None:
    assert shown("x 10.1000/漢字 y", "10.1000/漢字")[1] == "  " + "^" * 12


def test_tabs_stay_so_that_any_tab_width_lines_up() -> None:
    assert shown("\ta\t10.1000/182", "10.1000/182") == ("\ta\t10.1000/182", "\t \t" + "^" * 11)


def test_a_long_line_is_cut_on_both_sides() -> None:
    line, carets = shown("a" * 5000 + " 10.1000/182 " + "b" * 5000, "10.1000/182")
    assert line.startswith("…a")
    assert line.endswith("b…")
    assert line[carets.index("^") :].startswith("10.1000/182")
    assert carets.count("^") == 11
    assert len(line) <= 102


def test_a_long_name_is_cut() -> None:
    name = "10.1000/" + "x" * 5000
    line, carets = shown(f"see {name} there", name)
    assert line.startswith("see 10.1000/xxx")
    assert line.endswith("…")
    assert len(carets) <= 100


def test_a_finding_keeps_only_a_piece_of_a_very_long_line() -> None:
    text = "a" * 1_000_000 + " 10.1000/182 " + "b" * 1_000_000
    assert len(found(text, "10.1000/182").excerpt) < 2000


def test_a_place_on_several_lines_is_underlined_to_the_end_of_the_first() -> None:
    assert shown("see 10.1000/\n182", "10.1000/\n182") == ("see 10.1000/", "    ^^^^^^^^")


def test_a_finding_in_a_cell_knows_its_place_in_the_file() -> None:
    source = Source("a.ipynb", "{\n\n10.1000/182\n}")
    part = Part("\n10.1000/182", start=2, cell=1)
    at = finding_at(source, part, (1, 12), "not-found", "no")
    assert (at.line, at.column, at.in_file) == (2, 1, (3, 1, 3, 12))
    assert at.excerpt == "10.1000/182"


@for_any_report
def test_nothing_controls_the_terminal(many: Report) -> None:
    for name in ("full", "concise"):
        for character in set(written(many, name)) - {"\n", "\t"}:
            assert unicodedata.category(character) not in {"Cc", "Cf", "Cs", "Zl", "Zp"}
    assert len(written(many, "concise").splitlines()) == len(many.findings)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_colours_on_a_terminal_only_and_not_with_no_color(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    terminal, plain = Terminal(), Terminal()
    write_full(report(finding()), terminal)
    monkeypatch.setenv("NO_COLOR", "1")
    write_full(report(finding()), plain)
    assert "\x1b[31m\x1b[1merror[not-found]\x1b[0m" in terminal.getvalue()
    assert "\x1b" not in plain.getvalue()
    assert "\x1b" not in written(report(finding()), "full")


@pytest.mark.parametrize(
    ("stream", "hidden", "lines"),
    [
        (Terminal(), False, ["", "Checking DOIs: 900 of 1,000", "Files: 3", ""]),
        (Terminal(), True, [""]),
        (io.StringIO(), False, [""]),
    ],
    ids=["terminal", "quiet", "file"],
)
def test_progress_is_one_line_of_a_terminal_that_is_redrawn_and_removed(
    stream: io.StringIO, *, hidden: bool, lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = itertools.count(step=0.6)  # seconds
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(sys, "stderr", stream)
    with show_progress(hidden=hidden) as progress:
        progress("Checking DOIs", 100, 1000)  # within the first second
        progress("Checking DOIs", 900, 1000)
        progress("Files", 3, None)
    # each is written twice: with blanks over what is left of the one before, and again for the cursor
    assert stream.getvalue().split("\r")[::2] == lines
