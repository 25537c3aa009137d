"""A real HTTP proxy on loopback: forwards absolute URLs, tunnels CONNECT, remembers both."""

from __future__ import annotations

import select
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from support.servers.faults import Server, serving
from support.servers.rest import header

OWN = ("proxy-authorization:", "proxy-connection:", "connection:")


@dataclass
class HTTPProxy:
    """Running: ``seen`` holds ``"GET http://…"`` and ``"CONNECT host:port"``, with ``credentials``."""

    url: str = ""
    seen: list[str] = field(default_factory=list)
    credentials: list[str | None] = field(default_factory=list)

    def answer(self, _server: Server, connection: socket.socket, request: bytes) -> None:
        """Forward one request of a connection; one without a body."""
        method, target, _ = request.decode("latin-1").split(" ", 2)
        self.seen.append(f"{method} {target}")
        self.credentials.append(header(request, "Proxy-Authorization"))
        url = f"//{target}" if method == "CONNECT" else target
        parts = urlsplit(url)
        with socket.create_connection((parts.hostname, parts.port or 80), timeout=10) as upstream:
            if method == "CONNECT":
                connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            else:
                _, *fields = request.decode("latin-1").rstrip("\r\n").split("\r\n")
                kept = [one for one in fields if not one.lower().startswith(OWN)]
                path = parts._replace(scheme="", netloc="").geturl() or "/"
                upstream.sendall(
                    "\r\n".join([f"{method} {path} HTTP/1.0", *kept, "", ""]).encode("latin-1")
                )
                upstream.recv(len(b"HTTP/1.1"), socket.MSG_WAITALL)
                connection.sendall(b"HTTP/1.0")  # the connection ends with the answer
            tunnel(connection, upstream)


@contextmanager
def http_proxy() -> Iterator[HTTPProxy]:
    """Run the proxy on a free port of 127.0.0.1."""
    proxy = HTTPProxy()
    with serving(proxy.answer) as server:
        proxy.url = server.url
        yield proxy


def tunnel(one: socket.socket, other: socket.socket) -> None:
    """Relay octets both ways until one side closes."""
    other_end = {one: other, other: one}
    with suppress(
        ValueError
    ):  # of select, for a socket that was closed when the server was stopped
        while ready := select.select([one, other], [], [], 10)[0]:
            for end in ready:
                data = end.recv(65536)
                if not data:
                    return
                other_end[end].sendall(data)
