"""An Internet on loopback: any names, addresses and ports, behind which one server answers."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from support.servers.tls import Authority
from support.servers.web import JSON, Answer, Asked, record, site

RECORD = json.dumps({"responseCode": 1, **record("10.1000/1", "http://x.example/")}).encode()
NAMES = {
    "doi.example": "8.8.8.8",
    "landing.example": "8.8.4.4",
    "doi.example.evil.landing.example": "8.8.4.5",
    "inside.example": "10.0.0.7",  # looks public
    "intranet": "10.0.0.8",
    "six.example": "fd00::2",
    "localhost": "127.0.0.1",
}


@dataclass
class Internet:
    """What was requested, as ``GET http://host/path``; `` +name`` for each secret that was sent."""

    hops: Sequence[str] = ()
    """Where the requests are redirected to, one after the other; the one after the last is answered."""
    status: int = 302
    seen: list[str] = field(default_factory=list)

    def answer(self, scheme: str, asked: Asked) -> Answer:
        number, host = len(self.seen), asked.headers["host"]
        host = host.removesuffix(":443" if scheme == "https" else ":80").lower()
        secrets = [f" +{name}" for name in ("authorization", "cookie", "x-own") if name in asked.headers]
        self.seen.append(f"{asked.method} {scheme}://{host}{asked.target}{''.join(secrets)}")
        if number < len(self.hops):
            return Answer(self.status, {"Location": self.hops[number]})
        return Answer(200, JSON, RECORD)


@contextmanager
def internet(authority: Authority, monkeypatch: pytest.MonkeyPatch) -> Iterator[Internet]:
    """Lead each connection to a server on loopback, with TLS for the ports 443 and 8443."""
    net, peers = Internet(), dict[Any, Any]()
    look_up, connect, getpeername = socket.getaddrinfo, socket.socket.connect, socket.socket.getpeername

    def find(name: Any, *args: Any, **options: Any) -> Any:
        host = name.decode() if isinstance(name, bytes) else name or ""
        return look_up(NAMES.get(host.lower().rstrip("."), name), *args, **options)

    with (
        site(lambda asked: net.answer("http", asked)) as plain,
        site(lambda asked: net.answer("https", asked), tls=authority.server()) as secure,
    ):

        def redirect(sock: socket.socket, address: Any) -> None:
            if sock.family not in {socket.AF_INET, socket.AF_INET6}:
                return connect(sock, address)
            here = "127.0.0.1" if sock.family == socket.AF_INET else "::ffff:127.0.0.1"
            try:
                connect(sock, (here, (secure if address[1] in {443, 8443} else plain).port))
            finally:
                peers[sock.getsockname()] = address

        def peer(sock: socket.socket) -> Any:
            connected = getpeername(sock)
            return peers.get(sock.getsockname(), connected)

        monkeypatch.setattr(socket, "getaddrinfo", find)
        monkeypatch.setattr(socket.socket, "connect", redirect)
        monkeypatch.setattr(socket.socket, "getpeername", peer)
        yield net
        monkeypatch.undo()
