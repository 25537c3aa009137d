"""The access log, in the common log format with durations."""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from doiuri_proxy.app._http import Request, Response

_log = logging.getLogger("doiuri_proxy")


class AccessLog:
    """Appends a line for each request to a file; ``-`` is standard error.

    A line ends with the seconds that the answer took. It is written at once and in one piece, so that several
    processes can write to a file, and none is lost with a process.

    :ivar on_failure: called for each line that cannot be written; the first of several is reported, too.
    """

    def __init__(self, name: str) -> None:
        """Open the file. Raises OSError."""
        self.on_failure: Callable[[], None] = lambda: None
        self._failed = False
        self._name = name
        self._file = self._open()
        self._lock = threading.Lock()  # another thread may open the file again

    def reopen(self) -> None:
        """Open the file again, which another program may have moved.

        Raises OSError, and then keeps the file that is open.
        """
        if self._name != "-":
            new = self._open()
            with self._lock:
                old, self._file = self._file, new
            os.close(old)

    def write(self, request: Request, response: Response, client: str, seconds: float) -> None:
        """Log a request that the application answered."""
        target = request.target.replace("\\", "\\x5C").replace('"', "\\x22")
        line = f"{request.method} {target} HTTP/{request.version}"
        self._write(client, line, response.status, len(response.body), f"{seconds:.6f}")

    def write_refusal(self, status: int, size: int, client: str) -> None:
        """Log a request that could not be read, with ``-`` in its place and in that of the seconds."""
        self._write(client, "-", status, size, "-")

    def _write(self, client: str, request: str, status: int, size: int, seconds: str) -> None:
        now = time.strftime("%d/%b/%Y:%H:%M:%S +0000", time.gmtime())
        line = f'{client} - - [{now}] "{request}" {status} {size} {seconds}\n'.encode()
        with self._lock:
            try:
                problem = "" if os.write(self._file, line) == len(line) else "only a part was written"
            except OSError as error:  # a full disk must not stop the proxy
                problem = error.strerror or str(error)
        if problem:
            self.on_failure()
            if not self._failed:
                _log.error("cannot write the access log %s: %s; lines are lost", self._name, problem)
        self._failed = bool(problem)

    def _open(self) -> int:
        if self._name == "-":
            return sys.stderr.fileno()
        try:
            return os.open(self._name, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise OSError(f"cannot write the access log {self._name}: {error.strerror}") from None
