"""What real files hold besides DOIs: statements that there is none, paths, links of a site's settings."""

from __future__ import annotations

import pytest
from doiuri_cli._config import Config
from doiuri_cli._examine import examine, read_mentions
from doiuri_cli.files import Source


def codes(path: str, text: str) -> list[str]:
    return [finding.code for finding in examine(Source(path, text), Config()).findings]


@pytest.mark.parametrize(
    "text", ["no DOI available", "N/A", "n/a", "NA", "-", "—", "unknown", "not available"]
)
def test_a_field_may_say_that_there_is_no_doi(text: str) -> None:
    assert codes("meta.yml", f'doi: "{text}"\n') == []
    assert codes("a.bib", f"@article{{a, doi = {{{text}}}}}") == ["syntax"]  # styles make a link of it


@pytest.mark.parametrize("text", ["smith2010", "na1", "1000/182"])
def test_anything_else_in_a_field_is_an_error(text: str) -> None:
    assert codes("meta.yml", f'doi: "{text}"\n') == ["syntax"]


def test_paths_of_files_in_bibtex_are_no_dois() -> None:
    text = "@article{a, doi = {10.1000/1}, file = {:files/10.1000/182.pdf:PDF}, url = {https://doi.org/10.1000/2}}"
    mentions, _ = read_mentions(Source("a.bib", text))
    assert [mention.text for mention in mentions] == ["10.1000/1", "https://doi.org/10.1000/2"]


def test_a_link_in_the_settings_of_a_site_is_a_link() -> None:
    assert codes("mkdocs.yml", "extra:\n  doi: https://doi.org/10.1000/182\n") == []
    assert codes("mkdocs.yml", "extra:\n  doi: http://dx.doi.org/10.1000/182\n") == ["not-https"]
    assert codes("meta.yml", "doi: doi:10.1000/182\n") == ["field-form"]
    assert codes("CITATION.cff", "doi: https://doi.org/10.1000/182\n") == ["field-form"]
