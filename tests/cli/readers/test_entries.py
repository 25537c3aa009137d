"""Entries of bibliographies: what the registry's metadata is compared with."""

from __future__ import annotations

import json

import pytest
from doiuri import DOI
from doiuri.tex import plain_text
from doiuri_cli import Source
from doiuri_cli.readers._bibliography import CitedWork as Entry
from doiuri_cli.readers._bibliography import Lacking, entries

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
@misc{group, author = {{The Group of Many}}, doi = {10.1000/3}, year = {in press}}
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
doi: 10.5281/zenodo.1
date-released: 2021-05-06
authors: [{name: The Group}]
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
CSL: list[dict[str, object]] = [
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


def read(path: str, text: str) -> list[Entry]:
    return [one for one in entries(Source(path, text)) if isinstance(one, Entry)]


def short(path: str, text: str) -> list[tuple[str, DOI, str, int | None, str, str]]:
    return [
        (one.key, one.doi, one.title, one.year, one.first_author_family, text[slice(*one.span)])
        for one in read(path, text)
    ]


def test_bibtex() -> None:
    assert short("a.bib", BIB) == [
        ("smith2020", DOI("10.1000/a_b"), "Über Drosophila – a study", 1999, "Smith", r"10.1000/a\_b"),
        ("smith2020", DOI("10.1000/2"), "", 2001, "van der Beek", "https://doi.org/10.1000/2"),
        ("group", DOI("10.1000/3"), "", None, "The Group of Many", "10.1000/3"),
        ("Smith(1999)", DOI("10.1000/5"), "Part 2 of two", None, "de la Tour", '10.1000/" # five'),
        ("protected", DOI("10.1000/5"), "", None, "Dam", '10.1000/" # five'),
    ]


def test_entries_of_bibtex_without_a_doi() -> None:
    lacking = [one for one in entries(Source("a.bib", BIB)) if isinstance(one, Lacking)]
    assert lacking == [Lacking("No DOI", None)]


def test_cff() -> None:
    assert short("CITATION.cff", CFF) == [
        ("", DOI("10.5281/zenodo.1"), "Software", 2021, "The Group", "10.5281/zenodo.1"),
        ("preferred-citation", DOI("10.1000/1"), "It's a paper", 2020, "van der Beek", "10.1000/1"),
        ("references[1]", DOI("10.1000/2"), "Two", None, "", "10.1000/2"),
    ]


@pytest.mark.parametrize("by_key", [False, True])
def test_csl_json(by_key: bool) -> None:
    text = json.dumps({str(item["id"]): item for item in CSL} if by_key else CSL, indent=1)
    assert short("a.json", text) == [
        ("a", DOI("10.1000/1"), "On x", 2020, "van der Beek", "10.1000/1"),
        ("7", DOI("10.1000/2"), "", 1999, "X", "10.1000/2"),
    ]


def test_ris() -> None:
    assert short("a.ris", RIS) == [("a", DOI("10.1000/1"), "On x", 2020, "Smith", "10.1000/1")]


@pytest.mark.parametrize(
    ("path", "text"), [("a.md", BIB), ("a.json", "{"), ("a.json", '{"type": "DOI"}'), ("a.bib", "")]
)
def test_other_files_have_no_entries(path: str, text: str) -> None:
    assert read(path, text) == []


def test_nothing_is_printed_about_broken_entries(capfd: pytest.CaptureFixture[str]) -> None:
    read("a.bib", BIB)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("tex", "text"),
    [
        (r"\'{e}t\'e \c{c}a \v{S} \aa{} {\o} \ss", "été ça Š å ø ß"),
        (r"a~b \& c\_d 10\,\% $\alpha$-\textit{x} --- \LaTeX{} \i", "a b & c_d 10 % α-x — LaTeX ı"),
        (r"{The {DNA} of} \unknown{this}", "The DNA of this"),
        ("two\n  lines", "two lines"),
    ],
)
def test_tex_as_text(tex: str, text: str) -> None:
    assert plain_text(tex) == text
