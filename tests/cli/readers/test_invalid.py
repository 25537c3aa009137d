"""What stands in the place of a DOI and is none: told where one is meant, and nowhere else."""

from __future__ import annotations

import pytest
from support.cli.command import codes, findings, names, piece


def invalid(path: str, text: str) -> list[str]:
    return [piece(text, one) for one in findings(path, text, "--select=syntax")]


@pytest.mark.parametrize(
    ("path", "text", "found"),
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
        ("a.py", '"""See :doi:`bad`."""', ["bad"]),
    ],
)
def test_what_is_no_doi_is_told_in_links_roles_commands_and_fields(
    path: str, text: str, found: list[str]
) -> None:
    assert invalid(path, text) == found


@pytest.mark.parametrize(
    "text", ["{doi}", "<DOI>", "%s", "%(doi)s", "10.xxxx/yyyy", "…", "...", "$doi", "{{ doi }}"]
)
@pytest.mark.parametrize(
    ("path", "around"),
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
def test_what_is_to_be_filled_in_is_not_told(path: str, around: str, text: str) -> None:
    assert invalid(path, around.format(text)) == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.txt", "our prefix is https://doi.org/10.5281/, see doi: bad"),
        ("a.md", "the doi: scheme (doi:bad)"),
        ("a.tex", r"\def\doi{x}\newcommand{\doi}[1]{\href{https://doi.org/#1}{#1}}\renewcommand\doi{y}"),
        ("a.html", '<td class="doi">soon</td>'),
        ("a.bib", "@misc{a, doi = {}, note = {no doi}}"),
        ("a.txt", "https://doi.org/10.…"),
    ],
)
def test_where_no_doi_is_meant_none_is_missed(path: str, text: str) -> None:
    assert invalid(path, text) == []


@pytest.mark.parametrize(
    ("path", "text"),
    [("a.md", "10.5281/zenodo.XXXXXXX"), ("a.bib", "@misc{a, doi = {10.5281/zenodo.xxxxxx}}")],
)
def test_a_number_that_is_to_come_is_passed_over(path: str, text: str) -> None:
    assert (codes(path, text), names(path, text)) == ([], [])


@pytest.mark.parametrize(
    "text", ["no DOI available", "N/A", "n/a", "NA", "-", "—", "unknown", "not available"]
)
def test_a_field_that_says_there_is_none_is_told_in_bibtex_only(text: str) -> None:
    assert codes("meta.yml", f'doi: "{text}"\n') == []
    assert codes("a.bib", f"@article{{a, doi = {{{text}}}}}") == ["syntax"]  # styles make a link of it


LOOSE = ["meta.yml", "mkdocs.yaml", "a.md", "CODEMETA.json"]
STRICT = ["CITATION.cff", "citation.CFF", "a.json", ".zenodo.json", "a.bib", "a.ris"]
FIELDS = {
    "meta.yml": 'x: [{{doi: "{}"}}]\n',
    "mkdocs.yaml": 'x: [{{doi: "{}"}}]\n',
    "a.md": '---\ndoi: "{}"\n---\n',
    "CODEMETA.json": '{{"identifier": {{"propertyID": "doi", "value": "{}"}}}}',
    "CITATION.cff": 'doi: "{}"\n',
    "citation.CFF": 'doi: "{}"\n',
    "a.json": '[{{"type": "book", "DOI": "{}"}}]',
    ".zenodo.json": '{{"doi": "{}"}}',
    "a.bib": "@misc{{a, doi = {{{}}}}}",
    "a.ris": "TY  - BOOK\nDO  - {}\nER  - \n",
}


@pytest.mark.parametrize("path", LOOSE + STRICT)
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("string", None),
        ("The DOI of the paper", None),
        ("smith2010", None),
        ("10.", "syntax"),
        ("1000/182", "syntax"),
        ("doi:1000", "syntax"),
        ("DOI:1000", "syntax"),
        ("10/d8dn", "short-doi"),
        ("10.1000/182", ""),
    ],
)
def test_a_value_that_looks_like_no_attempt_is_told_only_where_doi_means_nothing_else(
    path: str, text: str, expected: str | None
) -> None:
    if expected is None:
        expected = "syntax" if path in STRICT else ""
    assert codes(path, FIELDS[path].format(text)) == ([expected] if expected else [])


def test_paths_of_files_in_bibtex_are_no_dois() -> None:
    file, url = "file = {:files/10.1000/182.pdf:PDF}", "url = {https://doi.org/10.1000/2}"
    assert names("a.bib", f"@article{{a, doi = {{10.1000/1}}, {file}, {url}}}") == ["10.1000/1", "10.1000/2"]


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("mkdocs.yml", "extra:\n  doi: https://doi.org/10.1000/182\n", []),
        ("mkdocs.yml", "extra:\n  doi: http://dx.doi.org/10.1000/182\n", ["not-https"]),
        ("meta.yml", "doi: doi:10.1000/182\n", ["field-form"]),
        ("CITATION.cff", "doi: https://doi.org/10.1000/182\n", ["field-form"]),
        ("x.CFF", "doi: https://doi.org/10.1000/182\n", ["field-form"]),
        ("post.md", "---\ndoi: https://doi.org/10.1000/182\n---\n\nText.\n", []),
        ("post.md", "---\ndoi: http://dx.doi.org/10.1000/182\n---\n\nText.\n", ["not-https"]),
        ("post.md", "---\ndoi: doi:10.1000/182\n---\n\nText.\n", ["field-form"]),
        ("post.md", "---\ndoi: https://doi.org/1000/182\n---\n\nText.\n", ["syntax"]),
    ],
)
def test_a_link_in_settings_and_front_matter_is_a_link(path: str, text: str, expected: list[str]) -> None:
    """Templates use it as the address of a link, so it is not to be replaced by the name."""
    assert codes(path, text) == expected
