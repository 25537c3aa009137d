"""The DOIs in running text: the labelled paragraphs of tests/cases/find, and what they cannot say."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from doiuri import DOI, find
from support.adversary import PATTERNS, SYNTAXES

DATA = Path(__file__).parents[2] / "cases" / "find"


class Paragraph(NamedTuple):
    about: str
    syntax: str
    text: str
    found: list[tuple[str, str]]


def paragraphs() -> list[Paragraph]:
    """Return the corpus: ``found`` are pairs of a mention as written and the name it means, in order."""
    entries = [entry for path in sorted(DATA.glob("*.json")) for entry in json.loads(path.read_text("utf-8"))]
    return [
        Paragraph(entry["about"], entry["syntax"], entry["text"], [(m, n) for m, n in entry["found"]])
        for entry in entries
    ]


def label(paragraph: Paragraph) -> str:
    return ascii(f"{paragraph.syntax}: {paragraph.about}")


@pytest.mark.parametrize("paragraph", paragraphs(), ids=label)
def test_paragraph(paragraph: Paragraph) -> None:
    matches = list(find(paragraph.text, paragraph.syntax))
    assert [(match.text, match.doi.name) for match in matches] == paragraph.found
    for match in matches:
        assert paragraph.text[match.start : match.end] == match.text
        assert paragraph.syntax != "text" or DOI.parse(match.text) == match.doi


def test_the_corpus_is_large_and_knows_every_syntax() -> None:
    corpus = paragraphs()
    assert len(corpus) >= 200
    assert {paragraph.syntax for paragraph in corpus} == {"text", "html", "xml", "markdown", "rst", "bibtex"}
    assert sum(not paragraph.found for paragraph in corpus) >= 15  # no false alarms


def test_matches_say_where() -> None:
    (match,) = find("As doi:10.1000/182 says.")
    assert match == (3, 18, "doi:10.1000/182", DOI("10.1000/182"))
    assert (match.start, match.end, match.text, match.doi) == tuple(match)


def test_an_unknown_syntax_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match=r"unknown syntax 'latex' \(known are text, html, xml, markdown"):
        find("10.1000/182", "latex")


def test_only_text_is_searched() -> None:
    with pytest.raises(TypeError, match="expected str, not bytes"):
        find(b"10.1000/182")  # type: ignore[arg-type]


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_nothing_in_nothing(syntax: str) -> None:
    assert list(find("", syntax)) == []
    assert list(find("10.", syntax)) == []


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_where_the_mention_stands_does_not_matter(syntax: str) -> None:
    for before in ("", " ", "\n", "("):
        for after in ("", " ", "\n", ")", ".", "). "):
            matches = list(find(f"{before}10.1000/182{after}", syntax))
            assert [(match.start, match.doi.name) for match in matches] == [(len(before), "10.1000/182")]


@pytest.mark.once
@pytest.mark.parametrize("syntax", SYNTAXES)
@pytest.mark.parametrize("pattern", PATTERNS, ids=ascii)
def test_time_is_linear(pattern: str, syntax: str) -> None:
    """Eight times the text takes about eight times as long; a quadratic search would take sixty-four.

    A DOI at the end makes the search read all of it: after the last one, markup is not looked at.
    """
    short, long = ((pattern * (size // len(pattern) + 1))[:size] + " 10.1000/182" for size in (4_000, 32_000))
    assert _is_linear(short, long, syntax)


def _is_linear(short: str, long: str, syntax: str) -> bool:
    """Whether it is so in one of a few attempts: a machine may be busy, a quadratic search is always slow."""
    return any(
        _seconds(long, syntax) < 24 * min(_seconds(short, syntax), _seconds(short, syntax)) + 0.02
        for _ in range(5)
    )


def _seconds(text: str, syntax: str) -> float:
    begin = time.process_time()
    for _ in find(text, syntax):
        pass
    return time.process_time() - begin


@pytest.mark.once
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
def test_time_is_linear_in_what_is_never_closed_or_nested(syntax: str, text: Callable[[int], str]) -> None:
    assert _is_linear(text(2_500), text(20_000), syntax)
