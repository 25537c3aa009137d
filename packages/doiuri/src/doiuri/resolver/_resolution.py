"""The resolution of one DOI: which values, and from where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from doiuri._resolution_errors import BadRecord, NoValues, ResolverUnavailable
from doiuri.records._record import Record
from doiuri.resolver._call import run_call
from doiuri.resolver._entries import fresh_record, stale_record
from doiuri.rest._server import select

if TYPE_CHECKING:
    from doiuri._doi import Handle
    from doiuri.resolver._call import Call
    from doiuri.resolver._records import Records
    from doiuri.resolver.stores._store import Entry, Key


@dataclass(frozen=True, slots=True)
class Query:
    """The parameters of ``Resolver.resolve``."""

    types: tuple[str, ...] = ()
    indexes: tuple[int, ...] = ()
    auth: bool = False
    cert: bool = False
    follow: bool = True

    def run(self, doi: Handle, records: Records, deadline: float) -> Record:
        """Return the record, from the store if possible; raise what ``Resolver.resolve`` raises."""
        entry = None if self._bypasses_store else records.stored(doi)
        record = fresh_record(doi, entry)
        if record is not None and self._is_complete(record):
            return self._selected(record)
        fresh: dict[Key, Entry] = {}
        try:
            deadline += records.client.load()
            return run_call(doi, lambda call: self._fetch(doi, entry, records, call), deadline, fresh)
        except (ResolverUnavailable, BadRecord):
            record = stale_record(doi, entry)
            if record is None or not self._is_complete(record):
                raise
            return self._selected(record)
        finally:
            records.write(fresh)

    @property
    def _bypasses_store(self) -> bool:
        return self.auth or self.cert

    @property
    def _selects(self) -> bool:
        return bool(self.types or self.indexes)

    def _is_complete(self, record: Record) -> bool:
        """Return whether no other record at the end of a chain of aliases is needed."""
        return self._selects or not self.follow or record.alias is None

    def _selected(self, record: Record) -> Record:
        """Return the record with the selected values only, as the server would."""
        if not self._selects:
            return record
        values = select(record.values, self.types, self.indexes)
        if not values:
            raise NoValues(record.doi)
        return Record(record.doi, values, record.extra)

    def _fetch(self, doi: Handle, entry: Entry | None, records: Records, call: Call) -> Record:
        if self._selects:
            return records.fetch_values(
                doi, call, types=self.types, indexes=self.indexes, auth=self.auth, cert=self.cert
            )
        if self._bypasses_store:
            record = records.fetch(doi, call, auth=self.auth, cert=self.cert)
        else:
            record = records.current(doi, entry, call)
        return records.follow(doi, record, call, auth=self.auth, cert=self.cert) if self.follow else record
