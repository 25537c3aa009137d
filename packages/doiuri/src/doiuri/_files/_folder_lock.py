"""A lock between processes, on a folder: no lock file is left behind."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

POLL = 0.002
"""Seconds between two attempts to lock a folder."""


@contextmanager
def locked_folder(folder: Path, timeout: float = 60.0) -> Iterator[None]:
    """Hold an exclusive lock on ``folder``, which is created if it does not exist.

    After ``timeout`` seconds the body runs without the lock, since the process that holds it may be stopped.
    The default is long: a process that continues without the lock may overwrite what another one wrote.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if os.name == "nt":  # a folder cannot be opened there: the last of two writers wins
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some network file systems have no locks
            _lock(descriptor, timeout)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int, timeout: float) -> None:
    import fcntl

    deadline = time.monotonic() + timeout
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                return
            time.sleep(POLL)
        else:
            return
