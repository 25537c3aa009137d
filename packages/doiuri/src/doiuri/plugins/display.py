"""What plugins show: texts of links, marks of retracted works, hover cards, and links to other handles."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from pathlib import Path
from string import Formatter
from typing import TYPE_CHECKING, NamedTuple

from doiuri._encoding import LINK, encode
from doiuri._errors import DOISyntaxError
from doiuri._names import OTHER_HANDLE
from doiuri._options import OF_WORKS, check_display
from doiuri._parse import unescape
from doiuri._text import shortened
from doiuri._urls import DOI_ORG
from doiuri.works._csl import is_shortened

if TYPE_CHECKING:
    from doiuri._doi import DOI
    from doiuri.works._work import Work

__all__ = [
    "SCRIPT",
    "STYLE_SHEET",
    "Details",
    "Words",
    "breakable",
    "by_direction",
    "card",
    "check_display",
    "details_of",
    "display",
    "link_to_handle",
    "needs_work",
    "retraction_mark",
]

STYLE_SHEET = Path(__file__).parent / "static" / "doiuri.css"
"""The style sheet of cards, and of Sphinx's citations and lists of references; beside it is only ``SCRIPT``."""

SCRIPT = STYLE_SHEET.with_suffix(".js")
"""The script with which Escape closes a card. Cards need no other script."""

# Hebrew, Arabic and their neighbours (Unicode's bidirectional classes R and AL)
_RTL = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]"
# A title or a name: not across a full stop or a bracket, behind which another field of an entry begins
_FROM_RIGHT = re.compile(rf"({_RTL}(?:[\w\s,:'\"&–-]*{_RTL})?)")

_BREAK = re.compile(
    r"""
    (?<= [/.:;,)>_] )                     # after a mark
        (?<! doi: ) (?<! 10\. )           # but not in "doi:10."
        (?<! https: ) (?<! http: ) (?<! :/ ) (?<! //doi\. )  # nor in "https://doi.org"
    |
    (?= [(<] )                            # before a bracket
    """,
    re.VERBOSE,
)
_WIDTH = 36  # characters: what fits into a line on a phone

_LONGEST = 300  # characters of a title or a name in a card
_AUTHORS_SHOWN = 3  # in a card


@dataclass(frozen=True, slots=True)
class Words:
    """The words of ``{authors}`` and ``{year}``, and those for retracted works, for hosts to translate.

    >>> Words(conjunction="und", no_date="o. J.").no_date
    'o. J.'
    """

    conjunction: str = "and"
    """Stands between two names."""

    et_al: str = "et al."
    """Stands for all names after the first, if there are three or more."""

    no_date: str = "n.d."
    """Stands for the year, if there is none."""

    retracted: str = "retracted"
    """Marks a work with a retraction."""

    removed: str = "removed"
    """Marks a work with a removal."""

    withdrawn: str = "withdrawn"
    """Marks a work with a withdrawal."""

    partially_retracted: str = "partially retracted"
    """Marks a work with a partial retraction."""


def needs_work(text: str) -> bool:
    """Return whether ``display`` needs the work for this text: it is a template with a field of the work.

    >>> needs_work("{authors} ({year})"), needs_work("link")
    (True, False)

    :raises ValueError: if ``text`` is not valid.
    """
    fields = {field for _, field, _, _ in Formatter().parse(check_display(text))}
    return not OF_WORKS.isdisjoint(fields)


def display(
    doi: DOI,
    text: str = "name",
    *,
    base: str = DOI_ORG,
    work: Work | None = None,
    words: Words | None = None,
) -> str:
    """Return the visible text of a DOI.

    >>> doi = DOI("10.1000/182")
    >>> display(doi), display(doi, "link"), display(doi, "DOI {name}")
    ('doi:10.1000/182', 'https://doi.org/10.1000/182', 'DOI 10.1000/182')

    :param text: "name" for ``doi:`` and the name, "link" for the link, or a template as in ``check_display``.
        A template with a field of the work counts as "name" if there is no work.
    :param base: the URL that links begin with.
    :param work: the work, if it is known. Its texts are plain text: escape the result.
    :param words: the words of ``{authors}`` and ``{year}``.
    :raises ValueError: if ``text`` is not valid.
    """
    check_display(text)
    if text == "name" or (work is None and needs_work(text)):
        return f"doi:{doi.name}"
    url = doi.link(base)
    if text == "link":
        return url
    fields = {
        "name": doi.name,
        "prefix": doi.prefix,
        "suffix": doi.suffix,
        "uri": doi.uri,
        "url": url,
    }
    if work is not None:
        words = words or Words()
        fields["authors"] = _authors(work, words) or work.title or doi.name
        fields["year"] = words.no_date if work.year is None else str(work.year)
        fields["title"] = work.title or doi.name
    return text.format(**fields)


def _authors(work: Work, words: Words) -> str:
    """Return one or two family names, or the first of three and more; of editors if there are no authors."""
    names = work.authors or work.editors
    if is_shortened(names, 2):
        return f"{names[0].family} {words.et_al}"
    return f" {words.conjunction} ".join(name.family for name in names)


def retraction_mark(work: Work, words: Words | None = None) -> str:
    """Return what to show after a retracted work, such as "[retracted 2020-06-05]"; "" for other works.

    >>> from doiuri import DOI
    >>> from doiuri.works import Work
    >>> update = {"type": "retraction", "DOI": "10.5555/notice", "updated": {"date-parts": [[2020, 6, 5]]}}
    >>> retraction_mark(Work(DOI("10.5555/a"), {"updated-by": [update]}))
    '[retracted 2020-06-05]'

    :param work: the work; ``work.retraction`` is its notice, to link to.
    :param words: the words for retracted works.
    """
    from doiuri.works._notices import RETRACTIONS

    notice = work.retraction
    if notice is None:
        return ""
    state = RETRACTIONS[notice.type]
    attribute = state.replace(" ", "_")  # of Words, such as "partially_retracted"
    mark = getattr(words or Words(), attribute)
    if notice.date:
        mark = f"{mark} {notice.date}"
    return f"[{mark}]"


class Details(NamedTuple):
    """The text of a card."""

    title: str
    """The title of the work."""
    byline: str
    """The authors and the year, as in ``Ada Byron, 1843``; of more than three, only the first."""
    journal: str
    """The title of the journal or book."""
    mark: str = ""
    """Such as ``[retracted 2020-06-05]``."""

    @property
    def description(self) -> str:
        """The text of the card in sentences, which describes the link; its name is what is written."""
        sentences = [self.title.rstrip("."), self.byline, self.journal, self.mark]
        return " ".join(". ".join(filter(None, sentences)).split())


def details_of(work: Work, words: Words | None = None) -> Details | None:
    """Return the text of the card of a work, empty where the metadata has none; None if there is no title."""
    if not work.title:
        return None
    byline = [_shortened(str(name)) for name in work.authors]
    if is_shortened(work.authors, _AUTHORS_SHOWN):
        byline = [byline[0], "et al."]
    if work.year is not None:
        byline.append(str(work.year))
    mark = retraction_mark(work, words)
    return Details(_shortened(work.title), ", ".join(byline), _shortened(work.container), mark)


def _shortened(text: str) -> str:
    """Return the printable characters of a text, the end replaced by an ellipsis if it is too long."""
    return shortened("".join(filter(str.isprintable, text)), _LONGEST)


def card(details: Details, id: str, label: str) -> str:  # noqa: A002
    """Return the HTML of a card, and of the button that opens it on touch screens.

    Write it after the link, in a ``<span class="doi-details">`` around both. The link has the attribute
    ``aria-describedby`` with the id. The style sheet shows the attributes ``data-doi``: what is no text is in
    no excerpt of a search, Reader view or feed.

    :param id: an id that nothing else on the page has
    :param label: the accessible name of the button, such as "About doi:10.1000/182"
    """
    label = " ".join(label.split())
    lines = [f'<span class="doi-card-title" data-doi="{escape(details.title)}"></span>']
    for text in filter(None, [details.byline, details.journal, details.mark]):
        lines.append(f'<span class="doi-card-byline" data-doi="{escape(text)}"></span>')
    return (
        f'<button type="button" class="doi-more" popovertarget="{id}"'
        f' aria-label="{escape(label)}"></button>'
        f'<span class="doi-card" id="{id}" role="tooltip" popover="auto"'
        f' aria-label="{escape(details.description)}">{"".join(lines)}</span>'
    )


def by_direction(text: str) -> list[tuple[str, bool]]:
    """Return the parts of a text, each with whether it runs from right to left, as a Hebrew name does.

    In HTML such a part is isolated (``<bdi>``), so that it leaves the order of what is around it as it is.

    >>> by_direction("Cohen & \u05db\u05d4\u05df (2003)")
    [('Cohen & ', False), ('כהן', True), (' (2003)', False)]
    """
    parts = _FROM_RIGHT.split(text)
    return [(part, number % 2 == 1) for number, part in enumerate(parts) if part]


def breakable(text: str, width: int = _WIDTH) -> list[str]:
    """Return the parts of a name or a link between which a line may break.

    >>> breakable("doi:10.1000/182"), breakable("https://doi.org/10.1000/a.b(c)", 20)
    (['doi:10.1000/182'], ['https://', 'doi.org/', '10.1000/', 'a.', 'b', '(c)'])

    :param text: the visible text of a link.
    :param width: the width of a narrow line, in characters; a text with no longer words is one part.
    """
    longest_word = max(map(len, text.split()), default=0)
    if longest_word <= width:
        return [text]
    return [part for part in _BREAK.split(text) if part]


def link_to_handle(error: DOISyntaxError, base: str = DOI_ORG) -> str | None:
    """Return the link to the handle, such as 11681/5671, that an error is about; None if it is another error.

    :param error: what ``DOI.parse`` raised.
    :param base: the base URL of the link.
    """
    if not error.reason.startswith(OTHER_HANDLE):
        return None
    written = error.text[error.position :].strip(" >")
    handle = unescape(written, lenient=True)
    return f"{base}/{encode(handle, LINK)}"
