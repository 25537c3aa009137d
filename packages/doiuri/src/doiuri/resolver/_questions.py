"""What can be asked about DOIs: their records, whether they exist, their metadata.

A question knows its keys in the store, what to request, how to read the answer, and what to store of it.
Specification: DOI Handbook, content negotiation.
"""

from __future__ import annotations

import codecs
import re
import time
from abc import ABC, abstractmethod
from contextlib import suppress
from functools import partial
from math import inf
from typing import TYPE_CHECKING, ClassVar

from doiuri._doi import Handle, ShortDOI
from doiuri._errors import (
    BadRecord,
    DOINotFound,
    DOISyntaxError,
    NoValues,
    ResolutionError,
    ResolverUnavailable,
)
from doiuri._json import dump, load
from doiuri._urls import host_of
from doiuri.bibtex import EntryScanner
from doiuri.records import select
from doiuri.records._negotiation import BIBTEX, CSL_JSON, CSL_TYPES, asks_for_csl, is_accepted
from doiuri.records._record import Record, ascii_upper
from doiuri.resolver._outcome import Cause, Metadata, Outcome, Unanswered
from doiuri.resolver.http import Request
from doiuri.resolver.stores._store import JSON, MAX_AGE, NOTHING, SUCCESS, Key, new_entry
from doiuri.rest import (
    MAX_AGENCY_URL,
    ResponseCode,
    agency_batches,
    agency_url,
    read_agencies,
    read_record,
    record_url,
    retry_after,
)
from doiuri.tex import plain_text
from doiuri.works._csl import names_csl
from doiuri.works._work import Work

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from doiuri.resolver._sources import Sources
    from doiuri.resolver.http import Reply
    from doiuri.resolver.stores._store import Entry
    from doiuri.rest import Agency

    Ask = Callable[[Sequence[Handle], "Sources"], Sequence[Outcome | None]]
    """Asks the resolver about DOIs; None: ask about this DOI alone."""

AHEAD = 256
"""DOIs that are read, and asked for, ahead of the next answer."""

FEW = 16
"""New names for which ``Resolver.check`` requests records; more are sent to Which RA."""

NEGATIVE_TTL = 3600.0
"""Seconds for which it is remembered that a DOI does not exist or has no values."""

DAY = 86400.0
"""Seconds for which an answer is fresh that does not say so: the usual TTL in the DOI system."""

MAX_RECORD = 1_000_000
"""Bytes of a record: known ones have some thousand, and parsing takes many times as much memory."""

MAX_SIZE = 16_000_000
"""Bytes of metadata."""

MAX_BIBTEX = 1_000_000
"""Characters of a BibTeX entry."""

MAX_ALIASES = 20
"""Aliases followed in a row, as many as the proxy follows."""

# HTTP statuses of a server that has no such metadata
_NO_METADATA = frozenset({204, 404, 406})

# HTTP statuses of a resolver without Which RA, or whose Which RA does not take so many names
_NO_WHICH_RA = frozenset({400, 404, 405, 410, 414, 501})

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


class Question(ABC):
    """A question about DOIs to the resolver at ``base``."""

    first_look_ahead: ClassVar[int] = 16
    """DOIs in the first look-ahead, which doubles from then on: few, so that the first answers come soon."""

    def __init__(self, base: str) -> None:
        self.base = base

    @abstractmethod
    def keys(self, doi: Handle) -> list[Key]:
        """Return the keys of the entries that may answer the question."""

    @abstractmethod
    def read(self, doi: Handle, entries: Sequence[Entry | None]) -> Outcome | None:
        """Return the answer in the entries, or None if they hold none.

        :param entries: those of ``keys``; None for a missing or a stale one.
        """

    def read_stale(self, doi: Handle, entries: Sequence[Entry | None]) -> Outcome | None:
        """Return the answer in entries that may be stale, or None if they hold none.

        Only a DOI that was found counts: it will hardly have vanished, but a missing one may exist by now.
        """
        return _if_found(self.read(doi, entries))

    @abstractmethod
    def request(self, doi: Handle, sources: Sources) -> Outcome:
        """Request the answer for a DOI, and write it to ``sources.new_entries`` if it is definite.

        :raises ResolutionError: if there is none, or a negative one.
        """

    def ask(self, dois: Sequence[Handle], sources: Sources) -> Sequence[Outcome | None]:
        """Ask about one DOI alone."""
        (doi,) = dois
        try:
            return [self.request(doi, sources)]
        except ResolutionError as error:
            return [Outcome.from_error(doi, error)]

    def groups(self, dois: Sequence[Handle]) -> Iterator[tuple[Sequence[Handle], Ask]]:
        """Yield the DOIs to ask about in one task, and how; here each alone."""
        for doi in dois:
            yield [doi], self.ask

    def waits(self, new: int) -> bool:  # noqa: ARG002
        """Return whether to read more names before sending the first request.

        :param new: how many names the store does not know so far.
        """
        return False

    def record_key(self, doi: Handle) -> Key:
        """Return the key of a record, or of the answer that there is none."""
        return Key("record", self.base, doi.key)

    def stored_record(self, doi: Handle, entry: Entry | None) -> Outcome | None:
        """Return what the entry of a record says.

        None if there is no entry, or it was not written by us: other programs may have access to the store.
        """
        if entry is None:
            return None
        try:
            if entry.body.startswith(SUCCESS):
                return Outcome(doi, "found", Record.deferred(doi, entry.body))
            return Outcome(doi, "found", read_record(doi, 200, entry.body))
        except (DOINotFound, NoValues) as error:
            return Outcome.from_error(doi, error)
        except ResolutionError:
            return None

    def record_url(self, doi: Handle) -> str:
        """Return the URL of the whole record of a DOI."""
        return record_url(doi, base=self.base)

    def request_record(self, doi: Handle, sources: Sources) -> Record:
        """Request the whole record of a DOI; it, or its absence, is stored."""
        try:
            record = self.get_record(doi, self.record_url(doi), sources)
        except NoValues:
            self._store_absence(doi, ResponseCode.VALUE_NOT_FOUND, sources)
            raise

        body = record.to_json().encode()
        lifetime = DAY if record.ttl is None else min(record.ttl, MAX_AGE)
        sources.new_entries[self.record_key(doi)] = new_entry(body, JSON, lifetime)
        return record

    def get_record(self, doi: Handle, url: str, sources: Sources) -> Record:
        """Return what the REST API answers at a URL of ``record_url``; that the DOI does not exist is stored."""

        def read_reply(reply: Reply) -> Record:
            return read_record(doi, reply.status, reply.body, reply.headers)

        try:
            record: Record = sources.get(doi, Request(url, JSON, MAX_RECORD), read_reply)
        except DOINotFound:
            self._store_absence(doi, ResponseCode.HANDLE_NOT_FOUND, sources)
            raise
        return record

    def _store_absence(self, doi: Handle, code: ResponseCode, sources: Sources) -> None:
        """Store that there is no record, as the REST API would say it."""
        body = dump({"responseCode": code, "handle": doi.name, "values": []})
        sources.new_entries[self.record_key(doi)] = new_entry(body.encode(), JSON, NEGATIVE_TTL)

    def current_record(self, doi: Handle, sources: Sources) -> Record:
        """Return the record in the store, if it is fresh, or the resolver's; if neither, a stale one."""
        entry = sources.stored(self.record_key(doi))
        fresh = self.stored_record(doi, fresh_entry(self.record_key(doi), entry, time.time()))
        if fresh is not None:
            fresh.raise_for_status()
            if fresh.record is not None:
                return fresh.record

        try:
            return self.request_record(doi, sources)
        except (ResolverUnavailable, BadRecord) as error:
            stale = self.stored_record(doi, entry)
            if stale is None or stale.record is None:
                raise
            sources.stale = Cause.of(error)
            return stale.record

    def chain_of_aliases(self, doi: Handle, record: Record, sources: Sources) -> Iterator[Record]:
        """Yield the record of a DOI and, if it is an alias, those that it leads to, one after the other.

        :raises DOINotFound: if a name that it is an alias of does not exist.
        :raises BadRecord: if the chain does not end.
        """
        yield record

        seen = {doi.key}
        while (name := record.alias) is not None:
            try:
                target = Handle.from_name(name)
            except DOISyntaxError as error:
                raise BadRecord(doi, f"it is an alias of an invalid name: {error}") from None

            if target.key in seen or len(seen) > MAX_ALIASES:
                followed = f"{len(seen)} followed, last to {name}"
                raise BadRecord(doi, f"alias loop or too many aliases: {followed}")
            seen.add(target.key)

            try:
                record = self.current_record(target, sources)
            except DOINotFound:
                raise DOINotFound(doi, f"it is an alias of {name}, which does not exist") from None
            yield record


class RecordQuestion(Question):
    """The record of a DOI, one request each.

    :param types: the types of the values, and
    :param indexes: the indices of the values, if not all are asked for.
    :param auth: whether to bypass the store and the proxy's cache.
    :param cert: whether to bypass the store, and to request an authenticated answer.
    :param follow: whether to request the record that an alias stands for, too.
    """

    def __init__(
        self,
        base: str,
        *,
        types: Collection[str] = (),
        indexes: Collection[int] = (),
        auth: bool = False,
        cert: bool = False,
        follow: bool = True,
    ) -> None:
        super().__init__(base)
        self._types = types
        self._indexes = indexes
        self._auth = auth
        self._cert = cert
        self._follow = follow

    @property
    def _selects_values(self) -> bool:
        return bool(self._types or self._indexes)

    @property
    def _bypasses_store(self) -> bool:
        return self._auth or self._cert

    def keys(self, doi: Handle) -> list[Key]:
        if self._bypasses_store:
            return []
        return [self.record_key(doi)]

    def read(self, doi: Handle, entries: Sequence[Entry | None]) -> Outcome | None:
        """Return the record in the store; None for an alias that has to be followed."""
        if not entries:
            return None
        outcome = self.stored_record(doi, entries[0])
        if outcome is None or outcome.record is None:
            return outcome

        record = outcome.record
        if self._selects_values:
            return self._selected(doi, record)
        if self._follow and record.alias is not None:
            return None
        return outcome

    def _selected(self, doi: Handle, record: Record) -> Outcome:
        """Return the values of a record that are asked for."""
        values = select(record.values, self._types, self._indexes)
        if not values:
            return Outcome.from_error(doi, NoValues(doi))
        return Outcome(doi, "found", Record(record.doi, values, record.extra))

    def request(self, doi: Handle, sources: Sources) -> Outcome:
        """Request the record of a DOI, and those that it is an alias of."""
        if self._selects_values and self._is_absent(doi, sources):
            # Only a whole record, which is stored, can replace the answer that there is none
            return self._selected(doi, self.request_record(doi, sources))
        if self._selects_values:
            record = self.get_record(doi, self._url_of_values(doi), sources)
        else:
            record = self.current_record(doi, sources)
            if self._follow:
                *_, record = self.chain_of_aliases(doi, record, sources)
        return Outcome(doi, "found", record, cause=sources.stale, stale=sources.stale is not None)

    def _is_absent(self, doi: Handle, sources: Sources) -> bool:
        """Return whether the store has the answer that the DOI does not exist, which may have expired."""
        entry = sources.stored(self.record_key(doi))
        return entry is not None and entry.says_not_found

    def current_record(self, doi: Handle, sources: Sources) -> Record:
        if self._bypasses_store:
            return self.request_record(doi, sources)
        return super().current_record(doi, sources)

    def record_url(self, doi: Handle) -> str:
        return record_url(doi, base=self.base, auth=self._auth, cert=self._cert)

    def _url_of_values(self, doi: Handle) -> str:
        return record_url(
            doi,
            base=self.base,
            type=tuple(self._types),
            index=tuple(self._indexes),
            auth=self._auth,
            cert=self._cert,
        )


class ExistenceQuestion(Question):
    """Whether a DOI exists: the REST API answers about few new names; about many, Which RA comes first.

    An alias exists, wherever it leads, and so does a name without values.

    :param agency: whether the registration agency is asked for, which only Which RA knows.
    :param confirm: whether the REST API has to confirm that a name does not exist.
    :param few: how many new names the REST API is asked about without Which RA.
    """

    first_look_ahead: ClassVar[int] = AHEAD

    def __init__(
        self, base: str, *, agency: bool = False, confirm: bool = True, few: int = 0
    ) -> None:
        super().__init__(base)
        self._agency = agency
        self._confirm = confirm
        self._few = few
        self._new = 0  # names that were asked about

    def waits(self, new: int) -> bool:
        return 0 < new <= self._few - self._new

    def keys(self, doi: Handle) -> list[Key]:
        return [self._exists_key(doi), self.record_key(doi)]

    def _exists_key(self, doi: Handle) -> Key:
        return Key("exists", self.base, doi.key)

    def read(self, doi: Handle, entries: Sequence[Entry | None]) -> Outcome | None:
        exists, record = entries
        agency = _stored_agency(doi, exists)
        if agency is not None:
            return Outcome(doi, "found", agency=agency)

        outcome = self.stored_record(doi, record)
        if outcome is None or outcome.status == "not-found":
            return outcome
        if self._agency:
            return None
        return Outcome(doi, "found")  # a name without values exists, too

    def request(self, doi: Handle, sources: Sources) -> Outcome:
        """Ask the REST API about one DOI: its negative answer is definite."""
        with suppress(NoValues):  # the name exists
            self.request_record(doi, sources)
        return Outcome(doi, "found")

    def groups(self, dois: Sequence[Handle]) -> Iterator[tuple[Sequence[Handle], Ask]]:
        """Yield each DOI alone while few are new; then batches, and alone what does not suit Which RA."""
        self._new += len(dois)
        if self._new <= self._few:
            yield from super().groups(dois)
            return

        suited: list[Handle] = []
        unsuited: list[Handle] = []
        for doi in dois:
            if self._suits_which_ra(doi):
                suited.append(doi)
            else:
                unsuited.append(doi)
        for batch, url in agency_batches(suited, base=self.base):
            yield batch, partial(self._ask_which_ra, url)
        yield from super().groups(unsuited)

    def _suits_which_ra(self, doi: Handle) -> bool:
        """Return whether Which RA can be asked: it does not know short DOIs, and limits the URL."""
        if isinstance(doi, ShortDOI):
            return False
        return len(agency_url([doi], base=self.base)) <= MAX_AGENCY_URL

    def _ask_which_ra(
        self, url: str, dois: Sequence[Handle], sources: Sources
    ) -> Sequence[Outcome | None]:
        """Ask Which RA; None for each name about which the REST API has to be asked."""
        try:
            agencies = self._request_agencies(url, dois, sources)
        except BadRecord:
            return [None] * len(dois)
        except ResolverUnavailable as error:
            if error.status in _NO_WHICH_RA:
                return [None] * len(dois)
            return [Outcome.from_error(doi, error) for doi in dois]
        return [
            self._outcome(doi, agency, sources) for doi, agency in zip(dois, agencies, strict=True)
        ]

    def _request_agencies(
        self, url: str, dois: Sequence[Handle], sources: Sources
    ) -> Sequence[Agency]:
        """Request the answer of Which RA about some DOIs."""

        def read_reply(reply: Reply) -> Sequence[Agency]:
            return read_agencies(dois, reply.status, reply.body, reply.headers)

        agencies: Sequence[Agency] = sources.get(
            dois[0], Request(url, JSON, MAX_RECORD), read_reply
        )
        return agencies

    def _outcome(self, doi: Handle, agency: Agency, sources: Sources) -> Outcome | None:
        """Return what Which RA says about a DOI, and store it; None if that is not definite."""
        if agency.status == "not-found" and not self._confirm:
            return Outcome.from_error(doi, DOINotFound(doi))
        if agency.status != "found":
            return None
        body = dump({"DOI": doi.name, "RA": agency.name}).encode()
        sources.new_entries[self._exists_key(doi)] = new_entry(body, JSON, MAX_AGE)
        return Outcome(doi, "found", agency=agency.name)


class ContentQuestion(Question):
    """Metadata of one kind, one request each."""

    kind: ClassVar[str]
    """The kind in the store's keys."""

    lifetime: ClassVar[float] = MAX_AGE
    """Seconds for which an answer is fresh."""

    accept: str
    """The media type to request."""

    @abstractmethod
    def write(self, doi: Handle, reply: Reply) -> bytes:
        """Return what to store of a reply.

        :raises NoValues: if the reply says nothing about the work.
        :raises BadRecord: if the reply cannot be read.
        """

    @abstractmethod
    def outcome(self, doi: Handle, entry: Entry) -> Outcome:
        """Return what an entry says.

        :raises BadRecord: or UnicodeDecodeError, if the entry was not written by us.
        """

    def content_key(self, doi: Handle) -> Key:
        return Key(self.kind, self.base, doi.key)

    def keys(self, doi: Handle) -> list[Key]:
        """Return the keys of the metadata and of the record, which may say that the DOI does not exist."""
        return [self.content_key(doi), self.record_key(doi)]

    def read(self, doi: Handle, entries: Sequence[Entry | None]) -> Outcome | None:
        content, record = entries
        outcome = self._stored_content(doi, content)
        if outcome is not None:
            return outcome

        existence = self.stored_record(doi, record)
        if existence is not None and existence.status == "not-found":
            return existence
        return None

    def _stored_content(self, doi: Handle, entry: Entry | None) -> Outcome | None:
        """Return what an entry says; None if there is none, or it was not written by us."""
        if entry is None:
            return None
        if self.says_none(entry):
            detail = f"the registration agency has no metadata as {self.accept}"
            return Outcome(doi, "no-values", cause=Cause("no-values", detail=detail))
        try:
            return self.outcome(doi, entry)
        except (BadRecord, UnicodeDecodeError):
            return None

    def says_none(self, entry: Entry) -> bool:
        """Return whether an entry says that there is no such metadata."""
        return entry.says_none

    def none_entry(self) -> Entry:
        """Return an entry that says that there is no such metadata."""
        return new_entry(NOTHING, JSON, DAY)

    def media_type(self, reply: Reply) -> str:  # noqa: ARG002
        """Return the media type of what is stored of a reply."""
        return self.accept

    def request(self, doi: Handle, sources: Sources) -> Outcome:
        """Request the metadata of a DOI.

        :raises NoValues: only if the resolver says now that the DOI exists.
        """
        key = self.content_key(doi)
        try:
            reply = self._reply(doi, sources)
            self.check_body(doi, reply)
            body = self.write(doi, reply)
        except NoValues:
            # A captive portal or a filter answers any request like this. A record that is requested now shows
            # that the resolver was reached; one in the store would not.
            with suppress(NoValues):  # the name exists
                self.request_record(doi, sources)
            sources.new_entries[key] = self.none_entry()
            raise

        entry = new_entry(body, self.media_type(reply), self.lifetime)
        outcome = self.outcome(doi, entry)  # as it will be read from the store
        named = _named_doi(self.media_type(reply), reply)
        if named is not None and not self._leads_to(doi, named, sources):
            raise BadRecord(doi, f"{host_of(reply.url)} sent the metadata of {named.name}")
        sources.new_entries[key] = entry
        return outcome

    def _leads_to(self, doi: Handle, named: Handle, sources: Sources) -> bool:
        """Return whether a DOI is another one, or an alias of it: only then their metadata are the same."""
        if named.key == doi.key:
            return True
        with suppress(NoValues):
            record = self.current_record(doi, sources)
            for linked in self.chain_of_aliases(doi, record, sources):
                if ascii_upper(linked.alias or "") == named.key:
                    return True
        return False

    def _reply(self, doi: Handle, sources: Sources) -> Reply:
        """Return the reply to a request for metadata, whose HTTP status is 200.

        Redirects may lead to any server that is not in a private network: there is no list of the agencies'
        servers, and an agency without content negotiation leaves it to the landing page.

        :raises NoValues: if the last server says that it has no such metadata, or that there is no such DOI.
        :raises ResolverUnavailable: if there is no answer.
        """
        request = Request(doi.link(self.base), self.accept, MAX_SIZE, any_host=True)
        reply: Reply = sources.get(doi, request, lambda reply: reply)
        host = host_of(reply.url)

        if reply.status in _NO_METADATA:
            detail = f"HTTP status {reply.status} from {host}"
            raise NoValues(doi, f"not available as {self.accept} ({detail})")
        if reply.status != 200:
            detail = f"HTTP status {reply.status}"
            wait = retry_after(reply.headers, time.time())
            raise Unanswered(doi, Cause("status", host, reply.status, detail, wait))
        return reply

    def check_body(self, doi: Handle, reply: Reply) -> None:
        """Raise an error if a reply whose HTTP status is 200 is no answer nevertheless.

        :raises NoValues: if it is a web page.
        :raises BadRecord: if it is empty.
        """
        if _is_web_page(reply.body):
            raise NoValues(doi, f"not available as {self.accept} (the answer is a web page)")
        if not reply.body.strip():
            raise BadRecord(doi, f"the answer is empty, expected {self.accept}")


class _OtherMediaTypeError(BadRecord):
    """An answer is of a media type that was not asked for."""

    def __init__(self, doi: Handle, reply: Reply, accept: str) -> None:
        content_type = _content_type(reply)
        received = repr(content_type[:100]) if content_type else "no media type"
        super().__init__(doi, f"{host_of(reply.url)} sent {received} in place of {accept!r:.200}")
        self.metadata = Metadata(reply.body, content_type)


class WorkQuestion(ContentQuestion):
    """The work that a DOI names, as CSL-JSON with the members that we use."""

    kind = "work"
    accept = CSL_JSON

    def check_body(self, doi: Handle, reply: Reply) -> None:
        """Raise an error if a reply whose HTTP status is 200 is no answer nevertheless.

        :raises NoValues: if it is a web page.
        :raises BadRecord: if it is empty, or does not show that it is CSL-JSON.
        """
        super().check_body(doi, reply)
        if not _shows_csl(reply):
            raise _OtherMediaTypeError(doi, reply, self.accept)

    def write(self, doi: Handle, reply: Reply) -> bytes:
        work = Work.from_json(reply.body, doi=doi)
        if work.is_empty:
            raise NoValues(doi, "the metadata has neither title nor names")
        return work.to_json().encode()

    def outcome(self, doi: Handle, entry: Entry) -> Outcome:
        return Outcome(doi, "found", work=Work.from_json(entry.body.decode(), doi=doi))


class BibTeXQuestion(ContentQuestion):
    """The BibTeX entry of a DOI."""

    kind = "bibtex"
    accept = BIBTEX

    def write(self, doi: Handle, reply: Reply) -> bytes:
        metadata = Metadata(reply.body, _content_type(reply))
        text = _CONTROLS.sub("", metadata.text).strip()
        if not text.startswith("@") or len(text) > MAX_BIBTEX:
            raise BadRecord(doi, f"the answer is not BibTeX: {text[:40]!r}")
        return text.encode()

    def outcome(self, doi: Handle, entry: Entry) -> Outcome:
        entry.body.decode()  # raises UnicodeDecodeError if another program wrote it
        return Outcome(doi, "found", metadata=Metadata(entry.body, entry.media_type))


class MetadataQuestion(ContentQuestion):
    """The metadata of a DOI in any media type.

    :raises ValueError: if it is not a media type.
    """

    kind = "metadata"
    lifetime = DAY

    def __init__(self, base: str, media_type: str) -> None:
        if not _MEDIA_TYPE.fullmatch(media_type):
            raise ValueError(f"not a media type: {media_type!r}")
        super().__init__(base)
        self.accept = media_type

    def content_key(self, doi: Handle) -> Key:
        return super().content_key(doi)._replace(detail=self.accept)

    def request(self, doi: Handle, sources: Sources) -> Outcome:
        """Request the metadata of a DOI. An answer of another media type is in the outcome, too."""
        try:
            return super().request(doi, sources)
        except _OtherMediaTypeError as error:
            return Outcome.from_error(doi, error)._replace(metadata=error.metadata)

    def check_body(self, doi: Handle, reply: Reply) -> None:
        """Do nothing: a web page or an empty body may be what was asked for."""

    def write(self, doi: Handle, reply: Reply) -> bytes:
        is_wanted = is_accepted(_content_type(reply), self.accept)
        if asks_for_csl(self.accept):
            is_wanted = _shows_csl(reply)
        if not is_wanted:
            raise _OtherMediaTypeError(doi, reply, self.accept)
        return reply.body

    def outcome(self, doi: Handle, entry: Entry) -> Outcome:
        return Outcome(doi, "found", metadata=Metadata(entry.body, entry.media_type))

    def media_type(self, reply: Reply) -> str:
        return _content_type(reply) or _UNKNOWN_TYPE

    def says_none(self, entry: Entry) -> bool:
        """Return whether an entry is that of ``none_entry``; the JSON value null with a type is an answer."""
        return entry.says_none and entry.media_type == ""

    def none_entry(self) -> Entry:
        """Return an entry that says that there is no such metadata: unlike any answer, it has no type."""
        return super().none_entry()._replace(media_type="")


def uncontradicted(keys: Sequence[Key], entries: Mapping[Key, Entry]) -> list[Entry | None]:
    """Return the entries of keys about one DOI, stale ones included, and None in place of missing or void ones.

    Whether a DOI exists is one fact, of which the newest definite answer counts, whichever question it answers.
    So the answer that it does not exist makes all earlier ones void, even after it has expired itself.
    """
    stored = [entries.get(key) for key in keys]
    absent_since = -inf
    for key, entry in zip(keys, stored, strict=True):
        if key.kind == "record" and entry is not None and entry.says_not_found:
            absent_since = _received(key, entry)
    if absent_since == -inf:
        return stored

    standing: list[Entry | None] = []
    for key, entry in zip(keys, stored, strict=True):
        if entry is None or key.kind == "record" or _received(key, entry) > absent_since:
            standing.append(entry)
        else:
            standing.append(None)
    return standing


def _received(key: Key, entry: Entry) -> float:
    """Return when an answer was received; not of a record with values, whose lifetime the server decides.

    In a lock file it is infinity: no answer in it is newer than the one that the DOI does not exist.
    """
    return entry.expires - _longest(key, entry)


def fresh_entry(key: Key, entry: Entry | None, now: float) -> Entry | None:
    """Return an entry if it is fresh at the time ``now``, and None if it is stale.

    One that would be fresh for longer than its kind may be was stored while the clock was ahead: it is stale.
    An entry that never expires is that of a lock file.
    """
    if entry is None or entry.expires <= now:
        return None
    if entry.expires < inf and entry.expires - now > _longest(key, entry):
        return None
    return entry


def fresh_entries(
    keys: Sequence[Key], entries: Sequence[Entry | None], now: float
) -> list[Entry | None]:
    """Return the entries of keys that are fresh at the time ``now``, and None in place of stale ones."""
    return [fresh_entry(key, entry, now) for key, entry in zip(keys, entries, strict=True)]


def _longest(key: Key, entry: Entry) -> float:
    """Return the seconds for which the entry of a key is fresh at most."""
    if key.kind == "record" and not entry.body.startswith(SUCCESS):
        return NEGATIVE_TTL
    if key.kind == "metadata" or entry.says_none:
        return DAY
    return MAX_AGE


def _if_found(outcome: Outcome | None) -> Outcome | None:
    """Return an outcome if the DOI was found, and None for any other."""
    if outcome is None or not outcome.found:
        return None
    return outcome


def _content_type(reply: Reply) -> str:
    return reply.headers.get("Content-Type", "")


def _essence(media_type: str) -> str:
    """Return a media type without its parameters."""
    return media_type.partition(";")[0].strip().lower()


def _shows_csl(reply: Reply) -> bool:
    """Return whether a reply shows that it is CSL-JSON, by its media type or by its content.

    The sign-in of a network and the rate limit of a gateway are JSON, too.
    """
    if _essence(_content_type(reply)) in CSL_TYPES:
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
            return _named_in_bibtex(Metadata(reply.body, _content_type(reply)).text)
    return None


def _named_in_bibtex(text: str) -> Handle | None:
    """Return the DOI in the first field for it, or None if there is none."""
    scanner = EntryScanner(text)
    for _, limit in scanner.entries():
        for field in scanner.fields(limit):
            if field.name == "doi":
                return Handle.parse(plain_text(scanner.text_of(field.value)))
    return None


def _is_web_page(body: bytes) -> bool:
    """Return whether a body is HTML or XML, by how it begins."""
    beginning = body[:_BEGINNING].removeprefix(codecs.BOM_UTF8)
    return _WEB_PAGE.match(beginning) is not None


def _stored_agency(doi: Handle, entry: Entry | None) -> str | None:
    """Return the agency in an entry; None if there is no entry, or it was not written by us."""
    if entry is None:
        return None
    try:
        answer = load(entry.body)
    except ValueError:
        return None
    if not isinstance(answer, dict):
        return None

    name = answer.get("DOI")
    if not isinstance(name, str) or ascii_upper(name) != doi.key:
        return None
    agency = answer.get("RA")
    return agency if isinstance(agency, str) else None
