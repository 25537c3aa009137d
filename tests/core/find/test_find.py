"""find: the paragraphs of tests/cases/find, its bounds and errors, what holds for any text, linear time."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain, cycle, product
from typing import Any

import pytest
from doiuri import DOI, Match, find

# Private: the shortcuts are switched off, which no caller can do
from doiuri._find import _leads, _plain
from doiuri._names import PLAIN_REST
from hypothesis import example, given
from hypothesis import strategies as st
from support.adversary import PATTERNS, SYNTAXES, repeated
from support.cases import DATA
from support.growth import is_linear

FILES = [json.loads(path.read_text("utf-8")) for path in sorted(DATA.glob("find/*.json"))]
PARAGRAPHS = [*chain(*FILES)]
"""``found`` lists each mention as written with the name it stands for; with ``notation``, mentions have
escapes of a badge or of JSON, which ``DOI.parse`` does not undo."""


ALIASES = {"html": "xml", "xml": "html", "bibtex": "tex", "tex": "bibtex"}


def names(text: str, syntax: str = "text") -> list[str]:
    return [match.doi.name for match in find(text, syntax)]


def read_without_label(match: Match) -> DOI:
    """Return the DOI of a mention without its label; in a URN, a colon may stand for the first slash."""
    written = match.text.removeprefix(match.label)
    if match.label.lower().endswith("urn:doi:"):
        written = re.sub(r"\A(10\.[0-9.]+):", r"\1/", written)
    return DOI.parse(written)


@pytest.mark.parametrize("syntax", sorted({case["syntax"] for case in PARAGRAPHS}))
def test_each_mention_is_found_as_written(syntax: str) -> None:
    wrong = []
    for case in PARAGRAPHS:
        if case["syntax"] == syntax:
            wrong += [f"{case['about']}: {flaw}" for flaw in flaws(case)]
    assert not wrong, "\n".join(wrong)


def flaws(case: dict[str, Any]) -> Iterator[str]:
    """Yield what is wrong with what is found in a paragraph."""
    text, syntax = case["text"], case["syntax"]
    matches = list(find(text, syntax))
    if [[match.text, match.doi.name] for match in matches] != case["found"]:
        yield f"{matches}, expected {case['found']}"
    if [*find(text, ALIASES.get(syntax, syntax))] != matches:
        yield f"{ALIASES[syntax]} finds other mentions than {matches}"
    for match in matches:
        if text[match.start : match.end] != match.text or not match.text.startswith(match.label):
            yield f"{match} is not in {text!r} where it says"
        if syntax == "text" and not case.get("notation"):
            read = read_without_label(match)
            if read != match.doi:
                yield f"{match} is {read} without its label"


@pytest.mark.parametrize(
    ("syntax", "text", "label"),
    [
        ("text", "10.1000/182", ""),
        ("text", "doi:10.1000/182", "doi:"),
        ("text", "doi:10.1000/a#b", "doi:"),
        ("text", "doi:10.1000/a?b", "doi:"),
        ("text", "DOI 10.1000/182", "DOI "),
        ("text", "info:doi/10.1000/182", "info:doi/"),
        ("text", "urn:doi:10.1000:182", "urn:doi:"),
        ("text", "doi.org/10.1000/182", "doi.org/"),
        ("text", "HTTPS://DX.DOI.ORG:443/doi:10.1000/182", "HTTPS://DX.DOI.ORG:443/doi:"),
        ("text", "https://example.org/10.1000/182", ""),
        ("html", "doi&#58;10.1000/a&lt;b", "doi&#58;"),
        ("html", '<a href="https://doi.org/10.1000/182">', "https://doi.org/"),
        ("html", '<pub-id pub-id-type="doi">10.1000/18 2</pub-id>', ""),
        ("markdown", "[a](https://doi.org/10.1000/a\\_b)", "https://doi.org/"),
        ("markdown", "doi\\:10.1000/182", "doi\\:"),
        ("rst", ":doi:`10.1000/182`", ""),
        ("rst", ".. _a: https://doi.org/\n   10.1000/182", "https://doi.org/\n   "),
        ("bibtex", "doi = {doi:{10.1000}/182}", "doi:{"),
    ],
)
def test_the_label_is_what_stands_before_the_name(syntax: str, text: str, label: str) -> None:
    assert [match.label for match in find(text, syntax)] == [label]


@pytest.mark.parametrize("link", ["", "doi:", "https://doi.org/"])
@pytest.mark.parametrize(
    ("syntax", "context"),
    [
        ("html", '<a href="{}">'),
        ("markdown", "[a]({})"),
        ("rst", "`a <{}>`_"),
        ("bibtex", "doi = {{{}}}"),
    ],
)
def test_the_label_is_known_of_a_name_that_is_taken_at_once(
    syntax: str, context: str, link: str
) -> None:
    [match] = find(context.format(f"{link}10.1000/182"), syntax)
    assert (match.label, match.text) == (link, f"{link}10.1000/182")


IN_NAME = ("a", "7", ".", "_", "/", "._")  # before a milestone of TEI, they continue a name
NOT_IN_NAME = (",", ";", ")", ":")


@pytest.mark.parametrize("before", [*IN_NAME, *NOT_IN_NAME])
@pytest.mark.parametrize("milestone", ["<lb/>", '<pb n="2"/>', "<cb />"])
def test_a_name_goes_on_after_a_milestone_unless_punctuation_stands_before_it(
    before: str, milestone: str
) -> None:
    found = names(f"<ref>10.1000/x{before}{milestone}cd12</ref>", "xml")

    expected = f"10.1000/x{before}cd12" if before in IN_NAME else "10.1000/x"
    assert found == [expected], f"{before!r} before {milestone}: {found}, expected {expected}"


# HTML, RDFa, XLink, RDF/XML and microdata
URL_ATTRIBUTES = (
    "href src cite action about resource itemid xlink:href rdf:about rdf:resource".split()  # noqa: SIM905
)


@pytest.mark.parametrize("attribute", [*URL_ATTRIBUTES, "title", "alt", "data-x", "data-href"])
def test_a_url_is_read_as_a_whole_and_any_other_attribute_as_text(attribute: str) -> None:
    """Readers of a URL drop the line ends in it, and a blank is a part of it."""
    value = "https://doi.org/10.1000/a\nb c"
    for written in (attribute, attribute.upper()):
        found = names(f'<x {written}="{value}">', "html")

        expected = "10.1000/ab c" if attribute in URL_ATTRIBUTES else "10.1000/a"
        assert found[:1] == [expected], f"{written}: {found}, expected {expected}"


def test_an_unknown_syntax_raises_before_iteration() -> None:
    with pytest.raises(
        ValueError, match=r"unknown syntax 'latex' \(known are text, html, xml, markdown"
    ):
        find("10.1000/182", "latex")
    with pytest.raises(TypeError, match="expected str, not bytes"):
        find(b"10.1000/182")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "unit", "near", "far", "found"),
    [
        *(("doi{}10.12/a", unit, 8, 9, ["10.12/a"]) for unit in ("<b>", ":")),
        ('<id type="doi" y="{}">10.12/a', "y", 85, 130, ["10.12/a"]),
        ("https://h/?{}=10.1000/a%2C10.1000/b", "x", 490, 505, ["10.1000/a", "10.1000/b"]),
    ],
)
def test_a_label_or_a_query_is_looked_for_nearby(
    text: str, unit: str, near: int, far: int, found: list[str]
) -> None:
    assert names(text.format(unit * near)) == found != names(text.format(unit * far))


@pytest.mark.parametrize(
    ("syntax", "text", "unit"),
    [
        *(("text", "see doi:10.1000/{}b, and", unit) for unit in ("a:", "(a)")),
        *(("text", "doi:10.1000/x(1999)1<1{}:a>2.0.CO;2-#", ":1"), ("text", "10.1000{}/a", ".1")),
        ("rst", "`{}10.1000/a <https://doi.org/10.1000/b>`_", "\\_"),
        ("rst", ".. _{}: https://doi.org/10.1000/a?b", "\\_"),
        ("markdown", "[x](<{}https://doi.org/10.1000/a>)", "\\_"),
        ("bibtex", 'doi = "10.1000/a{}b"', "\\_"),
    ],
)
def test_a_text_may_have_any_number_of_parts_and_escapes(syntax: str, text: str, unit: str) -> None:
    few, many = (names(text.format(unit * count), syntax) for count in (2, 999))
    shown = unit.strip("\\")
    assert few
    assert many == [name.replace(shown * 2, shown * 999) for name in few]


_PIECES = (
    *PATTERNS,
    *("10.1000/182", "10.1002/(SICI)1<2::AID>3.0.CO;2-S", "10.12/x", "urn:doi:10.123:456", "doi: "),
    *(
        "DOI:\u00a0",
        "https://doi.org/",
        "http://dx.doi.org/api/handles/",
        "https://example.org/doi/",
    ),
    *(
        "?x=",
        "/abstract",
        ".pdf",
        " ",
        "\n",
        ", ",
        ". ",
        *"()[]<>{}\"'#?/é",
        "%C3%A9",
        ":doi:`",
        "`_",
    ),
    *("<wbr>", "&shy;", '<a href="', "doi = {", "\\url{", "](", "\\textless{}", "{\\'A}", "\x00"),
)
texts = st.lists(st.sampled_from(_PIECES) | st.text(max_size=3), max_size=12).map("".join)


@given(texts, st.sampled_from(SYNTAXES))
def test_matches_are_in_order_and_do_not_overlap(text: str, syntax: str) -> None:
    matches = list(find(text, syntax))
    places = [*chain(*((match.start, match.end) for match in matches))]
    assert places == sorted(places)
    assert [match.text for match in matches] == [text[match.start : match.end] for match in matches]
    assert all(match.text.startswith(match.label) for match in matches)
    if syntax == "text":
        assert [read_without_label(match).name for match in matches] == [
            match.doi.name for match in matches
        ]


# What may stand around a name in its delimiters
_CONTEXTS = (
    *("{}", "a {} b", "\\{}\\_", "10.1000/x{}", "{}b", "{}{}", "*{}*_", "({}).", "<!-- {} -->"),
    *(
        "a `b {} c` d",
        "a ``b {} c`` d",
        "```\n{}\n```\n",
        "[a {} b](c)",
        "[a](b 'c {} d')",
        "<b c='d {} e'>",
    ),
    *(":a:`b {} c`", "`a <b> {}`_", ".. a:: {}\n\n", ".. _a: b\n{}", "<script>{}</script>"),
    *("doi = { {} }", "\\emph{a {}}", '"a {}"'),
)


_DELIMITED = (
    *(" <{}>", "\n<{}>", "<{}>", " `{}`", ":`{}`", "(`{}`", "\n`{}`", "]({})", " ({})"),
    *(
        "= {{{}}}",
        "={{{}}}",
        "\\url{{{}}}",
        "\\doi{{{}}}",
        '= "{}"',
        '="{}"',
        " '{}'",
        "='{}'",
        ">{}<",
    ),
)


_PLAIN = ("10.1000/a.b(1)c", "10.1000/a_b-", "10.1002/(SICI)1:2<3::AID-4>3.0.CO;2-S", "10.1000/é")


@contextmanager
def closer_look() -> Iterator[None]:
    """Let ``find`` take no name, label or link at once."""
    candidate = _plain._CANDIDATE.pattern.replace(PLAIN_REST, "(?!)")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_plain, "_CANDIDATE", re.compile(candidate, _plain._CANDIDATE.flags))
        patch.setattr(_plain, "delimited", lambda *_: None)
        patch.setattr(_plain, "frequent_lead", lambda *_: None)
        patch.setattr(_leads, "frequent_lead", lambda *_: None)
        yield


@given(texts, st.sampled_from(SYNTAXES))
@example("10.1101/1v1/", "text")
@example("10.1145/1520000/1.pdf and 10.1000/1.5e-3 and 10.1000/a?b", "text")
def test_a_closer_look_finds_the_same(text: str, syntax: str) -> None:
    found = list(find(text, syntax))
    with closer_look():
        assert list(find(text, syntax)) == found


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_a_closer_look_finds_the_same_between_delimiters(syntax: str) -> None:
    places = [
        context.replace("{}", delimiters.format("{}"))
        for context, delimiters in product(_CONTEXTS, _DELIMITED)
        if not _nests_quotes(context, delimiters)
    ]
    # Each place with each link; the names take turns
    names = cycle(_PLAIN)
    texts = [
        place.replace("{}", f"{link}{next(names)}")
        for place, link in product(places, ("", "doi:", "https://doi.org/"))
    ]

    found = [list(find(text, syntax)) for text in texts]
    with closer_look():
        found_closer = [list(find(text, syntax)) for text in texts]

    wrong = [
        text
        for text, usual, closer in zip(texts, found, found_closer, strict=True)
        if usual != closer
    ]
    assert not wrong, "\n".join(wrong)


def _nests_quotes(context: str, delimiters: str) -> bool:
    """Return whether a quotation mark stands in its like, which ends the value of an attribute."""
    return any(mark in context and mark in delimiters for mark in "\"'")


@pytest.mark.parametrize("syntax", SYNTAXES)
@pytest.mark.parametrize(
    "digits", ["9" * 5000, "0" * 5000 + "65"], ids=["too large", "leading zeros"]
)
def test_a_character_reference_of_thousands_of_digits_is_no_error(syntax: str, digits: str) -> None:
    reference = f"&#{digits};"
    text = f'<a href="https://doi.org/10.1000/a{reference}">x</a> {reference} doi:10.1000/182 <{reference}>'
    assert DOI("10.1000/182") in [match.doi for match in find(text, syntax)]


# Names in other notations, repeated too
NOTATIONS = [
    *("shields.io/badge/10.1000/--", "$$U10.1000/a", "?a=10.1000/a%2C", "%2210.1000/a"),
    *('"10.1000\\/a(', "10.1000/{{", "<a-\n", ":doi:`10.1000/a<10.1000/a"),
    *('<pub-id pub-id-type="doi">10.1000/ ', "{~", "x ~~~ ", "  [", "[![a](b)](c) ", "`a <b>` 10 "),
    *("\n.. _a: b", "url={a},\n", "\n  url = {", "&#49", "<pub-id>", "10.5{}\n ", "``&#49;```\n\\"),
    *("| `a` | [b](c) | 10.1000/a* |\n", "[a](b) `c` 10.1000/d* ", "a `b\r\n10.1000/c* "),
    *(
        "- a\r\n\r\n10.1000/b* `",
        "10.1000/a... [",
        '<a b="10.1000/ab">10.1000/a...',
        "10.1000/a...](",
        "{10.1000/a…{",
    ),
]


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_time_is_linear(syntax: str) -> None:
    """Eight times the text takes about eight times as long; a quadratic search would take sixty-four.

    In shorter texts, what is looked at for a bounded number of characters seems to grow faster.
    """

    def read(pattern: str, size: int) -> None:
        list(find(repeated(pattern, size), syntax))

    for pattern in (*PATTERNS, *NOTATIONS):
        is_fine = is_linear(functools.partial(read, pattern), 1_000, 8_000)
        assert is_fine, f"the time grows faster than the text: {pattern!r} in {syntax}"


@pytest.mark.parametrize(
    ("syntax", "text"),
    [
        ("html", lambda n: "<a " + "a" * 10 * n + " 10.1000/x>"),
        ("markdown", lambda n: "<a " + "a" * 10 * n + " 10.1000/x>"),
        ("bibtex", lambda n: "doi={" * n + "10.1000/x" + "}" * n),
        ("bibtex", lambda n: "\\url{" * n + "10.1000/x" + "}" * n),
    ],
    ids=[
        "name of an attribute",
        "the same in Markdown",
        "fields in fields",
        "commands in commands",
    ],
)
def test_time_is_linear_for_unclosed_tags_and_nested_values(
    syntax: str, text: Callable[[int], str]
) -> None:
    assert is_linear(lambda size: list(find(text(size), syntax)), 2_500, 20_000)
