"""Numbers: what is numeric, ordinals, roman numerals and ranges of pages."""

from __future__ import annotations

import re
from typing import NamedTuple

from doiuri_csl._locale import Term, Terms
from doiuri_csl.data._items import LOCATORS

# CSL 1.0.2, Choose, "is-numeric": numbers with letters before and after, and "," "&" "-" between them
_NUMBER = re.compile(r"[a-zA-Z]*[0-9]+[a-zA-Z]*")
_SEPARATOR = re.compile(r"([,&–-])")
_SEVERAL = re.compile(r"[,;&–] | (?<! \\ ) - | \b (?: and | et | und ) \b", re.VERBOSE)

# What may stand between two numbers, with the spaces around it
_BETWEEN_NUMBERS = re.compile(
    r"( \s* (?: --? | [–,;&] ) \s* | \s+ (?: and | et | und ) \s+ )", re.VERBOSE
)
_ROMAN_NUMBER = re.compile(r"[ivxlcdm]+", re.IGNORECASE)

# A number with its own label, as in "p. 3"
_LABELLED = re.compile(r"(?P<label>[^\W\d_]+\.?)\s+(?P<numbers>\d.*)")
_MOST_DIGITS = 15
_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"),
    (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_LONGEST_RANGE = 100
_PAGE_RANGE = re.compile(
    r"""
    ( (?: .* \D )? ) ( \d+ )    # what stands before the first page, such as "e"
    \s* (?: --? | – ) \s*      # "--" as in TeX, but no "—", which an author chose
    ( (?: .* \D )? ) ( \d+ )
    """,
    re.VERBOSE,
)
# "xi-12", "12a-15b"; but not "12a-b", which may be one page
_MIXED_RANGE = re.compile(
    r"( [ivxlcdm]+ | \d+[a-z]* ) \s* (?: --? | – ) \s* ( [ivxlcdm]+ | \d+[a-z]* )",
    re.IGNORECASE | re.VERBOSE,
)


def is_numeric(value: str) -> bool:
    """Return whether a value is nothing but numbers: "12", "2a", "1-3, 5" and "12,", but not "12th ed."."""
    parts = _SEPARATOR.split(value)  # numbers, and at odd indices what stands between them
    ends_in_comma = len(parts) > 1 and parts[-2] == "," and not parts[-1].strip()
    if ends_in_comma:
        del parts[-2:]
    return all(_NUMBER.fullmatch(part.strip()) for part in parts[::2])


def is_count(text: str) -> bool:
    """Return whether a text is one number that can be counted with."""
    return text.isdecimal() and len(text) <= _MOST_DIGITS


def is_plural(value: str) -> bool:
    """Return whether a number stands for more than one thing: "3-5" and "iv, vi", but not "12"."""
    # Two numbers may be one thing, as in "3 of 5": a separator has to stand between them
    numbers = re.findall(r"\d+|\b[ivxlcdm]+\b", value)
    return len(numbers) > 1 and _SEVERAL.search(value) is not None


def _roman(number: int) -> str:
    """Return a number from 1 to 3999 in lower-case roman numerals."""
    numeral = ""
    for value, letters in _ROMAN:
        count, number = divmod(number, value)
        numeral += letters * count
    return numeral


def _ordinal_suffix(number: int, gender: str, terms: Terms) -> str:
    """Return the suffix of an ordinal number, such as "nd" of 22 (CSL 1.0.2, Ordinal Suffixes).

    The most special term wins, "ordinal-12" before "ordinal-02" before "ordinal", each first in the gender.
    """
    genders = (gender, "") if gender else ("",)  # "" is the term without a gender
    # ordinal-10 to ordinal-99 look at two digits, ordinal-00 to ordinal-09 at one.
    for digits in (100, 10):
        name = f"ordinal-{number % digits:02d}"
        for form in genders:
            term = terms.ordinals.get((name, form))
            if term is not None and _is_for(term, number % digits, number):
                return term.single
    for form in genders:
        term = terms.ordinals.get(("ordinal", form))
        if term is not None:
            return term.single
    return ""


def _is_for(term: Term, ending: int, number: int) -> bool:
    """Return whether the suffix for numbers with an ending, such as "ordinal-01", is for a number that has it."""
    if term.match == "whole-number":
        return number == ending  # such an "ordinal-01" is for 1, but not for 21
    if term.match == "last-two-digits":
        return number % 100 == ending
    return True


def ordinal(number: int, gender: str, terms: Terms) -> str:
    return f"{number}{_ordinal_suffix(number, gender, terms)}"


def _long_ordinal(number: int, gender: str, terms: Terms) -> str:
    """Return the ordinal as a word up to ten, "third", above that with a suffix, "12th"."""
    if 1 <= number <= 10:
        name = f"long-ordinal-{number:02d}"
        word = terms.term(f"{name}/{gender}") or terms.term(name)
        if word:
            return word
    return ordinal(number, gender, terms)


def _format_one(text: str, form: str, gender: str, terms: Terms) -> str:
    """Return one number in a form: "2nd", "second" or "ii" for "2"; a number with letters stays as it is."""
    if not is_count(text):
        return text
    number = int(text)
    if form == "ordinal":
        return ordinal(number, gender, terms)
    if form == "long-ordinal":
        return _long_ordinal(number, gender, terms)
    if form == "roman" and 0 < number < 4000:
        return _roman(number)
    return text


def format_number(value: str, form: str, gender: str, terms: Terms) -> str:
    """Return a value with each of its numbers in a form, or as it is if it holds anything but numbers.

    In the form "ordinal", "2-3" is "2nd–3rd".

    Between two numbers, a hyphen becomes the dash of page ranges, and "&" stands between spaces. CSL 1.0.2,
    Number, has a space after each comma too; citeproc-js and pandoc have none in "2,3", nor in "1,234".
    """
    first, _, rest = value.partition(", ")
    labelled = read_label(rest, terms)
    if labelled is not None:  # "vol. 1, fol. 186"
        return f"{format_number(first, form, gender, terms)}, {_with_label(labelled, terms)}"

    # Numbers, and at odd indices what stands between them
    parts = _BETWEEN_NUMBERS.split(value.strip())
    numbers = parts[::2]
    if not all(_is_number(number) for number in numbers):
        return value
    parts[::2] = [_format_one(number, form, gender, terms) for number in numbers]
    parts[1::2] = [_format_separator(separator, terms) for separator in parts[1::2]]
    return "".join(parts)


def _format_separator(separator: str, terms: Terms) -> str:
    """Return what stands between two numbers: the locale's dash for a hyphen, and spaces around "&"."""
    if separator.strip() in ("-", "--"):
        return terms.term("page-range-delimiter") or "–"
    return " & " if separator.strip() == "&" else separator


class LabelledNumbers(NamedTuple):
    """Numbers with their own label, as in "fol. 186"."""

    term: Term
    numbers: str


def read_label(value: str, terms: Terms) -> LabelledNumbers | None:
    """Return the label that a value begins with, and its numbers; None if it begins with none, as "12" does."""
    labelled = _LABELLED.match(value)
    term = terms.find(labelled["label"], LOCATORS) if labelled else None
    if not labelled or term is None:
        return None
    return LabelledNumbers(term, labelled["numbers"])


def _with_label(labelled: LabelledNumbers, terms: Terms) -> str:
    """Return numbers with their label, which is plural if they are several: "fols. 186–188"."""
    term, numbers = labelled
    label = term.multiple if is_plural(numbers) else term.single
    return f"{label} {format_number(numbers, 'numeric', '', terms)}"


def _is_number(text: str) -> bool:
    return bool(_NUMBER.fullmatch(text) or _ROMAN_NUMBER.fullmatch(text))


def format_pages(value: str, style: str, terms: Terms) -> str:
    """Return the page ranges of a value in the style's format: "101-107, 110" as "101–7, 110".

    :param style: the value of ``page-range-format``; "" leaves the digits as they are
    """
    delimiter = terms.term("page-range-delimiter") or "–"
    symbol = terms.term("and", "symbol") or "&"
    formatted = []
    for index, part in enumerate(re.split("([,&;])", value)):
        is_range = index % 2 == 0
        if is_range:
            formatted.append(_format_range(part.strip(), style, delimiter))
        elif part == "&":
            formatted.append(f" {symbol} ")
        else:
            formatted.append(f"{part} ")
    return "".join(formatted)


def _format_range(text: str, style: str, delimiter: str) -> str:
    """Return one range of pages in the style's format; text that is no range stays.

    "e101-e107" in the format "minimal" is "e101–7", in "expanded" "e101–e107"; "xi-12" is "xi–12" in any.
    """
    if len(text) > _LONGEST_RANGE:
        return text
    # A hyphen behind a backslash is part of a page number, as in 3\-B.
    if "\\-" in text:
        return text.replace("\\-", "-")
    parts = _PAGE_RANGE.fullmatch(text)
    if not parts:
        mixed_parts = _MIXED_RANGE.fullmatch(text)
        return f"{mixed_parts[1]}{delimiter}{mixed_parts[2]}" if mixed_parts else text
    prefix, first, last_prefix, last = parts.groups()
    # Pages of different series are no range: N110-5 may be one page.
    if last_prefix != prefix:
        return f"{prefix}{first}-{last_prefix}{last}"
    # The last page with all its digits: 107 of 101 and 7
    full = first[: max(0, len(first) - len(last))] + last
    # Without a format, and in "107-101", which is no range of pages, the digits stay
    if not style or int(full) < int(first):
        return f"{prefix}{first}{delimiter}{last_prefix}{last}"
    if style == "expanded":
        return f"{prefix}{first}{delimiter}{prefix}{full}"
    return f"{prefix}{first}{delimiter}{_shorten(first, full, style)}"


def _shorten(first: str, last: str, style: str) -> str:
    """Return the last page without digits that it shares with the first (CSL 1.0.2, Appendix V).

    107 after 101 as "7" in the format "minimal", as "07" in "minimal-two", and as "7" in "chicago".
    """
    if len(first) != len(last):
        return last  # 99–101 shares no digits
    if style == "minimal":
        return _changed_digits(first, last, 1)
    if style == "minimal-two":
        return _changed_digits(first, last, 2)
    # What follows is "chicago": 71–72, 100–104; 1002–6; 321–25
    number = int(first)
    if number < 100 or number % 100 == 0:
        return last
    if number % 100 < 10:
        return _changed_digits(first, last, 1)
    short = _changed_digits(first, last, 2)
    # 1496–1504; in "chicago-16", 1496–504
    if style in ("chicago", "chicago-15") and len(first) == 4 and len(short) == 3:
        return last
    return short


def _changed_digits(first: str, last: str, least: int) -> str:
    """Return the digits of ``last`` from the first that differs, and at least so many: "7" of 101 and 107."""
    same = 0
    while same < len(last) - least and first[same] == last[same]:
        same += 1
    return last[same:]
