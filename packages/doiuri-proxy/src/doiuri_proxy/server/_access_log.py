"""The access log, in the common log format with durations."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from doiuri_proxy.app._http import Request, Response


class AccessLog:
    """Appends a line for each request to a file; ``-`` is standard error.

    A line ends with the seconds that the answer took. It is written at once and in one piece, so that several
    processes can write to a file, and none is lost with a process.
    """

    def __init__(self, name: str) -> None:
        """Open the file. Raises OSError."""
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

    def _write(self, client: str, line: str, status: int, size: int, seconds: str) -> None:
        now = time.strftime("%d/%b/%Y:%H:%M:%S +0000", time.gmtime())
        text = f'{client} - - [{now}] "{line}" {status} {size} {seconds}\n'
        with self._lock, contextlib.suppress(OSError):  # a full disk must not stop the proxy
            os.write(self._file, text.encode())

    def _open(self) -> int:
        if self._name == "-":
            return sys.stderr.fileno()
        try:
            return os.open(self._name, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise OSError(f"cannot write the access log {self._name}: {error.strerror}") from None
