"""Faults of a DOI proxy: an exception of httpx, or an answer that is clearly not a record."""

from __future__ import annotations

import httpx
import pytest
from doiuri import DOI, DOINotFound, ResolutionError
from doiuri.rest import read_record
from support.clients.httpx import KINDS, Clients
from support.servers.faults import FAULTS, NAME, Fault

# httpx has a timeout for each step, none for the whole; and none for DNS look-ups.
OURS = [fault for fault in FAULTS if fault.name != "DNS that hangs"]
# trio reports the generators that httpx leaves behind if a response is not read to its end.
READERS = KINDS[:2]


@pytest.mark.parametrize(
    ("fault", "clients"),
    [(fault, kind) for fault in OURS for kind in READERS if kind == "Client" or not fault.big],
    indirect=["clients"],
    ids=str,
)
def test_a_fault_is_an_error_or_plainly_no_record(fault: Fault, clients: Clients) -> None:
    with fault.serve() as server:
        client = clients.open(server.url, follow_redirects=True)
        try:
            with client.stream("GET", DOI(NAME).uri, timeout=0.1 if fault.hangs else 20) as response:
                body = next(clients.chunks(client, response, 10_000_000), b"")
        except httpx.HTTPError:
            return
    if response.headers.get("Content-Encoding") == "br":
        return  # httpx leaves unknown encodings to the caller
    if fault.error is None:
        assert read_record(DOI(NAME), response.status_code, body, response.headers).url
    else:
        with pytest.raises(ResolutionError) as caught:
            read_record(DOI(NAME), response.status_code, body, response.headers)
        assert not isinstance(caught.value, DOINotFound)
