"""Locators as authors write them: "pp. 12–14" after the name of a work (CSL 1.0.2, Locators)."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from doiuri_csl._locale import ENGLISH, Locale
from doiuri_csl.data._items import LOCATORS

if TYPE_CHECKING:
    from collections.abc import Iterator

_COMMON = frozenset({"page", "chapter", "volume"})
_RARE = frozenset(
    "article-locator issue note number scene supplement timestamp title-locator verse version".split()  # noqa: SIM905
)
# Of several with one term, such as "v.", the last one
_BY_PRECEDENCE = (*sorted(_RARE), *sorted(LOCATORS - _RARE - _COMMON), *sorted(_COMMON))
_FORMS = ("long", "short", "symbol")
# As authors write them, beside the terms of English
_ALIASES = {"ch.": "chapter"}
_PLURAL_ALIASES = {"chs.": "chapter", "eqs.": "equation"}
# "12", "B12a", "xii", "C"; to be put into VERBOSE patterns
_NUMBER = r"(?: [^\s,;&،؛]* \d [^\s,;&،؛]* | [ivxlcdm]+ \b | [A-Z] \b )"
_VALUE = re.compile(rf"\s* ( {_NUMBER} (?: \s* (?: -- | [-–&,،] ) \s* {_NUMBER} )* )", re.VERBOSE)
_IN_BRACES = re.compile(r"\{([^{}]*)\}")
# Languages that put the number before its term: "12. oldal", "12ページ", "第12页"
_NUMBER_FIRST = frozenset({"hu", "ja", "ko", "zh"})
_FIRST_VALUE = re.compile(r"第?\s*(\d+(?:\s*[-–～〜]\s*\d+)?)\.?\s*")


class Locator(NamedTuple):
    """What follows the name of a work in a citation."""

    label: str = ""
    """CSL's name for the kind of the locator, such as "page"; "" if there is none."""

    locator: str = ""
    """Where in the work, such as "12" or "12-14"."""

    suffix: str = ""
    """The rest, with the white space or comma before it."""

    plural: bool = False
    """Whether the author wrote the plural of the label."""


def parse_locator(text: str, locale: Locale | str = ENGLISH) -> Locator:
    """Read what follows the name of a work in a citation.

    It is a locator if it begins with one of CSL's terms, in the language or in English, and a number; in
    Chinese, Hungarian, Japanese and Korean the number may come first. In braces, all of it is a locator, which
    is a page without a term. Anything else is a suffix.

    >>> where = parse_locator(", pp. 12-14, and elsewhere")
    >>> where.label, where.locator, where.suffix
    ('page', '12-14', ', and elsewhere')
    >>> parse_locator(", {pp. iv, vi-xi} and elsewhere").locator
    'iv, vi-xi'
    >>> parse_locator("Kapitel 3", "de").label, parse_locator("12ページ", "ja").label
    ('chapter', 'page')

    :param locale: the language of the terms, or its tag
    :raises CSLError: if there is no such locale
    """
    words = text.lstrip(" ,،\n")
    language = Locale.load(locale) if isinstance(locale, str) else locale
    if not words:  # as nearly always
        return Locator(suffix=text.rstrip())
    braces = _IN_BRACES.match(words)
    if braces is not None:
        return _read_braces(braces[1].strip(), words[braces.end() :].rstrip(), language)

    for term in _beginning_terms(words, language):
        value = _VALUE.match(words, len(term.text))
        if value is not None:
            suffix = words[value.end() :].rstrip()
            return Locator(term.label, _with_dashes(value[1]), suffix, term.plural)

    number_first = _read_number_first(words, language)
    return number_first or Locator(suffix=text.rstrip())


def _read_braces(words: str, suffix: str, locale: Locale) -> Locator:
    """Return the locator in braces; without a term, it is a page (pandoc's manual, "Citations").

    :param words: what stands between the braces, such as "pp. iv, vi-xi", and ``suffix`` what follows them
    """
    if not words:
        return Locator(suffix=suffix)
    for term in _beginning_terms(words, locale):
        rest = words[len(term.text) :]
        if rest and not _is_in_word(term, rest):
            return Locator(term.label, _with_dashes(rest.strip()), suffix, term.plural)
    # All of the braces has to be the locator, so nothing may follow its term in them
    number_first = _read_number_first(words, locale)
    if number_first is not None and not number_first.suffix:
        return number_first._replace(suffix=suffix)
    return Locator("page", _with_dashes(words), suffix)


def _read_number_first(words: str, locale: Locale) -> Locator | None:
    """Return a locator whose term follows the number, as in "12ページ"; None if there is none, as in English."""
    if locale.lang.partition("-")[0] not in _NUMBER_FIRST:
        return None
    value = _FIRST_VALUE.match(words)
    if value is None:
        return None
    rest = words[value.end() :]
    for term in _beginning_terms(rest, locale):
        suffix = rest[len(term.text) :]
        if not _is_in_word(term, suffix):
            return Locator(term.label, value[1], suffix.rstrip(), term.plural)
    return None


def _is_in_word(term: _LocatorTerm, rest: str) -> bool:
    """Return whether a term is only the beginning of a word, as "page" is in "pageant"."""
    last = term.text[-1]
    # The scripts of Chinese and Japanese have no spaces between words
    has_spaces = unicodedata.east_asian_width(last) not in "WF"
    return has_spaces and last.isalpha() and rest[:1].isalpha()


def _with_dashes(locator: str) -> str:
    return locator.replace("--", "–")  # as TeX has it


class _LocatorTerm(NamedTuple):
    """A term of a locator, in lower case, and CSL's name of what it stands for."""

    text: str
    label: str
    plural: bool


def _beginning_terms(words: str, locale: Locale) -> Iterator[_LocatorTerm]:
    """Yield the terms of locators that words begin with, the longest first."""
    in_lower_case = words.lower()
    for term in _terms(locale):
        if in_lower_case.startswith(term.text):
            yield term


@cache
def _terms(locale: Locale) -> tuple[_LocatorTerm, ...]:
    """Return the terms of locators in a language and in English, the longest first: "chapters", "chap.", "§".

    If several labels have the same term, it is the language's own rather than the English one or an alias.
    """
    # Of equal terms the last one counts
    terms = [_LocatorTerm(text, label, plural=False) for text, label in _ALIASES.items()]
    terms += (_LocatorTerm(text, label, plural=True) for text, label in _PLURAL_ALIASES.items())
    terms += [*_terms_of(Locale.load(ENGLISH)), *_terms_of(locale)]
    by_text = {term.text: term for term in terms if term.text}
    return tuple(sorted(by_text.values(), key=lambda term: -len(term.text)))


def _terms_of(locale: Locale) -> Iterator[_LocatorTerm]:
    """Yield the terms of locators in a language; of equal ones, the last is the one that authors mean."""
    # A term that is both, such as "S.", is taken as no plural
    for label, form, plural in product(_BY_PRECEDENCE, _FORMS, (True, False)):
        text = locale.term(label, form, plural=plural).lower()
        yield _LocatorTerm(text, label, plural)
        # With its raised letters, as in "nᵒˢ", and without them
        yield _LocatorTerm(unicodedata.normalize("NFKC", text), label, plural)
