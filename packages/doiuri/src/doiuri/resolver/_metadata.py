"""Metadata and citation text by content negotiation (DOI Handbook, content negotiation)."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from doiuri._resolution_errors import BadRecord, ResolverUnavailable
from doiuri.records._accept import is_accepted
from doiuri.resolver._call import run_call
from doiuri.resolver._entries import is_fresh
from doiuri.resolver.content._negotiation import host_of, negotiate
from doiuri.resolver.stores._store import Key, new_entry

if TYPE_CHECKING:
    from typing import Self

    from doiuri._doi import Handle
    from doiuri.resolver._call import Call
    from doiuri.resolver._records import Records

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
    entry = records.read([key]).get(key)
    if entry is None or not is_fresh(entry, time.time(), TTL):
        try:
            deadline += records.client.load()
            answer = run_call(doi, lambda call: _fetch(doi, media_type, records, call), deadline)
        except (ResolverUnavailable, BadRecord):
            if entry is None:
                raise
        else:
            entry = new_entry(bytes(answer), answer.content_type, TTL)
            records.write({key: entry})
    return Metadata(entry.body, entry.media_type)


def _key(base: str, doi: Handle, media_type: str) -> Key:
    if not _MEDIA_TYPE.fullmatch(media_type):
        raise ValueError(f"not a media type: {media_type!r}")
    return Key("metadata", base, doi.key, media_type)


def _fetch(doi: Handle, media_type: str, records: Records, call: Call) -> Metadata:
    reply = negotiate(doi, media_type, records, call)
    content_type = reply.headers.get("Content-Type", "")
    if not is_accepted(content_type, media_type):
        received = repr(content_type[:100]) if content_type else "no media type"
        raise BadRecord(doi, f"{host_of(reply)} sent {received} in place of {media_type!r:.200}")
    return Metadata(reply.body, content_type)
