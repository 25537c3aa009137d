"""The threads of one call: what becomes of a request that hangs, and of what comes too late."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace
from typing import Any

import pytest
from doiuri.resolver import Cause
from doiuri.resolver._workers import Task, Workers
from support.waiting import until


def hanging(free: threading.Event, ends: float) -> Any:
    """A request that hangs until it is abandoned."""
    return SimpleNamespace(
        deadline=ends, abandon=free.set, _host="doi.org", timeout_reason="no answer from doi.org within 1 s"
    )


@pytest.mark.parametrize("raises", [False, True])
def test_a_request_that_hangs_times_out_whatever_its_thread_does_afterwards(raises: bool) -> None:
    free, over = threading.Event(), threading.Event()

    def work(task: Task) -> None:
        task.watch(hanging(free, time.monotonic()))
        free.wait(60)
        over.set()
        if raises:
            raise RuntimeError

    workers = Workers(1, time.monotonic() + 60)
    task = workers.submit(work)
    workers.wait(lambda: task.done)
    assert over.wait(60)
    assert task.cause == Cause("timeout", "doi.org", detail="no answer from doi.org within 1 s")
    assert (task.cancelled, task.error) == (True, None)
    assert not workers.submit(lambda _task: None).cancelled, "another thread takes its place"


def test_nothing_starts_once_the_call_is_over() -> None:
    started = threading.Event()
    late = Workers(1, time.monotonic() - 1)
    closed = Workers(1, time.monotonic() + 60)
    closed.close()
    closed.deadline += 60
    for workers in (late, closed):
        task = workers.submit(lambda _task: started.set())
        assert task.cause == Cause("budget", detail="budget exhausted")
    assert not started.wait(0.05)


def test_the_error_of_a_task_is_kept() -> None:
    def fail(_task: Task) -> None:
        raise RuntimeError("ours")

    workers = Workers(1, time.monotonic() + 60)
    task = workers.submit(fail)
    workers.wait(lambda: task.done)
    assert str(task.error) == "ours"
    assert not task.cancelled


def test_there_are_never_more_threads_than_the_size() -> None:
    workers, free, others = Workers(1, time.monotonic() + 60), threading.Event(), {*threading.enumerate()}
    first = workers.submit(lambda _task: None)
    workers.wait(lambda: first.done)
    until(lambda: {*threading.enumerate()} <= others)
    second = [workers.submit(lambda _task: free.wait(60)) for _ in range(3)]
    assert len({*threading.enumerate()} - others) == 1
    free.set()
    workers.wait(lambda: all(task.done for task in second))
