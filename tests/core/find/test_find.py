"""find: the paragraphs of tests/cases/find, its bounds and errors, and its linear time."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import Any

import pytest
from doiuri import DOI, find
from support.adversary import PATTERNS, SYNTAXES, repeated
from support.cases import DATA
from support.growth import is_linear

PARAGRAPHS = [one for path in sorted(DATA.glob("find/*.json")) for one in json.loads(path.read_text("utf-8"))]
"""``found`` lists each mention as written with the name it stands for; with ``notation``, mentions have
escapes of a badge or of JSON, which ``DOI.parse`` does not undo."""


def names(text: str, syntax: str = "text") -> list[str]:
    return [match.doi.name for match in find(text, syntax)]


@pytest.mark.parametrize("case", PARAGRAPHS, ids=lambda case: ascii(case["about"]))
def test_each_mention_is_found_as_written(case: dict[str, Any]) -> None:
    text, syntax = case["text"], case["syntax"]
    matches = list(find(text, syntax))
    assert [[match.text, match.doi.name] for match in matches] == case["found"]
    for match in matches:
        assert text[match.start : match.end] == match.text
        assert syntax != "text" or case.get("notation") or DOI.parse(match.text) == match.doi


def test_a_match_has_start_end_text_and_doi() -> None:
    (match,) = find("As doi:10.1000/182 says.")
    assert match == (3, 18, "doi:10.1000/182", DOI("10.1000/182"))
    assert (match.start, match.end, match.text, match.doi) == tuple(match)


def test_an_unknown_syntax_raises_before_iteration() -> None:
    with pytest.raises(ValueError, match=r"unknown syntax 'latex' \(known are text, html, xml, markdown"):
        find("10.1000/182", "latex")
    with pytest.raises(TypeError, match="expected str, not bytes"):
        find(b"10.1000/182")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("syntax", "other", "text"),
    [("tex", "bibtex", r"\url{https://doi.org/10.1000/a\_b}"), ("xml", "html", "<a>10.1000/a&#95;b</a>")],
)
def test_two_names_of_a_syntax_read_the_same(syntax: str, other: str, text: str) -> None:
    assert list(find(text, syntax)) == list(find(text, other))
    assert names(text, syntax) == ["10.1000/a_b"]


@pytest.mark.parametrize(("count", "found"), [(1, ["10.12/a"]), (8, ["10.12/a"]), (9, [])])
@pytest.mark.parametrize("markup", ["<b>", ":"])
def test_a_word_is_a_label_only_nearby(markup: str, count: int, found: list[str]) -> None:
    assert names(f"doi{markup * count}10.12/a") == found


def test_an_attribute_that_says_doi_is_a_label_only_nearby() -> None:
    for length, found in ((85, ["10.12/a"]), (130, [])):
        assert names(f'<id type="doi" y="{"y" * length}">10.12/a') == found


def test_a_query_is_looked_for_500_characters_back() -> None:
    for length, inside in ((490, True), (505, False)):
        text = f"https://h/?{'x' * length}=10.1000/a%2C10.1000/b"
        assert (names(text) == ["10.1000/a", "10.1000/b"]) is inside


@pytest.mark.parametrize(
    "name",
    [
        f"10.1000/{'a:' * 999}b",
        f"10.1000/{'(a)' * 999}b",
        f"10.1000/x(1999)1<1{':1' * 999}:a>2.0.CO;2-#",
        f"10.1000{'.1' * 999}/a",
    ],
    ids=["colons", "brackets", "SICI", "prefix"],
)
def test_a_name_may_have_any_number_of_parts(name: str) -> None:
    assert names(f"see doi:{name}, and") == [name]


@pytest.mark.parametrize(
    ("syntax", "text"),
    [
        ("rst", "`{0}10.1000/a <https://doi.org/10.1000/b>`_"),
        ("rst", ".. _{0}: https://doi.org/10.1000/a?b"),
        ("markdown", "[x](<{0}https://doi.org/10.1000/a>)"),
        ("bibtex", 'doi = "10.1000/a{0}"'),
    ],
)
def test_any_number_of_escapes(syntax: str, text: str) -> None:
    few = names(text.format("\\_" * 2), syntax)
    assert few
    assert len(names(text.format("\\_" * 900), syntax)) == len(few)


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_an_empty_text_has_no_mentions(syntax: str) -> None:
    assert list(find("", syntax)) == []
    assert list(find("10.", syntax)) == []


# Names in other notations, repeated too
NOTATIONS = [
    *("shields.io/badge/10.1000/--", "$$U10.1000/a", "?a=10.1000/a%2C", "%2210.1000/a"),
    *('"10.1000\\/a(', "10.1000/{{", "<a-\n", ":doi:`10.1000/a<10.1000/a"),
    *('<pub-id pub-id-type="doi">10.1000/ ', "{~", "x ~~~ ", "  [", "[![a](b)](c) ", "`a <b>` 10 "),
    *("\n.. _a: b", "url={a},\n", "\n  url = {", "&#49", "<pub-id>", "10.5{}\n ", "``&#49;```\n\\"),
    *("| `a` | [b](c) | 10.1000/a* |\n", "[a](b) `c` 10.1000/d* ", "a `b\r\n10.1000/c* "),
    *("- a\r\n\r\n10.1000/b* `",),
]


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_time_is_linear(syntax: str) -> None:
    """Eight times the text takes about eight times as long; a quadratic search would take sixty-four."""

    def read(pattern: str, size: int) -> None:
        list(find(repeated(pattern, size), syntax))

    patterns = (*PATTERNS, *NOTATIONS)
    assert not [one for one in patterns if not is_linear(functools.partial(read, one), 1_000, 8_000)]


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
