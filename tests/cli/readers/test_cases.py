"""The readers read the files in tests/cli/cases, and give each mention its exact place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from doiuri_cli import Part, Source
from doiuri_cli._mentions import Mention, mentions_in
from doiuri_cli.readers import parts_of
from doiuri_cli.rules import finding_at

CASES = Path(__file__).parents[1] / "cases"
EXPECTED: dict[str, list[dict[str, object]]] = {
    f"{folder.name}/{name}": case["mentions"]
    for folder in sorted(CASES.iterdir())
    for name, case in json.loads((folder / "expected.json").read_text("utf-8")).items()
}


def source_of(name: str) -> Source:
    return Source.from_bytes(name, (CASES / name).read_bytes())


def mentions_of(source: Source) -> list[Mention]:
    return [mention for part in parts_of(source) for mention in mentions_in(part)]


def described(source: Source, mention: Mention) -> dict[str, object]:
    found = finding_at(source, mention.part, mention.span, "syntax", "")
    place = found.line, found.column, found.end_line, found.end_column
    names = "line", "column", "end_line", "end_column", "cell", "entry", "text", "doi"
    text = source.text[slice(*mention.part.span(*mention.span))]
    values = *place, found.cell, found.entry, text, mention.doi and mention.doi.name
    return dict(zip(names, values, strict=True))


def test_every_file_is_a_case() -> None:
    files = {f"{file.parent.name}/{file.name}" for file in CASES.glob("*/*")}
    assert {name for name in files if not name.endswith("/expected.json")} == {*EXPECTED}


@pytest.mark.parametrize("name", EXPECTED)
def test_the_mentions_in_a_file(name: str) -> None:
    source = source_of(name)
    found = mentions_of(source)
    assert len(found) == len(EXPECTED[name])
    for mention, expected in zip(found, EXPECTED[name], strict=True):
        values = described(source, mention)
        assert {key: values[key] for key in expected} == expected


@pytest.mark.parametrize("name", EXPECTED)
def test_line_ends_do_not_change_what_is_mentioned(name: str) -> None:
    text = source_of(name).text.replace("\r\n", "\n")
    one, other = (
        [(mention.doi, mention.part.entry) for mention in mentions_of(Source(name, text.replace("\n", end)))]
        for end in ("\n", "\r\n")
    )
    assert one == other


@pytest.mark.parametrize("name", EXPECTED)
def test_what_is_read_can_be_written_back_and_a_mention_read_alone(name: str) -> None:
    source = source_of(name)
    found = mentions_of(source)
    for mention in found:
        part = mention.part
        start, end = part.span(*mention.span)
        written = part.encode(mention.text)
        if part.places is None or (mention.text.isascii() and part.syntax != "bibtex"):
            assert source.text[start:end] == written
        changed = source.text[:start] + written + source.text[end:]
        again = mentions_of(Source(source.path, changed, source.encoding, source.mark))
        assert [one.doi for one in again] == [one.doi for one in found]
        if mention.doi is not None and part.places is None:
            is_value = part.field or "\n" in mention.text  # only values in braces may have several lines
            alone = Part(source.text[start:end], part.syntax, field=is_value)
            assert [one.doi for one in mentions_in(alone)] == [mention.doi]


def test_fields_for_dois() -> None:
    for name, fields in {
        "ris/one.ris": ["10.1000/1", "10.1000/4"],
        "yaml/CITATION.cff": ["10.5281/zenodo.1", "10.5281/zenodo.2", "10.1000/4"],
        "yaml/other.yml": ["10.1000/é"],
        "json/works.json": ["10.1000/é", "10.1000/2"],
        "json/.zenodo.json": ["10.5281/zenodo.1", "10.1000/2"],
        "json/codemeta.json": ["10.1000/2"],
    }.items():
        found = [one.doi and one.doi.name for one in mentions_of(source_of(name)) if one.part.field]
        assert found == fields, name


def test_settings_named_doi_are_no_fields() -> None:
    text = "a: {doi: true}\nb: {doi: }\nc: {doi: ~}\nd: {doi: {e: doi}}\nf: {doi: 'true'}\ng: {doi: PMC1}\n"
    assert [part.text for part in parts_of(Source("mkdocs.yml", text)) if part.field] == ["true", "PMC1"]


def test_the_tags_of_a_cell_ignore_codes() -> None:
    parts = {part.cell: part for part in parts_of(source_of("notebook/four.ipynb"))}
    codes = ("not-found", "not-https", "syntax")
    ignored = {cell: [code for code in codes if {code, "*"} & part.ignored] for cell, part in parts.items()}
    assert ignored == {1: [], 2: ["not-found", "not-https"], 4: [*codes]}


KEPT = {
    "CSL-JSON inside another object": (
        "a.json",
        '{"items": [{"id": "a", "type": "book", "DOI": "10.1000/1", "reference": [{"DOI": "10.1000/no"}]}]}',
        [("10.1000/1", "a", True)],
    ),
    "DataCite's JSON": (
        "datacite.json",
        """{"data": {"doi": "10.1000/1", "types": {}, "url": "https://example.org",
        "identifiers": [{"identifier": "https://doi.org/10.1000/2", "identifierType": "DOI"}],
        "relatedIdentifiers": [{"relatedIdentifier": "10.1000/3", "relatedIdentifierType": "DOI"},
        {"relatedIdentifier": "10.1000/no", "relatedIdentifierType": "ARK"}]}}""",
        [("10.1000/1", "", True), ("10.1000/2", "", False), ("10.1000/3", "", False)],
    ),
    "BibJSON": (
        "a.json",
        '{"title": 1, "identifier": [{"type": "doi", "id": "10.1000/1"}, {"type": "", "id": "10.1000/no"}]}',
        [("10.1000/1", "", False)],
    ),
    "RO-Crate": (
        "ro-crate-metadata.json",
        """{"@graph": [{"@id": "https://doi.org/10.1000/1", "name": "10.1000/no"},
        {"identifier": {"propertyID": "doi", "value": "10.1000/2"}}]}""",
        [("10.1000/1", "", False), ("10.1000/2", "", True)],
    ),
    "JSON that describes no work": ("a.json", '{"doi": "10.1000/no", "x": {"DOI": "10.1000/no"}}', []),
    "a lock file": ("x.lock.json", '{"doiuri-lock": 1, "a": {"type": "book", "DOI": "10.1000/no"}}', []),
    "an ontology": (
        "a.owl",
        '<a rdf:resource="http://dx.doi.org/10.1000/1"/><b>doi:10.1000/2</b>',
        [("10.1000/1", "", False), ("10.1000/2", "", False)],
    ),
    "a style of CSL": (
        "a.csl",
        '<style xmlns="x"><link href="https://doi.org/10.1000/1"/></style>',
        [("10.1000/1", "", False)],
    ),
    "e-prints in reStructuredText": (
        "a.rst",
        ":arxiv:`2301.00001v2` and :arxiv:`T < x <arXiv:math.GT/0309136v1>`, doi:10.1000/1\n",
        [
            ("10.48550/arXiv.2301.00001", "", False),
            ("10.48550/arXiv.math/0309136", "", False),
            ("10.1000/1", "", False),
        ],
    ),
    "e-prints in MyST": (
        "a.md",
        "{arxiv}`2301.00001v2`, {arxiv}`none`\n\n```\n{arxiv}`2301.00002`\n```\n",
        [("10.48550/arXiv.2301.00001", "", False)],
    ),
    "styles in HTML": ("a.html", "<style>10.1000/no</style>", []),
    "a manual page of R": ("a.Rd", "\\doi{10.1000/1} % 10.1000/no", [("10.1000/1", "", False)]),
    "Sweave": ("a.Rnw", "\\doi{10.1000/1} % 10.1000/no", [("10.1000/1", "", False)]),
    "a package of R": ("x/DESCRIPTION", "A method <doi:10.1000/1>.", [("10.1000/1", "", False)]),
    **{
        f"{extension} comments and strings": (
            f"a{extension}",
            f"f('10.1000/1')\n  {mark} see 10.1000/2\n",
            [("10.1000/1", "", False), ("10.1000/2", "", False)],
        )
        for extension, mark in ((".R", "#'"), (".jl", "#"), (".rs", "///"), (".nf", "//"))
    },
    "BibTeX in HTML": (
        "a.html",
        '<pre><code class="language-bibtex">@book{a, doi = {10.1000/1}}</code></pre>',
        [("10.1000/1", "a", True)],
    ),
    "BibTeX without a key in HTML": (
        "a.html",
        "<pre>@Article{,\n  doi = {10.1000/1},\n}</pre>",
        [("10.1000/1", "", True)],
    ),
    "BibTeX in a docstring": (
        "a.py",
        '"""Cite.\n\n.. code-block:: bibtex\n\n   @book{a, doi = {10.1000/1}}\n"""\n',
        [("10.1000/1", "a", True)],
    ),
    "templates and broken YAML": (
        "meta.yaml",
        """{% set a = "x" %}\ndoi: "10.1000/1"\nb: {{ a }}\n- [doi:10.1000/2\n'open doi:10.1000/3\n""",
        [("10.1000/1", "", True), ("10.1000/2", "", False), ("10.1000/3", "", False)],
    ),
    "YAML with an escape that means nothing": (
        "a.yaml",
        'a: "10.1000/1 \\q \\ud800 \\U00110000 10.1000/2"',
        [("10.1000/1", "", False), ("10.1000/2", "", False)],
    ),
    "Crossref's keys in recorded JSON": (
        "a.yml",
        """string: '{"key":"10.1111\\/phpp.12112-BIB0071|b1","DOI":"10.1111\\/phpp.12112"}'""",
        [("10.1111/phpp.12112", "", False)],
    ),
    "Python: the value of a dictionary": ("a.py", "x = {\n    'a':\n    '10.1000/no',\n}\n", []),
    "Python: a string that goes on": ("a.py", "'10.1000/no' \\\n    'x'\n'10.1000/no'.strip()\n", []),
}


@pytest.mark.parametrize("case", KEPT)
def test_what_people_keep_dois_in(case: str) -> None:
    path, text, expected = KEPT[case]
    found = mentions_of(Source(path, text))
    assert [(one.doi and one.doi.name, one.part.entry, one.part.field) for one in found] == expected
