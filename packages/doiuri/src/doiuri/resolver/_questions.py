"""What can be asked about DOIs: their records, whether they exist, their metadata.

A question knows its keys in the store, what to request, how to read the answer, and what to store of it.
Specification: DOI Handbook, content negotiation.
"""

from __future__ import annotations

import re
import time
from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
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
from doiuri.records import select
from doiuri.records._negotiation import BIBTEX, CSL_JSON, is_accepted
from doiuri.records._record import Record, ascii_upper
from doiuri.records._work import Work
from doiuri.resolver._outcome import Cause, Metadata, Outcome, Unanswered
from doiuri.resolver.http import Request
from doiuri.resolver.stores._store import JSON, MAX_AGE, NOTHING, Key, new_entry
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

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from doiuri.resolver.http import Reply
    from doiuri.resolver.stores._store import Entry
    from doiuri.rest import Agency

    Ask = Callable[[Sequence[Handle], "Call"], Sequence[Outcome | None]]
    """Asks the server about DOIs; None: ask about this DOI alone."""

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

_SUCCESS = b'{"responseCode":1,'
_ABSENT = frozenset({204, 404, 406})  # HTTP statuses of a server without such metadata
_NO_WHICH_RA = frozenset({400, 404, 405, 410, 414, 501})  # of one without it, or not for so many names
_MEDIA_TYPE = re.compile(r"[!#$&\-^_.+*\w]+/[!#$&\-^_.+*\w]+[ -~]*", re.ASCII)
_PAGE = re.compile(rb"\s*<(?:!doctype|html|\?xml|head|body)\b", re.IGNORECASE)
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")  # but "\t" and "\n"


@dataclass(slots=True)
class Call:
    """What a question needs to ask the server."""

    get: Callable[[Handle, Request, Callable[[Reply], Any]], Any]  # see Client.get
    stored: Callable[[Key], Entry | None]  # entries of the store, even stale ones
    entries: dict[Key, Entry]  # new ones, to store
    stale: bool = False  # whether a stale record was used, because there was no answer


class Question(ABC):
    """A question about DOIs to the server at ``base``."""

    first: ClassVar[int] = 16
    """DOIs in the first look-ahead, which doubles from then on: few, so that the first answers come soon."""

    def __init__(self, base: str) -> None:
        self.base = base

    @abstractmethod
    def keys(self, doi: Handle) -> list[Key]:
        """Return the keys of the entries that may answer it."""

    @abstractmethod
    def read(self, doi: Handle, stored: Sequence[Entry | None], now: float) -> Outcome | None:
        """Return what the entries of the keys say that are fresh at ``now``; at 0 all are. None: nothing."""

    @abstractmethod
    def request(self, doi: Handle, call: Call) -> Outcome:
        """Request the answer for a DOI, and write it to ``call.entries`` if it is definite.

        :raises ResolutionError: if there is none, or a negative one.
        """

    def ask(self, dois: Sequence[Handle], call: Call) -> Sequence[Outcome | None]:
        """Ask about one DOI alone."""
        (doi,) = dois
        try:
            return [self.request(doi, call)]
        except ResolutionError as error:
            return [Outcome.from_error(doi, error)]

    def groups(self, dois: Sequence[Handle]) -> Iterator[tuple[Sequence[Handle], Ask]]:
        """Yield the DOIs to ask about in one task, and how; here each alone."""
        return (([doi], self.ask) for doi in dois)

    def waits(self, new: int) -> bool:  # noqa: ARG002
        """Return whether to read on before asking about so many new names."""
        return False

    def record_key(self, doi: Handle) -> Key:
        """Return the key of a record, or of the answer that there is none."""
        return Key("record", self.base, doi.key)

    def read_record(self, doi: Handle, entry: Entry | None, now: float) -> Outcome | None:
        """Return what the entry of a record says, if it is fresh at ``now``.

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

    def request_record(self, doi: Handle, call: Call, **options: Any) -> Record:
        """Request a record with the options of ``record_url``; a whole one, or its absence, is stored."""
        request = Request(record_url(doi, base=self.base, **options), JSON, MAX_RECORD)
        is_whole = not (options.get("type") or options.get("index"))
        try:
            record: Record = call.get(
                doi, request, lambda reply: read_record(doi, reply.status, reply.body, reply.headers)
            )
        except (DOINotFound, NoValues) as error:
            if is_whole:
                absent = isinstance(error, DOINotFound)
                code = ResponseCode.HANDLE_NOT_FOUND if absent else ResponseCode.VALUE_NOT_FOUND
                body = dump({"responseCode": code, "handle": doi.name, "values": []})
                call.entries[self.record_key(doi)] = new_entry(body.encode(), JSON, NEGATIVE_TTL)
            raise
        if is_whole:
            ttl = DAY if record.ttl is None else min(record.ttl, MAX_AGE)
            call.entries[self.record_key(doi)] = new_entry(record.to_json().encode(), JSON, ttl)
        return record

    def current_record(self, doi: Handle, call: Call, **flags: bool) -> Record:
        """Return the record in the store, if it is fresh, or from the server; if neither, a stale one.

        With flags of ``record_url`` the store is not read.
        """
        if flags:
            return self.request_record(doi, call, **flags)
        entry = call.stored(self.record_key(doi))
        known = self.read_record(doi, entry, time.time())
        if known is not None:
            known.raise_for_status()
            if known.record is not None:
                return known.record
        try:
            return self.request_record(doi, call)
        except (ResolverUnavailable, BadRecord):
            stale = self.read_record(doi, entry, 0.0)
            if stale is None or stale.record is None:
                raise
            call.stale = True
            return stale.record


class RecordQuestion(Question):
    """The record of a DOI, one request each.

    :param selection: the ``type`` and ``index`` of values, if only some are asked for.
    :param flags: ``auth`` and ``cert``, if they are set; then the store is not read.
    """

    def __init__(
        self,
        base: str,
        selection: Mapping[str, Any] | None = None,
        flags: Mapping[str, bool] | None = None,
        *,
        follow: bool = True,
    ) -> None:
        super().__init__(base)
        self._selection = selection or {}
        self._flags = flags or {}
        self._follow = follow

    def keys(self, doi: Handle) -> list[Key]:
        return [] if self._flags else [self.record_key(doi)]

    def read(self, doi: Handle, stored: Sequence[Entry | None], now: float) -> Outcome | None:
        """Return the record in the store; None for an alias that has to be followed."""
        outcome = self.read_record(doi, stored[0] if stored else None, now)
        if outcome is None or outcome.record is None:
            return outcome
        if not self._selection:
            return outcome if outcome.record.alias is None or not self._follow else None
        values = select(outcome.record.values, self._selection["type"], self._selection["index"])
        if not values:
            return Outcome.from_error(doi, NoValues(doi))
        return Outcome(doi, "found", Record(outcome.record.doi, values, outcome.record.extra))

    def request(self, doi: Handle, call: Call) -> Outcome:
        """Request the record of a DOI, and those that it is an alias of."""
        if self._selection:
            record = self.request_record(doi, call, **self._selection, **self._flags)
        else:
            record = self.current_record(doi, call, **self._flags)
            if self._follow:
                record = self._followed(doi, record, call)
        return Outcome(doi, "found", record, stale=call.stale)

    def _followed(self, doi: Handle, record: Record, call: Call) -> Record:
        """Return the record at the end of the chain of aliases that begins with ``record``."""
        seen = {doi.key}
        while (name := record.alias) is not None:
            try:
                target = Handle.from_name(name)
            except DOISyntaxError as error:
                raise BadRecord(doi, f"it is an alias of an invalid name: {error}") from None
            if target.key in seen or len(seen) > MAX_ALIASES:
                raise BadRecord(doi, f"alias loop or too many aliases: {len(seen)} followed, last to {name}")
            seen.add(target.key)
            try:
                record = self.current_record(target, call, **self._flags)
            except DOINotFound:
                raise DOINotFound(doi, f"it is an alias of {name}, which does not exist") from None
        return record


class ExistenceQuestion(Question):
    """Whether a DOI exists: Which RA answers for many at once, the REST API for those that it does not know.

    :param confirm: whether the REST API has to confirm that a name does not exist.
    """

    first: ClassVar[int] = AHEAD

    def __init__(self, base: str, *, agency: bool = False, confirm: bool = True) -> None:
        super().__init__(base)
        self._agency = agency
        self._confirm = confirm

    def keys(self, doi: Handle) -> list[Key]:
        return [self._exists_key(doi), self.record_key(doi)]

    def _exists_key(self, doi: Handle) -> Key:
        return Key("exists", self.base, doi.key)

    def read(self, doi: Handle, stored: Sequence[Entry | None], now: float) -> Outcome | None:
        exists, record = stored
        if exists is not None and is_fresh(exists, now):
            name = _stored_agency(doi, exists)
            if name is not None:
                return Outcome(doi, "found", agency=name)
        outcome = self.read_record(doi, record, now)
        if outcome is None or outcome.status == "not-found":
            return outcome
        return None if self._agency else Outcome(doi, "found")  # without values, the name exists, too

    def request(self, doi: Handle, call: Call) -> Outcome:
        """Ask the REST API about one DOI: its negative answer is definite."""
        with suppress(NoValues):  # the name exists
            self.request_record(doi, call)
        return Outcome(doi, "found")

    def groups(self, dois: Sequence[Handle]) -> Iterator[tuple[Sequence[Handle], Ask]]:
        """Yield as many DOIs as fit into one request to Which RA, and each that does not suit it."""
        suited: list[Handle] = []
        others: list[Handle] = []
        for doi in dois:
            (suited if self._suits_which_ra(doi) else others).append(doi)
        for batch, url in agency_batches(suited, base=self.base):
            yield batch, partial(self._ask_which_ra, url)
        for doi in others:
            yield [doi], self.ask

    def _suits_which_ra(self, doi: Handle) -> bool:
        """Return whether Which RA can be asked: it does not know short DOIs, and limits the URL."""
        return not isinstance(doi, ShortDOI) and len(agency_url([doi], base=self.base)) <= MAX_AGENCY_URL

    def _ask_which_ra(self, url: str, dois: Sequence[Handle], call: Call) -> Sequence[Outcome | None]:
        """Ask Which RA; the REST API is asked about the names that it does not answer for."""
        try:
            agencies = self._agencies(url, dois, call)
        except ResolverUnavailable as error:
            return [Outcome.from_error(doi, error) for doi in dois]
        return [self._answer(doi, agency, call) for doi, agency in zip(dois, agencies, strict=True)]

    def _answer(self, doi: Handle, agency: Agency | None, call: Call) -> Outcome | None:
        if agency is not None and agency.status == "not-found" and not self._confirm:
            return Outcome.from_error(doi, DOINotFound(doi))
        if agency is None or agency.status != "found":
            return None
        body = dump({"DOI": doi.name, "RA": agency.name}).encode()
        call.entries[self._exists_key(doi)] = new_entry(body, JSON, MAX_AGE)
        return Outcome(doi, "found", agency=agency.name)

    def _agencies(self, url: str, dois: Sequence[Handle], call: Call) -> Sequence[Agency | None]:
        """Return what Which RA says; None for each name if its answer is unusable."""
        try:
            agencies: Sequence[Agency] = call.get(
                dois[0],
                Request(url, JSON, MAX_RECORD),
                lambda reply: read_agencies(dois, reply.status, reply.body, reply.headers),
            )
        except BadRecord:
            return [None] * len(dois)
        except ResolverUnavailable as error:
            if error.status in _NO_WHICH_RA:
                return [None] * len(dois)
            raise
        return agencies


class CheckQuestion(ExistenceQuestion):
    """Whether a DOI exists: the REST API answers if few names are new; otherwise Which RA comes first."""

    def __init__(self, base: str) -> None:
        super().__init__(base)
        self._records = RecordQuestion(base)
        self._new = 0  # names that were asked about
        self._aliases: set[Handle] = set()

    def waits(self, new: int) -> bool:
        return 0 < new <= FEW - self._new

    def read(self, doi: Handle, stored: Sequence[Entry | None], now: float) -> Outcome | None:
        """Return the record or, without one, the answer of Which RA; None for an alias to be followed."""
        outcome = self._records.read(doi, stored[1:], now)
        if outcome is not None and (now or outcome.found):
            return outcome
        outcome = super().read(doi, stored, now)
        if outcome is None or outcome.agency is not None or not now:
            return outcome
        self._aliases.add(doi)  # not new, but whether its target exists is to be found out
        return None

    def groups(self, dois: Sequence[Handle]) -> Iterator[tuple[Sequence[Handle], Ask]]:
        """Yield each DOI alone, or batches for Which RA as soon as more than a few are new."""
        new = [doi for doi in dois if doi not in self._aliases]
        self._new += len(new)
        if self._new > FEW:
            dois = [doi for doi in dois if doi in self._aliases]
            yield from super().groups(new)
        for doi in dois:
            yield [doi], self.ask

    def request(self, doi: Handle, call: Call) -> Outcome:
        """Request the record of a DOI."""
        return self._records.request(doi, call)


class ContentQuestion(Question):
    """Metadata of one kind, one request each."""

    kind: ClassVar[str]
    """The kind in the store's keys."""

    any_format: ClassVar[bool] = False
    """Whether anything is an answer, such as a web page or nothing."""

    lifetime: ClassVar[float] = MAX_AGE
    """Seconds for which an answer is fresh."""

    accept: str
    """The media type to request."""

    @abstractmethod
    def write(self, doi: Handle, reply: Reply) -> bytes:
        """Return what to store of a reply; raise NoValues if it is empty, BadRecord if it cannot be read."""

    @abstractmethod
    def outcome(self, doi: Handle, entry: Entry) -> Outcome:
        """Return what an entry says; raise BadRecord or UnicodeDecodeError if it is not one of ours."""

    def content_key(self, doi: Handle) -> Key:
        return Key(self.kind, self.base, doi.key)

    def keys(self, doi: Handle) -> list[Key]:
        """Return the keys of the metadata and of the record, which may say that the DOI does not exist."""
        return [self.content_key(doi), self.record_key(doi)]

    def read(self, doi: Handle, stored: Sequence[Entry | None], now: float) -> Outcome | None:
        content, record = stored
        outcome = self._read_content(doi, content, now)
        if outcome is None and now:
            absent = self.read_record(doi, record, now)
            return absent if absent is not None and absent.status == "not-found" else None
        return outcome

    def _read_content(self, doi: Handle, entry: Entry | None, now: float) -> Outcome | None:
        """Return what an entry says; None: it is stale, or not one of ours."""
        if entry is None or not is_fresh(entry, now):
            return None
        if entry.says_none and not (self.any_format and entry.media_type):
            detail = f"the registration agency has no metadata as {self.accept}"
            return Outcome(doi, "no-values", cause=Cause("no-values", detail=detail))
        try:
            return self.outcome(doi, entry)
        except (BadRecord, UnicodeDecodeError):
            return None

    def request(self, doi: Handle, call: Call) -> Outcome:
        """Request the metadata of a DOI.

        :raises NoValues: only if the DOI exists: a captive portal answers any request.
        """
        try:
            reply = self._reply(doi, call)
            # RFC 9110 section 8.3: without a Content-Type, this may be assumed
            own_type = _content_type(reply) or "application/octet-stream"
            media_type = own_type if self.any_format else self.accept
            entry = new_entry(self.write(doi, reply), media_type, self.lifetime)
            outcome = self.outcome(doi, entry)
        except NoValues:
            with suppress(NoValues):  # the name exists
                self.current_record(doi, call)
            # in any format, "null" can be an answer, which has a media type
            media_type = "" if self.any_format else JSON
            call.entries[self.content_key(doi)] = new_entry(NOTHING, media_type, DAY)
            raise
        call.entries[self.content_key(doi)] = entry
        return outcome

    def _reply(self, doi: Handle, call: Call) -> Reply:
        """Return the reply to a request for metadata, whose HTTP status is 200.

        Redirects may lead to any server that is not in a private network: there is no list of the agencies'
        servers, and an agency without content negotiation leaves it to the landing page.

        :raises NoValues: if the last server says that it has no such metadata, or that there is no such DOI.
        :raises BadRecord: if it is empty.
        :raises ResolverUnavailable: if there is no answer.
        """
        request = Request(doi.link(self.base), self.accept, MAX_SIZE, any_host=True)
        reply: Reply = call.get(doi, request, lambda reply: reply)
        if reply.status in _ABSENT:
            place = f"HTTP status {reply.status} from {host_of(reply.url)}"
            raise NoValues(doi, f"not available as {self.accept} ({place})")
        if reply.status != 200:
            wait = retry_after(reply.headers, time.time())
            detail = f"HTTP status {reply.status}"
            raise Unanswered(doi, Cause("status", host_of(reply.url), reply.status, detail, wait))
        if not self.any_format and _PAGE.match(reply.body[:1000].removeprefix(b"\xef\xbb\xbf")):
            raise NoValues(doi, f"not available as {self.accept} (the answer is a web page)")
        if not self.any_format and not reply.body.strip():
            raise BadRecord(doi, f"the answer is empty, expected {self.accept}")
        return reply


class WorkQuestion(ContentQuestion):
    """The work that a DOI names, as CSL-JSON with the members that we use."""

    kind = "work"
    accept = CSL_JSON

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
        text = _CONTROLS.sub("", Metadata(reply.body, _content_type(reply)).text).strip()
        if not text.startswith("@") or len(text) > MAX_BIBTEX:
            raise BadRecord(doi, f"the answer is not BibTeX: {text[:40]!r}")
        return text.encode()

    def outcome(self, doi: Handle, entry: Entry) -> Outcome:
        return Outcome(doi, "found", metadata=Metadata(entry.body.decode().encode(), entry.media_type))


class MetadataQuestion(ContentQuestion):
    """The metadata of a DOI in any media type.

    :raises ValueError: if it is not a media type.
    """

    kind = "metadata"
    any_format = True
    lifetime = DAY

    def __init__(self, base: str, media_type: str) -> None:
        if not _MEDIA_TYPE.fullmatch(media_type):
            raise ValueError(f"not a media type: {media_type!r}")
        super().__init__(base)
        self.accept = media_type

    def content_key(self, doi: Handle) -> Key:
        return super().content_key(doi)._replace(detail=self.accept)

    def write(self, doi: Handle, reply: Reply) -> bytes:
        content_type = _content_type(reply)
        if not is_accepted(content_type, self.accept):
            received = repr(content_type[:100]) if content_type else "no media type"
            raise BadRecord(doi, f"{host_of(reply.url)} sent {received} in place of {self.accept!r:.200}")
        return reply.body

    def outcome(self, doi: Handle, entry: Entry) -> Outcome:
        return Outcome(doi, "found", metadata=Metadata(entry.body, entry.media_type))


def is_fresh(entry: Entry, now: float) -> bool:
    """Return whether an entry is fresh at ``now``; at 0 every entry is."""
    return entry.expires > now or not now


def _content_type(reply: Reply) -> str:
    return reply.headers.get("Content-Type", "")


def _stored_agency(doi: Handle, entry: Entry) -> str | None:
    """Return the agency in an entry; None if the entry was not written by us."""
    try:
        answer = load(entry.body)
    except ValueError:
        return None
    name, agency = (answer.get("DOI"), answer.get("RA")) if isinstance(answer, dict) else (None, None)
    if not isinstance(name, str) or ascii_upper(name) != doi.key:
        return None
    return agency if isinstance(agency, str) else None
