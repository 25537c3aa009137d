"""Forks, exits and threads: nothing keeps running, and no exit is delayed."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import requests
from doiuri import DOI
from doiuri.resolver import Outcome, Reply, Request, Resolver, SQLiteStore
from support.processes import forked, in_child, status_of
from support.servers.faults import FAULTS
from support.servers.rest import handling, proxy
from support.waiting import until

DOI_ = DOI("10.1000/a")

HANGING = {"timeout in connect", "a body byte a second", "DNS that hangs"}

EXIT = """
import sys
from doiuri import DOI
from doiuri.resolver import Resolver
if sys.argv[1] == "http://hanging.test":
    import socket, time
    socket.getaddrinfo = lambda *args, **options: time.sleep(300)
stream = Resolver(sys.argv[1], store=None, timeout=300).resolve_many([DOI("10.1000/a")] * 9, budget=0.1)
print(next(stream).status)
"""


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault.name in HANGING], ids=str)
def test_the_interpreter_exits_without_waiting_for_requests(fault: object) -> None:
    with fault.serve() as server:  # type: ignore[attr-defined]
        begun = time.monotonic()
        run = subprocess.run(
            [sys.executable, "-c", EXIT, server.url],
            capture_output=True,
            text=True,
            timeout=300,
            check=True,
        )
    assert (run.stdout, run.stderr) == ("unknown\n", "")
    assert time.monotonic() - begun < 100


OPEN = """
import queue, sys
from doiuri.resolver import MemoryStore, Resolver
store = MemoryStore()
stream = Resolver(sys.argv[1], store=store).resolve_many(f"10.1000/{n}" for n in range(200))
next(stream)
store.put_many = queue.SimpleQueue().get  # waits forever, as for a lock whose thread is gone
"""


def test_a_batch_that_is_open_at_exit_waits_for_no_lock_of_a_thread_that_is_gone() -> None:
    with handling(proxy()) as server:
        run = subprocess.run(
            [sys.executable, "-c", OPEN, server.url], capture_output=True, timeout=60, check=False
        )
    assert (run.returncode, run.stderr) == (0, b"")


def test_a_fork_starts_afresh(tmp_path: Path) -> None:
    with (
        handling(proxy()) as server,
        Resolver(server.url, store=tmp_path / "store.sqlite3") as resolver,
    ):
        resolver.resolve(DOI_)

        def work() -> None:
            assert resolver.resolve(DOI("10.1000/b")).url
            assert [outcome.status for outcome in resolver.resolve_many([DOI_])] == ["found"]

        assert in_child(work) == 0
        resolver.resolve(DOI("10.1000/b"))  # from the store, where the child put it
        assert len(server.requests) == 2


def _gated(gate: threading.Event) -> Callable[[str], bytes]:
    """Answer about a name that ends in "slow" only when the gate is open."""
    usual = proxy()

    def answer(target: str) -> bytes:
        if target.endswith("slow"):
            gate.wait()
        return usual(target)

    return answer


class Direct:
    """A transport that answers as a handler of a server does, in the same process."""

    def __init__(self, answer: Callable[[str], bytes]) -> None:
        self.answer = answer
        self.requests: list[str] = []

    def get(self, request: Request) -> Reply:
        self.requests.append(request.url)
        body = self.answer(request.url.removeprefix("https://doi.org")).partition(b"\r\n\r\n")[2]
        return Reply(200, {}, body, request.url)


@pytest.mark.parametrize("over", ["sockets", "a transport"])
def test_a_fork_in_the_middle_of_a_request_does_no_harm(over: str) -> None:
    gate = threading.Event()
    transport = Direct(_gated(gate))
    with handling(_gated(gate)) as server:
        options: dict[str, Any] = (
            {"base": server.url} if over == "sockets" else {"transport": transport}
        )
        resolver = Resolver(**options, store=None, timeout=100, concurrency=1, rate=1000)
        asking = threading.Thread(target=lambda: list(resolver.resolve_many([DOI("10.1000/slow")])))
        asking.start()
        until(lambda: server.requests or transport.requests)
        # the only place at the server is taken in the parent, and no thread of the child will free it
        assert in_child(lambda: resolver.resolve(DOI_)) == 0
        gate.set()
        asking.join()


def _goes_on(stream: Iterator[Outcome]) -> None:
    with pytest.raises(RuntimeError, match="parent"):
        next(stream)


@pytest.mark.parametrize("use", [Generator.close, _goes_on], ids=["closed", "continued"])
def test_a_batch_belongs_to_the_process_that_began_it(use: Callable[[Any], object]) -> None:
    """The child of a fork does not wait for threads that it has not, and ends no request of its parent."""
    gate = threading.Event()
    with handling(_gated(gate)) as server:
        resolver = Resolver(server.url, store=None, timeout=100)
        stream = resolver.resolve_many([DOI_, DOI("10.1000/slow")])
        assert next(stream).status == "found"
        until(lambda: len(server.requests) == 2)
        assert in_child(lambda: use(stream)) == 0
        gate.set()
        assert next(stream).status == "found"
        assert len(server.requests) == 2


FORKS = """
import os, threading, warnings
from doiuri.resolver import MemoryStore
warnings.simplefilter("ignore")
over = threading.Event()
def make():
    while not over.is_set():
        [MemoryStore() for _ in range(50)]
threads = [threading.Thread(target=make) for _ in range(3)]
for thread in threads:
    thread.start()
stores = [MemoryStore() for _ in range(2000)]
for _ in range(25):
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
over.set()
"""


def test_a_fork_while_other_threads_make_stores() -> None:
    """An exception in a fork hook is printed, and the remaining hooks are skipped."""
    done = subprocess.run(
        [sys.executable, "-c", FORKS], capture_output=True, timeout=300, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_shared_store_is_opened_again_after_one_resolver_closed_it(tmp_path: Path) -> None:
    paths = (str(tmp_path / "store.sqlite3"), tmp_path / "x/../store.sqlite3")
    with handling(proxy()) as server:
        first, second = (Resolver(server.url, store=path) for path in paths)
        first.resolve(DOI_)
        for closed, other in ((first, second), (second, first)):
            with closed:  # entered again
                assert closed.resolve(DOI_).url
            closed.close()
            assert not Path(f"{paths[0]}-wal").exists(), "the only connection is closed"
            assert other.resolve(DOI_).url
            assert closed.resolve(DOI_).url
        assert len(server.requests) == 1
        first.close()


def test_one_relative_path_in_two_folders_is_two_stores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with handling(proxy()) as server:
        for number, name in enumerate("ab", 1):
            (tmp_path / name).mkdir()
            monkeypatch.chdir(tmp_path / name)
            with Resolver(server.url, store="store.sqlite3") as resolver:
                resolver.resolve(DOI_)
                assert len(server.requests) == number


def test_a_store_of_the_users_own_is_not_closed(tmp_path: Path) -> None:
    with closing(SQLiteStore(tmp_path / "store")) as store, handling(proxy()) as server:
        with Resolver(server.url, store=store) as resolver:
            resolver.resolve(DOI_)
        assert (tmp_path / "store-wal").exists()


SLOW_DISK = """
import sys, time

skipped, usual = 0, time.monotonic
time.monotonic = lambda: usual() + skipped

class Slow:
    def find_spec(self, name, path=None, target=None):
        global skipped
        if name == "requests":
            skipped += 100

from doiuri.resolver import Resolver
resolver = Resolver(sys.argv[1], store=None, budget=60, rate=float(sys.argv[2]))
sys.meta_path.insert(0, Slow())
"""


@pytest.mark.parametrize(
    ("rate", "look_up"),
    [
        (0.5, "next(resolver.resolve_many(['10.1000/1'])).status"),
        (3, "next(resolver.check([f'10.1000/{n}' for n in range(190)])).status"),
    ],
)
def test_the_budget_does_not_pay_for_the_first_import_of_requests(
    rate: float, look_up: str
) -> None:
    with handling(proxy(agencies=lambda _name: {"RA": "Crossref"})) as server:
        run = subprocess.run(
            [sys.executable, "-c", f"{SLOW_DISK}print({look_up})", server.url, str(rate)],
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
    assert (run.stdout, run.stderr) == ("found\n", "")


def test_a_users_session_is_not_shared_with_the_child_of_a_fork() -> None:
    """Both processes would read each other's answers from the same connections."""
    names = [f"10.1000/{number}" for number in range(40)]
    with handling(proxy()) as server:
        resolver = Resolver(server.url, store=None, session=requests.Session(), rate=None)
        resolver.resolve("10.1000/first")

        def refuses() -> None:
            with pytest.raises(
                RuntimeError, match="make the session and the Resolver after the fork"
            ):
                list(resolver.resolve_many(names))
            with pytest.raises(RuntimeError, match="after the fork"):
                resolver.work("10.1000/first")

        child = forked(refuses)
        outcomes = list(resolver.resolve_many(names))

        assert status_of(child) == 0
    assert [outcome.record and outcome.record.doi.name for outcome in outcomes] == names


IN_CASSETTES = """
import sys, vcr
url, folder, mode, *numbers = sys.argv[1:]
from doiuri.resolver import Resolver  # without requests: that is imported inside the first cassette

def ask(name):
    (outcome,) = Resolver(url, store=None, rate=None).resolve_many([name])
    return outcome.status

for number in numbers:
    with vcr.use_cassette(f"{folder}/{number}.yaml", record_mode=mode):
        print(ask(f"10.1000/{number}"))
"""


def test_a_recorder_sees_all_requests_of_a_process_whose_first_is_in_a_cassette(
    tmp_path: Path,
) -> None:
    def statuses(url: str, mode: str, numbers: str) -> list[str]:
        arguments = [url, str(tmp_path), mode, *numbers]
        command = [sys.executable, "-W", "ignore", "-c", IN_CASSETTES, *arguments]
        run = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
        return run.stdout.split()

    with handling(proxy()) as server:
        recorded = statuses(server.url, "once", "01")
        assert (recorded, len(server.requests)) == (["found", "found"], 2)

        # The third has no cassette, and may not be sent
        played_back = statuses(server.url, "none", "201")
        assert played_back == ["unknown", "found", "found"]
        assert len(server.requests) == 2, "a request was sent past the recorder"
