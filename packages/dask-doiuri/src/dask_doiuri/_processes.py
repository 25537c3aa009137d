"""The processes that verify DOIs for one client: how they keep to one rate without a shared pace."""

from __future__ import annotations

import atexit
import os
import sqlite3
import sys
import tempfile
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

if TYPE_CHECKING:
    from collections.abc import Iterator

_TOKEN = uuid4().hex
_LONGEST = 2e6  # seconds; SQLite counts milliseconds in 31 bits


def client_id() -> str:
    """Return what identifies this process, after a fork, too."""
    return f"{_TOKEN}-{os.getpid()}"


def processes() -> int | None:
    """Return how many worker processes the cluster of the running task has; None if it has no cluster."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        distributed.get_worker()
    except ValueError:  # not a task of a cluster
        return None
    return max(1, len(set(map(_process, distributed.get_client().nthreads()))))


def _process(address: str) -> str:
    """Return what the workers of one process have in common."""
    return address.rpartition("/")[0] if address.startswith("inproc://") else address


@contextmanager
def turn(client: str) -> Iterator[None]:
    """Wait until no other process of this machine has its turn for this client.

    A process does not learn how many others Dask's scheduler ``"processes"`` started, so one at a time may
    use the rate. The end of a process ends its turn.
    """
    with closing(sqlite3.connect(lock_file(client), timeout=_LONGEST, isolation_level=None)) as lock:
        lock.execute("BEGIN EXCLUSIVE")
        yield


def lock_file(client: str) -> Path:
    """Return the path of the file that the processes of a client lock."""
    return Path(tempfile.gettempdir(), f"dask-doiuri-{client}.lock")


@cache
def remove_lock_file_at_exit(client: str) -> None:
    """Let this process, the client, remove the file at exit."""

    def remove() -> None:
        with suppress(OSError):  # missing, or in use on Windows
            lock_file(client).unlink()

    atexit.register(remove)
