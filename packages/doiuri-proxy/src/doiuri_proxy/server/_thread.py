"""A proxy in a thread of this process, for tests and tools."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from typing import TYPE_CHECKING, Literal

from doiuri_proxy.app._app import App
from doiuri_proxy.app._http import CLIENT_LEFT
from doiuri_proxy.app._metrics import Metrics
from doiuri_proxy.app._redirect import Choice
from doiuri_proxy.records._open import open_local, open_source
from doiuri_proxy.server._protocol import Limits
from doiuri_proxy.server._server import STOP_TIME, Server, bind, url_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

    from doiuri_proxy.app._http import Request, Response
    from doiuri_proxy.records._validation import RecordsInput

START_TIME = 30  # seconds that the thread has to start


class Running:
    """A running proxy, as `running` yields it.

    :ivar url: its base URL, such as ``http://127.0.0.1:49152``.
    :ivar log: the requests that it has answered, in order; `Request` objects.
    """

    def __init__(self, url: str, app: App) -> None:
        """Record the requests to ``app``."""
        self.url = url
        self.log: list[Request] = []
        self._app = app
        app.on_response = self._record

    def load(self, records: RecordsInput) -> None:
        """Serve other records from the next request on.

        :param records: as for `running`
        :raises RecordsError: if the records are not valid; then the proxy keeps the old ones
        """
        self._app.source = self._app.source.with_local(open_local(records))

    def _record(self, request: Request, response: Response, _client: str, _seconds: float) -> None:
        if response.status != CLIENT_LEFT:
            self.log.append(request)


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
    """Run a proxy in a thread of this process, on a real socket, until the ``with`` block ends.

    >>> from urllib.request import urlopen
    >>> url = {"index": 1, "type": "URL", "data": {"format": "string", "value": "https://example.org/"}}
    >>> with running([{"handle": "10.1000/1", "values": [url]}]) as proxy:
    ...     with urlopen(f"{proxy.url}/api/handles/10.1000/1") as response:
    ...         response.status
    200

    :param records: the path of a records file or a folder of them, a store's path or URL, or Python data in
        the form of a records file; None is no records
    :param host: the address to listen on
    :param port: the port to listen on; 0 picks a free one
    :param upstream: the base URL of a proxy to ask for DOIs that are not in the records
    :param cache: the store for upstream's answers, a path or URL; None is the Resolver's default, which
        ``DOIURI_CACHE`` sets
    :param pick: how to choose among weighted locations: "highest" takes the highest weight, a `random.Random`
        chooses by weight
    :param country: a country code of two letters: prefer locations for this country
    :param limits: limits of connections; None is the default `Limits`
    :returns: a context manager that yields a `Running`
    :raises RecordsError: if the records cannot be read or are not valid
    :raises ValueError: if ``upstream`` or ``cache`` is not valid
    :raises OSError: if the port cannot be bound
    """
    metrics = Metrics()

    def on_reply(failed: bool) -> None:
        metrics.count_upstream(failed=failed)

    source = open_source(records, upstream=upstream, cache=cache, on_reply=on_reply)
    app = App(source, Choice(pick, country), metrics=metrics)
    listener = bind(host, port)
    ready = threading.Event()
    server = Server(app, limits or Limits(), ready.set, stop_grace=0)
    thread = threading.Thread(
        target=lambda: asyncio.run(server.serve(listener)), name="doiuri-proxy", daemon=True
    )
    thread.start()
    try:
        if not ready.wait(START_TIME):
            raise RuntimeError(f"the proxy did not start within {START_TIME} s")
        yield Running(url_of(listener), app)
    finally:
        server.stop()
        thread.join(STOP_TIME + 5)
        app.source.close()
