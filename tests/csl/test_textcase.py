"""Title case, over generated titles (CSL 1.0.2, Title Case Conversion)."""

from __future__ import annotations

import re
from itertools import product

import pytest
from csl.styles import processor_of, style_of
from doiuri_csl import Cite, to_html, to_text
from hypothesis import given
from hypothesis import strategies as st
from support.checks import assert_same

TITLE_CASE = style_of('<text variable="title" text-case="title"/>')

WORDS = st.sampled_from(
    ["of", "The", "A", "De", "d", "bees", "pH", "iPad", "in", "NATO", "élan", "3d"]
)
LINKS = st.sampled_from([" ", "-", ": ", ". ", ", ", "—", "/"])
TITLES = st.lists(st.tuples(WORDS, LINKS), min_size=1, max_size=8)


def _in_title_case(title: str, *, as_html: bool = False) -> str:
    processor = processor_of(TITLE_CASE, [{"id": "1", "title": title}], [[Cite("1")]])
    runs = processor.citation(0)
    return to_html(runs) if as_html else to_text(runs)


def _join(parts: list[tuple[str, str]]) -> str:
    """Return words with their links; the last word has none."""
    *head, (last, _) = parts
    return "".join(word + link for word, link in head) + last


@given(TITLES)
def test_only_the_first_letter_of_words_without_a_capital_changes(
    parts: list[tuple[str, str]],
) -> None:
    title = _join(parts)

    shown = _in_title_case(title)

    words = re.findall(r"\w+", title)
    for word, changed in zip(words, re.findall(r"\w+", shown), strict=True):
        may_change = word == word.lower()
        allowed = {word, word[:1].upper() + word[1:]} if may_change else {word}
        assert changed in allowed, f"{title!r} became {shown!r}: {word!r} has a capital already"


@given(TITLES)
def test_a_title_in_title_case_stays_as_it_is(parts: list[tuple[str, str]]) -> None:
    once = _in_title_case(_join(parts))

    assert _in_title_case(once) == once, f"another title case changes {once!r}"


BEGINS_SENTENCE = (": ", "? ", "! ", "?” ", "! “")
CONTINUES = (" ", ", ", "; ", ". ", " – ", " (", " “")


@pytest.mark.parametrize("link", [*BEGINS_SENTENCE, *CONTINUES])
def test_a_stop_word_has_a_capital_only_at_the_start_of_a_sentence(link: str) -> None:
    """CSL 1.0.2, Title Case Conversion: the first word after a colon; so do "?" and "!" end a sentence."""
    shown = _in_title_case(f"Help{link}the bees")

    word = "The" if link in BEGINS_SENTENCE else "the"
    assert shown == f"Help{link}{word} Bees", f"after {link!r}: {shown!r}"


@given(TITLES, st.integers(0, 7))
def test_italics_around_a_word_change_no_case(parts: list[tuple[str, str]], index: int) -> None:
    marked = list(parts)
    word, link = marked[index % len(parts)]
    marked[index % len(parts)] = (f"<i>{word}</i>", link)

    with_italics = _in_title_case(_join(marked), as_html=True)

    without = re.sub("</?i>", "", with_italics)
    assert without == _in_title_case(_join(parts)), f"italics change {_join(marked)!r}"


# stop-words.json, to which CSL 1.0.2, Title Case Conversion, refers, and "about"; no single letters or phrases
STOP_WORDS = """
    about across afore after against along alongside amid amidst among amongst an and anenst
    apropos apud around as aside astride at athwart atop barring before behind below beneath beside
    besides between beyond but by ca circa de despite down during et except for forenenst from
    given in inside into lest like modulo near next nor notwithstanding of off on onto or out over
    per plus pro qua sans since so than the through throughout thru thruout till to toward towards
    under underneath until unto up upon van versus via von vs with within without yet
""".split()  # noqa: SIM905
# CSL 1.0.1
SHORT_STOP_WORDS = """
    an and as at but by down for from in into nor of on onto or over so the till to up via with yet
""".split()  # noqa: SIM905


def test_stop_words_are_small_inside_a_title() -> None:
    for word in STOP_WORDS:
        expected = f"Bees {word} Ants"
        assert_same(f"{word!r} is a stop word", _in_title_case(expected.lower()), expected)


def test_only_short_stop_words_are_small_at_the_start_of_a_compound() -> None:
    for word, hyphen in product(STOP_WORDS, "-‐"):
        first = word if word in SHORT_STOP_WORDS else word.capitalize()
        expected = f"Some {first}{hyphen}Ants"
        assert_same(f"{word!r} before {hyphen!a}", _in_title_case(expected.lower()), expected)


@pytest.mark.parametrize("mark", ":?!")
@pytest.mark.parametrize("between", " \u00a0\u202f\n\t'‘’\"“”„«»")
def test_a_sentence_may_begin_after_a_space_or_a_quotation_mark(mark: str, between: str) -> None:
    title = f"Bees{mark}{between}{'' if between.isspace() else ' '}the ants"

    assert "The Ants" in _in_title_case(title), f"in {title!r}"


@pytest.mark.parametrize("between", " -‐–—/\u00a0\u202f")
def test_words_are_divided_by_spaces_dashes_and_slashes(between: str) -> None:
    assert_same(f"{between!a}", _in_title_case(f"bees{between}ants"), f"Bees{between}Ants")
