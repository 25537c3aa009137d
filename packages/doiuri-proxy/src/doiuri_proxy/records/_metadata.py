"""Metadata in files of records, and content negotiation.

Specification: DOI Handbook, content negotiation.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from doiuri.rest import BIBTEX, CSL_JSON, media_ranges, write_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    # A media type, its parameters and its quality
    MediaRange = tuple[str, Mapping[str, str], float]

_PAGES = frozenset({"text/html", "application/xhtml+xml"})
_PAGE_RANGES = frozenset({"*/*", "text/*", "application/*"})  # which include a page
_CITATION_TYPES = dict.fromkeys((CSL_JSON, BIBTEX, "text/x-bibliography"), b"")  # no content


class MetadataAnswer(NamedTuple):
    """The answer to a request for metadata."""

    #: 200; 406 if no metadata is of a type in the Accept header; 302 if the header accepts the web page
    status: int
    #: the header Content-Type; "" if another server sent none
    content_type: str = ""
    body: bytes = b""
    #: with status 406, the media types in which there is metadata
    available: tuple[str, ...] = ()


def read_metadata(metadata: object) -> dict[str, bytes]:
    """Return the bodies by media type in the member ``metadata`` of an item in a file of records.

    :param metadata: the text, or the JSON, of each media type
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
    return {name: _body(content) for name, content in metadata.items()}


def _body(content: object) -> bytes:
    """Return text in UTF-8, anything else as JSON."""
    if isinstance(content, str):
        return content.encode("utf-8", "replace")
    return write_json(content)


def write_metadata(metadata: Mapping[str, bytes], accept: str) -> MetadataAnswer:
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
    available = {name: media_ranges(name)[0] for name in metadata}
    ranges = sorted(media_ranges(accept), key=_quality, reverse=True)
    html = _quality_of(_PAGES, ranges)
    wildcard = _quality_of(_PAGE_RANGES, ranges)
    for media_range in ranges:
        # At the same quality, a page wins if HTML is named; beside "*/*", the media type that is named does.
        if _quality(media_range) <= html or _quality(media_range) < wildcard:
            continue
        for name, (media_type, parameters, _) in available.items():
            if _selects(media_range, media_type, parameters):
                charset = ";charset=utf-8" if media_type.startswith("text/") else ""
                return MetadataAnswer(200, media_type + charset, metadata[name])

    if html or wildcard or not ranges:  # without a header, everything is accepted
        return MetadataAnswer(302)
    return MetadataAnswer(406, available=tuple(metadata))


def _quality_of(names: frozenset[str], ranges: Iterable[MediaRange]) -> float:
    """Return the highest quality of the media ranges with one of these names; 0 without one."""
    return max((quality for name, _, quality in ranges if name in names), default=0.0)


def _quality(media_range: MediaRange) -> float:
    return media_range[2]


def _selects(media_range: MediaRange, media_type: str, parameters: Mapping[str, str]) -> bool:
    """Return whether a media range selects a media type: no parameter of one contradicts the other's."""
    accepted_type, accepted_parameters, _ = media_range
    if accepted_type != media_type:
        return False
    return all(accepted_parameters.get(name, value) == value for name, value in parameters.items())


@lru_cache(maxsize=256)  # clients send a few different headers
def citation_type(accept: str) -> str | None:
    """Return the media type of metadata for citations that an Accept header prefers to a page, or None."""
    content = write_metadata(_CITATION_TYPES, accept)
    media_type, _, _ = content.content_type.partition(";")
    return media_type or None


def accepts_page(accept: str) -> bool:
    """Return whether an Accept header accepts the web page."""
    return write_metadata({}, accept).status == 302


def is_page(content_type: str) -> bool:
    """Return whether a Content-Type is that of a web page."""
    return any(name in _PAGES for name, _, _ in media_ranges(content_type))
