"""The lines on standard error after a run."""

from __future__ import annotations

from doiuri_cli.output import Counts, Report, summary_lines
from doiuri_cli.rules import Fix
from support.cli.findings import finding

SAFE = finding("not-https", fix=Fix(0, 1, "x", safe=True))
UNSAFE = finding("look-alike", fix=Fix(0, 1, "x", safe=False, name="10.1000/x"))


def test_the_sample_of_the_manual() -> None:
    found = [finding(), SAFE, SAFE]
    unknown = {"doi.org: HTTP status 429": 2}
    unchecked = "2 could not be checked: doi.org: HTTP status 429."
    counts = Counts(3, 214, 190, 24, 1, unknown)
    assert summary_lines(Report(found, counts)) == [
        f"Checked 214 DOIs: 190 known, 24 asked in 1 request. {unchecked}",
        "1 error, 2 warnings. [*] 2 can be fixed with doiuri fix.",
    ]


def test_what_was_checked() -> None:
    causes = {"timed out\n": 1, "doi.org: HTTP status 403": 5}
    several = "6 could not be checked: doi.org: HTTP status 403 (5), timed out\\n (1)."
    for counts, line in (
        (Counts(files=1), "No DOIs found in 1 file."),
        (Counts(dois=1, known=1), "Checked 1 DOI: 1 known."),
        (Counts(dois=9, unknown={"offline": 9}), "Verified none of 9 DOIs: offline."),
        (Counts(dois=2, known=2, requests=1), "Checked 2 DOIs: 2 known, 1 request."),
        (
            Counts(dois=9, asked=3, requests=2, unknown=causes),
            f"Checked 9 DOIs: 0 known, 3 asked in 2 requests. {several}",
        ),
    ):
        assert summary_lines(Report((), counts)) == [line, "No findings."]


def test_files_that_were_skipped() -> None:
    counts = Counts(files=2, dois=1, known=1, skipped={"binary": 1, "larger than 10 MB": 2})
    assert summary_lines(Report((), counts))[1] == "3 files skipped: larger than 10 MB (2), binary (1)."


def test_what_was_found() -> None:
    condition = "if the corrected DOI exists."
    for found, line in (
        ([finding()], "1 error."),
        ([UNSAFE], f"1 warning. 1 can be fixed with doiuri fix --unsafe-fixes {condition}"),
        (
            [SAFE, UNSAFE],
            f"2 warnings. [*] 1 can be fixed with doiuri fix, 1 more with --unsafe-fixes {condition}",
        ),
    ):
        assert summary_lines(Report(found, Counts(dois=1)))[-1] == line
    assert SAFE.fix is not None
    recorded = SAFE._replace(fix=SAFE.fix._replace(safe=False))
    assert summary_lines(Report([recorded], Counts(dois=1)))[-2:] == [
        "1 warning.",
        "1 fix in test data left to --unsafe-fixes.",
    ]


def test_no_files() -> None:
    assert summary_lines(Report()) == ["No files to check."]
    assert summary_lines(Report((), Counts(skipped={"binary": 1}))) == [
        "No DOIs found in 0 files.",
        "1 file skipped: binary.",
        "No findings.",
    ]
