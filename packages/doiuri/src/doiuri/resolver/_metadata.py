"""Metadata and citation text by content negotiation (DOI Handbook, content negotiation)."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from doiuri._resolution_errors import BadRecord, NoValues, ResolverUnavailable
from doiuri.resolver._call import run_call
from doiuri.resolver._entries import is_fresh
from doiuri.resolver.http._request import Request
from doiuri.resolver.stores._store import new_entry
from doiuri.rest._client import retry_after

if TYPE_CHECKING:
    from typing import Self

    from doiuri._doi import Handle
    from doiuri.resolver._call import Call
    from doiuri.resolver._records import Records
    from doiuri.resolver.http._request import Reply

MAX_SIZE = 16_000_000
"""Bytes of an answer."""

TTL = 86400.0
"""Seconds for which an answer is fresh; it does not say so itself."""

_MEDIA_TYPE = re.compile(r"[!#$&\-^_.+*\w]+/[!#$&\-^_.+*\w]+[ -~]*", re.ASCII)


class Metadata(bytes):
    """The answer of a registration agency: bytes, and their media type.

    >>> bibtex = Metadata(b"@article{...}", "application/x-bibtex")
    >>> bibtex.decode(), bibtex.content_type
    ('@article{...}', 'application/x-bibtex')
    """

    content_type: str
    """The Content-Type of the answer."""

    def __new__(cls, body: bytes, content_type: str) -> Self:
        """Return the body with its content type."""
        self = super().__new__(cls, body)
        self.content_type = content_type
        return self

    def __reduce__(self) -> tuple[type[Metadata], tuple[bytes, str]]:
        return Metadata, (bytes(self), self.content_type)


def metadata(doi: Handle, media_type: str, records: Records, deadline: float) -> Metadata:
    """Return the metadata of a DOI, from the store if possible; see ``Resolver.metadata``."""
    key = _key(records.client.base, doi, media_type)
    entry = records.store.get(key)
    if entry is None or not is_fresh(entry, time.time(), TTL):
        try:
            deadline += records.client.load()
            answer = run_call(doi, lambda call: _negotiate(doi, media_type, records, call), deadline)
        except (ResolverUnavailable, BadRecord):
            if entry is None:
                raise
        else:
            entry = new_entry(bytes(answer), answer.content_type, TTL)
            records.store.put_many({key: entry})
    return Metadata(entry.body, entry.media_type)


def _key(base: str, doi: Handle, media_type: str) -> str:
    if not _MEDIA_TYPE.fullmatch(media_type):
        raise ValueError(f"not a media type: {media_type!r}")
    return f"metadata {media_type} {base} {doi.key}"


def _negotiate(doi: Handle, media_type: str, records: Records, call: Call) -> Metadata:
    request = Request(doi.link(records.client.base), media_type, MAX_SIZE, any_host=True)
    reply = records.client.get(doi, request, call, lambda reply: reply)
    content_type = reply.headers.get("Content-Type", "")
    if reply.status == 404:
        # Any server on the way may send it; only the REST API can say that the DOI does not exist
        records.fetch(doi, call)
    if reply.status in {204, 404, 406}:
        raise NoValues(doi, f"not available as {media_type} (HTTP status {reply.status})")
    if reply.status != 200:
        wait = retry_after(reply.headers, time.time())
        raise ResolverUnavailable(doi, f"HTTP status {reply.status} from {_host(reply)}", reply.status, wait)
    if "html" in content_type.lower() and "html" not in media_type.lower() and "*" not in media_type:
        raise BadRecord(doi, f"{_host(reply)} sent a web page instead of {media_type}")
    return Metadata(reply.body, content_type)


def _host(reply: Reply) -> str:
    return reply.url.split("/")[2]
