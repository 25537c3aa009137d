"""DOIs in running text."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from doiuri._doi import DOI
from doiuri._find import _plain
from doiuri._find._leads import has_label_nearby
from doiuri._find._shortened import without_shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from doiuri._find._plain import MentionSpan

_SYNTAXES = ("text", "html", "xml", "markdown", "rst", "asciidoc", "bibtex", "tex")


class Match(NamedTuple):
    """A DOI mentioned in a text; ``text[match.start:match.end] == match.text``.

    >>> from doiuri import find
    >>> next(find("As doi:10.1000/182 says."))
    Match(start=3, end=18, text='doi:10.1000/182', label='doi:', doi=DOI('10.1000/182'))
    """

    start: int
    """Position of the first character of the mention, 0-based."""
    end: int
    """Position after its last character."""
    text: str
    """The mention as written, with its label or link."""
    label: str
    """What ``text`` has before the name, such as "doi:", "DOI: " or "https://doi.org/"; "" for a bare name.

    In plain text, ``DOI.parse(text.removeprefix(label))`` is the DOI. A URN may have a colon for the slash.
    """
    doi: DOI
    """The DOI."""


def find(text: str, syntax: str = "text") -> Iterator[Match]:
    r"""Return an iterator over the DOIs mentioned in ``text``, in order and without overlaps.

    With a label or in a link to the DOI proxy, any name counts. Without, only one whose registrant code has
    four digits or more. The text of a link that shortens the name in its target, such as
    ``https://doi.org/10.1000/1...``, is not a mention. Takes linear time.

    :param text: what to search.
    :param syntax: "text", "html", "xml", "markdown", "rst", "asciidoc", "bibtex" or "tex". Decides
        which escapes are undone, and where a name ends.
    :returns: one Match for each mention.
    :raises ValueError: if the syntax is unknown.

    >>> from doiuri import find
    >>> [match.doi.name for match in find("10.1000/182, and see https://doi.org/10.1000/183.")]
    ['10.1000/182', '10.1000/183']
    >>> [match.doi.name for match in find(r"doi = {10.1007/978-3-319-12345-6\_7}", "bibtex")]
    ['10.1007/978-3-319-12345-6_7']
    """
    if not isinstance(text, str):
        raise TypeError(f"expected str, not {type(text).__name__}")
    mentions = _mentions(text, syntax)
    if syntax != "text":  # it has no links with texts
        mentions = without_shortened(text, mentions)
    return _matches(text, mentions)


def _matches(text: str, mentions: Iterable[MentionSpan]) -> Iterator[Match]:
    """Yield the mentions as matches, with their texts and labels."""
    new = tuple.__new__  # takes half the time of Match(…)
    for start, name, end, doi in mentions:
        yield new(Match, (start, end, text[start:end], text[start:name], doi))


def _mentions(text: str, syntax: str) -> Iterator[MentionSpan]:
    """Return the mentions in a text; raises ValueError if the syntax is unknown."""
    match syntax:
        case "text":
            return _plain.mentions(text, lambda place: has_label_nearby(text, place))
        case "html" | "xml":
            from doiuri._find._html import HTML

            return HTML(text).mentions()
        case "markdown":
            from doiuri._find._markdown import Markdown

            return Markdown(text).mentions()
        case "rst":
            from doiuri._find._rst import RST

            return RST(text).mentions()
        case "asciidoc":
            from doiuri._find._asciidoc import AsciiDoc

            return AsciiDoc(text).mentions()
        case "bibtex" | "tex":
            from doiuri._find._bibtex import BibTeX

            return BibTeX(text).mentions()
        case _:
            raise ValueError(f"unknown syntax {syntax!r} (known are {', '.join(_SYNTAXES)})")


Match.__module__ = "doiuri"  # for tracebacks and pickles
