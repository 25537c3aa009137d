"""Addresses: the name of a DOI, then the path of a file in its data set, each segment percent-encoded."""

from __future__ import annotations

import re
from contextlib import suppress
from urllib.parse import unquote

from doiuri import DOI, DOISyntaxError, encode

LONGEST = 9
"""Segments that a name may have; one with more needs escaped slashes."""

# Characters of patterns stay as they are if they were typed so; in the names that we list they are escaped
_NO_PATTERN = re.compile(r"[^*?\[\]]+")
_ESCAPED = re.compile("%25(?=[0-9A-Fa-f]{2})")  # in the name of a file, where it is no escape


def normalize(address: str) -> str:
    """Return an address as we list it, without the protocol and slashes at the end.

    What is typed raw (blanks, ``#``, non-ASCII) is escaped. An escape means what it stands for, once, and a
    percent sign that begins none means itself.

    >>> normalize("doi://10.1000/x/100% of ü#1.csv/")
    '10.1000/x/100%25%20of%20%C3%BC%231.csv'
    """
    segments = address.removeprefix("doi://").rstrip("/").split("/")
    return "/".join(
        _NO_PATTERN.sub(lambda match: escape(unescape(match[0])), each) for each in segments
    )


def escape(name: str) -> str:
    """Return a segment for a name, in which slashes are escaped, too."""
    return encode(name).replace("/", "%2F")


def unescape(segment: str) -> str:
    """Return the name that a segment stands for: the segment itself, if its escapes are not UTF-8."""
    try:
        return unquote(segment, errors="strict")
    except UnicodeDecodeError:
        return segment


def local(path: str) -> str:
    """Return the path of a copy: without escapes, except those of slashes, which would lead elsewhere."""
    found = (unescape(segment) for segment in path.split("/"))
    return "/".join(name.replace("/", "%2F").replace("\\", "%5C") for name in found)


def readable(address: str) -> str:
    """Return a normalized address with as few escapes as possible; its meaning stays the same.

    >>> readable("10.1000%2Fx/100%25%20of%20%C3%BC%231%2541.csv")
    '10.1000%2Fx/100% of ü#1%2541.csv'
    """
    return local(_ESCAPED.sub("%2525", address))


def names(address: str) -> list[tuple[DOI, str]]:
    """Return the DOIs that a normalized address may begin with, longest first, each with the path after it.

    There is only one if one of the first two segments has an escaped slash, where the name ends.

    >>> [path for _, path in names("10.7910/DVN/RLLL1V/a.tab")]
    ['', 'a.tab', 'RLLL1V/a.tab']
    >>> names("10.7910/DVN%2FRLLL1V/a.tab")
    [(DOI('10.7910/DVN/RLLL1V'), 'a.tab')]

    :raises DOISyntaxError: if it does not begin with a DOI.
    """
    segments = [unescape(segment) for segment in address.split("/")]
    escaped = next((end for end, segment in enumerate(segments[:2], 1) if "/" in segment), None)
    found = []
    for end in [escaped] if escaped else range(min(len(segments), LONGEST), 1, -1):
        with suppress(DOISyntaxError):  # the path of a file may have what no name has
            found.append((DOI.from_name("/".join(segments[:end])), "/".join(segments[end:])))
    return found or [(DOI.from_name("/".join(segments)), "")]
