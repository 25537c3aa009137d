"""For your own tests: a check of DOIs, and a Resolver with given records, in process and without sockets.

It needs ``doiuri[testing]``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from doiuri._encoding import decode
from doiuri._json import load
from doiuri.records._negotiation import read_metadata, wants_record, write_metadata
from doiuri.records._record import Record, Value, ascii_upper
from doiuri.resolver import Reply, Resolver
from doiuri.rest._client import ResponseCode
from doiuri.rest.server import (
    JSON_TYPE,
    agency_of,
    read_indexes,
    select,
    write_agencies,
    write_error,
    write_record,
)
from doiuri.testing._registered import assert_registered

if TYPE_CHECKING:
    from doiuri.resolver import Request
    from doiuri.rest._client import AgencyStatus

    Records = str | os.PathLike[str] | Mapping[str, Any] | Iterable[Mapping[str, Any] | Record]

__all__ = ["assert_registered", "resolver_for"]

_SERVICE = re.compile(r"/(api/handles|doiRA)/(.*)")  # search finds the first: a name may contain "/doiRA/"
_LINK = re.compile(r"/(10[./].*)")


def resolver_for(records: Records, **options: Any) -> Resolver:
    """Return a Resolver that knows only the given records: other names are not found.

    It answers requests for records, for registration agencies, and for the metadata in the records' member
    ``metadata``: texts or JSON by media type.

    :param records: a list of records, each as the REST API writes it or a ``Record``; a mapping
        ``{"records": […], "agencies": {prefix: name}}``; or the path of a JSON file with either
    :param options: options of the Resolver. By default nothing is stored, the rate is not limited, and
        ``DOIURI_OFFLINE`` does not count, since there are no requests to a server
    :raises ValueError: if something is not a record

    >>> url = {"index": 1, "type": "URL", "data": {"format": "string", "value": "https://example.org/"}}
    >>> resolver = resolver_for([{"handle": "10.1000/182", "values": [url]}])
    >>> resolver.resolve("10.1000/182").url
    'https://example.org/'
    >>> bibtex = {"application/x-bibtex": "@misc{doi:10.1000/182}"}
    >>> resolver_for([{"handle": "10.1000/182", "values": [url], "metadata": bibtex}]).bibtex("10.1000/182")
    '@misc{doi:10.1000/182}'
    """
    try:
        transport = _RecordsTransport(records)
    except (TypeError, AttributeError) as error:
        raise ValueError(f"records cannot be read: {error}") from None
    defaults = {"store": None, "rate": None, "offline": False, "transport": transport}
    return Resolver(**(defaults | options))


class _RecordsTransport:
    """A transport that answers as a DOI proxy with these records does."""

    def __init__(self, records: Records) -> None:
        content: Any = records
        if isinstance(records, (str, os.PathLike)):
            content = load(Path(records).read_bytes())
        agencies: Mapping[str, str] = {}
        if isinstance(content, Mapping):
            agencies = content.get("agencies", {})
            content = [content] if "handle" in content else content.get("records", [])
        items = list(content)
        self._values = dict(pair for item in items if (pair := _read(item)) is not None)
        self._metadata = {
            ascii_upper(item["handle"]): read_metadata(item["metadata"])
            for item in items
            if isinstance(item, Mapping) and "metadata" in item
        }
        self._agencies = {ascii_upper(prefix): name for prefix, name in agencies.items()}

    def get(self, request: Request) -> Reply:
        """Answer a request to the REST API or to Which RA, or for metadata."""
        request.remaining()
        parts = urlsplit(request.url)
        service = _SERVICE.search(parts.path) if wants_record(request.accept) else None
        if service is None:
            return self._content(parts.path, request)
        if service[1] == "doiRA":
            status, body = write_agencies(self._agency(decode(name)) for name in service[2].split(","))
        else:
            status, body = self._record(decode(service[2]), parse_qs(parts.query))
        return Reply(status, {"Content-Type": JSON_TYPE}, body, request.url)

    def _content(self, path: str, request: Request) -> Reply:
        link = _LINK.search(path)
        name = ascii_upper(decode(link[1])) if link else ""
        if name not in self._values:
            return Reply(404, {}, b"", request.url)
        status, content_type, body = write_metadata(self._metadata.get(name, {}), request.accept)
        return Reply(status, {"Content-Type": content_type}, body, request.url)

    def _record(self, name: str, query: Mapping[str, list[str]]) -> tuple[int, bytes]:
        values = self._values.get(ascii_upper(name))
        if values is None:
            return write_error(ResponseCode.HANDLE_NOT_FOUND, name=name)
        return write_record(name, select(values, query.get("type", ()), read_indexes(query.get("index", ()))))

    def _agency(self, name: str) -> tuple[str, str | None, AgencyStatus]:
        if "/" in name and ascii_upper(name) not in self._values:
            return name, None, "not-found"
        agency = agency_of(name, self._agencies)
        return name, agency, "found" if agency else "unknown"


def _read(item: object) -> tuple[str, tuple[Value, ...]] | None:
    """Return the key and the values of any handle's record; None for a recorded "not found"."""
    if isinstance(item, Record):
        return item.doi.key, item.values
    if not isinstance(item, Mapping) or not isinstance(item.get("handle"), str):
        raise ValueError(f"not a record: {item!r:.60}")  # noqa: TRY004 - one kind of error for all flaws
    if item.get("responseCode", 1) == ResponseCode.HANDLE_NOT_FOUND:
        return None
    return ascii_upper(item["handle"]), tuple(map(Value.from_json, item.get("values", ())))
