"""``full``, and what is on standard error: for people at a terminal."""

from __future__ import annotations

import io
import itertools
import sys
import time
from typing import TYPE_CHECKING

import pytest
from support.cli.command import MAIN, doiuri, remember

if TYPE_CHECKING:
    from pathlib import Path

MANUAL = {
    "docs/intro.ipynb": '{"cells": [{"cell_type": "markdown", "source": ["See\\n", "http://dx.doi.org/10.1/x"]}]}',
    "docs/methods.md": "as shown by [Smith](https://doi.org/10.1371/journal.pone.013187).\n",
    "paper.bib": "@book{smith2020,\n  doi = {doi:10.1000/182}\n}\n",
}


def test_the_sample_of_the_manual(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    for name, text in MANUAL.items():
        (tmp_path / name).write_text(text)
    remember(tmp_path / "cache", {"10.1371/journal.pone.013187": False})
    words = "check", "--isolated", "--offline", "--cache", tmp_path / "cache", "docs", "paper.bib"
    run = doiuri(*words, cwd=tmp_path)
    assert run.stdout == (
        "docs/intro.ipynb:cell 1:2:1: warning[not-https] http://dx.doi.org/10.1/x [*]\n"
        "docs/methods.md:1:21: error[not-found] 10.1371/journal.pone.013187 is not registered\n"
        "    1 | as shown by [Smith](https://doi.org/10.1371/journal.pone.013187).\n"
        "      |                     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
        "paper.bib:2:10: warning[field-form] smith2020: the DOI field holds a label [*]\n"
    )
    assert run.stderr.splitlines()[-1] == "1 error, 2 warnings. [*] 2 can be fixed with doiuri fix."


def shown(folder: Path, text: str) -> tuple[str, str]:
    """Return the excerpt and the carets of the first DOI, which is told as it is in no lock file."""
    (folder / "none.json").write_text('{"doiuri-lock": 1, "entries": {}}')
    words = "check", "--isolated", "-q", "--lock", "none.json", "--locked", "-", "--stdin-filename=a.txt"
    run = doiuri(*words, cwd=folder, stdin=text.encode())
    _, line, carets, *_ = run.stdout.splitlines()
    assert line[5:8] == carets[5:8] == " | "
    return line[8:], carets[8:]


@pytest.mark.parametrize(
    ("before", "columns"),
    [
        ("漢字 ", 5),
        ("\uff21 ", 3),  # full-width A
        ("cafe\u0301 ", 5),
        ("\u1112\u1161\u11ab ", 3),  # Hangul, composed from three letters
        ("\U0001f600 ", 3),
        ("\x1b[31m ", 9),  # shown as \\x1b[31m
        ("\u202e", 6),  # shown as \\u202e
    ],
)
def test_carets_line_up_by_columns(before: str, columns: int, tmp_path: Path) -> None:
    line, carets = shown(tmp_path, f"{before}10.1000/182 end")
    assert line.endswith("10.1000/182 end")
    assert carets == " " * columns + "^" * 11


@pytest.mark.parametrize(
    ("text", "line", "carets"),
    [
        ("x 10.1000/漢字 y", "x 10.1000/漢字 y", "  " + "^" * 12),
        ("\ta\t10.1000/182", "\ta\t10.1000/182", "\t \t" + "^" * 11),
        (f"see 10.1000/{'z' * 200} there", f"see 10.1000/{'z' * 88}…", "    " + "^" * 96),
        (f"{'a' * 500} 10.1000/182 {'b' * 500}", f"…{'a' * 29} 10.1000/182 {'b' * 58}…", " " * 31 + "^" * 11),
    ],
    ids=["wide", "tabs", "a long name", "a long line"],
)  # fmt: skip
def test_an_excerpt_fits_a_line_and_the_carets_fit_it(
    text: str, line: str, carets: str, tmp_path: Path
) -> None:
    assert shown(tmp_path, text) == (line, carets)


def test_a_place_on_several_lines_is_underlined_to_the_end_of_the_first(tmp_path: Path) -> None:
    run = doiuri(
        *("check", "--isolated", "--offline", "-", "--stdin-filename=a.tex"),
        stdin=b"see \\url{https://doi.org/10.1000/\xe2\x80\x93%\n182}",
        cwd=tmp_path,
    )
    assert run.stdout.splitlines()[1:3] == [
        "    1 | see \\url{https://doi.org/10.1000/–%",
        "      |          ^^^^^^^^^^^^^^^^^^^^^^^^^^",
    ]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("environ", "is_terminal", "coloured"),
    [
        ({}, False, False),
        ({}, True, True),
        ({"NO_COLOR": "1"}, True, False),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, True, False),
    ],
)
def test_colours_on_a_terminal_unless_no_color_is_set(
    environ: dict[str, str],
    is_terminal: bool,
    coloured: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "a.md").write_text("<http://doi.org/10.1000/182>")
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    stream = Terminal() if is_terminal else io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    with pytest.raises(SystemExit):
        MAIN(["check", "--isolated", "--offline", "-q"])
    assert ("\x1b[33m\x1b[1mwarning[not-https]\x1b[0m" in stream.getvalue()) == coloured
    assert ("\x1b" in stream.getvalue()) == coloured


@pytest.mark.parametrize(
    ("stream", "options", "is_shown"),
    [(Terminal(), [], True), (Terminal(), ["-q"], False), (io.StringIO(), [], False)],
    ids=["terminal", "quiet", "file"],
)
def test_progress_is_one_line_of_a_terminal_that_is_redrawn_and_removed(
    stream: io.StringIO,
    options: list[str],
    is_shown: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for number in range(4):
        (tmp_path / f"{number}.md").write_text("doi:10.1000/182")
    clock = itertools.count(step=0.6)  # seconds
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        MAIN(["check", "--isolated", "--offline", "-j", "1", *options])
    *drawn, rest = stream.getvalue().split("\r")
    assert bool(drawn) == is_shown
    if is_shown:
        # each is written twice: with blanks over what is left of the one before, and again for the cursor
        assert [one for one in drawn[::2] if "files" in one][-1] == "Reading files: 4 of 4"
        assert drawn[-1].strip() == ""
        assert rest.startswith("Verified none of 1 DOI")


FIX = "[*] 1 can be fixed with doiuri fix"
UNSAFE = "with --unsafe-fixes if the corrected DOI exists."


@pytest.mark.parametrize(
    ("files", "lines"),
    [
        ({}, ["No files to check."]),
        ({"a.md": "x"}, ["No DOIs found in 1 file.", "No findings."]),
        ({"a.md": "10.1000/a", "b.md": "10.1000/a"}, ["Checked 1 DOI: 1 known.", "No findings."]),
        (
            {"a.md": "10.9000/a 10.9000/b"},
            ["Verified none of 2 DOIs: offline: request not sent.", "No findings."],
        ),
        (
            {"a.md": "10.9000/a 10.1000/a"},
            ["Checked 2 DOIs: 1 known. 1 could not be checked: offline: request not sent.", "No findings."],
        ),
        (
            {"a.md": "\0", "b.md": "\0", "c.md": "10.1000/a"},
            ["Checked 1 DOI: 1 known.", "2 files skipped: binary.", "No findings."],
        ),
        ({"a.md": "10.1000/dead"}, ["Checked 1 DOI: 1 known.", "1 error."]),
        ({"a.md": "http://doi.org/10.1000/a"}, ["Checked 1 DOI: 1 known.", f"1 warning. {FIX}."]),
        (
            {"a.md": "10.1000/a–b"},
            [
                "Checked 1 DOI: 1 known.",
                f"1 warning. 1 can be fixed with doiuri fix {UNSAFE.removeprefix('with ')}",
            ],
        ),
        (
            {"a.md": "10.1000/a–b http://doi.org/10.1000/a"},
            ["Checked 2 DOIs: 2 known.", f"2 warnings. {FIX}, 1 more {UNSAFE}"],
        ),
        (
            {"fixtures/a.md": "http://doi.org/10.1000/a"},
            ["Checked 1 DOI: 1 known.", "1 warning.", "1 fix in test data left to --unsafe-fixes."],
        ),
    ],
)
def test_the_summary_says_what_was_checked_and_found(
    files: dict[str, str], lines: list[str], tmp_path: Path
) -> None:
    remember(tmp_path / "cache", {"10.1000/a": True, "10.1000/dead": False, "10.1000/a–b": True})
    (tmp_path / "tree" / "fixtures").mkdir(parents=True)
    for name, text in files.items():
        (tmp_path / "tree" / name).write_text(text)
    words = "check", "--isolated", "--offline", "--cache", tmp_path / "cache"
    expected = [line.replace("fix with --unsafe", "fix --unsafe") for line in lines]
    assert doiuri(*words, cwd=tmp_path / "tree").stderr.splitlines() == expected
