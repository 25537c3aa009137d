"""Faults of a DOI proxy: an exception of requests, or an answer that is clearly not a record."""

from __future__ import annotations

import pytest
import requests
from doiuri import DOI, DOINotFound, ResolutionError
from doiuri.rest import read_record
from requests_doiuri import mount
from support.servers.faults import FAULTS, NAME, Fault

# requests has no timeout for DNS look-ups.
OURS = [fault for fault in FAULTS if fault.name != "DNS that hangs"]


@pytest.mark.parametrize("fault", OURS, ids=str)
def test_a_fault_is_an_error_or_plainly_no_record(fault: Fault) -> None:
    with fault.serve() as server, mount(requests.Session(), server.url) as session:
        try:
            with session.get(DOI(NAME).uri, timeout=0.1 if fault.hangs else 20, stream=True) as response:
                body = next(response.iter_content(10_000_000), b"")
        except (requests.RequestException, ValueError):  # the latter for a Location that is not a URL
            return
    if response.headers.get("Content-Encoding") == "br":
        return  # requests leaves unknown encodings to the caller
    if fault.error is None:
        assert read_record(DOI(NAME), response.status_code, body, response.headers).url
    else:
        with pytest.raises(ResolutionError) as caught:
            read_record(DOI(NAME), response.status_code, body, response.headers)
        assert not isinstance(caught.value, DOINotFound)
