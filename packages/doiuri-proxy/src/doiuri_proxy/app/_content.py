"""Content negotiation: ``GET /<doi>`` with an Accept header that asks for metadata.

DOI Handbook, content negotiation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from doiuri.records import locations_of
from doiuri.rest import write_metadata

from doiuri_proxy.app import _pages
from doiuri_proxy.app._http import Response

if TYPE_CHECKING:
    from doiuri_proxy.records._source import PublicValues, Source

_FOR_SCRIPTS = ("Access-Control-Allow-Origin", "*")  # those of pages from other origins
_NEGOTIATION = {"ctype", "http_role", "media-type"}  # attributes of locations


async def answer(handle: str, record: PublicValues, accept: str, source: Source) -> Response | None:
    """Return metadata, or 406 if none of it is accepted; None if the answer is a redirect.

    Raises SourceError.
    """
    redirects = _has_negotiated_locations(handle, record)
    if redirects and not record.has_metadata:
        return None
    metadata = await source.metadata(handle, accept)
    status, content_type, body = write_metadata(metadata, accept, page=True)
    if status == 302 or (status == 406 and redirects):
        return None
    if status == 406:
        return varying(_pages.not_acceptable(handle, metadata))
    return varying(Response(200, body, content_type, (*_pages.SECURITY, _FOR_SCRIPTS)))


def varying(response: Response) -> Response:
    """Return the response with the header that names what it depends on."""
    vary = ("Vary", "Accept")
    return response if vary in response.headers else response.with_headers(vary)


def _has_negotiated_locations(handle: str, record: PublicValues) -> bool:
    """Return whether the Accept header chooses among the locations of a record."""
    return any(_NEGOTIATION & location.attributes.keys() for location in locations_of(record.values, handle))
