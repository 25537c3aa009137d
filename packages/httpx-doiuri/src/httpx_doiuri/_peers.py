"""The addresses that a client is connected to, from httpcore's ``trace`` extension.

Unlike a look-up of the host, they are known for certain, before a request is sent, and also tell a direct
connection from one to a proxy.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    import httpx

    Place = tuple[str, int]
    Event = dict[str, Any]

_PORTS = {"http": 80, "https": 443}
_MOST = 1000  # many more than a client keeps open


class Peers:
    """The addresses by host and port, of the latest direct connections."""

    def __init__(self) -> None:
        self._addresses: dict[Place, str] = {}
        self._lock = threading.Lock()

    def add(self, place: Place, address: str) -> None:
        """Note the address of a connection to a host, which may be a proxy."""
        with self._lock:
            self._addresses.pop(place, None)
            self._addresses[place] = address
            if len(self._addresses) > _MOST:
                del self._addresses[next(iter(self._addresses))]

    def of(self, url: httpx.URL) -> str | None:
        """Return the address of the latest direct connection to a URL's host."""
        return self._addresses.get(place_of(url))

    def untraced(self, response: httpx.Response) -> str | None:
        """Return the address that a response comes from if this client did not open the connection.

        A transport may be shared between clients, or be one that drops the ``trace`` extension.
        """
        peer = peer_of(response.extensions.get("network_stream"))
        if peer is None or self.of(response.request.url) is not None:
            return None
        with self._lock:
            opened = {(address, port) for (_, port), address in self._addresses.items()}
        return None if peer in opened else peer[0]


def place_of(url: httpx.URL) -> Place:
    """Return the host and port of a URL, as httpcore writes them."""
    return url.raw_host.decode("ascii"), url.port or _PORTS.get(url.scheme, 0)


def peer_of(stream: Any) -> Place | None:
    """Return the address and port that a network stream is connected to; None if it is not TCP or closed."""
    try:
        peer = stream.get_extra_info("server_addr") if stream is not None else None
    except OSError:
        return None
    return (str(peer[0]), peer[1]) if isinstance(peer, tuple) else None


class Trace:
    """A callback of the ``trace`` extension for one request: notes new connections, and has them checked."""

    def __init__(
        self, peers: Peers, check: Callable[[Place, str], None] | None, request: httpx.Request
    ) -> None:
        self._peers = peers
        self._check = check
        self._place: Place | None = None
        given: Any = request.extensions.get("trace")
        self._given: Any = given._given if isinstance(given, Trace) else given

    @classmethod
    def set_on(
        cls, request: httpx.Request, peers: Peers, check: Callable[[Place, str], None] | None = None
    ) -> None:
        """Trace the connections of a request; a callback of the caller's own is called, too."""
        request.extensions = {**request.extensions, "trace": cls(peers, check, request)}

    def note(self, name: str, info: Event) -> None:
        """Note a connection.

        :raises Exception: what the check raises.
        """
        if name.endswith(".connect_tcp.started"):
            self._place = info["host"], info["port"]
        elif name.endswith(".connect_tcp.complete") and self._place is not None:
            peer = peer_of(info["return_value"])
            if peer is not None:
                self._peers.add(self._place, peer[0])
                if self._check is not None:
                    self._check(self._place, peer[0])


class SyncTrace(Trace):
    """For ``Client``."""

    def __call__(self, name: str, info: Event) -> None:
        """Note an event, and close a connection that is refused."""
        try:
            self.note(name, info)
        except BaseException:
            info["return_value"].close()
            raise
        if self._given is not None:
            self._given(name, info)


class AsyncTrace(Trace):
    """For ``AsyncClient``."""

    async def __call__(self, name: str, info: Event) -> None:
        """Note an event, and close a connection that is refused."""
        try:
            self.note(name, info)
        except BaseException:
            await info["return_value"].aclose()
            raise
        if self._given is not None:
            await self._given(name, info)
