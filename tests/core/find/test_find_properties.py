"""Properties of find that hold for every text."""

from __future__ import annotations

import html

import pytest
from doiuri import DOI, find
from doiuri.testing.strategies import dois
from hypothesis import assume, given
from hypothesis import strategies as st
from support.adversary import PATTERNS, SYNTAXES

_PIECES = (
    *PATTERNS,
    *("10.1000/182", "10.1002/(SICI)1<2::AID>3.0.CO;2-S", "10.12/x", "urn:doi:10.123:456", "doi: "),
    *("DOI:\u00a0", "https://doi.org/", "http://dx.doi.org/api/handles/", "https://example.org/doi/"),
    *("?x=", "/abstract", ".pdf", " ", "\n", ", ", ". ", *"()[]<>{}\"'#?/é", "%C3%A9", ":doi:`", "`_"),
    *("<wbr>", "&shy;", '<a href="', "doi = {", "\\url{", "](", "\\textless{}", "{\\'A}", "\x00"),
)
texts = st.lists(st.sampled_from(_PIECES) | st.text(max_size=3), max_size=12).map("".join)
syntaxes = st.sampled_from(SYNTAXES)


@given(texts, syntaxes)
def test_matches_are_in_order_and_do_not_overlap(text: str, syntax: str) -> None:
    last = 0
    for match in find(text, syntax):
        assert last <= match.start < match.end
        assert text[match.start : match.end] == match.text
        assert isinstance(match.doi, DOI)
        last = match.end


@given(texts)
def test_in_plain_text_a_mention_parses_to_its_doi(text: str) -> None:
    for match in find(text):
        assert DOI.parse(match.text).name == match.doi.name


@given(dois())
def test_the_whole_link_of_an_attribute_is_the_mention(doi: DOI) -> None:
    """Between delimiters nothing is trimmed, neither punctuation nor unmatched brackets."""
    (match,) = find(f'<a href="{html.escape(doi.url)}">x</a>', "html")
    assert match.doi.name == doi.name
    assert html.unescape(match.text) == doi.url


# What may stand around a name in its delimiters
_CONTEXTS = (
    *("{}", "a {} b", "\\{}\\_", "10.1000/x{}", "{}b", "{}{}", "*{}*_", "({}).", "<!-- {} -->"),
    *("a `b {} c` d", "a ``b {} c`` d", "```\n{}\n```\n", "[a {} b](c)", "[a](b 'c {} d')", "<b c='d {} e'>"),
    *(":a:`b {} c`", "`a <b> {}`_", ".. a:: {}\n\n", ".. _a: b\n{}", "<script>{}</script>"),
    *("doi = { {} }", "\\emph{a {}}", '"a {}"'),
)


_DELIMITED = (
    *(" <{}>", "\n<{}>", "<{}>", " `{}`", ":`{}`", "(`{}`", "\n`{}`", "]({})", " ({})"),
    *("= {{{}}}", "={{{}}}", "\\url{{{}}}", "\\doi{{{}}}", '= "{}"', '="{}"', " '{}'", "='{}'", ">{}<"),
)


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_a_letter_beyond_ascii_changes_no_end_of_a_name(syntax: str) -> None:
    """Plain names between delimiters are taken at once, others are not, and both end at the same place."""
    wrong = []
    for context in _CONTEXTS:
        for delimiters in _DELIMITED:
            for link in ("", "doi:", "https://doi.org/"):
                mention = delimiters.format(f"{link}10.1000/a.b(1)c")
                text = context.replace("{}", mention)
                plain = [(match.text, match.doi.name) for match in find(text, syntax)]
                others = find(text.replace("a.b(1)c", "a.é(1)c"), syntax)
                if plain != [tuple(t.replace("é", "b") for t in (o.text, o.doi.name)) for o in others]:
                    wrong.append(text)
    assert not wrong, "\n".join(wrong)


@given(texts, texts, st.sampled_from(["\n\n", "\r\n\r\n", "\n \n"]))
def test_a_paragraph_of_markdown_reads_the_same_after_another(one: str, other: str, blank: str) -> None:
    assume("```" not in one and "~~~" not in one and not one.rstrip().endswith(("](", ":")))
    shift = len(one + blank)
    found = [(match.start - shift, match.text) for match in find(one + blank + other, "markdown")]
    alone = [(match.start, match.text) for match in find(other, "markdown")]
    assert [(start, text) for start, text in found if start >= 0] == alone


@given(texts, st.integers(0, 3))
def test_blank_lines_around_the_text_change_nothing(text: str, lines: int) -> None:
    inner = [match.text for match in find(text)]
    assert [match.text for match in find("\n" * lines + text + "\n" * lines)] == inner


@pytest.mark.parametrize("syntax", SYNTAXES)
@pytest.mark.parametrize("digits", ["9" * 5000, "0" * 5000 + "65"], ids=["too large", "leading zeros"])
def test_a_character_reference_of_thousands_of_digits_is_no_error(syntax: str, digits: str) -> None:
    reference = f"&#{digits};"
    text = f'<a href="https://doi.org/10.1000/a{reference}">x</a> {reference} doi:10.1000/182 <{reference}>'
    assert DOI("10.1000/182") in [match.doi for match in find(text, syntax)]
