"""Limits of memory, of the queue for upstream, and of the time for it."""

import asyncio
import threading
import tracemalloc
from types import SimpleNamespace

import pytest
from doiuri_proxy import running
from doiuri_proxy.http import _redirect
from doiuri_proxy.http._http import Request
from doiuri_proxy.records import _upstream
from doiuri_proxy.records._source import WAIT_TIME, BusyError, PublicValues, Records, SourceError
from doiuri_proxy.records._upstream import Queue
from support.http import ask
from support.proxy_records import link


class BigRecords(Records):
    """Makes a record of 100 kB for each name, and keeps none."""

    async def lookup(self, handle: str, **_options: bool) -> PublicValues | None:
        (record,) = Records([link(handle, f"https://example.org/{handle}")])._records.values()
        padding = b',{"index":2,"type":"X","data":{"format":"string","value":"%s"},"ttl":86400}]'
        return PublicValues(record.body[:-1] + padding % (handle.encode() * 5_000))


def test_big_records_do_not_fill_the_memory() -> None:
    source, choice = BigRecords([]), _redirect.Choice()

    async def redirect_all() -> None:
        for number in range(1000, 1100):
            for query in (b"", b"auth"):
                request = Request("GET", b"/10.1000/%d-%s" % (number, b"x" * 7), query)
                assert (await _redirect.answer(request, source, choice)).status == 302

    tracemalloc.start()
    try:
        asyncio.run(redirect_all())
        assert tracemalloc.get_traced_memory()[0] < 3_000_000
    finally:
        tracemalloc.stop()


class Busy:
    """A queue with one thread, which is busy until ``free`` is called."""

    def __init__(self, limit: int = 10) -> None:
        self.queue = Queue(threads=1, limit=limit)
        self._freed = threading.Event()
        self.free = self._freed.set
        self.ran: list[str] = []
        self.first = asyncio.ensure_future(self.queue.run("first", lambda _: self._freed.wait(30)))

    def ask(self, key: str) -> asyncio.Task[None]:
        return asyncio.ensure_future(self.queue.run(key, lambda _: self.ran.append(key)))


def test_the_queue_for_upstream_is_bounded() -> None:
    async def overflow() -> None:
        busy = Busy(limit=3)
        waiting = [busy.ask("a"), busy.ask("b"), busy.ask("c"), busy.ask("a")]
        with pytest.raises(SourceError, match="too many look-ups"):
            await waiting[2]
        busy.free()
        await asyncio.gather(waiting[0], waiting[1], waiting[3])
        assert busy.ran == ["a", "b"]
        await busy.ask("c")
        busy.queue.close()

    asyncio.run(overflow())


def test_look_ups_that_nobody_waits_for_are_not_begun() -> None:
    async def leave() -> None:
        busy = Busy()
        waiting = [busy.ask(key) for key in ("left", "shared", "shared")]
        await asyncio.sleep(0)
        for task in waiting[:2]:
            task.cancel()
        await asyncio.sleep(0.05)
        busy.free()
        await waiting[2]
        assert busy.ran == ["shared"]
        await busy.ask("left")
        assert busy.ran == ["shared", "left"]
        busy.queue.close()

    asyncio.run(leave())


def test_a_look_up_goes_on_for_a_client_that_waited_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_upstream, "WAIT_TIME", 0.1)

    async def wait() -> None:
        busy = Busy()
        late = busy.ask("late")
        with pytest.raises(BusyError, match="did not answer within"):
            await late
        monkeypatch.undo()
        busy.free()
        await busy.queue.run("last", lambda _: None)  # one thread: the others are done
        assert busy.ran == ["late"]
        busy.queue.close()

    asyncio.run(wait())


def test_the_time_for_upstream_counts_from_the_arrival(monkeypatch: pytest.MonkeyPatch) -> None:
    """One request may need several look-ups, and a look-up waits for a thread."""
    now = 100.0
    monkeypatch.setattr(_upstream, "time", SimpleNamespace(monotonic=lambda: now))

    async def wait() -> None:
        nonlocal now
        busy = Busy()
        assert not busy.first.done()
        left = asyncio.ensure_future(busy.queue.run("one", lambda left: left))
        await asyncio.sleep(0)
        now += 5
        busy.free()
        assert await left == _upstream.LOOKUP_TIME - 5
        await busy.queue.run("two", lambda _: None)  # the first look-up of this task
        now += WAIT_TIME
        with pytest.raises(BusyError, match="did not answer within"):
            await busy.queue.run("three", lambda _: None)
        busy.queue.close()

    asyncio.run(wait())


def test_a_client_that_leaves_ends_its_look_up(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = threading.Event()

    async def lookup(*_args: object, **_options: object) -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    with running([]) as proxy:
        monkeypatch.setattr(Records, "lookup", lookup)
        with pytest.raises(TimeoutError):
            ask(proxy.url, "/10.1000/1", timeout=0.3)
        assert ended.wait(20)
        monkeypatch.undo()
        assert ask(proxy.url, "/10.1000/1").status == 404
