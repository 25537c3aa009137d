"""Locales: terms, date formats and options, each layer over the one below (CSL 1.0.2, Locale)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from importlib import resources
from typing import TYPE_CHECKING, NamedTuple

from doiuri_csl._errors import CSLError
from doiuri_csl._xml import LANG, Node, read_file, read_xml
from doiuri_csl.text._punctuation import QuoteMarks

if TYPE_CHECKING:
    import os
    from collections.abc import Container, Iterable

ENGLISH = "en-US"

# The dialect of a language that others fall back to (CSL 1.0.2, Locale Fallback), if we have several
_PRIMARY = {
    "de": "de-DE",
    "en": ENGLISH,
    "es": "es-ES",
    "fr": "fr-FR",
    "pt": "pt-PT",
    "zh": "zh-CN",
}

# The form that is used if a term does not have the wanted one (CSL 1.0.2, Terms)
_NEXT_FORM = {"verb-short": "verb", "verb": "long", "symbol": "short", "short": "long"}


class Term(NamedTuple):
    """A term in one form."""

    single: str
    multiple: str
    gender: str = ""

    match: str = ""
    """Of an ordinal: whether the whole number or its last digits must match."""


@dataclass
class Terms:
    """The terms, date formats and options that hold for one language in one style."""

    lang: str
    terms: dict[tuple[str, str], Term] = field(default_factory=dict)
    """By name and form: ("editor", "short"); in a gender, ("long-ordinal-01/feminine", "long")."""

    ordinals: dict[tuple[str, str], Term] = field(default_factory=dict)
    """The suffixes of ordinal numbers by name and gender: ("ordinal-01", "feminine"), ("ordinal-01", "")."""

    dates: dict[str, Node] = field(default_factory=dict)
    """The formats of dates, by form: "text" or "numeric"."""

    options: dict[str, str] = field(default_factory=dict)

    def term(self, name: str, form: str = "long", *, plural: bool = False) -> str:
        """Return the text of a term, in the next form if it lacks this one; "" if there is none.

        "symbol" is followed by "short", and that by "long" (CSL 1.0.2, Terms).
        """
        term = self.terms.get((name, form))
        while term is None and form in _NEXT_FORM:
            form = _NEXT_FORM[form]
            term = self.terms.get((name, form))
        if term is None:
            return ""
        return term.multiple if plural else term.single

    def find(self, text: str, names: Container[str]) -> Term | None:
        """Return the term of these names that is written so, in any form; None if there is none."""
        for (name, _), term in self.terms.items():
            if name in names and text in (term.single, term.multiple):
                return term
        return None

    def gender(self, name: str) -> str:
        """Return the gender of a term; "" if it has none."""
        term = self.terms.get((name, "long"))
        return term.gender if term else ""

    def option(self, name: str) -> bool:
        """Return whether an option is on."""
        return self.options.get(name) == "true"

    @cached_property
    def quote_marks(self) -> QuoteMarks:
        """The quotation marks."""
        return QuoteMarks(
            opening=(self.term("open-quote"), self.term("open-inner-quote")),
            closing=(self.term("close-quote"), self.term("close-inner-quote")),
        )

    def copy(self) -> Terms:
        """Return terms to lay others over, without a change of these."""
        return Terms(
            self.lang,
            dict(self.terms),
            dict(self.ordinals),
            dict(self.dates),
            dict(self.options),
        )

    def overlay(self, node: Node) -> None:
        """Lay the terms, dates and options of a ``<locale>`` over these."""
        for options in node.children("style-options"):
            self.options.update(options.attributes)
        for date in node.children("date"):
            self.dates[date.get("form", "text")] = date
        for terms in node.children("terms"):
            self._overlay_terms(terms.children("term"))

    def _overlay_terms(self, nodes: list[Node]) -> None:
        """Lay the ``<term>`` elements of a locale over these terms."""
        # "Ordinal Suffixes": a locale that has some replaces all of the one below.
        if any(node.get("name") == "ordinal" for node in nodes):
            self.ordinals.clear()
        for node in nodes:
            name = node.get("name")
            form = node.get("form", "long")
            gender = node.get("gender-form")
            if name.startswith("ordinal"):
                self.ordinals[name, gender] = _read_term(node)
            elif gender:
                self.terms[f"{name}/{gender}", form] = _read_term(node)
            else:
                self.terms[name, form] = _read_term(node)


def _read_term(node: Node) -> Term:
    """Return the term of an element, whose text stands in it, or in its ``<single>`` and ``<multiple>``."""
    single = node.text
    if single.isspace() and "\n" in single:
        # An empty term whose end tag stands on a line of its own
        single = ""
    for child in node.children("single"):
        single = child.text
    multiple = single
    for child in node.children("multiple"):
        multiple = child.text
    return Term(single, multiple, node.get("gender"), node.get("match"))


@dataclass(frozen=True)
class Locale:
    """A language of citations. Locales are equal if their language and their terms are.

    >>> Locale.load("de").term("editor", "short")
    'Hrsg.'
    """

    lang: str
    """Its tag, such as "de-DE"."""

    _layers: tuple[Node, ...] = field(repr=False, hash=False)

    @classmethod
    def load(cls, lang: str) -> Locale:
        """Return a locale that comes with this package.

        :param lang: a tag such as "de" or "pt_BR". A dialect that is missing is the language's main one
        :raises CSLError: if the language is not there
        """
        tag = _normal(lang)
        name = _shipped_name(tag)
        if name is None:
            raise CSLError(
                f"there is no locale {lang!r}, only {', '.join(Locale.available())}; "
                "for another language, get its file from https://github.com/citation-style-language/locales"
                " and give its path to Locale.read"
            )
        # "de" is "de-DE"; a dialect without a file, such as "de-LI", keeps its tag
        if "-" not in tag:
            tag = name
        return _shipped_locale(tag, name)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Locale:
        """Return the locale of a file such as ``locales-ca-AD.xml``.

        :raises CSLError: if the file cannot be read or is not a locale of CSL
        """
        node = read_file(path, "locale")
        return cls(node.get(LANG, ENGLISH), (_read_shipped(ENGLISH), node))

    @staticmethod
    def available() -> tuple[str, ...]:
        """Return the tags of the locales that come with this package."""
        return _available()

    def term(self, name: str, form: str = "long", *, plural: bool = False) -> str:
        """Return a term of CSL; "" if there is none.

        :param name: such as "reference" or "et-al"
        :param form: "long", "short", "symbol", "verb" or "verb-short"; the next form if the term lacks this one
        :param plural: whether it stands for several
        """
        return self._terms.term(name, form, plural=plural)

    @cached_property
    def digest(self) -> bytes:
        """A digest of its terms, date formats and options."""
        content = repr((self.lang, self._layers))
        return hashlib.blake2s(content.encode()).digest()

    @cached_property
    def _terms(self) -> Terms:
        """The terms outside any style: English, with this locale over it."""
        terms = Terms(self.lang)
        for node in self._layers:
            terms.overlay(node)
        return terms

    def in_style(self, style_locales: Iterable[Node]) -> Terms:
        """Return the terms that hold in a style that has these ``<locale>`` elements of its own.

        Each layer wins over those before it: English, this locale, then the style's elements, from those for all
        languages to those for this dialect (CSL 1.0.2, Locale Fallback).
        """
        # The language of "de-DE" comes before the dialect, so that the dialect wins
        terms = self._terms.copy()
        language = self.lang.partition("-")[0]
        nodes = list(style_locales)
        for lang in dict.fromkeys(["", language, self.lang]):
            for node in nodes:
                if node.get(LANG) == lang:
                    terms.overlay(node)
        return terms


def _normal(lang: str) -> str:
    """Return a tag with its parts in their usual case: "pt_br" is "pt-BR"."""
    language, *subtags = lang.strip().replace("_", "-").split("-")
    parts = [language.lower()]
    for subtag in subtags:
        is_region = len(subtag) == 2
        usual = subtag.upper() if is_region else subtag.title()
        parts.append(usual)
    return "-".join(parts)


def _shipped_name(tag: str) -> str | None:
    """Return the tag of the locale file for a language: "de-DE" for "de" and "de-XX"; None if there is none."""
    names = _available()
    if tag in names:
        return tag
    language = tag.partition("-")[0]
    dialects = [name for name in names if name.partition("-")[0] == language]
    return _PRIMARY.get(language) or next(iter(dialects), None)


@cache
def _available() -> tuple[str, ...]:
    folder = resources.files("doiuri_csl").joinpath("locales")
    names = (file.name for file in folder.iterdir())
    tags = [name[len("locales-") : -len(".xml")] for name in names if name.endswith(".xml")]
    return tuple(sorted(tags))


@lru_cache(maxsize=100)  # callers may make up any number of dialects
def _shipped_locale(tag: str, name: str) -> Locale:
    """Return the locale of a tag: the terms of a file that comes with this package, over those of English."""
    layers = [_read_shipped(layer) for layer in dict.fromkeys([ENGLISH, name])]
    return Locale(tag, tuple(layers))


@cache
def _read_shipped(tag: str) -> Node:
    file = resources.files("doiuri_csl").joinpath("locales", f"locales-{tag}.xml")
    return read_xml(file.read_bytes())
