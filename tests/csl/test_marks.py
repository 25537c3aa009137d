"""Marks where texts meet: punctuation, quotation marks, raised characters, the words of an author."""

from __future__ import annotations

import re
from itertools import product

import pytest
from csl.styles import processor_of, style_of
from doiuri_csl import Cite, to_html, to_text
from support.checks import assert_same

TITLE = '<text variable="title"/>'


def _shown(title: str, layout: str = TITLE) -> str:
    items = [{"id": "x", "title": title}]
    return to_html(processor_of(style_of(layout), items, [[Cite("x")]]).citation(0))


# What two marks become, as citeproc-js merges them: the rows begin with the first one
MERGED = """
    .  | .   .:  .;  .,  .?  .!
    :  | :   :   :;  :,  ?   !
    ;  | ;   ;   ;   ;,  ?   !
    ,  | ,.  ,:  ,;  ,   ,?  ,!
    ?  | ?   ?   ?;  ?,  ?   ?!
    !  | !   !   !;  !,  !?  !
"""


def test_two_marks_merge_as_in_citeproc_js() -> None:
    for row in MERGED.strip().splitlines():
        first, _, *results = row.split()
        for second, merged in zip(".:;,?!", results, strict=True):
            text = _shown(f"Bees{first}", f'<text variable="title" suffix="{second}"/>')

            assert_same(f"{first} before {second}", text, f"Bees{merged}")


# Before a straight mark that opens a quotation
BEFORE_QUOTATIONS = " \u00a0\u202f\t([{-–—/“‘«"


def test_a_straight_mark_opens_a_quotation_after_a_space_a_bracket_or_a_dash() -> None:
    for before, mark in product(BEFORE_QUOTATIONS, "'\""):
        title = f"On{before}{mark}Bees{mark} x"
        assert_same(f"{title!a}", _shown(title), f"On{before}“Bees” x")
    assert_same("two kinds", _shown("On \"'Bees' x\""), "On “‘Bees’ x”")
    assert_same("two kinds", _shown("On '\"Bees\" x'"), "On “‘Bees’ x”")


# Those that Unicode does not decompose
RAISED = {"ˀ": "ʔ", "ˁ": "ʕ", "ۥ": "و", "ۦ": "ي"}


def test_superscript_characters_without_a_decomposition_are_raised() -> None:
    for character, letter in RAISED.items():
        assert_same(f"{character!a}", _shown(f"x{character}"), f"x<sup>{letter}</sup>")


# Beside the text of a cite, "Bees"
PREFIXES = ["see ", "(", "[", "a-", "a–", "a—", "a/", "‘", "“", "l’", "l'", '"', '("', '["', 'a "']
SUFFIXES = [".", ",", ";", ":", "!", "?", ")", "]", "’", "”", "\u00a0x", " x"]


def test_no_space_is_added_inside_of_brackets_quotation_marks_and_before_punctuation() -> None:
    for prefix in PREFIXES:
        cites = [[Cite("x", prefix=prefix)]]
        text = to_text(
            processor_of(style_of(TITLE), [{"id": "x", "title": "Bees"}], cites).citation(0)
        )
        assert text == f"{prefix}Bees".replace("'", "’"), f"the prefix {prefix!r}: {text!r}"
    for suffix in SUFFIXES:
        cites = [[Cite("x", suffix=suffix)]]
        text = to_text(
            processor_of(style_of(TITLE), [{"id": "x", "title": "Bees"}], cites).citation(0)
        )
        assert text == f"Bees{suffix}", f"the suffix {suffix!a}: {text!a}"


@pytest.mark.parametrize("mark", ",.;:")
def test_a_mark_of_the_author_stands_in_place_of_the_delimiter(mark: str) -> None:
    items = [{"id": name, "title": name} for name in "xy"]
    xml = style_of(TITLE).replace("<layout>", '<layout delimiter="|">')

    text = to_text(
        processor_of(xml, items, [[Cite("x"), Cite("y", prefix=f"{mark} see ")]]).citation(0)
    )

    assert_same(f"before {mark!r}", text, f"x{mark} see y")
    if mark != ".":  # that of an abbreviation
        cites = [Cite("x", suffix=f"{mark}"), Cite("y")]
        text = to_text(processor_of(xml, items, [cites]).citation(0))
        assert_same(f"after {mark!r}", text, f"x{mark} y")


# Attributes of CSL 1.0.2, Formatting, with the values that set a text off, and the one that does not
FORMATS = {
    "font-style": (["italic", "oblique"], "normal"),
    "font-variant": (["small-caps"], "normal"),
    "font-weight": (["bold", "light"], "normal"),
    "text-decoration": (["underline"], "none"),
    "vertical-align": (["sup", "sub"], "baseline"),
}


def test_a_comma_moves_into_no_quotation_inside_of_a_title_in_a_format() -> None:
    """As in citeproc-js and pandoc: *On “Bees”*, but On “Bees,”."""
    for name, (values, default) in FORMATS.items():
        for value in (*values, default):
            layout = f'<text variable="title" {name}="{value}" suffix=", x"/>'
            text = re.sub("<[^<>]*>", "", _shown("On “Bees”", layout))

            expected = "On “Bees,” x" if value == default else "On “Bees”, x"
            assert_same(f'{name}="{value}"', text, expected)
