"""A resolver whose proxy is a list of records."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from doiuri._encoding import decode
from doiuri.records._json import dump, load
from doiuri.records._record import Record
from doiuri.records._values import Value, ascii_upper
from doiuri.resolver import Reply, Resolver

if TYPE_CHECKING:
    from collections.abc import Iterable

    from doiuri.records._json import JSON
    from doiuri.resolver import Request

    Records = str | os.PathLike[str] | Mapping[str, JSON] | Iterable[Mapping[str, JSON] | Record]

_JSON = {"Content-Type": "application/json;charset=utf-8"}


def resolver_for(records: Records, **options: Any) -> Resolver:
    """Return a Resolver that knows ``records`` and nothing else: any other name is not found.

    ``records`` is a list of records (as the REST API gives them, or ``Record`` objects), a mapping
    ``{"records": […], "agencies": {prefix: name}}``, or the path of a JSON file with either. ``options`` are
    those of the Resolver; without ``store`` nothing is stored. Raises ValueError for what is no record.
    """
    try:
        transport = _RecordsTransport(records)
    except (TypeError, AttributeError) as error:
        raise ValueError(f"these are no records: {error}") from None
    defaults = {"store": None, "rate": None, "transport": transport}
    return Resolver(**(defaults | options))


class _RecordsTransport:
    """Answers as a proxy with these records does: the REST API and Which RA, but no content negotiation."""

    def __init__(self, records: Records) -> None:
        content: JSON = records
        if isinstance(records, (str, os.PathLike)):
            content = load(Path(records).read_bytes())
        agencies: Mapping[str, str] = {}
        if isinstance(content, Mapping):
            agencies = content.get("agencies", {})
            content = [content] if "handle" in content else content.get("records", [])
        self._values = dict(pair for item in content if (pair := _read(item)) is not None)
        self._agencies = {prefix.upper(): name for prefix, name in agencies.items()}

    def get(self, request: Request) -> Reply:
        """Answer a request as the REST API or Which RA would."""
        request.remaining()
        parts = urlsplit(request.url)
        service = re.search(r"/(api/handles|doiRA)/(.*)", parts.path)  # the first: names may contain the same
        if service is None:
            return Reply(406, {}, b"", request.url)
        if service[1] == "doiRA":
            return _reply(request, 200, [self._agency(decode(name)) for name in service[2].split(",")])
        return _reply(request, *self._record(decode(service[2]), parse_qs(parts.query)))

    def _record(self, name: str, query: Mapping[str, list[str]]) -> tuple[int, JSON]:
        values = self._values.get(ascii_upper(name))
        if values is None:
            return 404, {"responseCode": 100, "handle": name}
        types, indexes = query.get("type", []), query.get("index", [])
        chosen = [
            value.to_json()
            for value in values
            if not (types or indexes) or str(value.index) in indexes or any(map(value.has_type, types))
        ]
        return 200, {"responseCode": 1 if chosen else 200, "handle": name, "values": chosen}

    def _agency(self, name: str) -> JSON:
        """What Which RA says: the agency of the longest prefix that is known."""
        if "/" in name and ascii_upper(name) not in self._values:
            return {"DOI": name, "status": "DOI does not exist"}
        prefix = name.partition("/")[0]
        while prefix and prefix not in self._agencies:
            prefix = prefix.rpartition(".")[0]
        return {"DOI": name, "RA": self._agencies[prefix]} if prefix else {"DOI": name, "status": "Unknown"}


def _read(item: JSON) -> tuple[str, tuple[Value, ...]] | None:
    """Key and values of a record; None for a recorded "not found". Handles that are no DOIs are fine here."""
    if isinstance(item, Record):
        return ascii_upper(item.doi.name), item.values
    if not isinstance(item, Mapping) or not isinstance(item.get("handle"), str):
        raise ValueError(f"not a record: {item!r:.60}")  # noqa: TRY004 - whatever is wrong with it
    if item.get("responseCode", 1) == 100:
        return None
    return ascii_upper(item["handle"]), tuple(map(Value.from_json, item.get("values", ())))


def _reply(request: Request, status: int, answer: JSON) -> Reply:
    return Reply(status, _JSON, dump(answer).encode(), request.url)
