"""Records in memory: those of a file, a folder or Python data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doiuri.rest import agency_of, ascii_upper

from doiuri_proxy.records._files import Agencies, read_records
from doiuri_proxy.records._source import LocalSource, PublicValues

if TYPE_CHECKING:
    from collections.abc import Mapping

    from doiuri_proxy.records._files import HandleRecord
    from doiuri_proxy.records._validation import RecordsInput


class MemorySource(LocalSource):
    """Records that were all read at the start."""

    def __init__(self, records: RecordsInput) -> None:
        """Read all records. Raises RecordsError if one is invalid, or two names differ in ASCII case only."""
        self._records: dict[str, PublicValues] = {}
        self._metadata: dict[str, Mapping[str, bytes]] = {}
        self._agencies: dict[str, str] = {}
        for item in read_records(records):
            if isinstance(item, Agencies):
                self._agencies.update((ascii_upper(prefix), name) for prefix, name in item.names.items())
            else:
                self._add(item)
        self._prefixes = {key.partition("/")[0] for key in self._records}

    def _add(self, record: HandleRecord) -> None:
        key = ascii_upper(record.handle)
        if key in self._records:
            # Z39.84 §4: names that differ in ASCII case only are the same name
            raise record.position.error(f"{record.handle} already exists")
        try:
            self._records[key] = PublicValues.of(record.values, has_metadata=bool(record.metadata))
        except (TypeError, ValueError, RecursionError) as error:  # Python data that JSON cannot express
            raise record.position.error(f"{record.handle}: {error}") from None
        if record.metadata:
            self._metadata[key] = record.metadata

    async def lookup(self, handle: str, *, auth: bool = False, cert: bool = False) -> PublicValues | None:  # noqa: ARG002
        """Return the values of a handle; ``auth`` and ``cert`` make no difference here."""
        return self._records.get(ascii_upper(handle))

    async def metadata(self, handle: str, accept: str) -> Mapping[str, bytes]:  # noqa: ARG002
        """Return all metadata of a handle."""
        return self._metadata.get(ascii_upper(handle), {})

    async def knows_prefix(self, prefix: str) -> bool:
        """Return whether a record, an agency or a prefix record has the prefix."""
        key = ascii_upper(prefix)
        return key in self._prefixes or key in self._agencies or f"0.NA/{key}" in self._records

    async def registered_agency(self, handle: str) -> str | None:
        """Return the agency that the records file gives for the longest prefix of ``handle``."""
        return agency_of(handle, self._agencies)

    async def count(self) -> int:
        """Return the number of records."""
        return len(self._records)
