"""A fault is never taken for an answer, never stored, and never takes longer than the limits allow."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

import pytest
from doiuri import DOI, ResolverUnavailable
from doiuri.resolver import Outcome, Resolver
from support.servers.faults import FAULTS, HARDER, NAME, TARGET, TYPICAL, Fault, record, reply, says
from support.store_contract import Kept

DOI_ = DOI(NAME)
ALL = FAULTS + HARDER
SLACK = 50
"""Seconds that a busy machine may take; a request that hangs would take longer (see ``limits``)."""


def limits(fault: Fault) -> dict[str, float]:
    """A short budget for faults that hang, a longer one for those that end in an answer."""
    return {"timeout": 100, "budget": 0.1 if fault.hangs else 100}


@contextmanager
def asking(fault: Fault, store: Kept | None, **limit: float) -> Iterator[Resolver]:
    """A resolver at a server with a fault, which has to answer in time."""
    with fault.serve() as server, Resolver(server.url, store=store, **limit) as resolver:  # type: ignore[arg-type]
        begun = time.monotonic()
        yield resolver
        assert time.monotonic() - begun < SLACK


@pytest.mark.parametrize("fault", ALL, ids=str)
def test_resolve_raises_in_time(fault: Fault) -> None:
    with asking(fault, Kept(), **limits(fault)) as resolver:
        if fault.error is None:
            assert resolver.resolve(DOI_).url == TARGET
            return
        with pytest.raises(fault.error) as caught:
            resolver.resolve(DOI_)
        assert (caught.value.doi, bool(caught.value.reason)) == (DOI_, True)


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault.hangs], ids=str)
def test_the_timeout_holds(fault: Fault) -> None:
    with asking(fault, None, timeout=0.1) as resolver, pytest.raises(ResolverUnavailable):
        resolver.resolve(DOI_)


# One of each kind for Which RA, whose answers are requested as records are
ASKED = [
    *((Resolver.check, fault) for fault in ALL if not fault.big),
    *((Resolver.agencies, fault) for fault in (*TYPICAL, *HARDER)),
]


@pytest.mark.parametrize(
    ("ask", "fault"),
    [pytest.param(ask, fault, id=f"{ask.__name__}-{fault}") for ask, fault in ASKED],
)
def test_a_fault_is_unknown_within_the_budget_and_stores_nothing(
    fault: Fault, ask: Callable[[Resolver, list[DOI]], Iterator[Outcome]]
) -> None:
    store = Kept()
    with asking(fault, store, **limits(fault)) as resolver:
        (outcome,) = ask(resolver, [DOI_])
    assert (outcome.doi, outcome.status) == (DOI_, fault.status)
    assert fault.error is None or outcome.reason
    assert bool(store) == (fault.error is None)


ASK = """
import resource, sys
from doiuri import DOI, ResolverUnavailable
from doiuri.resolver import Resolver
(outcome,) = Resolver(sys.argv[1], store=None, timeout=30).resolve_many([DOI(sys.argv[2])])
print(outcome.status, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@cache
def usual_memory() -> int:
    """Return the peak memory of a process that resolves a DOI as usual."""
    with says(reply("200 OK", record()))() as server:
        status, usual = memory(server.url)
    assert status == "found"
    return usual


def memory(server_url: str) -> tuple[str, int]:
    """Return the status, and the peak memory in kB, of a process that resolves a DOI."""
    run = subprocess.run(
        [sys.executable, "-c", ASK, server_url, NAME],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    status, peak = run.stdout.split()
    return status, int(peak)


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault.big], ids=str)
def test_memory_is_bounded(fault: Fault) -> None:
    with fault.serve() as server:
        status, peak = memory(server.url)
    assert status == "unknown"
    assert peak - usual_memory() < 15_000
