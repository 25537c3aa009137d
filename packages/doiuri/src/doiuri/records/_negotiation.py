"""Content negotiation: what Accept headers ask for, and media types.

Specification: DOI Handbook, content negotiation.
"""

from __future__ import annotations

import re

_RECORD_TYPE = "application/json"
_WILDCARDS = ("*/*", "application/*")
_PARTS = re.compile(r'(?:[^,"]|"(?:[^"\\]|\\.)*"?)+')
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"?')
_TYPE_NAME = r"[!#$%&'*+.^_`|~0-9a-z-]+"  # RFC 9110 section 5.6.2
_RANGE = re.compile(rf"\s*({_TYPE_NAME}/{_TYPE_NAME})\s*(?:;|$)", re.IGNORECASE)
_QUALITY = re.compile(r";\s*q\s*=\s*(0?\.\d+|[01](?:\.0*)?)\s*(?:;|$)", re.IGNORECASE)

CSL_JSON = "application/vnd.citationstyles.csl+json"
"""The media type of works."""

BIBTEX = "application/x-bibtex"
"""The media type of BibTeX entries."""

CSL_TYPES = frozenset({CSL_JSON, "application/citeproc+json"})
"""The media types of CSL-JSON."""

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
        media_type = _RANGE.match(part)
        if media_type is not None:
            ranges.append((media_type[1].lower(), _parameters(part), _quality(part)))
    return ranges


def _parameters(media_range: str) -> dict[str, str]:
    """Return the parameters of a media range in lower case, without the quality: {"style": "apa"}."""
    parameters = {}
    for name, value in _PARAMETER.findall(media_range):
        parameters[name.lower()] = value.strip('"').lower()
    parameters.pop("q", None)
    return parameters


def _quality(media_range: str) -> float:
    quality = _QUALITY.search(_QUOTED.sub("", media_range))
    return 1.0 if quality is None else float(quality[1])


def asks_for_csl(accept: str) -> bool:
    """Return whether an Accept header asks for CSL-JSON and nothing else."""
    names = {name for name, _, _ in media_ranges(accept)}
    return bool(names) and names <= CSL_TYPES


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
    ranges = media_ranges(content_type)
    media_type = ranges[0][0] if ranges else ""
    qualities = _best_qualities(accept)
    family = media_type.partition("/")[0]
    for media_range in (media_type, f"{family}/*", "*/*"):
        if media_range in qualities:
            return qualities[media_range] > 0

    wanted = [name for name, quality in qualities.items() if quality > 0]
    return any(_is_synonym(media_type, name) for name in wanted)


def _best_qualities(accept: str) -> dict[str, float]:
    """Return the qualities of the media ranges in an Accept header; of a range that occurs twice, the best one."""
    qualities: dict[str, float] = {}
    for name, _, quality in media_ranges(accept):
        qualities[name] = max(quality, qualities.get(name, 0.0))
    return qualities


def _is_synonym(media_type: str, wanted: str) -> bool:
    """Return whether a media type may be another or a more general name of the wanted one."""
    if media_type == "text/plain":
        return wanted.startswith("text/")  # RFC 2046 section 4.1.4
    if media_type == "application/xhtml+xml":  # a web page, whatever its suffix says
        return False
    return _format(media_type) == _format(wanted)


def _format(media_type: str) -> str:
    """Return a media type without the parts in which the names of one format differ: "bibtex" of "text/x-bibtex".

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
    header = accept if isinstance(accept, str) else accept.decode("latin-1")
    qualities = _best_qualities(header)
    of_wildcard = max(qualities.pop(name, 0.0) for name in _WILDCARDS)
    of_record = qualities.pop(_RECORD_TYPE, None)
    of_others = max(qualities.values(), default=0.0)

    if of_record is None:
        return of_others == 0 or of_wildcard > of_others
    if of_record == 0:
        return of_others == 0 and of_wildcard == 0
    return of_record >= of_others
