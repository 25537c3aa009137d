"""The pace on a real Redis server: slots, leases, pauses, and a server that is lost or refuses."""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
import redis
from doiuri.resolver import PaceWarning
from doiuri.resolver.http import _shared_pace
from doiuri.resolver.http._limiter import MAX_FAILURES, PAUSE, Limiter, Paused
from doiuri.resolver.http._shared_limiter import MARGIN, SharedLimiter
from doiuri.resolver.http._shared_pace import SharedPace
from support.ports import refusing
from support.processes import forked, status_of
from support.servers import redis as redis_server

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.once

PLACE = ("https", "doi.org", 443)
TAG = "doiuri:pace:1:{https://doi.org:443}"


def limiter(url: str, timeout: float = 30 - MARGIN) -> SharedLimiter:
    """The limiter of one process; each has a connection of its own."""
    return SharedLimiter(Limiter(), SharedPace(url, PLACE), timeout)


def send(one: SharedLimiter, rate: float | None = None, concurrency: int = 3, *, within: float = 20) -> float:
    """Send a request and return when, on the clock of the deadline."""
    with one.slot(object(), rate, concurrency, time.monotonic() + within):
        return time.monotonic()


def is_admitted(one: SharedLimiter, rate: float | None = None, concurrency: int = 3) -> bool:
    try:
        send(one, rate, concurrency, within=1.5)
    except TimeoutError:
        return False
    return True


def pause_of(one: SharedLimiter) -> Paused:
    with pytest.raises(Paused) as caught:
        send(one)
    return caught.value


def test_processes_take_turns_at_the_rate(server: redis_server.Server) -> None:
    limiters = [limiter(server.url) for _ in range(3)]
    with ThreadPoolExecutor(6) as pool:
        sent = sorted(pool.map(lambda number: send(limiters[number % 3], 20.0, 6), range(18)))
    assert sent[-1] - sent[0] >= 17 / 20 - 0.05
    assert all(later - earlier > 0 for earlier, later in pairwise(sent))


def test_each_request_takes_up_the_time_of_its_own_rate(server: redis_server.Server) -> None:
    slow, fast = limiter(server.url), limiter(server.url)
    begun = send(slow, 2.0)
    assert send(fast, 100.0) - begun > 0.4
    assert send(fast, None) - begun < 5


def test_a_slot_beyond_the_deadline_is_refused_at_once_and_not_taken(server: redis_server.Server) -> None:
    one, other = limiter(server.url), limiter(server.url)
    begun = send(one, 0.2)
    with pytest.raises(TimeoutError):
        send(other, 0.2, within=4.8)
    assert time.monotonic() - begun < 4.5
    assert send(other, 0.5) - begun < 9, "the refused one has not taken it"
    with pytest.raises(TimeoutError):
        send(other, within=0.0)


def test_concurrency_is_that_of_all_processes(server: redis_server.Server) -> None:
    one, other = limiter(server.url), limiter(server.url)
    deadline = time.monotonic() + 20
    with one.slot(object(), None, 2, deadline):
        with other.slot(object(), None, 2, deadline):
            assert not is_admitted(limiter(server.url), concurrency=2)
            assert not is_admitted(limiter(server.url), concurrency=3), "the lowest counts for all"
        assert is_admitted(other, concurrency=2)


def test_who_waits_soon_sees_that_a_lease_is_freed(server: redis_server.Server) -> None:
    one, other = limiter(server.url), limiter(server.url)
    freed = []
    with ThreadPoolExecutor(1) as pool, one.slot(object(), None, 1, time.monotonic() + 20):
        waiting = pool.submit(send, other, None, 1)
        time.sleep(0.3)
        freed.append(time.monotonic())
    assert waiting.result() - freed[0] < 1.2


def test_waiting_costs_few_commands(server: redis_server.Server, client: redis.Redis) -> None:
    one, other = limiter(server.url), limiter(server.url)
    with one.slot(object(), None, 1, time.monotonic() + 20):
        client.config_resetstat()
        with pytest.raises(TimeoutError):
            send(other, None, 1, within=3.0)
    commands = client.info("commandstats")
    asked = sum(commands.get(f"cmdstat_{name}", {}).get("calls", 0) for name in ("eval", "evalsha"))
    assert asked <= 90  # less often the longer it takes
    assert "cmdstat_blpop" not in commands


def test_the_lease_of_a_killed_process_expires(server: redis_server.Server) -> None:
    ready, write = os.pipe()

    def hang() -> None:
        pace = SharedPace(server.url, PLACE)
        with pace.lease(None, 1, 2.0, time.monotonic() + 20):
            os.write(write, b"!")
            time.sleep(100)

    child = forked(hang)
    assert os.read(ready, 1) == b"!"
    begun = time.monotonic()
    os.kill(child, signal.SIGKILL)
    assert status_of(child) == -signal.SIGKILL
    assert 1.5 < send(limiter(server.url), None, 1) - begun < 10
    os.close(ready)
    os.close(write)


def test_a_retry_after_holds_all_processes(server: redis_server.Server) -> None:
    one, other = limiter(server.url), limiter(server.url)
    begun = time.monotonic()
    one.hold(0.6)
    one.hold(0.1)
    assert send(other) - begun >= 0.6
    one.hold(50)
    with pytest.raises(TimeoutError):
        send(other, within=1)


def test_failures_of_all_processes_count_together(server: redis_server.Server) -> None:
    limiters = [limiter(server.url) for _ in range(MAX_FAILURES)]
    for number, one in enumerate(limiters[1:]):
        one.failed(f"refused {number}")
    deadline = time.monotonic() + 20
    with limiters[0].slot(object(), None, 3, deadline):
        assert not is_admitted(limiters[1]), "one failure is left, so one request"
    limiters[0].failed("HTTP status 403")
    state = pause_of(limiters[1])
    assert state.reason == "after repeated failures (last: HTTP status 403)"
    assert PAUSE - 10 < state.seconds <= PAUSE


def test_an_answer_to_one_process_forgets_the_failures_of_all(
    server: redis_server.Server, client: redis.Redis
) -> None:
    one, other = limiter(server.url), limiter(server.url)
    for _ in range(MAX_FAILURES - 1):
        one.failed()
    send(other)
    other.succeeded()
    assert client.hget(f"{TAG}:state", "failures") is None
    other.failed()
    with other.slot(object(), None, 2, time.monotonic() + 20):
        assert is_admitted(limiter(server.url), None, 2)


def test_a_long_retry_after_pauses_all_processes(server: redis_server.Server) -> None:
    one = limiter(server.url)
    one.failed("HTTP status 429", retry_after=1000)
    one.failed("HTTP status 503", retry_after=10)
    state = pause_of(limiter(server.url))
    assert state.reason == "as its Retry-After asked (HTTP status 503)"
    assert 900 < state.seconds <= 1000


def test_a_pause_is_kept_to_its_end(server: redis_server.Server, client: redis.Redis) -> None:
    one = limiter(server.url)
    one.failed("HTTP status 429", retry_after=50_000)
    one.hold(1)
    one.failed("HTTP status 429", retry_after=1)
    assert client.ttl(f"{TAG}:state") > 50_000


def test_each_pause_is_twice_as_long_as_the_last(server: redis_server.Server, client: redis.Redis) -> None:
    for pause in (PAUSE, 2 * PAUSE, 4 * PAUSE):
        one = limiter(server.url)
        while not float(client.hget(f"{TAG}:state", "paused") or 0):
            one.failed()
        assert pause - 10 < pause_of(limiter(server.url)).seconds <= pause
        client.hset(f"{TAG}:state", "paused", 0)


def test_an_overdue_request_is_reported_with_the_next_one(
    server: redis_server.Server, client: redis.Redis
) -> None:
    """The thread that abandons it must not wait for Redis."""
    one = limiter(server.url)
    request = object()
    with one.slot(request, None, 1, time.monotonic() + 20):
        assert one.release(request)
        one.overdue("no answer within 1 s")
        assert client.hget(f"{TAG}:state", "failures") is None
        assert not is_admitted(limiter(server.url), None, 1), "its thread still has the lease"
    send(one)
    assert client.hget(f"{TAG}:state", "failures") == "1"


def test_all_keys_expire_and_are_in_one_slot(server: redis_server.Server, client: redis.Redis) -> None:
    one = limiter(server.url)
    with one.slot(object(), 10.0, 3, time.monotonic() + 20):
        one.failed("a")
        keys = client.keys()
        assert {str(key).partition("}")[0] for key in keys} == {TAG[:-1]}
        assert len(keys) == 3
        assert all(0 < client.ttl(key) < 4000 for key in keys)
    assert {client.ttl(key) > 0 for key in client.scan_iter()} == {True}


def test_two_servers_have_a_pace_each(server: redis_server.Server) -> None:
    elsewhere = SharedLimiter(Limiter(), SharedPace(server.url, ("https", "elsewhere.example", 443)), 20)
    limiter(server.url).hold(100)
    assert is_admitted(elsewhere)


def test_a_clock_of_the_server_that_goes_back(server: redis_server.Server, client: redis.Redis) -> None:
    """All its dates are then an hour ahead; waits stay as long as they were."""
    one = limiter(server.url)
    send(one, 1.0)
    one.failed("a", retry_after=-0.0)
    one.hold(0.5)
    hour = 3600e6
    with one._pace.lease(None, 3, 5.0, time.monotonic() + 20):
        pass
    with limiter(server.url).slot(object(), None, 3, time.monotonic() + 20):
        for name in ("tat", "held", "paused", "seen"):
            client.hincrbyfloat(f"{TAG}:state", name, hour)
        for lease in client.zrange(f"{TAG}:leases", 0, -1):
            client.zincrby(f"{TAG}:leases", hour, str(lease))
        begun = time.monotonic()
        assert send(limiter(server.url), 10.0) - begun < 10
        (left,) = client.zrange(f"{TAG}:leases", 0, -1, withscores=True)
        assert 0 < float(left[1]) / 1e6 - client.time()[0] < 40


@pytest.mark.parametrize("garbage", ["nan", "inf", "-inf", "", "x", "1e300", "0x7f"])
def test_what_others_have_written_there_stops_nobody_for_ever(
    server: redis_server.Server, client: redis.Redis, garbage: str
) -> None:
    names = ("held", "paused", "failures", "next", "seen", "reason")
    client.hset(f"{TAG}:state", mapping=dict.fromkeys(names, garbage))
    waits = []
    try:
        waits.append(0.0 if is_admitted(limiter(server.url)) else 86_400.0)
    except Paused as state:
        waits.append(state.seconds)
    assert waits[0] <= 86_400


def test_scripts_that_the_server_forgot_are_sent_again(
    server: redis_server.Server, client: redis.Redis
) -> None:
    one = limiter(server.url)
    send(one)
    client.script_flush()
    send(one)


def test_the_child_of_a_fork_keeps_the_pace(server: redis_server.Server) -> None:
    one = limiter(server.url)
    send(one, 2.0)
    begun = time.monotonic()

    def work() -> None:
        assert send(limiter(server.url), 2.0) - begun > 0.3

    children = [forked(work) for _ in range(2)]
    assert [status_of(child) for child in children] == [0, 0]
    assert send(one, 2.0) - begun > 1.0


def test_a_thousand_threads(server: redis_server.Server) -> None:
    """All get their turn, and few of them have a connection to Redis at a time."""
    one, sent = limiter(server.url), []
    begun = time.monotonic()

    def work(_: int) -> None:
        sent.append(send(one, 500.0, within=200))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(1000)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(sent) == 1000
    assert max(sent) - begun > 1.9


# What becomes of a pace that cannot be used


def slow(one: SharedLimiter, rate: float, seconds: float) -> int:
    """The number of requests that a process sends in so many seconds."""
    count, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            send(one, rate, within=end - time.monotonic())
        except TimeoutError:
            break
        count += 1
    return count


REFUSALS = {
    "read-only": "read only replica",
    "unsaved": "unable to persist",
    "wrong type": "wrong kind of value",
}


def refuse(server: redis_server.Server, client: redis.Redis, what: str) -> Callable[[], object]:
    """Make the server refuse to write; return what makes it write again."""
    if what == "read-only":
        client.replicaof("127.0.0.1", 1)
        return lambda: client.replicaof("NO", "ONE")
    if what == "unsaved":
        (server.folder / "dump.rdb").mkdir()  # no file can take its place
        client.config_set("save", "900 1")
        client.bgsave()
        redis_server.until(lambda: client.info()["rdb_last_bgsave_status"] == "err", "it was saved")
        return lambda: client.config_set("save", "")
    client.set(f"{TAG}:state", "text")
    return lambda: client.delete(f"{TAG}:state")


@pytest.mark.parametrize("what", REFUSALS)
def test_a_server_that_refuses_slows_down_and_is_used_again(
    what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_shared_pace, "RETRY", 0.5)
    with redis_server.running() as server, redis.Redis(port=server.port, decode_responses=True) as client:
        one = limiter(server.url)
        send(one, 100.0)
        permit = refuse(server, client, what)
        said = f"shared pace at {server.url} cannot be used .*{REFUSALS[what]}"
        with pytest.warns(PaceWarning, match=said) as caught:
            sent = slow(one, 100.0, 2.0)
        assert len(caught) == 1
        assert 2 <= sent <= 15  # a twentieth of the rate
        permit()
        time.sleep(0.6)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert slow(one, 100.0, 1.0) > 25


def test_a_full_server_keeps_the_pace(server: redis_server.Server, client: redis.Redis) -> None:
    one, other = limiter(server.url), limiter(server.url)
    client.config_set("maxmemory", 1)
    try:
        begun = send(one, 2.0)
        assert send(other, 2.0) - begun > 0.4
        one.hold(0.5)
        assert send(other) - begun > 0.9
        one.failed("x", retry_after=100)
        assert pause_of(other).seconds > 80
    finally:
        client.config_set("maxmemory", 0)


def test_a_server_that_goes_away_and_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_shared_pace, "RETRY", 0.5)
    with redis_server.running() as server:
        one = limiter(server.url)
        send(one, 100.0)
        server.stop()
        with pytest.warns(PaceWarning, match="does not answer") as caught:
            assert 2 <= slow(one, 100.0, 2.0) <= 15
        assert len(caught) == 1
        one.hold(0.0)
        one.failed("x")
        one.succeeded()
        server.start()
        time.sleep(0.6)
        assert slow(one, 100.0, 1.0) > 25
        server.stop()
        with pytest.warns(PaceWarning, match="does not answer"):
            send(one, 100.0)


def test_a_server_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_shared_pace, "TIMEOUT", 0.3)
    with redis_server.running() as server:
        one = limiter(server.url)
        send(one, 10.0)
        assert server.process
        server.process.send_signal(signal.SIGSTOP)
        begun = time.monotonic()
        with pytest.warns(PaceWarning, match="does not answer"):
            assert 0.2 < send(one, 10.0) - begun < 8


def test_without_redis_from_the_start_a_process_assumes_a_large_fleet() -> None:
    with refusing() as port:
        one = limiter(f"redis://user:secret@127.0.0.1:{port}/0?password=secret")
        with pytest.warns(PaceWarning, match="redis://127") as caught:
            assert slow(one, 1000.0, 2.5) in {1, 2, 3}
    assert not any("secret" in str(warning.message) for warning in caught)
    assert one._pace.slow_rate(10.0) == pytest.approx(0.005)
    assert one._pace.slow_rate(None) == 1.0


def test_the_slow_pace_is_a_twentieth_of_the_share(server: redis_server.Server) -> None:
    limiters = [limiter(server.url) for _ in range(4)]
    for one in [*limiters, limiters[0]]:
        send(one, 1000.0)
    assert limiters[0]._pace.slow_rate(10.0) == pytest.approx(10 / 4 / 20)


def test_a_cluster() -> None:
    with redis_server.running_cluster() as servers:
        limiters = [limiter(server.url) for server in servers]
        begun = send(limiters[0], 2.0)
        assert send(limiters[1], 2.0) - begun > 0.4
        with limiters[0].slot(object(), None, 1, time.monotonic() + 20):
            assert not is_admitted(limiters[1], None, 1)
        limiters[0].failed("x", retry_after=100)
        assert pause_of(limiters[1]).seconds > 80
