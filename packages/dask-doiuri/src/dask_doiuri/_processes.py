"""The processes that verify DOIs for one client: how they keep to one rate."""

from __future__ import annotations

import atexit
import os
import sqlite3
import stat
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
TIMEOUT = 86400.0  # seconds to wait for the turns of the others; each may take as long as its partition


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

    :raises PermissionError: if other users can use the folder of the lock.
    :raises TimeoutError: if that takes longer than ``TIMEOUT``.
    """
    file = lock_file(client)
    _make_private(file.parent)
    with closing(sqlite3.connect(file, timeout=TIMEOUT, isolation_level=None)) as lock:
        try:
            lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                raise
            raise TimeoutError(
                f"other processes have used the rate for {TIMEOUT:g} s; use fewer partitions"
            ) from None
        yield


def lock_file(client: str) -> Path:
    """Return the path of the file that the processes of a client lock."""
    shared = Path(tempfile.gettempdir())
    # on Windows each user has a folder for temporary files
    folder = shared / f"dask-doiuri-{os.getuid()}" if hasattr(os, "getuid") else shared
    return folder / f"{client}.lock"


def _make_private(folder: Path) -> None:
    """Create a folder that other users can neither read nor write.

    :raises PermissionError: if there is another one of that name.
    """
    if not hasattr(os, "getuid"):
        return
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o077:
        raise PermissionError(f"{folder} is not a folder of this user alone; remove it, or set TMPDIR")


@cache
def remove_lock_file_at_exit(client: str) -> None:
    """Let this process, the client, remove the file at exit."""

    def remove() -> None:
        with suppress(OSError):  # missing, or in use on Windows
            lock_file(client).unlink()

    atexit.register(remove)
