"""Content negotiation: what Accept headers ask for, and media types.

Specification: DOI Handbook, content negotiation.
"""

from __future__ import annotations

import re

_RECORD_TYPE = "application/json"
_WILDCARDS = {"*/*", "application/*"}
_PARTS = re.compile(r'(?:[^,"]|"(?:[^"\\]|\\.)*"?)+')
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"?')
_RANGE = re.compile(
    r"\s*([!#$%&'*+.^_`|~0-9a-z-]+/[!#$%&'*+.^_`|~0-9a-z-]+)\s*(?:;|$)", re.IGNORECASE
)
_QUALITY = re.compile(r";\s*q\s*=\s*(0?\.\d+|[01](?:\.0*)?)\s*(?:;|$)", re.IGNORECASE)

CSL_JSON = "application/vnd.citationstyles.csl+json"
"""The media type of works."""

BIBTEX = "application/x-bibtex"
"""The media type of BibTeX entries."""

_PARAMETER = re.compile(r';\s*([A-Za-z0-9_-]+)\s*=\s*("[^"]*"|[^\s;,"]*)')


def media_ranges(accept: str) -> list[tuple[str, dict[str, str], float]]:
    """Return the media ranges of an Accept header in its order: type, parameters, and quality, 0 to 1.

    Types and parameters are in lower case.
    Invalid media ranges are skipped, and an invalid quality counts as 1 (RFC 9110 section 12.5.1).

    >>> media_ranges("text/html, application/json;q=0.5")
    [('text/html', {}, 1.0), ('application/json', {}, 0.5)]
    """
    ranges = []
    for part in _PARTS.findall(accept):
        name = _RANGE.match(part)
        if name is not None:
            quality = _QUALITY.search(_QUOTED.sub("", part))
            found = {
                key.lower(): value.strip('"').lower() for key, value in _PARAMETER.findall(part)
            }
            found.pop("q", None)
            ranges.append((name[1].lower(), found, float(quality[1]) if quality else 1.0))
    return ranges


def is_accepted(content_type: str, accept: str) -> bool:
    """Return whether an Accept header asks for a Content-Type; their parameters do not matter.

    The most specific media range counts (RFC 9110 section 12.5.1). Without one, a type that is requested by
    another name will do: DataCite sends ``application/vnd.citationstyles.csl+json`` if asked for
    ``application/citeproc+json``, and KISTI ``text/plain`` if asked for ``text/x-bibliography``.

    >>> is_accepted("text/plain;charset=utf-8", "application/json, text/*;q=0.5")
    True
    >>> is_accepted("text/html", "*/*, text/html;q=0")
    False
    """
    qualities: dict[str, float] = {}
    for name, _, quality in media_ranges(accept):
        qualities[name] = max(quality, qualities.get(name, 0.0))
    own = next((name for name, *_ in media_ranges(content_type)), "")
    ranges = (own, f"{own.partition('/')[0]}/*", "*/*")
    named = next((name for name in ranges if name in qualities), None)
    if named is not None:
        return qualities[named] > 0
    return any(quality > 0 and _is_synonym(own, name) for name, quality in qualities.items())


def _is_synonym(own: str, wanted: str) -> bool:
    """Return whether a media type may be another or a more general name of the wanted one."""
    if own == "text/plain":
        return wanted.startswith("text/")  # RFC 2046 section 4.1.4
    return _format(own) == _format(wanted) and own != "application/xhtml+xml"  # that is a web page


def _format(media_type: str) -> str:
    """Return what is left without the parts that names of a format differ in.

    A type may be used as its suffix says (RFC 6839 section 2), and "x-" says nothing (RFC 6648).
    """
    return media_type.rpartition("/")[2].rpartition("+")[2].removeprefix("x-")


def wants_record(accept: str | bytes | None) -> bool:
    """Return whether an Accept header asks for the record, which is JSON, or accepts it as well as any other.

    False if the header names another type and rates JSON lower, or covers JSON only by a wildcard.

    >>> wants_record("application/json"), wants_record("application/x-bibtex, */*")
    (True, False)
    """
    if not accept:
        return True
    best: dict[str, float] = {}
    for name, _, quality in media_ranges(
        accept if isinstance(accept, str) else accept.decode("latin-1")
    ):
        kind = name if name == _RECORD_TYPE else "*" if name in _WILDCARDS else "other"
        best[kind] = max(quality, best.get(kind, 0.0))
    json, wildcard, other = (best.get(kind, 0.0) for kind in (_RECORD_TYPE, "*", "other"))
    if _RECORD_TYPE not in best:
        return not other or wildcard > other
    return json >= other if json else not other and not wildcard
