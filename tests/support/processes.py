"""Children of a fork, as seen from their parent, and the end of the resolver's threads."""

from __future__ import annotations

import os
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Collection


def in_child(work: Callable[[], object]) -> int:
    """Run ``work`` in a forked child and return its exit status, 1 if it raised."""
    return status_of(forked(work))


def forked(work: Callable[[], object]) -> int:
    """Start ``work`` in a forked child; its process id."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the tests' own servers are threads
        child = os.fork()
    if child:
        return child
    status = 1
    try:
        work()
        status = 0
    except BaseException:  # noqa: BLE001 - the child must end here, whatever happened
        traceback.print_exc()
    finally:
        os._exit(status)


def status_of(child: int, patience: float = 60) -> int:
    """Wait for a child and return its exit status."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, 9)
    os.waitpid(child, 0)
    raise AssertionError("the child hangs")


def all_threads_ended(patience: float = 60, *, but: Collection[threading.Thread] = ()) -> bool:
    """Return whether the resolver's threads end within ``patience`` seconds, but for those given."""
    deadline = time.monotonic() + patience
    while any(thread.name == "doiuri" and thread not in but for thread in threading.enumerate()):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True
