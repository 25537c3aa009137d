"""Metadata in files of records, and content negotiation.

Specification: DOI Handbook, content negotiation.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from doiuri.rest import BIBTEX, CSL_JSON, media_ranges, write_json

if TYPE_CHECKING:
    from collections.abc import Mapping

_PAGES = frozenset({"text/html", "application/xhtml+xml"})
_PAGE_RANGES = frozenset({"*/*", "text/*", "application/*"})
_CITATION_TYPES = dict.fromkeys((CSL_JSON, BIBTEX, "text/x-bibliography"), b"")


class Content(NamedTuple):
    """The answer to a request for metadata."""

    #: 200; 406 if there is nothing that the Accept header names; 302 if the web page will do
    status: int
    #: the header Content-Type; "" if another server sent none
    content_type: str = ""
    body: bytes = b""
    #: with status 406, the media types of the metadata that there is
    available: tuple[str, ...] = ()


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


def write_metadata(metadata: Mapping[str, bytes], accept: str) -> Content:
    """Return the answer to a request for metadata.

    A media type in the Accept header selects one in ``metadata`` whose parameters do not contradict its own:
    ``text/x-bibliography; style=apa; locale=de-DE`` selects ``text/x-bibliography; style=apa``.

    :param metadata: the bodies by media type
    :param accept: the Accept header
    :returns: with status 302 if the header accepts the web page at least as well: HTML and wildcards do

    >>> write_metadata({"application/x-bibtex": b"@misc{a}"}, "application/x-bibtex").content_type
    'application/x-bibtex'
    >>> write_metadata({"application/x-bibtex": b"@misc{a}"}, "text/html, */*;q=0.8").status
    302
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
                content_type = f"{own};charset=utf-8" if own.startswith("text/") else own
                return Content(200, content_type, body)
    if html or wildcard or not ranges:
        return Content(302)
    return Content(406, available=tuple(metadata))


@lru_cache(maxsize=256)  # clients send a few different headers
def citation_type(accept: str) -> str | None:
    """Return the media type of metadata for citations that an Accept header prefers to a page, or None."""
    return write_metadata(_CITATION_TYPES, accept).content_type.partition(";")[0] or None


def accepts_page(accept: str) -> bool:
    """Return whether the web page will do for an Accept header."""
    return write_metadata({}, accept).status == 302


def is_page(content_type: str) -> bool:
    """Return whether a Content-Type is that of a web page."""
    return any(name in _PAGES for name, _, _ in media_ranges(content_type))
