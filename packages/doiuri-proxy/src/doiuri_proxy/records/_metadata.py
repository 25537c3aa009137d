"""Metadata in files of records, and content negotiation.

Specification: DOI Handbook, content negotiation.
"""

from __future__ import annotations

import json
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from doiuri.rest import BIBTEX, CSL_JSON, media_ranges

if TYPE_CHECKING:
    from collections.abc import Mapping

_PAGES = frozenset({"text/html", "application/xhtml+xml"})
_PAGE_RANGES = frozenset({"*/*", "text/*", "application/*"})
_CITATION_TYPES = dict.fromkeys((CSL_JSON, BIBTEX, "text/x-bibliography"), b"")


def write_json(value: object, *, pretty: bool = False) -> bytes:
    """Return JSON as the REST API writes it: UTF-8 without escapes, on one line or indented.

    Only lone surrogates, which UTF-8 cannot express, are escaped.
    """
    try:
        return _encoder(pretty, escape=False).encode(value).encode()
    except UnicodeEncodeError:
        return _encoder(pretty, escape=True).encode(value).encode()


@cache  # json.dumps creates an encoder for each call, which costs more than most answers take to write
def _encoder(pretty: bool, *, escape: bool) -> json.JSONEncoder:
    indent, separators = (2, None) if pretty else (None, (",", ":"))
    return json.JSONEncoder(
        ensure_ascii=escape, allow_nan=False, indent=indent, separators=separators
    )


def read_metadata(metadata: object) -> dict[str, bytes]:
    """Return the bodies by media type in the member ``metadata`` of an item in a file of records.

    :param metadata: for each media type its text, or JSON
    :raises ValueError: if it is something else

    >>> read_metadata({"application/x-bibtex": "@misc{a}", CSL_JSON: {"title": "A"}})
    {'application/x-bibtex': b'@misc{a}', 'application/vnd.citationstyles.csl+json': b'{"title":"A"}'}
    """
    if not isinstance(metadata, dict):
        raise ValueError(f"metadata is {metadata!r:.60}, expected an object")  # noqa: TRY004
    for name, content in metadata.items():
        if not isinstance(name, str) or len(media_ranges(name)) != 1 or "*" in name:
            raise ValueError(f"not a media type in metadata: {name!r:.80}")
        if not isinstance(content, str | dict | list):
            raise ValueError(f"metadata as {name} is {content!r:.60}, expected text or an object")  # noqa: TRY004
    return {
        name: content.encode("utf-8", "replace")
        if isinstance(content, str)
        else write_json(content)
        for name, content in metadata.items()
    }


def write_metadata(metadata: Mapping[str, bytes], accept: str) -> tuple[int, str, bytes]:
    """Return the HTTP status, the Content-Type and the body of the answer to a request for metadata.

    A media type in the Accept header selects one in ``metadata`` whose parameters do not contradict its own:
    ``text/x-bibliography; style=apa; locale=de-DE`` selects ``text/x-bibliography; style=apa``.

    :param metadata: the bodies by media type
    :param accept: the Accept header
    :returns: the status 406, "" and no body if there is nothing that it accepts; the status 302, "" and no
        body if it accepts the web page at least as well: HTML and wildcards do

    >>> write_metadata({"application/x-bibtex": b"@misc{a}"}, "application/x-bibtex")
    (200, 'application/x-bibtex', b'@misc{a}')
    >>> write_metadata({"application/x-bibtex": b"@misc{a}"}, "text/html, */*;q=0.8")
    (302, '', b'')
    """
    available = [(*media_ranges(name)[0], body) for name, body in metadata.items()]
    ranges = sorted(media_ranges(accept), key=lambda item: -item[2])
    html, wildcard = (
        max((quality for name, _, quality in ranges if name in pages), default=0.0)
        for pages in (_PAGES, _PAGE_RANGES)
    )
    for wanted, parameters, quality in ranges:
        if not quality or quality <= html or quality < wildcard:
            break
        for own, limits, _, body in available:
            if own == wanted and all(
                parameters.get(name, limit) == limit for name, limit in limits.items()
            ):
                return 200, f"{own};charset=utf-8" if own.startswith("text/") else own, body
    return 302 if html or wildcard or not ranges else 406, "", b""


@lru_cache(maxsize=256)  # clients send a few different headers
def citation_type(accept: str) -> str | None:
    """Return the media type of metadata for citations that an Accept header prefers to a page, or None."""
    return write_metadata(_CITATION_TYPES, accept)[1].partition(";")[0] or None
