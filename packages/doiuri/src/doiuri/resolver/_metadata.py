"""Metadata and citation text, by content negotiation (DOI Handbook, content negotiation)."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from doiuri._resolution_errors import BadRecord, NoValues, ResolverUnavailable
from doiuri.resolver._outcome import Question
from doiuri.resolver.http._transport import Request
from doiuri.resolver.stores._store import Entry
from doiuri.rest._client import retry_after

if TYPE_CHECKING:
    from typing import Self

    from doiuri._doi import Handle
    from doiuri.resolver._records import Records
    from doiuri.resolver._workers import Job
    from doiuri.resolver.http._client import Client
    from doiuri.resolver.http._transport import Reply

LIMIT = 16_000_000
"""Octets of an answer."""

LIFETIME = 86400.0
"""Seconds for which an answer is believed: it says nothing of that itself."""

_MEDIA_TYPE = re.compile(r"[!#$&\-^_.+*\w]+/[!#$&\-^_.+*\w]+[ -~]*", re.ASCII)


class Metadata(bytes):
    """What the registration agency answered: the body, and its ``content_type``."""

    content_type: str

    def __new__(cls, body: bytes, content_type: str) -> Self:
        """Return the body with its content type."""
        self = super().__new__(cls, body)
        self.content_type = content_type
        return self

    def __reduce__(self) -> tuple[type[Metadata], tuple[bytes, str]]:
        return Metadata, (bytes(self), self.content_type)


def metadata_key(base: str, doi: Handle, media_type: str) -> str:
    """Under which key the store has it; raises ValueError for what is no media type."""
    if not _MEDIA_TYPE.fullmatch(media_type):
        raise ValueError(f"not a media type: {media_type!r}")
    return f"metadata {media_type} {base} {doi.key}"


def negotiate(
    doi: Handle, media_type: str, client: Client, records: Records, job: Job, deadline: float
) -> Metadata:
    """Ask for the metadata of ``doi``; runs within a crew's job, raises what Resolver.negotiate raises."""
    request = Request(doi.link(client.base), media_type, LIMIT, elsewhere=True)
    reply = client.get(doi, request, job, deadline)
    kind = reply.headers.get("Content-Type", "")
    if reply.status == 404:
        # many servers had a say on the way: only the REST API can say that there is no such DOI
        records.ask(doi, job, deadline, Question(doi))
    if reply.status in {204, 404, 406}:
        raise NoValues(doi, f"nothing of the type {media_type} (HTTP status {reply.status})")
    if reply.status != 200:
        wait = retry_after(reply.headers, time.time())
        raise ResolverUnavailable(doi, f"HTTP status {reply.status} from {_host(reply)}", reply.status, wait)
    if "html" in kind.lower() and "html" not in media_type.lower() and "*" not in media_type:
        raise BadRecord(doi, f"a web page of {_host(reply)}, not {media_type}")
    return Metadata(reply.body, kind)


def metadata_entry(answer: Metadata) -> Entry:
    """The answer as it is stored."""
    return Entry(bytes(answer), answer.content_type, time.time() + LIFETIME)


def _host(reply: Reply) -> str:
    return reply.url.split("/")[2]
