"""A real HTTP proxy on loopback: forwards absolute URLs, tunnels CONNECT, remembers both."""

from __future__ import annotations

import select
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler
from urllib.parse import urlsplit

from support.servers.web import Server, serving

# of one connection, and the length of the body, which is passed on whole
HOP_BY_HOP = {"connection", "proxy-authorization", "proxy-connection", "keep-alive"}
HOP_BY_HOP |= {"transfer-encoding", "content-length"}


@dataclass
class HTTPProxy:
    """Running: ``seen`` holds ``"GET http://…"`` and ``"CONNECT host:port"``, with ``credentials``."""

    url: str
    seen: list[str] = field(default_factory=list)
    credentials: list[str | None] = field(default_factory=list)


@contextmanager
def http_proxy() -> Iterator[HTTPProxy]:
    """Run the proxy on a free port of 127.0.0.1."""
    running = HTTPProxy("")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def parse_request(self) -> bool:
            is_good = super().parse_request()
            running.seen.append(f"{self.command} {self.path}")
            running.credentials.append(self.headers.get("Proxy-Authorization"))
            return is_good

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            with closing(HTTPConnection(parts.hostname or "", parts.port, timeout=10)) as connection:
                target = parts._replace(scheme="", netloc="").geturl()
                headers = {k: v for k, v in self.headers.items() if k.lower() not in HOP_BY_HOP}
                connection.request(self.command, target, headers=headers)
                answer = connection.getresponse()
                body = answer.read()
            self.send_response_only(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in HOP_BY_HOP:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_HEAD = do_GET  # noqa: N815 - http.server's names

        def do_CONNECT(self) -> None:
            host, _, port = self.path.rpartition(":")
            with socket.create_connection((host, int(port)), timeout=10) as upstream:
                self.send_response_only(200)
                self.end_headers()
                tunnel(self.connection, upstream)
            self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    with serving(Server(("127.0.0.1", 0), Handler)) as port:
        running.url = f"http://127.0.0.1:{port}"
        yield running


def tunnel(one: socket.socket, other: socket.socket) -> None:
    """Relay octets both ways until one side closes."""
    other_end = {one: other, other: one}
    while ready := select.select([one, other], [], [], 10)[0]:
        for end in ready:
            data = end.recv(65536)
            if not data:
                return
            other_end[end].sendall(data)
