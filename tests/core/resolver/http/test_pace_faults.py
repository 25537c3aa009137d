"""The pace when the network is slow, clocks jump, values are wrong, and processes differ or die."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
import redis
from doiuri.resolver import PaceWarning
from doiuri.resolver.http._limiter import Limiter, Paused
from doiuri.resolver.http._pace_script import MEMORY
from doiuri.resolver.http._shared_limiter import SharedLimiter
from doiuri.resolver.http._shared_pace import SharedPace
from support.processes import forked, status_of
from support.servers import redis as redis_server
from support.servers.relay import delaying

if TYPE_CHECKING:
    pass

pytestmark = pytest.mark.once

PLACE = ("https", "doi.org", 443)
TAG = "doiuri:pace:1:{https://doi.org:443}"
TEN_YEARS = 10 * 365 * 86_400
DAY = 86_400


def limiter(url: str, timeout: float = 25.0) -> SharedLimiter:
    """The limiter of one process."""
    return SharedLimiter(Limiter(), SharedPace(url, PLACE), timeout)


def send(one: SharedLimiter, rate: float | None = None, concurrency: int = 3, *, within: float = 20) -> float:
    """Send a request and return when."""
    with one.slot(object(), rate, concurrency, time.monotonic() + within):
        return time.monotonic()


def pause_of(one: SharedLimiter) -> Paused:
    with pytest.raises(Paused) as caught:
        send(one)
    return caught.value


def shares(
    limiters: list[SharedLimiter],
    rates: list[float],
    concurrencies: list[int],
    seconds: float,
    latency: float,
) -> Counter[int]:
    """How many requests each process sends if all its threads always have another one."""
    sent: Counter[int] = Counter()
    end = time.monotonic() + seconds

    def work(number: int) -> None:
        try:
            while True:
                with limiters[number].slot(object(), rates[number], concurrencies[number], end):
                    sent[number] += 1
                    time.sleep(latency)
        except TimeoutError:
            pass

    threads = [
        threading.Thread(target=work, args=(number,))
        for number, concurrency in enumerate(concurrencies)
        for _ in range(concurrency)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sent


def microseconds(client: redis.Redis) -> float:
    seconds, rest = client.time()
    return seconds * 1e6 + rest


@pytest.mark.parametrize("rate", [2.0, 20.0])
def test_a_distant_redis_delays_requests_but_stops_none(server: redis_server.Server, rate: float) -> None:
    with delaying(server.port, 0.05) as port:
        limiters = [limiter(f"redis://127.0.0.1:{port}/0") for _ in range(3)]
        for one in limiters:
            send(one)
        sent = shares(limiters, [rate] * 3, [3] * 3, 4.0, 0.0)
    assert sent.total() >= min(4 * rate, 20) / 2
    assert min(sent[number] for number in range(3)) >= 1


def test_a_clock_that_is_set_back_is_corrected_once(server: redis_server.Server, client: redis.Redis) -> None:
    one, other = limiter(server.url), limiter(server.url)
    one.failed("HTTP status 429", retry_after=1000)
    with pytest.raises(Paused):
        send(one)
    for name in ("paused", "seen"):
        client.hincrbyfloat(f"{TAG}:state", name, 3600e6)
    assert [900 < pause_of(which).seconds <= 1000 for which in (one, other, one)] == [True] * 3


def test_a_lease_outlives_a_clock_that_is_set_back(server: redis_server.Server, client: redis.Redis) -> None:
    one, other = limiter(server.url), limiter(server.url)
    with one.slot(object(), None, 1, time.monotonic() + 20):
        client.hincrbyfloat(f"{TAG}:state", "seen", 20e6)
        client.hincrbyfloat(f"{TAG}:state", "tat", 20e6)
        for lease in client.zrange(f"{TAG}:leases", 0, -1):
            client.zincrby(f"{TAG}:leases", 20e6, str(lease))
        for _ in range(3):
            with pytest.raises(TimeoutError):
                send(other, None, 1, within=0.2)


@pytest.mark.parametrize(("name", "most"), [("tat", 60), ("held", DAY), ("paused", DAY)])
def test_far_dates_come_near(
    server: redis_server.Server, client: redis.Redis, name: str, most: float
) -> None:
    client.hset(f"{TAG}:state", name, microseconds(client) + TEN_YEARS * 1e6)
    with pytest.raises((TimeoutError, Paused)):
        send(limiter(server.url), 10.0, within=0.5)
    left = float(str(client.hget(f"{TAG}:state", name))) - microseconds(client)
    assert left <= most * 1e6


@pytest.mark.parametrize("far", ["1e300", "inf"])
def test_far_dates_stop_no_operation(server: redis_server.Server, client: redis.Redis, far: str) -> None:
    client.hset(f"{TAG}:state", mapping=dict.fromkeys(("tat", "held", "paused", "limited", "seen"), far))
    client.zadd(f"{TAG}:leases", {"a": float(far)})
    one = limiter(server.url)
    one._pace._run("release", "x")
    one._pace._run("hold", 1)
    one._pace._run("failed", "x", 1.0, -1, 1)
    assert 0 < client.ttl(f"{TAG}:state") <= DAY + 3600


def test_far_leases_come_near(server: redis_server.Server, client: redis.Redis) -> None:
    far = microseconds(client) + TEN_YEARS * 1e6
    client.zadd(f"{TAG}:leases", {"a": far, "b": far, "c": float("inf")})
    with pytest.raises(TimeoutError):
        send(limiter(server.url), within=0.3)
    assert client.zcard(f"{TAG}:leases") == 3
    assert client.zcount(f"{TAG}:leases", microseconds(client) + 600e6, "+inf") == 0


def test_a_low_rate_keeps_its_slots(server: redis_server.Server, client: redis.Redis) -> None:
    """However far they are: a process has as many as it may have requests in flight."""
    one = limiter(server.url)
    send(one, 0.01)
    with pytest.raises(TimeoutError):
        send(one, 0.01, within=1)
    left = float(str(client.hget(f"{TAG}:state", "tat"))) - microseconds(client)
    assert 90e6 < left <= 100e6


def test_what_a_process_heard_of_a_pause_outlasts_redis() -> None:
    with redis_server.running() as server:
        told, other = limiter(server.url), limiter(server.url)
        told.failed("HTTP status 429", retry_after=1000)
        assert pause_of(other).seconds > 900
        server.stop()
        with pytest.warns(PaceWarning):
            state = pause_of(other)
        assert 900 < state.seconds <= 1000
        assert state.reason == "as its Retry-After asked (HTTP status 429)"


def test_what_a_process_heard_of_a_retry_after_outlasts_redis() -> None:
    with redis_server.running() as server:
        told, other = limiter(server.url), limiter(server.url)
        told.hold(1000)
        with pytest.raises(TimeoutError):
            send(other, 1000.0, within=1)
        server.stop()
        with pytest.warns(PaceWarning), pytest.raises(TimeoutError):
            send(other, 1000.0, within=4)


def test_requests_are_served_in_the_order_in_which_they_began_to_wait(server: redis_server.Server) -> None:
    limiters = [limiter(server.url) for _ in range(3)]
    for one in limiters:
        send(one)
    sent = shares(limiters, [100.0] * 3, [3] * 3, 3.0, 0.02)
    assert min(sent.values()) >= 0.7 * max(sent.values()), sent


def test_the_lowest_concurrency_counts_for_all(server: redis_server.Server) -> None:
    large, small = limiter(server.url), limiter(server.url)
    send(large)
    send(small)
    sent = shares([large, small], [100.0] * 2, [8, 3], 3.0, 0.02)
    assert sent[1] * 5 >= sent[0], sent  # 3 threads beside 8
    assert send(small, None, 1)
    with large.slot(object(), None, 8, time.monotonic() + 20), pytest.raises(TimeoutError):
        send(small, None, 8, within=0.3)


def test_a_process_that_dies_while_it_waits_delays_others_little(server: redis_server.Server) -> None:
    ready, write = os.pipe()
    one, other = limiter(server.url), limiter(server.url)

    def wait() -> None:
        os.write(write, b"!")
        send(limiter(server.url), None, 1, within=60)

    with one.slot(object(), None, 1, time.monotonic() + 20):
        child = forked(wait)
        assert os.read(ready, 1) == b"!"
        time.sleep(1)
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(send, other, None, 1)
            time.sleep(0.3)
            os.kill(child, signal.SIGKILL)
            assert status_of(child) == -signal.SIGKILL
            begun = time.monotonic()
            one._pace._tell("release", f"{one._pace._process}-0")
            assert waiting.result() - begun < 6
    os.close(ready)
    os.close(write)


def test_a_short_lease_does_not_end_a_long_one(server: redis_server.Server, client: redis.Redis) -> None:
    long, short = limiter(server.url, 400.0), limiter(server.url, 0.1)
    with long.slot(object(), None, 3, time.monotonic() + 20):
        send(short)
        assert client.ttl(f"{TAG}:leases") > 405
        assert client.zcard(f"{TAG}:leases") == 1


def test_a_process_that_was_idle_does_not_know_how_many_others_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with redis_server.running() as server:
        busy, idle = limiter(server.url), limiter(server.url)
        send(idle)
        send(busy)
        idle._pace._answered -= MEMORY
        server.stop()
        monkeypatch.setattr("random.random", lambda: 0.0)
        for one in (idle, busy):
            with pytest.warns(PaceWarning):
                send(one, 100.0)
    assert idle._pace.slow_rate(100.0) == pytest.approx(100 * 0.05 / 100)
    busy._pace._answered -= MEMORY  # Redis stays away
    busy._pace.retry_at = time.monotonic()
    send(busy, 100.0)
    assert busy._pace.slow_rate(100.0) == pytest.approx(100 * 0.05 / 2)


def test_a_node_of_a_cluster_that_hangs_is_not_asked_again_and_again() -> None:
    with redis_server.running_cluster() as servers:
        with redis.Redis(port=servers[0].port) as client:
            slot = client.cluster("keyslot", f"{TAG}:state")
        owner, node = servers if slot < 8192 else servers[::-1]
        one = limiter(node.url)
        send(one)
        assert owner.process
        owner.process.send_signal(signal.SIGSTOP)
        begun = time.monotonic()
        with pytest.warns(PaceWarning), pytest.raises(TimeoutError):
            send(one, within=0.5)
        assert time.monotonic() - begun < 9
