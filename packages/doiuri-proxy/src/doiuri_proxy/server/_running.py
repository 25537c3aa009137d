"""A proxy in a thread of this process, for tests and for tools that need one for a while."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from functools import partial
from typing import TYPE_CHECKING, Literal

from doiuri_proxy.app._app import App
from doiuri_proxy.app._redirect import Choice
from doiuri_proxy.records._open import open_source
from doiuri_proxy.server._protocol import Limits
from doiuri_proxy.server._server import STOP_TIME, Server, bind, url_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from random import Random

    from doiuri_proxy.app._http import Request, Response
    from doiuri_proxy.records._records import RecordsInput
    from doiuri_proxy.records._source import Source


class Running:
    """A running proxy: its ``url``, and in ``log`` the requests that it answered, in order."""

    def __init__(self, url: str, app: App, load: Callable[[RecordsInput], Source]) -> None:
        """Watch the proxy's requests; `running` makes these."""
        self.url = url
        self.log: list[Request] = []
        self._app = app
        self._load = load
        app.on_answer = self._note

    def _note(self, request: Request, _response: Response, _client: str) -> None:
        self.log.append(request)

    def load(self, records: RecordsInput) -> None:
        """Serve other records from the next request on; raises RecordsError and keeps the old ones."""
        self._app.source = self._load(records)


@contextlib.contextmanager
def running(
    records: RecordsInput | None = None,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    upstream: str | None = None,
    cache: str | None = None,
    pick: Literal["highest"] | Random = "highest",
    country: str | None = None,
    limits: Limits | None = None,
) -> Iterator[Running]:
    """Run a proxy on a real socket in a thread of this process, until the block ends.

    ``records`` is a path, a store's URL, or Python data in the records-file form; ``upstream`` the base URL
    to ask for what is not there, ``cache`` the store for its answers. ``pick`` and ``country`` decide between
    locations; ``port`` 0 picks a free one. Raises RecordsError, ValueError, OSError.
    """
    load = partial(open_source, upstream=upstream, cache=cache)
    app = App(load(records), Choice(pick, country))
    listener = bind(host, port)
    ready = threading.Event()
    server = Server(app, limits or Limits(), ready.set)
    thread = threading.Thread(
        target=lambda: asyncio.run(server.serve(sockets=[listener])), name="doiuri-proxy", daemon=True
    )
    thread.start()
    try:
        if not ready.wait(30):
            raise RuntimeError("the proxy did not start")
        yield Running(url_of(listener), app, load)
    finally:
        server.stop()
        thread.join(STOP_TIME + 5)
        app.source.close()
