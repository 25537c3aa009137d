"""Addresses: the name of a DOI, then the path of a file in its data set, each segment percent-encoded."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import unquote

from doiuri import DOI, DOISyntaxError, encode

if TYPE_CHECKING:
    from collections.abc import Iterable

LONGEST = 9
"""The most segments that a name can have; one with more needs escaped slashes."""

# Typed raw, the characters of glob patterns keep their meaning; in the addresses that we list they are escaped.
_OUTSIDE_PATTERN = re.compile(r"[^*?\[\]]+")
# A percent sign in the name of a file that looks like the beginning of an escape
_PERCENT_BEFORE_HEX = re.compile("%25(?=[0-9A-Fa-f]{2})")


def normalize(address: str) -> str:
    """Return an address as we list it, without the protocol and without slashes at the end.

    Blanks, ``#`` and non-ASCII characters are escaped. Escapes are decoded once, and a percent sign that does
    not begin an escape stands for itself.

    >>> normalize("doi://10.1000/x/100% of ü#1.csv/")
    '10.1000/x/100%25%20of%20%C3%BC%231.csv'
    """
    segments = address.removeprefix("doi://").rstrip("/").split("/")
    return "/".join(_OUTSIDE_PATTERN.sub(_normalized, segment) for segment in segments)


def _normalized(run: re.Match[str]) -> str:
    return escape(unescape(run[0]))


def escape(name: str) -> str:
    """Return a name as a segment of an address, in which slashes are escaped, too."""
    return encode(name).replace("/", "%2F")


def unescape(segment: str) -> str:
    """Return the name that a segment stands for; the segment itself if its escapes are not UTF-8."""
    try:
        return unquote(segment, errors="strict")
    except UnicodeDecodeError:
        return segment


def local(path: str) -> str:
    """Return the path of a local copy: without escapes, except those of slashes, which would change folders."""
    return "/".join(_local_name(segment) for segment in path.split("/"))


def _local_name(segment: str) -> str:
    return unescape(segment).replace("/", "%2F").replace("\\", "%5C")


def readable(address: str) -> str:
    """Return a normalized address with as few escapes as possible; its meaning stays the same.

    >>> readable("10.1000%2Fx/100%25%20of%20%C3%BC%231%2541.csv")
    '10.1000%2Fx/100% of ü#1%2541.csv'
    """
    # local() decodes "%2541" to "%41", which would then be read as "A"; escaped once more, it stays "%2541".
    return local(_PERCENT_BEFORE_HEX.sub("%2525", address))


def names(address: str) -> list[tuple[DOI, str]]:
    """Return the DOIs that a normalized address may begin with, longest first, each with the path after it.

    If one of the first two segments has an escaped slash, the name ends there, so there is only one.

    >>> [path for _, path in names("10.7910/DVN/RLLL1V/a.tab")]
    ['', 'a.tab', 'RLLL1V/a.tab']
    >>> names("10.7910/DVN%2FRLLL1V/a.tab")
    [(DOI('10.7910/DVN/RLLL1V'), 'a.tab')]

    :raises DOISyntaxError: if the address does not begin with a DOI.
    """
    segments = [unescape(segment) for segment in address.split("/")]
    names: list[tuple[DOI, str]] = []
    for end in _possible_ends(segments):
        path = "/".join(segments[end:])
        with suppress(DOISyntaxError):  # the path of a file may contain what no name does
            names.append((DOI.from_name("/".join(segments[:end])), path))
    if not names:  # this raises the error, which says what is wrong
        return [(DOI.from_name("/".join(segments)), "")]
    return names


def _possible_ends(segments: list[str]) -> Iterable[int]:
    """Return how many of the segments may belong to the name, the largest number first.

    If one of the first two segments, which are unescaped, contains a slash, the name ends with that segment.

    >>> list(_possible_ends(["10.7910", "DVN", "RLLL1V", "a.tab"]))
    [4, 3, 2]
    >>> list(_possible_ends(["10.7910", "DVN/RLLL1V", "a.tab"]))
    [2]
    """
    # "10.7910%2FDVN%2FRLLL1V" is one segment, "10.7910/DVN%2FRLLL1V" two. A slash in a later one may be that of a
    # file's name.
    for end, segment in enumerate(segments[:2], 1):
        if "/" in segment:
            return [end]
    # A name has a prefix and a suffix: at least two segments.
    return range(min(len(segments), LONGEST), 1, -1)
