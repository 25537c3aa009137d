"""A DOI proxy that answers content negotiation from the metadata of a file of records."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from support.references import RETRACTED
from support.servers.faults import FAULTS, Fault, Server, reply
from support.servers.web import Answer, Answering, Asked, answering, record

UNAVAILABLE = [fault for fault in FAULTS if fault.name in {"403", "truncated body"}]
"""What agencies do that have metadata but do not send it."""
[WEB_PAGE] = [fault for fault in FAULTS if fault.name == "HTML in place of JSON"]
"""What agencies without content negotiation do: their proxy leads to the web page."""


_CSL = "application/vnd.citationstyles.csl+json"
_KAHN = {
    "type": "book",
    "author": [{"family": "Kahn"}],
    "issued": {"date-parts": [[2001]]},
    "title": "First",
}
STATES: dict[str, dict[str, Any] | None] = {
    "dead": None,
    "registered": {},
    "by Kahn": {"metadata": {_CSL: _KAHN}},
    "by Abel": {"metadata": {_CSL: {**_KAHN, "author": [{"family": "Abel"}]}}},
    "retracted": {"metadata": RETRACTED["metadata"]},
}
"""What a DOI may be in a history."""


def changing_proxy(states: Callable[[], Mapping[str, str]]) -> Answering:
    """Answer for DOIs below 10.5555, each with the one of ``STATES`` that it has at the time."""

    def answer(asked: Asked) -> Answer:
        found = [(name, STATES[state]) for name, state in states().items()]
        return metadata_proxy(
            [{"handle": f"10.5555/{name}", **of} for name, of in found if of is not None]
        )(asked)

    return answer


def metadata_proxy(records: Path | Sequence[Mapping[str, Any]]) -> Answering:
    """Answer for these records, each with a member ``metadata`` if its agency has any."""
    items = json.loads(records.read_text("utf-8")) if isinstance(records, Path) else records
    return answering([{**item, **record(item["handle"], "https://example.org/")} for item in items])


@contextmanager
def faulty_agency(records: Path, fault: Fault) -> Iterator[Server]:
    """A proxy that has these records, but leads to an agency with a fault for their metadata.

    The agency is a part of the proxy: redirects to another server of this machine are refused.
    """
    rest = metadata_proxy(records)
    with fault.serve() as server:
        assert isinstance(server, Server)
        agency = server.answer

        def answer(server: Server, connection: socket.socket, request: bytes) -> None:
            target = request.split(b" ")[1].decode()
            if target.startswith("/agency/"):
                agency(server, connection, request)
            elif target.startswith(("/api/", "/doiRA/")):
                status, _, body = rest(Asked("GET", target, {}))
                connection.sendall(reply(f"{status} Answer", body))
            else:
                connection.sendall(reply("302 Found", b"", f"Location: /agency{target}"))

        server.answer = answer
        yield server
