"""Faults of a DOI proxy: never an invalid record, never a "not found" that the proxy did not send."""

from __future__ import annotations

from http.client import IncompleteRead
from urllib.error import HTTPError, URLError

import pytest
from doiuri import DOI, DOINotFound, Record, ResolutionError
from doiuri.rest import read_record
from support.servers.faults import FAULTS, NAME, Fault
from urllib_doiuri import urlopen

# urllib has no timeout for DNS look-ups.
OURS = [fault for fault in FAULTS if fault.name != "DNS that hangs"]


def outcome(url: str, timeout: float) -> Record | BaseException | None:
    """Return the record or the error; None for a body that the caller would have to decode."""
    try:
        with urlopen(DOI(NAME).uri, resolver=url, timeout=timeout) as response:
            body = response.read(10_000_000)
        if response.headers["Content-Encoding"]:
            return None
        return read_record(DOI(NAME), response.status, body, dict(response.headers))
    except HTTPError as error:
        error.close()
        return error.__cause__ or error
    except (URLError, TimeoutError, IncompleteRead, ResolutionError) as error:
        return error


@pytest.mark.parametrize("fault", OURS, ids=str)
def test_a_fault_is_an_error_or_plainly_no_record(fault: Fault) -> None:
    with fault.serve() as server:
        result = outcome(server.url, timeout=0.1 if fault.hangs else 20)
    assert not isinstance(result, DOINotFound)
    assert isinstance(result, Record) == (fault.error is None)
