"""Where records come from: a source answers one look-up at a time."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple, Protocol

from doiuri.records import Value

from doiuri_proxy.records._agencies import AgencyNames, parents
from doiuri_proxy.records._files import read_records
from doiuri_proxy.records._records import Agencies, handle_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from doiuri_proxy.records._records import HandleRecord, RecordsInput

_USUAL = "1110"  # administrators may read and write, the public may read: never written out


class SourceError(Exception):
    """The records cannot be reached just now: the answer is a server failure, never "not found"."""


@dataclass(frozen=True, slots=True)
class Found:
    """A record: its public values as the REST API's JSON array, in UTF-8."""

    body: bytes

    @classmethod
    def of(cls, values: Iterable[Value]) -> Found:
        """Keep what everybody may read."""
        return cls(dump([_public(value) for value in values if str(value.permissions or _USUAL)[2:3] == "1"]))

    @property
    def values(self) -> tuple[Value, ...]:
        """The public values, parsed."""
        return _read(self.body)


class Standing(NamedTuple):
    """Whether a name exists, None if that is not known, and its registration agency if there is one."""

    exists: bool | None
    agency: str | None = None


@lru_cache(maxsize=1024)  # some names are asked for again and again
def _read(body: bytes) -> tuple[Value, ...]:
    return tuple(map(Value.from_json, json.loads(body)))


class Source(Protocol):
    """What the proxy asks. Look-ups disregard the case of ASCII letters."""

    async def find(self, handle: str, *, auth: bool = False, cert: bool = False) -> Found | None:
        """Look a handle up, with ``auth`` past all caches, with ``cert`` certified; None: not registered.

        Raises SourceError where that cannot be known.
        """

    async def knows_prefix(self, prefix: str) -> bool | None:
        """Tell whether a prefix has records, an agency or a prefix record; None: others must be asked."""

    async def standings(self, names: Sequence[str]) -> list[Standing]:
        """Say of each DOI or bare prefix whether it exists, and its registration agency."""

    def close(self) -> None:
        """Let go of what is open."""


class LocalSource(ABC):
    """Records that are here, all that there are: what their sources have in common."""

    @abstractmethod
    async def find(self, handle: str, *, auth: bool = False, cert: bool = False) -> Found | None:
        """Look a handle up: see `Source`."""

    @abstractmethod
    async def knows_prefix(self, prefix: str) -> bool:
        """Tell whether a record, an agency or a prefix record names the prefix."""

    @abstractmethod
    async def registered_agency(self, handle: str) -> str | None:
        """Name the agency that is registered for the longest prefix of a handle."""

    async def standings(self, names: Sequence[str]) -> list[Standing]:
        """Say of each DOI or bare prefix whether it exists, and its registration agency."""
        return [await self._standing(name) for name in names]

    async def _standing(self, name: str) -> Standing:
        try:
            exists = await self.find(name) is not None if "/" in name else await self.knows_prefix(name)
            return Standing(exists, await self._agency(name) if exists else None)
        except SourceError:
            return Standing(None)

    async def _agency(self, handle: str) -> str | None:
        """Name the agency: what is registered wins, then the ``10320/ra_name`` of the prefix record."""
        if name := await self.registered_agency(handle):
            return name
        for prefix in parents(handle):
            found = await self.find(f"0.NA/{prefix}")
            for value in found.values if found else ():
                if value.has_type("10320/ra_name") and value.data.text:
                    return value.data.text
        return None

    def close(self) -> None:  # noqa: B027 - not all have something open
        """Let go of what is open."""


class MemorySource(LocalSource):
    """Records of a file, a folder or Python data, all in memory."""

    def __init__(self, records: RecordsInput) -> None:
        """Read all records; raises RecordsError for a bad one, or two that differ only in ASCII case."""
        self._bodies: dict[str, bytes] = {}
        self._agencies = AgencyNames()
        for item in read_records(records):
            if isinstance(item, Agencies):
                self._agencies.update(item.names)
            else:
                self._add(item)
        self._prefixes = {key.partition("/")[0] for key in self._bodies}

    def _add(self, record: HandleRecord) -> None:
        key = handle_key(record.handle)
        if key in self._bodies:
            # Z39.84 §4: a name that differs in case only is the one already there
            raise record.place.error(f"{record.handle} is already there")
        try:
            self._bodies[key] = Found.of(record.values).body
        except (TypeError, ValueError, RecursionError) as error:  # Python data may hold anything
            raise record.place.error(f"{record.handle}: {error}") from None

    async def find(self, handle: str, *, auth: bool = False, cert: bool = False) -> Found | None:  # noqa: ARG002
        """Look a handle up; nothing is cached here, and what a file says is as certain as it can be."""
        body = self._bodies.get(handle_key(handle))
        return None if body is None else Found(body)

    async def knows_prefix(self, prefix: str) -> bool:
        """Tell whether any record, an agency or a prefix record names the prefix."""
        key = handle_key(prefix)
        return key in self._prefixes or key in self._agencies or f"0.NA/{key}" in self._bodies

    async def registered_agency(self, handle: str) -> str | None:
        """Name the agency that the file gives to the longest prefix."""
        return self._agencies.of(handle)


def dump(value: object, indent: int | None = None) -> bytes:
    """Write JSON as the REST API does: in UTF-8, without escapes where UTF-8 can say it."""
    write = partial(
        json.dumps, value, indent=indent, separators=None if indent else (",", ":"), allow_nan=False
    )
    try:
        return write(ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return write().encode()


def _public(value: Value) -> dict[str, object]:
    members = value.to_json()
    if members.get("permissions") == _USUAL:
        del members["permissions"]
    if not members.get("references", True):
        del members["references"]
    return members
