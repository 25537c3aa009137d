r"""DOIs in running text, such as "doi:10.1000/182": the rule which of them become links, the same in every host.

A host passes the text of a block as its readers see it, with ``BOUNDARY`` in place of code, links and
whatever else is not text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from doiuri._doi import DOI
from doiuri._errors import DOISyntaxError
from doiuri._options import option
from doiuri._patterns import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Self

    from doiuri._find import Match

__all__ = ["BOUNDARY", "MENTION_OPTIONS", "InvalidMention", "MentionRule"]

BOUNDARY = "\0"
"""What stands for something that is not text. No name and no label contains it."""

MENTION_OPTIONS = (option("bare"), option("bare_names"), option("bare_links"))
"""The options of the rule."""

_SCHEMES = ("https://", "http://")
_LABELLED = lazy(
    rf"""
    (?<! [A-Za-z0-9\u00c0-\u024f_-] )    # not in a word
    doi [:\uff1a] [ ]?
    10\. [^\s{BOUNDARY}]*
    """,
    re.IGNORECASE | re.VERBOSE,
)
_CLOSING = ".,;:!?)]}>\"'”’»"
# What makes a mention a part of a word, path or address if it stands before
_BEFORE_LABEL = "_-/"
_BEFORE_NAME = "_-/.:@&=?#%+"
_SEPARATORS_OF_LISTS = frozenset(";,|")  # of names without spaces
_MAX_URL = 2_000  # characters searched backwards for the scheme of a URL


class InvalidMention(NamedTuple):
    """What has a label and a prefix, but is not a DOI."""

    start: int
    """Its position in the text."""
    text: str
    """What is written, without punctuation after it."""
    error: DOISyntaxError
    """What is wrong with it."""


@dataclass(frozen=True, slots=True)
class MentionRule:
    """Which of the DOIs that :func:`doiuri.find` yields for running text become links.

    >>> from doiuri import find
    >>> rule = MentionRule.read({"bare_names": True})
    >>> text = "doi:10.1000/182, 10.1000/183, /files/10.1000/184, https://doi.org/10.1000/185"
    >>> [match.text for match in find(text) if rule.includes(text, match)]
    ['doi:10.1000/182', '10.1000/183']
    """

    labelled: bool
    """Whether those with a label do, such as ``doi:10.1000/182``."""
    names: bool
    """Whether names alone do, such as ``10.1000/182``."""
    links: bool
    """Whether links to doi.org do that begin with a scheme."""

    @classmethod
    def read(cls, given: Mapping[str, object], prefix: str = "") -> Self:
        """Return the rule that the options ``bare``, ``bare_names`` and ``bare_links`` ask for.

        :param given: values by the names that users write; others are ignored.
        :param prefix: what these names begin with, such as ``"doi_"``.
        :raises ValueError: if a value is invalid; the message begins with the name of the option.
        """
        return cls(*(option.read(given, prefix) for option in MENTION_OPTIONS))

    def __bool__(self) -> bool:
        """Whether any become links."""
        return self.labelled or self.names or self.links

    def includes(self, text: str, match: Match, last_end: int = 0) -> bool:
        """Return whether a match in ``text`` becomes a link; a part of a word, a path or a URL does not.

        :param last_end: the end of the last match before it that became a link.
        """
        if not self._accepts(match.label):
            return False
        # In a list without spaces, only the separator stands between two mentions
        is_in_list = text[last_end : match.start] in _SEPARATORS_OF_LISTS
        return is_in_list or not _is_in_word(text, match)

    def _accepts(self, label: str) -> bool:
        if not label:
            return self.names
        if "doi.org" in label.lower():
            return self.links and label.lower().startswith(_SCHEMES)
        return self.labelled

    def invalid(self, text: str, matches: Sequence[Match]) -> Iterator[InvalidMention]:
        """Yield what has a label and a prefix in ``text``, but is not a DOI; nothing if labels do not count.

        :param matches: all that :func:`doiuri.find` yields for the text.
        """
        if not self.labelled:
            return
        for start, end in _unmatched(text, matches):
            for mention in _LABELLED.finditer(text, start, end):
                written = mention[0].rstrip(_CLOSING)
                try:
                    DOI.parse(written.replace("\uff1a", ":", 1))
                except DOISyntaxError as error:
                    yield InvalidMention(mention.start(), written, error)


def _unmatched(text: str, matches: Sequence[Match]) -> Iterator[tuple[int, int]]:
    """Yield where the stretches of a text between the matches begin and end."""
    start = 0
    for match in matches:
        yield start, match.start
        start = match.end
    yield start, len(text)


def _is_in_word(text: str, match: Match) -> bool:
    """Return whether a match is inside a longer word, a path or a URL."""
    if match.start == 0:
        return False
    before = text[match.start - 1]
    if before.isspace() or before == BOUNDARY:
        return False
    # find() has checked other letters: in some scripts they precede a name without a space.
    if before.isascii() and before.isalnum():
        return True
    joining = _BEFORE_LABEL if match.label else _BEFORE_NAME
    if before in joining:
        return True
    preceding = text[max(0, match.start - _MAX_URL) : match.start]
    last_word = preceding.rsplit(maxsplit=1)[-1]
    return "://" in last_word
