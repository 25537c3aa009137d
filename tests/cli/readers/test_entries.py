"""Entries of bibliographies: what the registry's metadata is compared with."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from support.cli.command import doiuri, findings
from support.cli.library import CSL, item, work

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from doiuri_proxy.pytest_plugin import Proxies

BIB = r"""
% @article{no, doi = {10.1000/no}}
@string{then = "1999"}
@article{smith2020,
  author = {Smith, Jane and {The Group}},
  title  = {{\"U}ber \emph{Drosophila} --
            a \textbf{study}},
  doi    = {10.1000/a\_b},
  year   = then,
}
@book{smith2020, DOI = "https://doi.org/10.1000/2", editor = {Ludwig van der Beek}, date = {2001-02-03}}
@misc{group, author = {{Many Group}}, doi = {10.1000/3}, year = {in press}}
@string{five = "5"}
@inbook{Smith(1999)
  doi = "10.1000/" # five, author = "de la Tour, A.", title = {Part } # 2 # { of } # {two}, title = {Other}}
@misc{protected, author = {{\'E}mile {van} Dam and Jo Doe}, DOI = "10.1000/" # five}
@misc{none, title = {No DOI}}
@misc{invalid, doi = {PMC1}}
@misc{broken, doi = {10.1000/4
"""
CFF = """\
title: Software
doi: 10.1000/6
date-released: 2021-05-06
authors: [{name: Many Group}]
preferred-citation:
  title: 'It''s a paper'
  year: 2020
  authors: [{family-names: Beek, name-particle: van der}]
  identifiers: [{type: url, value: "https://example.org"}, {type: doi, value: "10.1000/1"}]
references:
  - title: No DOI
  - title: Two
    doi: 10.1000/2
"""
WORKS: list[dict[str, object]] = [
    {
        "id": "a",
        "type": "book",
        "title": "On <i>x</i>",
        "DOI": "10.1000/1",
        "issued": {"date-parts": [[2020, 1]]},
        "author": [{"family": "Beek", "non-dropping-particle": "van der", "given": "L."}],
    },
    {"id": 7, "type": "book", "DOI": "10.1000/2", "issued": {"raw": "c. 1999"}, "author": [{"literal": "X"}]},
    {"id": 8, "type": "book"},
]
RIS = "TY  - JOUR\r\nID  - a\r\nAU  - Smith, J\r\nT1  - On x\r\nPY  - 2020/01//\r\nDO  - 10.1000/1\r\n"
AS_LIST, BY_KEY = json.dumps(WORKS, indent=1), json.dumps({str(one["id"]): one for one in WORKS}, indent=1)
CSL_JSON = [("a", True, 2020, "van der Beek"), ("7", False, 1999, "X")]
READ: dict[str, tuple[str, str, Sequence[tuple[str | None, bool, int | None, str | None]]]] = {
    "BibTeX": (
        "a.bib",
        BIB,
        [
            ("smith2020", True, 1999, "Smith"),
            ("smith2020", False, 2001, "van der Beek"),
            ("group", False, None, None),
            ("Smith(1999)", True, None, "de la Tour"),
            ("protected", False, None, "Dam"),
        ],
    ),
    "CITATION.cff": (
        "CITATION.cff",
        CFF,
        [
            (None, True, 2021, None),
            ("preferred-citation", True, 2020, "van der Beek"),
            ("references[1]", True, None, None),
        ],
    ),
    "CSL-JSON, a list": ("a.json", AS_LIST, CSL_JSON),
    "CSL-JSON, by key": ("a.json", BY_KEY, CSL_JSON),
    "RIS": ("a.ris", RIS, [("a", True, 2020, "Smith")]),
    "BibTeX in Markdown": ("a.md", BIB, []),
    "no JSON": ("a.json", '{"DOI": "10.1000/1"', []),
    "no work": ("a.json", '{"type": "DOI"}', []),
    "an empty file": ("a.bib", "", []),
}
OTHERS = [
    item(f"10.1000/{suffix}", metadata={CSL: work("Neither of these", "Zoe", "Zapf", 1700)})
    for suffix in ("a_b", *range(1, 7))
]


@pytest.mark.doi_records(OTHERS)
@pytest.mark.parametrize("case", READ)
def test_title_year_and_first_author_of_each_entry_are_compared(case: str, doi_proxy: Proxies) -> None:
    """Whatever an entry has differs from these works, and the message names what it has."""
    path, text, entries = READ[case]
    expected = []
    for key, has_title, year, author in entries:
        expected += [(key, "author-differs", author)] if author else []
        expected += [(key, "title-differs", '"Neither of these"')] if has_title else []
        expected += [(key, "year-differs", str(year))] if year else []
    options = "--records", "--online", "--resolver", doi_proxy.url, "--select"
    found = findings(path, text, *options, "title-differs,year-differs,author-differs")
    assert [
        (
            one["entry"],
            one["code"],
            one["message"].rpartition(" not " if "not" in one["message"] else " is ")[2],
        )
        for one in found
    ] == expected


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ('@misc{a, title = {{\\"U}ber \\emph{Flies} --\n a \\textbf{study}}}', "Über Flies – a study"),
        ("@misc{a, title = {Part } # 2 # { of } # {two}, title = {Other}}", "Part 2 of two"),
        ("@string{x = {On }}\n@misc{a, title = x # \"dikes\"}", "On dikes"),
    ],
)  # fmt: skip
def test_the_title_of_an_entry_without_a_doi_is_listed(text: str, title: str, tmp_path: Path) -> None:
    (tmp_path / "a.bib").write_text(text, "utf-8")
    run = doiuri("check", "--isolated", "--offline", "--records", "-o", "markdown", cwd=tmp_path)
    assert f"No DOI given for title: {title}\n" in run.stdout
