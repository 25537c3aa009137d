"""Records and metadata as entries of a store: what to request, how to check the answer, what to keep.

Specification: DOI Handbook, content negotiation.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from doiuri._errors import BadRecord, DOINotFound, NoValues, ResolutionError
from doiuri._json import dump
from doiuri.records._negotiation import BIBTEX as BIBTEX_TYPE
from doiuri.records._negotiation import CSL_JSON, is_accepted
from doiuri.records._record import Record
from doiuri.records._work import Work
from doiuri.resolver._outcome import Cause, Metadata, Outcome
from doiuri.resolver.http._client import host_of
from doiuri.resolver.stores._store import JSON, MAX_AGE, Entry, Key, new_entry
from doiuri.rest._client import ResponseCode, read_record

if TYPE_CHECKING:
    from collections.abc import Callable

    from doiuri._doi import Handle
    from doiuri.resolver.http._request import Reply

NEGATIVE_TTL = 3600.0
"""Seconds for which a negative answer is fresh."""

DEFAULT_TTL = 86400.0
"""Seconds for which a record without a TTL is fresh: the usual TTL in the DOI system."""

_SUCCESS = b'{"responseCode":1,'

MAX_SIZE = 16_000_000
"""Bytes of an answer."""

MAX_BIBTEX = 1_000_000
"""Characters of a BibTeX entry."""

NOTHING_TTL = 86400.0
"""Seconds for which that is remembered."""

METADATA_TTL = 86400.0
"""Seconds for which an answer of any other media type is fresh; it does not say so itself."""

_MEDIA_TYPE = re.compile(r"[!#$&\-^_.+*\w]+/[!#$&\-^_.+*\w]+[ -~]*", re.ASCII)
_PAGE = re.compile(rb"\s*<(?:!doctype|html|\?xml|head|body)\b", re.IGNORECASE)
_CONTROLS = re.compile(r"[^\S \n\t]|[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


def record_key(base: str, doi: Handle) -> Key:
    """Return the store's key of a record."""
    return Key("record", base, doi.key)


def exists_key(base: str, doi: Handle) -> Key:
    """Return the store's key of the answer that a DOI exists, and which agency registered it."""
    return Key("exists", base, doi.key)


def is_fresh(entry: Entry, now: float) -> bool:
    """Return whether an entry is fresh at ``now``, in Unix time; at 0 every entry is."""
    return entry.expires > now or not now


def record_entry(record: Record) -> Entry:
    """Return the entry of a record."""
    ttl = DEFAULT_TTL if record.ttl is None else min(record.ttl, MAX_AGE)
    return new_entry(record.to_json().encode(), JSON, ttl)


def negative_entry(doi: Handle, error: ResolutionError) -> Entry:
    """Return the entry of a negative answer: DOINotFound or NoValues."""
    code = ResponseCode.HANDLE_NOT_FOUND if isinstance(error, DOINotFound) else ResponseCode.VALUE_NOT_FOUND
    body = dump({"responseCode": code, "handle": doi.name, "values": []})
    return new_entry(body.encode(), JSON, NEGATIVE_TTL)


def read_entry(doi: Handle, entry: Entry | None, now: float) -> Outcome | None:
    """Return what an entry that is fresh at ``now`` says about a name.

    None if it is stale, or was not written by us: other programs may have access to the store.
    """
    if entry is None or not is_fresh(entry, now):
        return None
    try:
        if entry.body.startswith(_SUCCESS):
            return Outcome(doi, "found", Record.deferred(doi, entry.body))
        return Outcome(doi, "found", read_record(doi, 200, entry.body))
    except (DOINotFound, NoValues) as error:
        return Outcome.from_error(doi, error)
    except ResolutionError:
        return None


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of metadata.

    :param name: the kind in the store's keys.
    :param accept: the Accept header.
    :param media_type: the media type of what is stored; None: that of the answer.
    :param check: returns what to store of a reply.
    :param value: returns what an outcome has of what is stored, by the name of the member.
    :param detail: the detail in the store's keys.
    :param lifetime: seconds for which an answer is fresh.
    """

    name: str
    accept: str
    media_type: str | None
    check: Callable[[Handle, Reply], bytes]
    value: Callable[[Handle, Entry], dict[str, Any]]
    detail: str = ""
    lifetime: float = MAX_AGE

    def key(self, base: str, doi: Handle) -> Key:
        """Return the store's key."""
        return Key(self.name, base, doi.key, self.detail)

    def entry(self, doi: Handle, reply: Reply) -> Entry:
        """Return what to store of a reply with HTTP status 200.

        :raises NoValues: if it is a web page, or there is nothing in it: the agency has no such metadata.
        :raises BadRecord: if it cannot be read.
        """
        if self.media_type is not None and _PAGE.match(reply.body[:1000].removeprefix(b"\xef\xbb\xbf")):
            raise NoValues(doi, f"not available as {self.accept} (the answer is a web page)")
        if self.media_type is not None and not reply.body.strip():
            raise BadRecord(doi, f"the answer is empty, expected {self.accept}")
        body, media_type = self.check(doi, reply), self.media_type or _content_type(reply)
        return new_entry(body, media_type, self.lifetime)

    def read(self, doi: Handle, entry: Entry | None, now: float) -> Outcome | None:
        """Return what an entry that is fresh at ``now`` says; at 0 every entry is fresh.

        None if it says nothing: it is stale, or not one of ours. A stale entry without metadata says nothing.
        """
        if entry is None:
            return None
        if entry.says_none and self.media_type is not None:
            if not now or not is_fresh(entry, now):
                return None
            detail = f"the registration agency has no metadata as {self.accept}"
            return Outcome(doi, "no-values", cause=Cause("no-values", detail=detail))
        if not is_fresh(entry, now):
            return None
        try:
            return Outcome(doi, "found", **self.value(doi, entry))
        except (BadRecord, UnicodeDecodeError):  # not written by us: ask again
            return None


def _content_type(reply: Reply) -> str:
    return reply.headers.get("Content-Type", "")


def _text_of(reply: Reply) -> str:
    return Metadata(reply.body, _content_type(reply)).text


def _check_work(doi: Handle, reply: Reply) -> bytes:
    work = Work.from_json(reply.body, doi=doi)
    if work.is_empty:
        raise NoValues(doi, "the metadata has neither title nor names")
    return work.to_json().encode()


def _work(doi: Handle, entry: Entry) -> dict[str, Any]:
    return {"work": Work.from_json(entry.body.decode(), doi=doi)}


def _check_bibtex(doi: Handle, reply: Reply) -> bytes:
    text = _CONTROLS.sub("", _text_of(reply).replace("\r\n", "\n")).strip()
    if not text.startswith("@") or len(text) > MAX_BIBTEX:
        raise BadRecord(doi, f"the answer is not BibTeX: {text[:40]!r}")
    return text.encode()


def _bibtex(_doi: Handle, entry: Entry) -> dict[str, Any]:
    return {"metadata": Metadata(entry.body.decode().encode(), entry.media_type)}


WORK = Kind("work", CSL_JSON, CSL_JSON, _check_work, _work)
BIBTEX = Kind("bibtex", BIBTEX_TYPE, BIBTEX_TYPE, _check_bibtex, _bibtex)


def metadata_kind(media_type: str) -> Kind:
    """Return the kind of metadata of any media type.

    :raises ValueError: if it is not a media type.
    """
    if not _MEDIA_TYPE.fullmatch(media_type):
        raise ValueError(f"not a media type: {media_type!r}")

    def check(doi: Handle, reply: Reply) -> bytes:
        content_type = _content_type(reply)
        if not is_accepted(content_type, media_type):
            received = repr(content_type[:100]) if content_type else "no media type"
            raise BadRecord(doi, f"{host_of(reply)} sent {received} in place of {media_type!r:.200}")
        return reply.body

    def value(_doi: Handle, entry: Entry) -> dict[str, Any]:
        return {"metadata": Metadata(entry.body, entry.media_type)}

    return Kind("metadata", media_type, None, check, value, media_type, METADATA_TTL)
