r"""Where a key stands: the name of an entry, an element or a label, by which other places refer to it.

A key may be a DOI or a link to one, such as ``\cite{10.1000/182}``. It has to be the same everywhere.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

KEY_NAMES = frozenset({"id", "@id", "citation-key"})
"""The keys of YAML and JSON whose values are keys of entries or objects."""

_DOI_KEYS = frozenset({"doi", "dois"})


def is_doi_key(key: object) -> bool:
    """Return whether a key of YAML or JSON is for a DOI, with or without a prefix, as in ``sci:doi``."""
    return isinstance(key, str) and key.rpartition(":")[2].lower() in _DOI_KEYS


_FAR = 500  # characters of a list of keys before one of them

_PANDOC = re.compile(r"(?<![\w./])@\{?[\w./:%-]*\Z")  # also org-cite: [@key; see @key, p. 3]
_COMMAND = re.compile(
    r"""
    \\ (?:
        (?: [A-Za-z]*[cC]ite[A-Za-z]* | bibitem | label | (?:page|eq|auto|name|[cCvV])?ref )
        \*? \s* (?: \[[^\[\]]*\] \s* )*                                  # notes
      | [A-Za-z]*[cC]ites \s*
        (?: (?: \[[^\[\]]*\] | \([^()]*\) | \{[^{}]*\} ) \s* )*          # lists before this one
    )
    \{ [^{}]* \Z
    """,
    re.VERBOSE,
)
_COMMAND_OR_FIELD = re.compile(
    rf"""
    {_COMMAND.pattern}
  | (?<![\w-]) (?i: crossref | xref | xdata | ids | related | entryset ) \s*=\s* ["{{] [^"{{}}]* \Z
    """,
    re.VERBOSE,
)
# Markdown, reStructuredText and Org take commands of TeX, too
_PANDOC_OR_COMMAND = re.compile(rf"{_PANDOC.pattern} | {_COMMAND.pattern}", re.VERBOSE)
_REFERENCES = {
    "text": _PANDOC_OR_COMMAND,
    "markdown": _PANDOC_OR_COMMAND,
    "rst": _COMMAND,
    "asciidoc": re.compile(r"(?:<<|\[\[|\b(?:cite(?:np)?|anchor|xref):\[?)[^<>\[\]\s]*\Z"),
    "tex": _COMMAND,
    "bibtex": _COMMAND_OR_FIELD,
}

_ATTRIBUTE = r"""\s (?: id | name | itemid | xml:base ) \s*=\s* ["'] [^"'<>]* \Z"""
# Of a funder or an institution, in JATS and TEI, and of a term's source, in ontologies (oboInOwl): programs
# compare it as it was registered
_IDENTIFIER = r"<(?:[\w-]+:)? (?: institution-id | hasDbXref ) (?: \s [^<>]* )? > [^<>]* \Z"
# Of sphinxcontrib-bibtex and MyST
_CITING = {
    "markdown": re.compile(r"\{(?:foot)?cite(?::\w+)*\}`[^`]*\Z"),
    "rst": re.compile(r":(?:foot)?cite(?::\w+)*:`[^`]*\Z"),
}
_KEY = re.compile(r"[^\s,`{}]+")
_BETWEEN_SEMICOLONS = re.compile(r"[^;]+")
_OTHERS = {
    "html": re.compile(_ATTRIBUTE, re.VERBOSE),
    "xml": re.compile(rf"{_ATTRIBUTE} | {_IDENTIFIER}", re.VERBOSE),
    "markdown": re.compile(_ATTRIBUTE, re.VERBOSE),
}


def is_reference(text: str, place: int, syntax: str) -> bool:
    """Return whether a place is in a key by which a text refers to an entry: a bare name there is no DOI."""
    return _is_in(_REFERENCES.get(syntax), text, place)


def is_key(text: str, place: int, syntax: str) -> bool:
    """Return whether a place is in a key: nothing is fixed there.

    This includes the roles for citations, where a name may be a DOI: see ``is_key_of_entry``.
    """
    patterns = _REFERENCES, _CITING, _OTHERS
    return any(_is_in(of_syntax.get(syntax), text, place) for of_syntax in patterns)


def is_key_of_entry(text: str, place: int, syntax: str, entry_keys: Collection[str]) -> bool:
    """Return whether a role for citations has one of these keys at a place: it cites that entry, not a DOI.

    Any other name there is a DOI: ``lock --bib`` writes its entry, and MyST looks it up.
    """
    if not entry_keys or not _is_in(_CITING.get(syntax), text, place):
        return False

    # The key at the place: keys are separated by commas and blanks
    opening = text.rindex("`", 0, place)
    word = next(word for word in _KEY.finditer(text, opening) if word.end() > place)

    # MyST separates keys by semicolons, too, which names may have: {cite}`10.1000/1;10.1000/2`
    keys = _BETWEEN_SEMICOLONS.finditer(text, *word.span())
    key = next((key[0] for key in keys if key.end() > place), "")
    return word[0] in entry_keys or key in entry_keys


def _is_in(pattern: re.Pattern[str] | None, text: str, place: int) -> bool:
    """Return whether a pattern matches what ends at a place."""
    return pattern is not None and pattern.search(text, max(0, place - _FAR), place) is not None
