"""What stands in the place of a DOI and is none: told where one is meant, and nowhere else."""

from __future__ import annotations

import pytest
from doiuri_cli._mentions import mentions_in
from doiuri_cli.files import Source
from doiuri_cli.readers import reader_for


def invalid(name: str, text: str) -> list[str]:
    read = reader_for(name)
    assert read is not None
    return [m.text for part in read(Source(name, text)) for m in mentions_in(part) if m.doi is None]


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("a.md", "[x](doi:bad), <doi:worse>", ["doi:bad", "doi:worse"]),
        ("a.md", "[x](https://doi.org/10.1000/)", ["https://doi.org/10.1000/"]),
        ("a.md", "{doi}`bad` and {doi:p}`10.1000`", ["bad", "10.1000"]),
        ("a.rst", ":doi:`bad`, :doi:t:`worse`, :doi:`Title <10.1000>`", ["bad", "worse", "10.1000"]),
        ("a.rst", "`x <doi:bad>`_", ["doi:bad"]),
        ("a.html", '<a href="doi:bad">x</a>', ["doi:bad"]),
        ("a.html", "<meta name='citation_doi' content='bad'>", ["bad"]),
        ("a.xml", '<pub-id pub-id-type="doi">PMC1</pub-id>', ["PMC1"]),
        ("a.tex", r"\doi{bad}, \href{https://doi.org/10.1O00/x}{x}", ["bad", "https://doi.org/10.1O00/x"]),
        ("a.bib", "@misc{a, doi = {bad}}", ["bad"]),
        ("a.txt", "http://dx.doi.org/10.1O00/x).", ["http://dx.doi.org/10.1O00/x"]),
    ],
)
def test_told(name: str, text: str, found: list[str]) -> None:
    assert invalid(name, text) == found


@pytest.mark.parametrize(
    "text", ["{doi}", "<DOI>", "%s", "%(doi)s", "10.xxxx/yyyy", "…", "...", "$doi", "{{ doi }}"]
)
@pytest.mark.parametrize(
    ("name", "around"),
    [
        ("a.md", "[x](doi:{})"),
        ("a.md", "[x](https://doi.org/{})"),
        ("a.rst", ":doi:`{}`"),
        ("a.rst", "`x <https://doi.org/{}>`_"),
        ("a.html", '<a href="doi:{}">x</a>'),
        ("a.html", '<a href="https://doi.org/{}">x</a>'),
        ("a.tex", "\\doi{{{}}}"),
        ("a.bib", "@misc{{a, doi = {{{}}}}}"),
        ("a.txt", "https://doi.org/{}"),
    ],
)
def test_what_is_to_be_filled_in_is_not_told(name: str, around: str, text: str) -> None:
    assert invalid(name, around.format(text)) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.txt", "our prefix is https://doi.org/10.5281/, see doi: bad"),
        ("a.md", "the doi: scheme (doi:bad)"),
        ("a.tex", r"\def\doi{x}\newcommand{\doi}[1]{\href{https://doi.org/#1}{#1}}\renewcommand\doi{y}"),
        ("a.html", '<td class="doi">soon</td>'),
        ("a.bib", "@misc{a, doi = {}, note = {no doi}}"),
        ("a.txt", "https://doi.org/10.…"),
    ],
)
def test_where_no_doi_is_meant_none_is_missed(name: str, text: str) -> None:
    assert invalid(name, text) == []


def test_a_number_that_is_to_come_is_passed_over() -> None:
    for name, text in (
        ("a.md", "10.5281/zenodo.XXXXXXX"),
        ("a.bib", "@misc{a, doi = {10.5281/zenodo.xxxxxx}}"),
    ):
        read = reader_for(name)
        assert read is not None
        assert [m for part in read(Source(name, text)) for m in mentions_in(part)] == []
