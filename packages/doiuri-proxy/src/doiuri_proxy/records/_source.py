"""Records in memory, and what all sources of records return."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from doiuri.records import Value, ascii_upper
from doiuri.rest import write_json

from doiuri_proxy.records._files import check_agencies, check_record, read_items
from doiuri_proxy.records._metadata import MetadataAnswer, write_metadata

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from doiuri_proxy.records._files import PathOrData

MAX_CACHED = 8192  # bytes of a record: caches of N records hold at most N times as much
WAIT_TIME = 8  # seconds that a request may wait for upstream: clients have a timeout of 10
RETRY_AFTER = 20  # seconds after which a client may ask again

# Administrators may read and write, the public may read; answers omit these permissions.
_DEFAULT_PERMISSIONS = "1110"


class SourceError(Exception):
    """A look-up failed, so nothing is known: the proxy answers with an error, never with "not found"."""

    status = 500
    title = "Server Error"
    headers: ClassVar[tuple[tuple[str, str], ...]] = ()

    refusal = ""
    """Why upstream does not answer; empty if the failure is about one name."""


class AcceptError(SourceError):
    """An Accept header cannot be sent to upstream."""

    status = 400
    title = "Bad Request"


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
    #: whether the record comes from upstream, which alone knows whether there is metadata
    is_upstreams: bool = False

    @classmethod
    def of(
        cls, values: Iterable[Value], *, has_metadata: bool = False, is_upstreams: bool = False
    ) -> PublicValues:
        """Return the public ones of ``values``."""
        body = write_json([_members(value) for value in values if _is_public(value)])
        return cls(body, has_metadata, is_upstreams)

    @property
    def values(self) -> tuple[Value, ...]:
        """The values, parsed."""
        # A big record is parsed each time: kept by the cache, a thousand of them would fill the memory.
        parse = _parse if len(self.body) <= MAX_CACHED else _parse.__wrapped__
        return parse(self.body)


class Registration(NamedTuple):
    """Whether a name exists, and its registration agency."""

    exists: bool | None  # None: unknown
    agency: str | None = None  # None: unknown


class Records:
    """Records in memory, all read at the start. Look-ups ignore the case of ASCII letters (Z39.84 §4)."""

    def __init__(self, records: PathOrData) -> None:
        """Read all records. Raises RecordsError if one is invalid, or two names differ in ASCII case only."""
        self._records: dict[str, PublicValues] = {}
        self._metadata: dict[str, Mapping[str, bytes]] = {}
        self._agencies: dict[str, str] = {}
        for location, item in read_items(records):
            try:
                self._add(item)
            except (TypeError, ValueError, RecursionError) as error:
                raise location.error(str(error)) from None
        self._prefixes = {key.partition("/")[0] for key in self._records}
        self.refusal = ""  # as UpstreamSource has it; there is no upstream

    def _add(self, item: object) -> None:
        """Add a record, or agencies that stand alone; nothing for a record that says "not found".

        Raises TypeError, ValueError or RecursionError if it is not valid.
        """
        if isinstance(item, Mapping) and item.keys() == {"agencies"}:
            agencies = check_agencies(item["agencies"])
            self._agencies.update((ascii_upper(prefix), name) for prefix, name in agencies.items())
            return
        record = check_record(item)
        if record is None:
            return
        handle, values, metadata = record
        key = ascii_upper(handle)
        if key in self._records:
            # Z39.84 §4: names that differ in ASCII case only are the same name
            raise ValueError(f"{handle} already exists")
        try:
            self._records[key] = PublicValues.of(values, has_metadata=bool(metadata))
        except (TypeError, ValueError, RecursionError) as error:
            # Python data that JSON cannot express
            raise ValueError(f"{handle}: {error}") from None
        if metadata:
            self._metadata[key] = metadata

    async def lookup(
        self,
        handle: str,
        *,
        auth: bool = False,  # noqa: ARG002
        cert: bool = False,  # noqa: ARG002
    ) -> PublicValues | None:
        """Return the values of a handle; None if it is not registered.

        ``auth`` bypasses caches, ``cert`` asks for an authenticated answer; neither makes a difference here.
        """
        return self._records.get(ascii_upper(handle))

    async def metadata(self, handle: str, accept: str) -> MetadataAnswer:
        """Return the metadata of a handle that an Accept header asks for."""
        return write_metadata(self._metadata.get(ascii_upper(handle), {}), accept)

    async def registrations(self, names: Sequence[str]) -> list[Registration]:
        """Return the registration of each DOI or bare prefix, in order."""
        return [self._registration(name) for name in names]

    def with_local(self, local: Records) -> Records:
        """Return the source for other records."""
        return local

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

    def _registration(self, name: str) -> Registration:
        """Return the registration of a DOI or a bare prefix."""
        key = ascii_upper(name)
        exists = key in self._records if "/" in key else self._has_prefix(key)
        if not exists:
            return Registration(exists=False)
        return Registration(True, self._agency(key))

    def _has_prefix(self, prefix: str) -> bool:
        """Return whether there is a record below a prefix or of the prefix itself, or its agency is known."""
        has_record = f"0.NA/{prefix}" in self._records
        return has_record or prefix in self._prefixes or prefix in self._agencies

    def _agency(self, key: str) -> str | None:
        """Return the agency given for a name or its prefix, else that of a prefix record (``10320/ra_name``)."""
        prefixes = _prefixes(key)
        for name in (key, *prefixes):
            agency = self._agencies.get(name)
            if agency:
                return agency

        for prefix in prefixes[:-1]:  # the last is "10", which belongs to no agency
            record = self._records.get(f"0.NA/{prefix}")
            if record is None:
                continue
            for value in record.values:
                if value.has_type("10320/ra_name") and value.data.text:
                    return value.data.text
        return None


@lru_cache(maxsize=1024)  # a few names get most of the requests
def _parse(body: bytes) -> tuple[Value, ...]:
    return tuple(map(Value.from_json, json.loads(body)))


def _is_public(value: Value) -> bool:
    """Return whether everybody may read a value: its third permission is that to read for the public."""
    permissions = str(value.permissions or _DEFAULT_PERMISSIONS)
    return permissions[2:3] == "1"


def _members(value: Value) -> dict[str, object]:
    """Return a value's JSON members without the permissions and the references that are the default."""
    members = value.to_json()
    if members.get("permissions") == _DEFAULT_PERMISSIONS:
        del members["permissions"]
    if not members.get("references", True):
        del members["references"]
    return members


def _prefixes(name: str) -> list[str]:
    """Return the prefixes that a name or a prefix belongs to, the longest first.

    "10.1000.10/X" belongs to "10.1000.10", "10.1000" and "10".
    """
    parts = name.partition("/")[0].split(".")
    return [".".join(parts[:count]) for count in range(len(parts), 0, -1)]


Records.__module__ = "doiuri_proxy"  # for tracebacks and pickles
