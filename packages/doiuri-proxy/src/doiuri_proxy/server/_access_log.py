"""The access log, in the common log format."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TextIO

    from doiuri_proxy.app._http import Request, Response


class AccessLog:
    """Appends a line for each request to a file; ``-`` is standard error."""

    def __init__(self, name: str) -> None:
        """Open the file. Raises OSError."""
        self._name = name
        self._file = self._open()
        self._lock = threading.Lock()  # a thread reloads while the event loop writes

    def reopen(self) -> None:
        """Open the file again, which another program may have moved.

        Raises OSError, and then keeps the file that is open.
        """
        with self._lock:
            old, self._file = self._file, self._open()
            if old is not sys.stderr:
                old.close()

    def write(self, request: Request, response: Response, client: str) -> None:
        """Log a request that the application answered."""
        target = request.target.replace("\\", "\\x5C").replace('"', "\\x22")
        line = f"{request.method} {target} HTTP/{request.version}"
        self._write(client, line, response.status, len(response.body))

    def write_refusal(self, status: int, size: int, client: str) -> None:
        """Log a request that could not be read, with ``-`` in its place."""
        self._write(client, "-", status, size)

    def _write(self, client: str, line: str, status: int, size: int) -> None:
        now = time.strftime("%d/%b/%Y:%H:%M:%S +0000", time.gmtime())
        with self._lock, contextlib.suppress(OSError):  # a full disk must not stop the proxy
            self._file.write(f'{client} - - [{now}] "{line}" {status} {size}\n')
            self._file.flush()

    def _open(self) -> TextIO:
        if self._name == "-":
            return sys.stderr
        try:
            return Path(self._name).open("a", encoding="utf-8")
        except OSError as error:
            raise OSError(f"cannot write the access log {self._name}: {error.strerror}") from None
