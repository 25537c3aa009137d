"""Sources: what the proxy asks for records and registration agencies."""

from __future__ import annotations

import asyncio
import json
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from doiuri.records import Value
from doiuri.rest import BIBTEX, CSL_JSON
from doiuri.rest.server import prefixes, write_json, write_metadata

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterable, Mapping, Sequence

MAX_CACHED = 8192  # bytes of a record: caches of N records hold at most N times as much
CHECK_TIME = 2  # seconds that a part of a source has to answer a check
WAIT_TIME = 8  # seconds that a request may wait for upstream: clients have a timeout of 10
RETRY_AFTER = 20  # seconds after which a client may ask again

_CITATION_TYPES = dict.fromkeys((CSL_JSON, BIBTEX, "text/x-bibliography"), b"")
_DEFAULT_PERMISSIONS = "1110"  # administrators may read and write, the public may read; omitted in answers


class SourceError(Exception):
    """A look-up failed, so nothing is known: the proxy answers with an error, never with "not found"."""

    status = 500
    title = "Server Error"
    headers: ClassVar[tuple[tuple[str, str], ...]] = ()


class BusyError(SourceError):
    """Upstream is unavailable or too slow. Clients may ask again after ``RETRY_AFTER`` seconds."""

    status = 503
    title = "Server Busy"
    headers = (("Retry-After", str(RETRY_AFTER)),)


@dataclass(frozen=True, slots=True)
class PublicValues:
    """The values of a handle that everybody may read, as the REST API's JSON array in UTF-8."""

    body: bytes
    #: whether the record has metadata, too
    has_metadata: bool = False

    @classmethod
    def of(cls, values: Iterable[Value], *, has_metadata: bool = False) -> PublicValues:
        """Return the public ones of ``values``."""
        return cls(write_json([_members(value) for value in values if _is_public(value)]), has_metadata)

    @property
    def values(self) -> tuple[Value, ...]:
        """The values, parsed."""
        parse = _parse if len(self.body) <= MAX_CACHED else _parse.__wrapped__
        return parse(self.body)


class Registration(NamedTuple):
    """Whether a name exists (None: unknown) and its registration agency (None: unknown)."""

    exists: bool | None
    agency: str | None = None


class LocalSource(ABC):
    """Answers look-ups from records that it holds. All ignore the case of ASCII letters (Z39.84 §4)."""

    @property
    def local(self) -> LocalSource:
        """The source of the local records: this one."""
        return self

    @abstractmethod
    def find(self, handle: str) -> PublicValues | None:
        """Return the values of a handle: see `lookup`."""

    @abstractmethod
    def has_prefix(self, prefix: str) -> bool:
        """Return whether a record, an agency or a prefix record has the prefix."""

    @abstractmethod
    def find_agency(self, handle: str) -> str | None:
        """Return the agency given for the longest prefix of a handle."""

    @abstractmethod
    async def metadata(self, handle: str, accept: str) -> Mapping[str, bytes]:
        """Return the metadata of a registered handle by media type, at least what ``accept`` asks for.

        Raises SourceError if the look-up fails.
        """

    @abstractmethod
    async def count(self) -> int | None:
        """Return the number of local records; None if it is unknown."""

    async def lookup(self, handle: str, *, auth: bool = False, cert: bool = False) -> PublicValues | None:  # noqa: ARG002
        """Return the values of a handle; None if it is not registered.

        ``auth`` bypasses caches, ``cert`` asks for an authenticated answer; neither makes a difference here.
        Raises SourceError if the look-up fails.
        """
        return self.find(handle)

    async def registrations(self, names: Sequence[str]) -> list[Registration]:
        """Return the registration of each DOI or bare prefix, in order; many take long, so in a thread."""
        return await asyncio.to_thread(lambda: [self._registration(name) for name in names])

    async def check(self) -> Mapping[str, str]:
        """Return what is wrong with each part of the source, "" if it works: "records" and "upstream"."""
        return {"records": ""}

    def with_local(self, local: LocalSource) -> LocalSource:
        """Return the source that has other local records; what was cached stays."""
        return local

    def close(self) -> None:  # noqa: B027 - sources in memory have nothing to release
        """Release stores and threads."""

    def _registration(self, name: str) -> Registration:
        try:
            exists = self.find(name) is not None if "/" in name else self.has_prefix(name)
            return Registration(exists, self._agency(name) if exists else None)
        except SourceError:
            return Registration(None)

    def _agency(self, handle: str) -> str | None:
        """Return the agency given for a prefix, or else that of a prefix record (type ``10320/ra_name``)."""
        if name := self.find_agency(handle):
            return name
        for prefix in prefixes(handle)[:-1]:  # the last is "10", which belongs to no agency
            record = self.find(f"0.NA/{prefix}")
            for value in record.values if record else ():
                if value.has_type("10320/ra_name") and value.data.text:
                    return value.data.text
        return None


async def bounded(check: Awaitable[str]) -> str:
    """Return what a check returns, or why it cannot be made in time."""
    try:
        async with asyncio.timeout(CHECK_TIME):
            return await check
    except TimeoutError:
        return f"no answer within {CHECK_TIME} s"
    except SourceError as error:
        return str(error)


@lru_cache(maxsize=256)  # clients send a few different headers
def citation_type(accept: str) -> str | None:
    """Return the media type of metadata for citations that an Accept header prefers to a page, or None."""
    return write_metadata(_CITATION_TYPES, accept, page=True)[1].partition(";")[0] or None


@lru_cache(maxsize=1024)  # a few names get most of the requests
def _parse(body: bytes) -> tuple[Value, ...]:
    return tuple(map(Value.from_json, json.loads(body)))


def _is_public(value: Value) -> bool:
    return str(value.permissions or _DEFAULT_PERMISSIONS)[2:3] == "1"


def _members(value: Value) -> dict[str, object]:
    """Return a value's JSON members without those that state a default."""
    members = value.to_json()
    if members.get("permissions") == _DEFAULT_PERMISSIONS:
        del members["permissions"]
    if not members.get("references", True):
        del members["references"]
    return members
