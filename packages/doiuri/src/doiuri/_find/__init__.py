"""DOIs in running text."""

from typing import NamedTuple

from doiuri._doi import DOI
from doiuri._find._plain import names
from doiuri._find._rendered import is_labelled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from doiuri._find._plain import Found

_SYNTAXES = {"html": "html", "xml": "html", "markdown": "markdown", "rst": "rst", "bibtex": "bibtex"}


class Match(NamedTuple):
    """A DOI mentioned: ``text`` is ``source[start:end]``, label or link included; ``doi`` what it means."""

    start: int
    end: int
    text: str
    doi: DOI


def find(text: str, syntax: str = "text") -> "Iterator[Match]":
    """Yield the DOIs that ``text`` mentions, in order; the matches do not overlap.

    ``syntax`` is "text", "html" (or "xml"), "markdown", "rst" or "bibtex": what is undone, and what ends a
    name. With a label or in a link to the DOI proxy, any name counts; bare, only one whose registrant has
    four digits or more. The time is linear in the text. Raises ValueError for another syntax.
    """
    if not isinstance(text, str):
        raise TypeError(f"expected str, not {type(text).__name__}")
    if syntax == "text":
        return _matches(text, names(text, lambda place: is_labelled(text, place)))
    return _matches(text, _reader(syntax)(text))


def _matches(text: str, found: "Iterator[Found]") -> "Iterator[Match]":
    new = tuple.__new__  # half the time of Match(…)
    for start, end, doi in found:
        yield new(Match, (start, end, text[start:end], doi))


def _reader(syntax: str) -> "Callable[[str], Iterator[Found]]":
    from importlib import import_module

    name = _SYNTAXES.get(syntax)
    if name is None:
        known = ", ".join(["text", *_SYNTAXES])
        raise ValueError(f"unknown syntax {syntax!r} (known are {known})")
    reader: Callable[[str], Iterator[Found]] = import_module(f"doiuri._find._{name}").found
    return reader
