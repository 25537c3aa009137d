"""The readers read the files in tests/cli/cases, and give each mention its exact place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.cli.command import findings, piece, places

CASES = Path(__file__).parents[1] / "cases"
EXPECTED: dict[str, list[dict[str, Any]]] = {
    f"{folder.name}/{name}": case["mentions"]
    for folder in sorted(CASES.iterdir())
    for name, case in json.loads((folder / "expected.json").read_text("utf-8")).items()
}
LATIN_1 = ("text/latin1-crlf.txt", "python/latin.py")


def text_of(name: str) -> str:
    return (CASES / name).read_bytes().decode("latin-1" if name in LATIN_1 else "utf-8")


def _place(mention: dict[str, Any]) -> tuple[int, int, int]:
    return mention.get("cell") or 0, mention["line"], mention["column"]


def test_every_file_is_a_case() -> None:
    files = {f"{file.parent.name}/{file.name}" for file in CASES.glob("*/*")}
    assert {name for name in files if not name.endswith("/expected.json")} == {*EXPECTED}


@pytest.mark.parametrize("name", EXPECTED)
def test_each_doi_is_found_at_its_place(name: str) -> None:
    text = text_of(name)
    found = [
        {**one, "text": piece(text, one) if one["cell"] is None else None}
        for one in places(name, (CASES / name).read_bytes())
    ]
    expected = sorted((one for one in EXPECTED[name] if one["doi"]), key=_place)
    assert [{key: one[key] for key in two} for one, two in zip(found, expected, strict=True)] == expected


@pytest.mark.parametrize("name", EXPECTED)
def test_what_is_no_doi_is_told_at_its_place(name: str) -> None:
    told = findings(name, (CASES / name).read_bytes(), "--select=syntax,short-doi")
    invalid = [one for one in EXPECTED[name] if not one["doi"]]
    assert [(one["line"], one["column"]) for one in told] == [(one["line"], one["column"]) for one in invalid]


@pytest.mark.parametrize(("end", "encoding"), [("\r\n", "utf-8-sig"), ("\n", "utf-16"), ("\r\n", "utf-32")])
@pytest.mark.parametrize("name", EXPECTED)
def test_line_ends_and_encoding_do_not_change_what_is_found(name: str, end: str, encoding: str) -> None:
    text = text_of(name).replace("\r\n", "\n").removeprefix("\ufeff")
    one, other = (
        [{**place, "text": place["text"].split()} for place in places(name, content)]
        for content in (text.encode("utf-8-sig"), text.replace("\n", end).encode(encoding))
    )
    assert one == other


FOUND: dict[str, tuple[str, str, list[tuple[str, str | None]]]] = {
    "CSL-JSON inside another object": (
        "a.json",
        '{"items": [{"id": "a", "type": "book", "DOI": "10.1000/1", "reference": [{"DOI": "10.1000/no"}]}]}',
        [("10.1000/1", "a")],
    ),
    "DataCite's JSON": (
        "datacite.json",
        """{"data": {"doi": "10.1000/1", "types": {}, "url": "https://example.org",
        "identifiers": [{"identifier": "https://doi.org/10.1000/2", "identifierType": "DOI"}],
        "relatedIdentifiers": [{"relatedIdentifier": "10.1000/3", "relatedIdentifierType": "DOI"},
        {"relatedIdentifier": "10.1000/no", "relatedIdentifierType": "ARK"}]}}""",
        [("10.1000/1", None), ("10.1000/2", None), ("10.1000/3", None)],
    ),
    "BibJSON": (
        "a.json",
        '{"title": 1, "identifier": [{"type": "doi", "id": "10.1000/1"}, {"type": "", "id": "10.1000/no"}]}',
        [("10.1000/1", None)],
    ),
    "RO-Crate": (
        "ro-crate-metadata.json",
        """{"@graph": [{"@id": "https://doi.org/10.1000/1", "name": "10.1000/no"},
        {"identifier": {"propertyID": "doi", "value": "10.1000/2"}}]}""",
        [("10.1000/1", None), ("10.1000/2", None)],
    ),
    "JSON that describes no work": ("a.json", '{"doi": "10.1000/no", "x": {"DOI": "10.1000/no"}}', []),
    "a lock file": ("x.lock.json", '{"doiuri-lock": 2, "a": {"type": "book", "DOI": "10.1000/no"}}', []),
    "an ontology": (
        "a.owl",
        '<a rdf:resource="http://dx.doi.org/10.1000/1"/><b>doi:10.1000/2</b>',
        [("10.1000/1", None), ("10.1000/2", None)],
    ),
    "a style of CSL": (
        "a.csl",
        '<style xmlns="x"><link href="https://doi.org/10.1000/1"/></style>',
        [("10.1000/1", None)],
    ),
    "e-prints in reStructuredText": (
        "a.rst",
        ":arxiv:`2301.00001v2` and :arxiv:`T < x <arXiv:math.GT/0309136v1>`, doi:10.1000/1\n",
        [
            ("10.48550/arXiv.2301.00001", None),
            ("10.48550/arXiv.math/0309136", None),
            ("10.1000/1", None),
        ],
    ),
    "e-prints in MyST": (
        "a.md",
        "{arxiv}`2301.00001v2`, {arxiv}`none`\n\n```\n{arxiv}`2301.00002`\n```\n",
        [("10.48550/arXiv.2301.00001", None)],
    ),
    "styles in HTML": ("a.html", "<style>10.1000/no</style>", []),
    "a manual page of R": ("a.Rd", "\\doi{10.1000/1} % 10.1000/no", [("10.1000/1", None)]),
    "Sweave": ("a.Rnw", "\\doi{10.1000/1} % 10.1000/no", [("10.1000/1", None)]),
    "a package of R": ("x/DESCRIPTION", "A method <doi:10.1000/1>.", [("10.1000/1", None)]),
    **{
        f"{extension} comments and strings": (
            f"a{extension}",
            f"f('10.1000/1')\n  {mark} see 10.1000/2\n",
            [("10.1000/1", None), ("10.1000/2", None)],
        )
        for extension, mark in ((".R", "#'"), (".jl", "#"), (".rs", "///"), (".nf", "//"))
    },
    "BibTeX in HTML": (
        "a.html",
        '<pre><code class="language-bibtex">@book{a, doi = {10.1000/1}}</code></pre>',
        [("10.1000/1", "a")],
    ),
    "BibTeX without a key in HTML": (
        "a.html",
        "<pre>@Article{,\n  doi = {10.1000/1},\n}</pre>",
        [("10.1000/1", None)],
    ),
    "BibTeX in a docstring": (
        "a.py",
        '"""Cite.\n\n.. code-block:: bibtex\n\n   @book{a, doi = {10.1000/1}}\n"""\n',
        [("10.1000/1", "a")],
    ),
    "templates and broken YAML": (
        "meta.yaml",
        """{% set a = "x" %}\ndoi: "10.1000/1"\nb: {{ a }}\n- [doi:10.1000/2\n'open doi:10.1000/3\n""",
        [("10.1000/1", None), ("10.1000/2", None), ("10.1000/3", None)],
    ),
    "YAML with an escape that means nothing": (
        "a.yaml",
        'a: "10.1000/1 \\q \\ud800 \\U00110000 10.1000/2"',
        [("10.1000/1", None), ("10.1000/2", None)],
    ),
    "Crossref's keys in recorded JSON": (
        "a.yml",
        """string: '{"key":"10.1111\\/phpp.12112-BIB0071|b1","DOI":"10.1111\\/phpp.12112"}'""",
        [("10.1111/phpp.12112", None)],
    ),
    "Python: the value of a dictionary": ("a.py", "x = {\n    'a':\n    '10.1000/no',\n}\n", []),
    "Python: a string that goes on": ("a.py", "'10.1000/no' \\\n    'x'\n'10.1000/no'.strip()\n", []),
}


@pytest.mark.parametrize("case", FOUND)
def test_what_people_keep_dois_in(case: str) -> None:
    path, text, expected = FOUND[case]
    assert [(one["doi"], one["entry"]) for one in places(path, text)] == expected
