"""find: the paragraphs of tests/cases/find, its errors, and its linear time."""

from __future__ import annotations

import doctest
import functools
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import doiuri._find
import pytest
from doiuri import DOI, find
from doiuri._find._plain import Mention
from doiuri._find._scan import Scanner
from support.adversary import PATTERNS, SYNTAXES, repeated
from support.growth import is_linear

DATA = Path(__file__).parents[2] / "cases" / "find"


class Paragraph(NamedTuple):
    about: str
    syntax: str
    text: str
    found: list[tuple[str, str]]
    notation: bool  # the mentions have escapes of a badge or of JSON, which DOI.parse does not undo


def paragraphs() -> list[Paragraph]:
    """Return the corpus; ``found`` lists each mention as written with the name it stands for, in order."""
    entries = [entry for path in sorted(DATA.glob("*.json")) for entry in json.loads(path.read_text("utf-8"))]
    return [
        Paragraph(
            entry["about"],
            entry["syntax"],
            entry["text"],
            [(m, n) for m, n in entry["found"]],
            entry.get("notation", False),
        )
        for entry in entries
    ]


def test_mentions_in_paragraphs() -> None:
    wrong = []
    for paragraph in paragraphs():
        matches = list(find(paragraph.text, paragraph.syntax))
        if [(match.text, match.doi.name) for match in matches] != paragraph.found:
            wrong.append((paragraph, matches))
        for match in matches:
            assert paragraph.text[match.start : match.end] == match.text
            assert paragraph.syntax != "text" or paragraph.notation or DOI.parse(match.text) == match.doi
    assert wrong == []


def test_the_corpus_covers_every_syntax_and_texts_without_dois() -> None:
    corpus = paragraphs()
    assert len(corpus) >= 200
    assert {paragraph.syntax for paragraph in corpus} == {
        "text",
        "html",
        "xml",
        "markdown",
        "rst",
        "bibtex",
        "tex",
    }
    assert sum(not paragraph.found for paragraph in corpus) >= 15  # no false alarms


def test_a_match_has_start_end_text_and_doi() -> None:
    (match,) = find("As doi:10.1000/182 says.")
    assert match == (3, 18, "doi:10.1000/182", DOI("10.1000/182"))
    assert (match.start, match.end, match.text, match.doi) == tuple(match)


def test_an_unknown_syntax_raises_before_iteration() -> None:
    with pytest.raises(ValueError, match=r"unknown syntax 'latex' \(known are text, html, xml, markdown"):
        find("10.1000/182", "latex")


def test_tex_is_read_like_bibtex() -> None:
    text = r"\url{https://doi.org/10.1000/a\_b}, \doi{10.1000/c}"
    assert list(find(text, "tex")) == list(find(text, "bibtex"))
    assert [match.doi.name for match in find(text, "tex")] == ["10.1000/a_b", "10.1000/c"]


def test_bytes_raise_a_type_error() -> None:
    with pytest.raises(TypeError, match="expected str, not bytes"):
        find(b"10.1000/182")  # type: ignore[arg-type]


def test_the_examples_in_the_documentation_run() -> None:
    results = doctest.testmod(doiuri._find)
    assert results.attempted >= 5
    assert results.failed == 0


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("urn:doi:10.123:456%2F789", [("urn:doi:10.123:456%2F789", "10.123/456/789")]),
        ("URN:DOI:10.1000:a:b.", [("URN:DOI:10.1000:a:b", "10.1000/a:b")]),
        ("https://doi.org/urn:doi:10.123:456", [("https://doi.org/urn:doi:10.123:456", "10.123/456")]),
        ("urn:doi:10.1000/a#b", [("10.1000/a#b", "10.1000/a#b")]),
        ("urn:doi:10.1000:a#b", []),  # ambiguous with the label, not a DOI without it
        ("returndoi:10.1000:a", []),
        ("nurn:doi:10.1000:a", []),
        ("doi:10.1000:a", []),
        ("10.1000:8080", []),
    ],
)
def test_a_colon_instead_of_the_slash_needs_a_urn(text: str, found: list[tuple[str, str]]) -> None:
    assert [(match.text, match.doi.name) for match in find(text)] == found


@pytest.mark.parametrize("text", ["doi:10.1000/%FF", "https://doi.org/10.1000/a%00b", "10.1000/%E2%80%8Bx"])
def test_escapes_that_no_name_may_hold_make_no_mention(text: str) -> None:
    assert list(find(text)) == []


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_an_empty_text_has_no_mentions(syntax: str) -> None:
    assert list(find("", syntax)) == []
    assert list(find("10.", syntax)) == []


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_what_surrounds_a_mention_is_not_part_of_it(syntax: str) -> None:
    for before in ("", " ", "\n", "("):
        for after in ("", " ", "\n", ")", ".", "). "):
            matches = list(find(f"{before}10.1000/182{after}", syntax))
            assert [(match.start, match.doi.name) for match in matches] == [(len(before), "10.1000/182")]


# Names in other notations, repeated too
NOTATIONS = [
    "shields.io/badge/10.1000/--",
    "$$U10.1000/a",
    "?a=10.1000/a%2C",
    "%2210.1000/a",
    '"10.1000\\/a(',
    "10.1000/{{",
    "<a-\n",
    ":doi:`10.1000/a<10.1000/a",
    '<pub-id pub-id-type="doi">10.1000/ ',
    "{~",
    "x ~~~ ",
    "  [",
    "[![a](b)](c) ",
    "`a <b>` 10 ",
    "\n.. _a: b",
    "url={a},\n",
    "\n  url = {",
    "&#49",
    "<pub-id>",
    "10.5{}\n ",
]


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_time_is_linear(syntax: str) -> None:
    """Eight times the text takes about eight times as long; a quadratic search would take sixty-four."""

    def read(pattern: str, size: int) -> None:
        list(find(repeated(pattern, size), syntax))

    slow = [
        pattern
        for pattern in (*PATTERNS, *NOTATIONS)
        if not is_linear(functools.partial(read, pattern), 4_000, 32_000)
    ]
    assert slow == []


@pytest.mark.parametrize(
    ("syntax", "text"),
    [
        ("html", lambda n: "<a " + "a" * 10 * n + " 10.1000/x>"),
        ("markdown", lambda n: "<a " + "a" * 10 * n + " 10.1000/x>"),
        ("bibtex", lambda n: "doi={" * n + "10.1000/x" + "}" * n),
        ("bibtex", lambda n: "\\url{" * n + "10.1000/x" + "}" * n),
    ],
    ids=["name of an attribute", "the same in Markdown", "fields in fields", "commands in commands"],
)
def test_time_is_linear_for_unclosed_tags_and_nested_values(syntax: str, text: Callable[[int], str]) -> None:
    assert is_linear(lambda size: list(find(text(size), syntax)), 2_500, 20_000)


@pytest.mark.parametrize(
    ("syntax", "markup"),
    [
        ("html", '<p class="a">a&nbsp;b <a href="/v10.2/c">10.5</a> &lt; <br> <!-- c --></p>\n'),
        (
            "markdown",
            "[a](b/c) *d* `e` ``f`g`` \\_ &amp; <https://example.org/10> <em>10.5</em>\n- [a]\n```\nb\n```\n",
        ),
        ("rst", "`a <b>`_ :c:`d` ``e = 10.5`` f_ \\_ __init__\n.. _g: https://example.org/v10.2/\n"),
        (
            "bibtex",
            "  title = {{A} \\emph{b} $c$ 10\\% {\\'e}},\n  volume = {10},\n  url = {https://example.org/10},\n",
        ),
    ],
)
def test_markup_without_names_is_not_read_token_by_token(
    syntax: str, markup: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []

    def counting(scanner: Scanner, begin: int, candidate: int) -> tuple[list[Iterable[Mention]], int]:
        read.append(begin)
        return original(scanner, begin, candidate)

    original = Scanner._read
    monkeypatch.setattr(Scanner, "_read", counting)
    assert [match.doi.name for match in find(markup * 50 + " 10.1000/182", syntax)] == ["10.1000/182"]
    assert len(read) <= 3
