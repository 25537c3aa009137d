"""What registration agencies say about DOIs: works, BibTeX, metadata in any media type.

Specification: DOI Handbook, content negotiation.
"""

from __future__ import annotations

import codecs
import re
import time
from abc import abstractmethod
from contextlib import suppress
from typing import TYPE_CHECKING, ClassVar

from doiuri._doi import Handle
from doiuri._errors import BadRecord, DOISyntaxError, NoValues
from doiuri._json import load
from doiuri._urls import host_of
from doiuri.bibtex import EntryScanner
from doiuri.records._negotiation import BIBTEX, CSL_JSON, CSL_TYPES, asks_for_csl, is_accepted
from doiuri.records._record import ascii_upper
from doiuri.resolver._outcome import Cause, Metadata, Outcome, Unanswered
from doiuri.resolver.http import Request
from doiuri.resolver.questions._entries import DAY
from doiuri.resolver.questions._question import Question
from doiuri.resolver.questions._records import Records
from doiuri.resolver.stores._store import JSON, MAX_AGE, NOTHING, Key, new_entry
from doiuri.rest import retry_after
from doiuri.tex import plain_text
from doiuri.works._csl import names_csl
from doiuri.works._work import Work

if TYPE_CHECKING:
    from collections.abc import Sequence

    from doiuri.resolver._sources import Sources
    from doiuri.resolver.http import Reply
    from doiuri.resolver.stores._store import Entry

MAX_SIZE = 16_000_000
"""Bytes of metadata."""

MAX_BIBTEX = 1_000_000
"""Characters of a BibTeX entry."""

# HTTP statuses of a server that has no such metadata
_NO_METADATA = frozenset({204, 404, 406})

# Without a Content-Type, this may be assumed (RFC 9110 section 8.3)
_UNKNOWN_TYPE = "application/octet-stream"

_MEDIA_TYPE = re.compile(
    r"""
    [!#$&\-^_.+*\w]+ / [!#$&\-^_.+*\w]+  # RFC 6838 section 4.2; "*" for any type
    [ -~]*                               # parameters
    """,
    re.ASCII | re.VERBOSE,
)
_WEB_PAGE = re.compile(rb"\s*<(?:!doctype|html|\?xml|head|body)\b", re.IGNORECASE)
_BEGINNING = 1000  # bytes of an answer in which a web page shows that it is one
_CONTROLS = re.compile(
    r"""
    [\x00-\x08\x0b-\x1f\x7f-\x9f]  # but "\t" and "\n"
    | [\u2028\u2029]               # line and paragraph separators
    | [\ud800-\udfff]              # lone surrogates
    """,
    re.VERBOSE,
)


class ContentQuestion(Question):
    """What the agency of a DOI says about it in one media type, one request each.

    A subclass says what to store of a reply (``entry``), and how to read that (``outcome``).
    """

    kind: ClassVar[str]
    """The kind in the store's keys."""

    accept: str
    """The media type to request."""

    type_of_none: ClassVar[str] = JSON
    """The media type of the entry which says that the agency has no such metadata."""

    def __init__(self, base: str) -> None:
        super().__init__(base)
        self._records = Records(base)

    @abstractmethod
    def entry(self, doi: Handle, reply: Reply) -> Entry:
        """Return what to store of a reply whose HTTP status is 200.

        :raises NoValues: if the reply says nothing about the work.
        :raises BadRecord: if the reply is not such metadata, or cannot be read.
        """

    @abstractmethod
    def outcome(self, doi: Handle, entry: Entry) -> Outcome:
        """Return what an entry says.

        :raises BadRecord: or UnicodeDecodeError, if the entry was not written by us.
        """

    def says_none(self, entry: Entry) -> bool:
        """Return whether an entry says that there is no such metadata."""
        return entry.says_none

    def content_key(self, doi: Handle) -> Key:
        """Return the key of the metadata, or of the answer that there are none."""
        return Key(self.kind, self.base, doi.key)

    def keys(self, doi: Handle) -> list[Key]:
        """Return the keys of the metadata and of the record, which may say that the DOI does not exist."""
        return [self.content_key(doi), self._records.key(doi)]

    def read(self, doi: Handle, entries: Sequence[Entry | None]) -> Outcome | None:
        """Return what the entry of the metadata says or, without one, that the DOI does not exist."""
        content, record = entries
        if content is not None:
            if self.says_none(content):
                detail = f"the registration agency has no metadata as {self.accept}"
                return Outcome(doi, "no-values", cause=Cause("no-values", detail=detail))
            with suppress(BadRecord, UnicodeDecodeError):  # it was not written by us
                return self.outcome(doi, content)

        existence = self._records.read(doi, record)
        if existence is not None and existence.status == "not-found":
            return existence
        return None

    def request(self, doi: Handle, sources: Sources) -> Outcome:
        """Request the metadata of a DOI.

        :raises NoValues: only if the server says now that the DOI exists.
        :raises BadRecord: if the metadata cannot be read, or are those of another DOI.
        """
        key = self.content_key(doi)
        try:
            reply = self._get(doi, sources)
            entry = self.entry(doi, reply)
        except NoValues:
            # A captive portal or a filter answers any request like this. A record that is requested now shows
            # that the server was reached; one in the store would not.
            with suppress(NoValues):  # the name exists
                self._records.request(doi, sources)
            sources.keep(key, new_entry(NOTHING, self.type_of_none, DAY))
            raise

        outcome = self.outcome(doi, entry)  # as it will be read from the store
        named = _named_doi(entry.media_type, reply)
        if named is not None and not self._leads_to(doi, named, sources):
            raise BadRecord(doi, f"{host_of(reply.url)} sent the metadata of {named.name}")
        sources.keep(key, entry)
        return outcome

    def _get(self, doi: Handle, sources: Sources) -> Reply:
        """Return the reply to a request for metadata, whose HTTP status is 200.

        Redirects may lead to any server that is not in a private network: there is no list of the agencies'
        servers, and an agency without content negotiation leaves it to the landing page.

        :raises NoValues: if the last server says that it has no such metadata, or that there is no such DOI.
        :raises ResolverUnavailable: if there is no answer.
        """
        request = Request(doi.link(self.base), self.accept, MAX_SIZE, any_host=True)
        reply = sources.get(doi, request, lambda reply: reply)
        host = host_of(reply.url)

        if reply.status in _NO_METADATA:
            detail = f"HTTP status {reply.status} from {host}"
            raise NoValues(doi, f"not available as {self.accept} ({detail})")
        if reply.status != 200:
            detail = f"HTTP status {reply.status}"
            wait = retry_after(reply.headers, time.time())
            raise Unanswered(doi, Cause("status", host, reply.status, detail, wait))
        return reply

    def _leads_to(self, doi: Handle, named: Handle, sources: Sources) -> bool:
        """Return whether a DOI is another one, or an alias of it: only then their metadata are the same."""
        if named.key == doi.key:
            return True
        with suppress(NoValues):
            for current in self._records.chain(doi, sources):
                if ascii_upper(current.record.alias or "") == named.key:
                    return True
        return False

    def refuse_web_page(self, doi: Handle, reply: Reply) -> None:
        """Raise an error if a reply is no metadata, whatever its Content-Type says.

        :raises NoValues: if it is a web page, or other XML.
        :raises BadRecord: if it is empty.
        """
        beginning = reply.body[:_BEGINNING].removeprefix(codecs.BOM_UTF8)
        if _WEB_PAGE.match(beginning):
            raise NoValues(doi, f"not available as {self.accept} (the answer is a web page)")
        if not reply.body.strip():
            raise BadRecord(doi, f"the answer is empty, expected {self.accept}")


class WorkQuestion(ContentQuestion):
    """The work that a DOI names, as CSL-JSON with the members that we use."""

    kind = "work"
    accept = CSL_JSON

    def entry(self, doi: Handle, reply: Reply) -> Entry:
        """Return the CSL-JSON of a reply, with the members that we use."""
        self.refuse_web_page(doi, reply)
        if not _shows_csl(reply):
            raise _OtherMediaTypeError(doi, reply, self.accept)
        work = Work.from_json(reply.body, doi=doi)
        if work.is_empty:
            raise NoValues(doi, "the metadata has neither title nor names")
        return new_entry(work.to_json().encode(), self.accept, MAX_AGE)

    def outcome(self, doi: Handle, entry: Entry) -> Outcome:
        return Outcome(doi, "found", work=Work.from_json(entry.body.decode(), doi=doi))


class BibTeXQuestion(ContentQuestion):
    """The BibTeX entry of a DOI."""

    kind = "bibtex"
    accept = BIBTEX

    def entry(self, doi: Handle, reply: Reply) -> Entry:
        """Return the BibTeX of a reply as UTF-8, without control characters."""
        self.refuse_web_page(doi, reply)
        text = _CONTROLS.sub("", _metadata(reply).text).strip()
        if not text.startswith("@") or len(text) > MAX_BIBTEX:
            raise BadRecord(doi, f"the answer is not BibTeX: {text[:40]!r}")
        return new_entry(text.encode(), self.accept, MAX_AGE)

    def outcome(self, doi: Handle, entry: Entry) -> Outcome:
        entry.body.decode()  # raises UnicodeDecodeError if another program wrote it
        return Outcome(doi, "found", metadata=Metadata(entry.body, entry.media_type))


class MetadataQuestion(ContentQuestion):
    """The metadata of a DOI in any media type; even a web page or an empty body may be asked for.

    :raises ValueError: if it is not a media type.
    """

    kind = "metadata"
    type_of_none = ""  # unlike any answer: the JSON value null with a type is one

    def __init__(self, base: str, media_type: str) -> None:
        if not _MEDIA_TYPE.fullmatch(media_type):
            raise ValueError(f"not a media type: {media_type!r}")
        super().__init__(base)
        self.accept = media_type

    def content_key(self, doi: Handle) -> Key:
        return Key(self.kind, self.base, doi.key, self.accept)

    def request(self, doi: Handle, sources: Sources) -> Outcome:
        """Request the metadata of a DOI. An answer of another media type is in the outcome, too."""
        try:
            return super().request(doi, sources)
        except _OtherMediaTypeError as error:
            return Outcome.from_error(doi, error)._replace(metadata=error.metadata)

    def entry(self, doi: Handle, reply: Reply) -> Entry:
        """Return the reply as it is.

        :raises BadRecord: with the reply, if it is of a media type that was not asked for.
        """
        content_type = _metadata(reply).content_type
        if asks_for_csl(self.accept):
            is_wanted = _shows_csl(reply)
        else:
            is_wanted = is_accepted(content_type, self.accept)
        if not is_wanted:
            raise _OtherMediaTypeError(doi, reply, self.accept)
        return new_entry(reply.body, content_type or _UNKNOWN_TYPE, DAY)

    def outcome(self, doi: Handle, entry: Entry) -> Outcome:
        return Outcome(doi, "found", metadata=Metadata(entry.body, entry.media_type))

    def says_none(self, entry: Entry) -> bool:
        return entry.says_none and entry.media_type == self.type_of_none


class _OtherMediaTypeError(BadRecord):
    """An answer is of a media type that was not asked for."""

    def __init__(self, doi: Handle, reply: Reply, accept: str) -> None:
        self.metadata = _metadata(reply)
        content_type = self.metadata.content_type
        received = repr(content_type[:100]) if content_type else "no media type"
        super().__init__(doi, f"{host_of(reply.url)} sent {received} in place of {accept!r:.200}")


def _metadata(reply: Reply) -> Metadata:
    """Return the body of a reply with its Content-Type, which is "" if it has none."""
    return Metadata(reply.body, reply.headers.get("Content-Type", ""))


def _shows_csl(reply: Reply) -> bool:
    """Return whether a reply shows that it is CSL-JSON, by its media type or by its content.

    The sign-in of a network and the rate limit of a gateway are JSON, too.
    """
    if _essence(_metadata(reply).content_type) in CSL_TYPES:
        return True
    with suppress(ValueError):
        return names_csl(load(reply.body))
    return False


def _named_doi(media_type: str, reply: Reply) -> Handle | None:
    """Return the DOI that CSL-JSON or BibTeX names as its own; None if it names none, or is another type."""
    essence = _essence(media_type)
    with suppress(BadRecord, DOISyntaxError):
        if essence == CSL_JSON:
            return Work.from_json(reply.body).doi
        if essence == BIBTEX:
            return _doi_field(_metadata(reply).text)
    return None


def _essence(media_type: str) -> str:
    """Return a media type without its parameters: "Text/HTML; charset=utf-8" is "text/html"."""
    return media_type.partition(";")[0].strip().lower()


def _doi_field(bibtex: str) -> Handle | None:
    """Return the DOI in the first field for it, or None if there is none.

    :raises DOISyntaxError: if the field has something else.
    """
    scanner = EntryScanner(bibtex)
    for _, limit in scanner.entries():
        for field in scanner.fields(limit):
            if field.name == "doi":
                return Handle.parse(plain_text(scanner.text_of(field.value)))
    return None
