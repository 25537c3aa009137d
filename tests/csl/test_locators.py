"""Locators as authors write them, by their tables: labels, numbers, languages (CSL 1.0.2, Locators)."""

from __future__ import annotations

from doiuri_csl import parse_locator
from support.checks import assert_same

# Terms as English writes them, and those that authors write otherwise
LOCATORS = {
    "section": ("section", False), "sec.": ("section", False), "secs.": ("section", True),
    "para.": ("paragraph", False), "c.": ("chapter", False), "chap.": ("chapter", False),
    "ch.": ("chapter", False), "chs.": ("chapter", True), "eq.": ("equation", False), "eqs.": ("equation", True),
    "§": ("section", False), "§§": ("section", True), "¶": ("paragraph", False), "¶¶": ("paragraph", True),
    "no.": ("number", False), "nos.": ("number", True), "v.": ("version", False), "vol.": ("volume", False),
    "page": ("page", False), "pages": ("page", True), "p.": ("page", False), "pp.": ("page", True),
}  # fmt: skip


def test_labels_that_authors_write_are_those_of_csl() -> None:
    for label, (name, plural) in LOCATORS.items():
        where = parse_locator(f", {label} 3, on bees")
        assert_same(f"{label!r}", [*where], [name, "3", ", on bees", plural])


def test_a_locator_has_a_digit_a_roman_numeral_or_a_capital() -> None:
    for number in [
        *"ivxlcdm",
        "A",
        "Z",
        "3",
        "a3",
        "3b",
        "1–2",
        "1-2",
        "1 & 2",
        "1, 2",
        "1، 2",
        "iv-x",
    ]:
        assert_same(f"{number!r}", parse_locator(f"p. {number} x").locator, number)
    for words in ("ab", "and", "iou"):
        assert_same(f"{words!r}", parse_locator(f"p. {words}").locator, "")
    for mark in ",;&،؛":
        assert_same(f"{mark!r} ends it", parse_locator(f"p. 3{mark}o").locator, "3")
    for before in (" ", ",", "،", "\n", ", "):
        assert_same(f"after {before!r}", parse_locator(f"{before}p. 3").locator, "3")


# Languages with the number before its term
NUMBER_FIRST = {"hu": "12. oldal", "ja": "12ページ", "ko": "12페이지", "zh-CN": "第12页"}


def test_a_number_stands_first_in_four_languages() -> None:
    for locale, text in NUMBER_FIRST.items():
        where = parse_locator(text, locale)
        assert_same(f"{text!r}", [where.label, where.locator], ["page", "12"])
    for dash in "-–～〜":
        assert_same(f"{dash!r}", parse_locator(f"12{dash}14ページ", "ja").locator, f"12{dash}14")
