"""The DOIs in plain text."""

import re

from doiuri._doi import DOI
from doiuri._errors import DOISyntaxError
from doiuri._find._end import Ends
from doiuri._find._start import Lead, lead
from doiuri._find._trim import trimmed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Found = tuple[int, int, DOI]

# A literal first, for the regex engine finds it at the speed of memory; and always a match, for then a run of
# digits and dots is read once, and the time stays linear.
_CANDIDATE = re.compile(r"10\.[0-9.]*+(?:[/:]|%2[Ff])?")
_PREFIX = re.compile(r"10\.([0-9]++)(?:\.[0-9]+)*+(/|:|%2[Ff])")
# Nearly all names: letters, digits, what joins them, what a SICI has, and behind them the sentence goes on.
_PLAIN = re.compile(
    r"10\.[0-9]{4,9}+/(?:[._/-]*+[A-Za-z0-9À-ÿ]++"
    r"|\([0-9A-Z]++\)|:[0-9]++(?:/[0-9]++)?<[0-9]++::[0-9A-Z-]++>|;[0-9]-(?=[0-9A-Z]))++"
    r"(?=[]})?!.,;:]{0,3}(?:[ \n\t”’]|\Z))"
)
_IN_SENTENCES = frozenset(["text", "link"])
_BARE_DIGITS = 4  # of a registrant without label: fewer are decimals, versions, IP addresses


def names(text: str, is_labelled: "Callable[[int], bool]", tail: str = "") -> "Iterator[Found]":
    """Yield start, end and DOI of each mention in plain ``text``, in order.

    ``is_labelled`` tells whether a label stands somehow before a place; ``tail`` are more characters that no
    name ends with.
    """
    ends = Ends(text)
    last = 0  # where the mention before ends
    search = _CANDIDATE.search
    match = search(text)
    while match is not None:
        start, end = match.span()
        before = lead(text, start, last)
        plain = _PLAIN.match(text, start) if before and before.place in _IN_SENTENCES else None
        if before and plain:
            end = last = plain.end()
            yield before.start, end, DOI.parse(plain[0])
        elif before and _is_name(text, before, start, is_labelled):
            suffix = end
            end = ends.end(before, suffix)
            stop = trimmed(text, before, start, suffix, end, tail)
            found = _found(text, before, start, stop) if stop > suffix else None
            if found is not None:
                last = stop
                yield found
        match = search(text, end)


def _is_name(text: str, before: Lead, start: int, is_labelled: "Callable[[int], bool]") -> bool:
    prefix = _PREFIX.match(text, start)
    if prefix is None or (prefix[2] == ":" and text[start - 8 : start].lower() != "urn:doi:"):
        return False  # a number, a port, a time
    return before.labelled or len(prefix[1]) >= _BARE_DIGITS or is_labelled(before.start)


def _found(text: str, before: Lead, start: int, end: int) -> "Found | None":
    """Return the mention whose name is ``text[start:end]``."""
    first = before.start
    name = text[start:end]
    if first < start and ("#" in name or "?" in name) and ":" in text[first:start]:
        first = start  # after a label, a raw "#" or "?" is ambiguous; in the name alone it is not
    for written in (name, text[first:end]):  # a URN has a colon for the slash: only as a whole is it a DOI
        try:
            return first, end, DOI.parse(written)
        except DOISyntaxError:
            pass
    return None


def whole(value: str, *, labelled: bool, link: bool) -> tuple[int, int, DOI] | None:
    """Return the mention that a delimited ``value`` is as a whole, or None.

    With ``labelled``, any name counts. In a ``link``, as in all links to the proxy, ``#`` or ``?`` ends it.
    """
    place = value.find("10.")
    prefix = _PREFIX.match(value, place) if place >= 0 else None
    before = lead(value, place) if prefix else None
    if before is None or prefix is None or before.start != 0 or prefix.end() == len(value):
        return None
    if not link and len(value.split(maxsplit=1)) > 1:
        return None  # in a link, a blank is part of the name
    if not (labelled or before.labelled or len(prefix[1]) >= _BARE_DIGITS):
        return None
    if link or before.place == "link":
        value = value.partition("#")[0].partition("?")[0]
    return _found(value, before, place, len(value))
