"""What stands in the place of a DOI and is none: told where one is meant, and nowhere else."""

from __future__ import annotations

from doiuri_cli._config import Config
from doiuri_cli._examine import examine
from doiuri_cli.files import Source


def invalid(name: str, text: str) -> list[str]:
    return [place.at.message for place in examine(Source(name, text), Config()).places if not place.key]


def codes(path: str, text: str) -> list[str]:
    return [finding.code for finding in examine(Source(path, text), Config()).findings]


def test_what_is_no_doi_is_told_in_links_roles_commands_and_fields() -> None:
    for name, text, found in (
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
    ):
        assert invalid(name, text) == found, (name, text)


def test_what_is_to_be_filled_in_is_not_told() -> None:
    for name, around in (
        ("a.md", "[x](doi:{})"),
        ("a.md", "[x](https://doi.org/{})"),
        ("a.rst", ":doi:`{}`"),
        ("a.rst", "`x <https://doi.org/{}>`_"),
        ("a.html", '<a href="doi:{}">x</a>'),
        ("a.html", '<a href="https://doi.org/{}">x</a>'),
        ("a.tex", "\\doi{{{}}}"),
        ("a.bib", "@misc{{a, doi = {{{}}}}}"),
        ("a.txt", "https://doi.org/{}"),
    ):
        for text in ("{doi}", "<DOI>", "%s", "%(doi)s", "10.xxxx/yyyy", "…", "...", "$doi", "{{ doi }}"):
            assert invalid(name, around.format(text)) == [], (name, around, text)


def test_where_no_doi_is_meant_none_is_missed() -> None:
    for name, text in (
        ("a.txt", "our prefix is https://doi.org/10.5281/, see doi: bad"),
        ("a.md", "the doi: scheme (doi:bad)"),
        ("a.tex", r"\def\doi{x}\newcommand{\doi}[1]{\href{https://doi.org/#1}{#1}}\renewcommand\doi{y}"),
        ("a.html", '<td class="doi">soon</td>'),
        ("a.bib", "@misc{a, doi = {}, note = {no doi}}"),
        ("a.txt", "https://doi.org/10.…"),
    ):
        assert invalid(name, text) == [], (name, text)


def test_a_number_that_is_to_come_is_passed_over() -> None:
    for name, text in (
        ("a.md", "10.5281/zenodo.XXXXXXX"),
        ("a.bib", "@misc{a, doi = {10.5281/zenodo.xxxxxx}}"),
    ):
        assert examine(Source(name, text), Config()).places == ()


def test_a_field_may_say_that_there_is_no_doi() -> None:
    for text in ("no DOI available", "N/A", "n/a", "NA", "-", "—", "unknown", "not available"):
        assert codes("meta.yml", f'doi: "{text}"\n') == [], text
        assert codes("a.bib", f"@article{{a, doi = {{{text}}}}}") == ["syntax"]  # styles make a link of it


def test_a_value_that_looks_like_no_attempt_is_told_only_where_doi_means_nothing_else() -> None:
    for text, expected in {
        "string": [],
        "The DOI of the paper": [],
        "smith2010": [],
        "10.": ["syntax"],
        "1000/182": ["syntax"],
        "doi:1000": ["syntax"],
        "10/d8dn": ["short-doi"],
    }.items():
        for path in ("meta.yml", "mkdocs.yaml"):
            assert codes(path, f'x: [{{doi: "{text}"}}]\n') == expected, (path, text)
        assert codes("a.md", f'---\ndoi: "{text}"\n---\n') == expected, text
        strict = expected or ["syntax"]
        assert codes("CITATION.cff", f'doi: "{text}"\n') == strict, text
        assert codes("a.json", f'[{{"type": "book", "DOI": "{text}"}}]') == strict, text
        assert codes(".zenodo.json", f'{{"doi": "{text}"}}') == strict, text
        assert codes("a.bib", f"@misc{{a, doi = {{{text}}}}}") == strict, text


def test_paths_of_files_in_bibtex_are_no_dois() -> None:
    file, url = "file = {:files/10.1000/182.pdf:PDF}", "url = {https://doi.org/10.1000/2}"
    source = Source("a.bib", f"@article{{a, doi = {{10.1000/1}}, {file}, {url}}}")
    assert [place.at.message for place in examine(source, Config()).places] == [
        "10.1000/1",
        "https://doi.org/10.1000/2",
    ]


def test_a_link_in_the_settings_of_a_site_is_a_link() -> None:
    assert codes("mkdocs.yml", "extra:\n  doi: https://doi.org/10.1000/182\n") == []
    assert codes("mkdocs.yml", "extra:\n  doi: http://dx.doi.org/10.1000/182\n") == ["not-https"]
    assert codes("meta.yml", "doi: doi:10.1000/182\n") == ["field-form"]
    assert codes("CITATION.cff", "doi: https://doi.org/10.1000/182\n") == ["field-form"]
