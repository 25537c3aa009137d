"""What an Accept header asks of a DOI: its record, or another representation by content negotiation."""

from __future__ import annotations

import re

_JSON = "application/json"
_WILD = {"*/*", "application/*"}
_PARTS = re.compile(r'(?:[^,"]|"(?:[^"\\]|\\.)*"?)+')
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"?')
_RANGE = re.compile(r"\s*([!#$%&'*+.^_`|~0-9a-z-]+/[!#$%&'*+.^_`|~0-9a-z-]+)\s*(?:;|$)", re.IGNORECASE)
_QUALITY = re.compile(r";\s*q\s*=\s*(0?\.\d+|[01](?:\.0*)?)\s*(?:;|$)", re.IGNORECASE)


def media_ranges(accept: str) -> list[tuple[str, float]]:
    """Return the media ranges of an Accept header in its order: lower case, each with its quality, 0 to 1.

    What is no media range is left out; an unreadable quality counts as 1 (RFC 9110 §12.5.1).
    """
    ranges = []
    for part in _PARTS.findall(accept):
        name = _RANGE.match(part)
        if name is not None:
            quality = _QUALITY.search(_QUOTED.sub("", part))
            ranges.append((name[1].lower(), float(quality[1]) if quality else 1.0))
    return ranges


def wants_record(accept: str | bytes | None) -> bool:
    """Whether an Accept header, as text or in octets, is content with the record, which is JSON.

    It is not where a type other than JSON is named and JSON is wanted less, or only as part of a wildcard.
    """
    if not accept:
        return True
    ranges = media_ranges(accept if isinstance(accept, str) else accept.decode("latin-1"))
    json = max((quality for name, quality in ranges if name == _JSON), default=None)
    wild = max((quality for name, quality in ranges if name in _WILD), default=0.0)
    other = max((quality for name, quality in ranges if name != _JSON and name not in _WILD), default=0.0)
    if json is None:
        return not other or wild > other
    if json == 0:
        return not other and not wild
    return json >= other
