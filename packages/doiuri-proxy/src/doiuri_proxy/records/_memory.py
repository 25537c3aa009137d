"""Records in memory: those of a file, a folder or Python data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doiuri.rest import agency_of, ascii_upper

from doiuri_proxy.records._files import Agencies, read_records
from doiuri_proxy.records._source import LocalSource, PublicValues

if TYPE_CHECKING:
    from doiuri_proxy.records._files import HandleRecord
    from doiuri_proxy.records._validation import RecordsInput


class MemorySource(LocalSource):
    """Records that were all read at the start."""

    def __init__(self, records: RecordsInput) -> None:
        """Read all records. Raises RecordsError if one is invalid, or two names differ in ASCII case only."""
        self._bodies: dict[str, bytes] = {}
        self._agencies: dict[str, str] = {}
        for item in read_records(records):
            if isinstance(item, Agencies):
                self._agencies.update((ascii_upper(prefix), name) for prefix, name in item.names.items())
            else:
                self._add(item)
        self._prefixes = {key.partition("/")[0] for key in self._bodies}

    def _add(self, record: HandleRecord) -> None:
        key = ascii_upper(record.handle)
        if key in self._bodies:
            # Z39.84 §4: names that differ in ASCII case only are the same name
            raise record.position.error(f"{record.handle} already exists")
        try:
            self._bodies[key] = PublicValues.of(record.values).body
        except (TypeError, ValueError, RecursionError) as error:  # Python data that JSON cannot express
            raise record.position.error(f"{record.handle}: {error}") from None

    async def lookup(self, handle: str, *, auth: bool = False, cert: bool = False) -> PublicValues | None:  # noqa: ARG002
        """Return the values of a handle; ``auth`` and ``cert`` make no difference here."""
        body = self._bodies.get(ascii_upper(handle))
        return None if body is None else PublicValues(body)

    async def knows_prefix(self, prefix: str) -> bool:
        """Return whether a record, an agency or a prefix record has the prefix."""
        key = ascii_upper(prefix)
        return key in self._prefixes or key in self._agencies or f"0.NA/{key}" in self._bodies

    async def registered_agency(self, handle: str) -> str | None:
        """Return the agency that the records file gives for the longest prefix of ``handle``."""
        return agency_of(handle, self._agencies)
