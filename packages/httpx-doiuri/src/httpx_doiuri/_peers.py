"""The connections of a client, from httpcore's ``trace`` extension.

Unlike a look-up of the host, they tell the address that a request is sent to, before it is sent, and whether
that is the host itself or a proxy.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import httpx

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Place = tuple[str, int]
    Event = dict[str, Any]
    Check = Callable[[], None]

_PORTS = {"http": 80, "https": 443}


class Peer(NamedTuple):
    """What a connection leads to."""

    place: Place | None
    """The host and port, perhaps of a proxy; None if another request connected to the proxy."""
    address: str
    """The IP address."""

    def serves(self, url: httpx.URL) -> bool:
        """Return whether this is the host of a URL, not a proxy."""
        return self.place == place_of(url)


class Peers:
    """The peers of the connections that one client has opened."""

    def __init__(self, trace: type[Trace]) -> None:
        self._trace = trace
        self._by_stream: WeakKeyDictionary[Any, Peer] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def add(self, stream: Any, peer: Peer) -> None:
        """Note a new connection."""
        with self._lock, suppress(TypeError):  # a transport's own stream may not have weak references
            self._by_stream[stream] = peer

    def addresses_of(self, url: httpx.URL) -> list[str]:
        """Return the addresses of the open connections to a URL's host, any of which a request may use."""
        place = place_of(url)
        with self._lock:
            known = [(stream, peer) for stream, peer in self._by_stream.items() if peer.place == place]
        return [peer.address for stream, peer in known if address_of(stream) is not None]

    def of(self, response: httpx.Response) -> Peer | None:
        """Return the peer that a response comes from; None if the client did not open the connection.

        A transport may be shared between clients, or be one that drops the ``trace`` extension.
        """
        stream = response.extensions.get("network_stream")
        with self._lock, suppress(TypeError):
            return self._by_stream.get(stream)
        return None

    @contextmanager
    def traced(self, request: httpx.Request, check: Check | None = None) -> Iterator[Trace]:
        """Trace the connections of a request while it is sent; a callback of the caller's own is called, too.

        :param check: called for each new connection, and before anything is sent.
        """
        trace = self._trace(self, check, request)
        try:
            yield trace
        except httpx.HTTPError as error:
            with suppress(RuntimeError):  # it has no request
                trace.remove_from(error.request)
            raise
        finally:
            trace.remove_from(request)


class Trace:
    """A callback of the ``trace`` extension for one request, and for those that follow its redirects."""

    def __init__(self, peers: Peers, check: Check | None, request: httpx.Request) -> None:
        self._peers = peers
        self._check = check
        self._place: Place | None = None
        self._given: Any = request.extensions.get("trace")
        request.extensions = {**request.extensions, "trace": self}

    def remove_from(self, request: httpx.Request) -> None:
        """Restore the extensions of a request: another client may send it later."""
        if request.extensions.get("trace") is self:
            others = {name: value for name, value in request.extensions.items() if name != "trace"}
            request.extensions = others if self._given is None else {**others, "trace": self._given}

    def removed(self, response: httpx.Response) -> httpx.Response:
        """Return a response, with the extensions of its requests restored."""
        for one in (*response.history, response):
            self.remove_from(one.request)
            if one.next_request is not None:
                self.remove_from(one.next_request)
        return response

    def note(self, name: str, info: Event) -> None:
        """Note a new connection, and check the connections.

        :raises Exception: what the check raises.
        """
        if name.endswith(".connect_tcp.started"):
            self._place = info["host"], info["port"]
        connected = name.endswith((".connect_tcp.complete", ".start_tls.complete"))
        if connected:
            stream = info["return_value"]
            address = address_of(stream)
            if address is not None:
                self._peers.add(stream, Peer(self._place, address))
        if self._check is not None and (connected or name.endswith(".send_request_headers.started")):
            self._check()


class SyncTrace(Trace):
    """For ``Client``."""

    def __call__(self, name: str, info: Event) -> None:
        """Note an event, and close a new connection that is refused."""
        try:
            self.note(name, info)
        except BaseException:
            if "return_value" in info:
                info["return_value"].close()
            raise
        if self._given is not None:
            self._given(name, info)


class AsyncTrace(Trace):
    """For ``AsyncClient``."""

    async def __call__(self, name: str, info: Event) -> None:
        """Note an event, and close a new connection that is refused."""
        try:
            self.note(name, info)
        except BaseException:
            if "return_value" in info:
                await info["return_value"].aclose()
            raise
        if self._given is not None:
            await self._given(name, info)


def place_of(url: httpx.URL) -> Place:
    """Return the host and port of a URL, as httpcore writes them."""
    port = _PORTS.get(url.scheme, 0) if url.port is None else url.port
    return url.raw_host.decode("ascii"), port


def address_of(stream: Any) -> str | None:
    """Return the IP address that a network stream is connected to; None if it is not TCP or closed."""
    try:
        peer = stream.get_extra_info("server_addr") if stream is not None else None
    except OSError:
        return None
    return str(peer[0]) if isinstance(peer, tuple) else None
