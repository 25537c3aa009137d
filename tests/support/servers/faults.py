"""All that can go wrong with a DOI proxy, over real sockets on loopback: one table for every package.

Ask about NAME at the ``url`` of ``fault.serve()``, and expect ``fault.status`` or ``fault.error``.
"""

from __future__ import annotations

import json
import socket
import ssl
import struct
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from email.utils import formatdate
from functools import cache
from typing import Any, Literal, NamedTuple
from unittest import mock

from doiuri import BadRecord, ResolutionError, ResolverUnavailable
from support.ports import refusing
from support.proxy_records import value

NAME = "10.1000/fault"
TARGET = "https://example.org/landing"

Answer = Callable[["Server", socket.socket, bytes], None]


class Server:
    """Answers every request on a socket of its own with ``answer``, and keeps what was sent."""

    def __init__(self, answer: Answer, context: ssl.SSLContext | None = None) -> None:
        self.answer = answer
        self.context = context
        self.requests: list[bytes] = []
        self.stopped = threading.Event()
        self._connections: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        scheme = "https" if context else "http"
        self.url = f"{scheme}://127.0.0.1:{self.port}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self._connections.append(connection)
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with suppress(OSError), connection:
            if self.context is not None:
                connection = self.context.wrap_socket(connection, server_side=True)
                self._connections.append(connection)
            received = b""
            while b"\r\n\r\n" not in received:
                piece = connection.recv(65_536)
                if not piece:
                    return
                received += piece
            self.requests.append(received)
            self.answer(self, connection, received)
            connection.shutdown(socket.SHUT_WR)
            connection.recv(1)  # until the client has read it all: closing earlier would reset

    def stop(self) -> None:
        self.stopped.set()
        for each in [self._listener, *self._connections]:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()


@contextmanager
def serving(answer: Answer, context: ssl.SSLContext | None = None) -> Iterator[Server]:
    server = Server(answer, context)
    try:
        yield server
    finally:
        server.stop()


class Place(NamedTuple):
    """An address without a server of ours behind it."""

    url: str
    requests: tuple[bytes, ...] = ()


@dataclass(frozen=True)
class Fault:
    """What goes wrong (``name``), who does it (``serve``), and what has to come of it.

    ``status`` is the Outcome's, ``error`` what Resolver.resolve raises (None: a record). ``hangs``: only a
    timeout ends it. ``big``: tens of megabytes travel.
    """

    name: str
    serve: Callable[[], AbstractContextManager[Server | Place]]
    error: type[ResolutionError] | None = ResolverUnavailable
    hangs: bool = False
    big: bool = False

    @property
    def status(self) -> Literal["found", "unknown"]:
        return "unknown" if self.error else "found"

    def __str__(self) -> str:
        return self.name


def record(handle: str = NAME, *values: dict[str, object], code: object = 1) -> bytes:
    """The answer of the REST API; by default a record that leads to TARGET."""
    own = values or (value("URL", TARGET),)
    return json.dumps({"responseCode": code, "handle": handle, "values": own}).encode()


def reply(status: str, body: bytes, *headers: str, kind: str = "application/json") -> bytes:
    """A whole HTTP response with its length."""
    usual = [f"Content-Type: {kind}", f"Content-Length: {len(body)}", "Connection: close"]
    return "\r\n".join([f"HTTP/1.1 {status}", *usual, *headers, "", ""]).encode() + body


def says(*parts: bytes) -> Callable[[], AbstractContextManager[Server]]:
    """A server with the same answer to every request."""
    return lambda: serving(
        lambda _server, connection, _request: connection.sendall(b"".join(parts))
    )


def html(status: str, *headers: str) -> Callable[[], AbstractContextManager[Server]]:
    return says(reply(status, b"<!DOCTYPE html><title>Sorry</title>", *headers, kind="text/html"))


def moved(location: str) -> Callable[[], AbstractContextManager[Server]]:
    return says(reply("302 Found", b"", f"Location: {location}"))


def trickles(at_once: bytes, slowly: bytes) -> Callable[[], AbstractContextManager[Server]]:
    """A server that sends the second part a byte a second."""

    def answer(server: Server, connection: socket.socket, _request: bytes) -> None:
        connection.sendall(at_once)
        for byte in slowly:
            if server.stopped.wait(1):
                return
            connection.sendall(bytes([byte]))

    return lambda: serving(answer)


def _reset(_server: Server, connection: socket.socket, _request: bytes) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def _silent(server: Server, _connection: socket.socket, _request: bytes) -> None:
    server.stopped.wait()


def _flood(_server: Server, connection: socket.socket, _request: bytes) -> None:
    """100 MB of a record that never ends."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + record()[:-1])
    for _ in range(100):
        connection.sendall(b" " * 1_000_000)


@cache
def _bomb() -> bytes:
    """100 MB that travel as 100 kB."""
    packer = zlib.compressobj(9, wbits=31)
    pieces = [
        packer.compress(record()[:-1]),
        *(packer.compress(b" " * 1_000_000) for _ in range(100)),
    ]
    return reply("200 OK", b"".join([*pieces, packer.flush()]), "Content-Encoding: gzip")


def _bombing(_server: Server, connection: socket.socket, _request: bytes) -> None:
    connection.sendall(_bomb())


def _looping(server: Server, connection: socket.socket, _request: bytes) -> None:
    connection.sendall(reply("302 Found", b"", f"Location: {server.url}/{len(server.requests)}"))


@contextmanager
def _refused() -> Iterator[Place]:
    with refusing() as port:
        yield Place(f"http://127.0.0.1:{port}")


@contextmanager
def _not_accepting() -> Iterator[Place]:
    """A listener whose queue is full: the system drops further attempts to connect."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
        address = listener.getsockname()
        with ExitStack() as stack:
            for _ in range(4):
                filler = stack.enter_context(socket.socket())
                filler.setblocking(False)
                filler.connect_ex(address)
            time.sleep(0.05)
            yield Place(f"http://127.0.0.1:{address[1]}")


@contextmanager
def _hanging_dns() -> Iterator[Place]:
    """A host name whose look-up never returns. The system's resolver has no such mode, hence the patch."""
    look_up = socket.getaddrinfo
    over = threading.Event()

    def hang(host: Any, *args: Any, **options: Any) -> Any:
        if str(host).endswith("hanging.test"):
            over.wait()
            raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
        return look_up(host, *args, **options)

    with ExitStack() as stack:
        stack.callback(over.set)
        stack.enter_context(mock.patch.object(socket, "getaddrinfo", hang))
        yield Place("http://hanging.test")


ENTITIES = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
XML_BOMB = f'<!DOCTYPE locations [<!ENTITY e0 "boom">{ENTITIES}]><locations><location href="&e11;"/></locations>'
XML_FILE = (
    '<!DOCTYPE locations [<!ENTITY f SYSTEM "file:///etc/passwd">]>'
    '<locations><location href="https://example.net/&f;"/></locations>'
)


def _location(xml: str) -> bytes:
    return reply("200 OK", record(NAME, value("10320/loc", xml, 2), value("URL", TARGET)))


@contextmanager
def _no_tls() -> Iterator[Place]:
    with says(reply("200 OK", record()))() as server:
        yield Place(server.url.replace("http:", "https:"))


def _pour(drop: bytes) -> Answer:
    """Something over and over, for as long as anybody listens."""

    def answer(server: Server, connection: socket.socket, _request: bytes) -> None:
        while not server.stopped.wait(0.001):
            connection.sendall(drop)

    return answer


_OK = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
_HTTP_DATE = formatdate(time.time() + 3600, usegmt=True)

FAULTS = (
    Fault("refused", _refused),
    Fault("reset", lambda: serving(_reset)),
    Fault("timeout in connect", _not_accepting, hangs=True),
    Fault("timeout in headers", lambda: serving(_silent), hangs=True),
    Fault("a header byte a second", trickles(b"", _OK.encode() * 9), hangs=True),
    Fault(
        "a body byte a second",
        trickles(f"{_OK}Content-Length: 99\r\n\r\n".encode(), b" " * 99),
        hangs=True,
    ),
    Fault("DNS that hangs", _hanging_dns, hangs=True),
    Fault("not HTTP", says(b"220 mail.example.org ESMTP\r\n")),
    Fault("401", html("401 Unauthorized", 'WWW-Authenticate: Basic realm="x"')),
    Fault("403", html("403 Forbidden")),
    Fault("407", html("407 Proxy Authentication Required")),
    Fault("429 in seconds", html("429 Too Many Requests", "Retry-After: 3600")),
    Fault("429 with a date", html("429 Too Many Requests", f"Retry-After: {_HTTP_DATE}")),
    Fault("500", html("500 Internal Server Error")),
    Fault(
        "500 in JSON",
        says(reply("500 Internal Server Error", b'{"responseCode":2,"message":"no"}')),
    ),
    Fault("code 2 with 200", says(reply("200 OK", record(code=2)))),
    Fault("503", html("503 Service Unavailable", "Retry-After: 3600")),
    Fault("HTML in place of JSON", html("200 OK"), BadRecord),
    Fault("HTML with 404", html("404 Not Found"), BadRecord),
    Fault("nothing with 404", says(reply("404 Not Found", b"")), BadRecord),
    Fault("nothing with 204", says(reply("204 No Content", b""))),
    Fault("truncated JSON", says(reply("200 OK", record()[:-9])), BadRecord),
    Fault("truncated body", says(reply("200 OK", record())[:-9])),
    Fault("JSON of the wrong shape", says(reply("200 OK", b'["10.1000/fault"]')), BadRecord),
    Fault("values that are none", says(reply("200 OK", record(NAME, {"index": 1}))), BadRecord),
    Fault("a code that is a string", says(reply("200 OK", record(code="1"))), BadRecord),
    Fault("an unknown code", says(reply("200 OK", record(code=301))), BadRecord),
    Fault("JSON nested too deeply", says(reply("200 OK", b"[" * 100_000)), BadRecord),
    Fault("not UTF-8", says(reply("200 OK", record()[:-1] + b',"x":"\xff"}')), BadRecord),
    Fault("another name", says(reply("200 OK", record("10.1000/other"))), BadRecord),
    Fault(
        "no to another name",
        says(reply("404 Not Found", record("10.1000/other", code=100))),
        BadRecord,
    ),
    Fault("a 100 MB body", lambda: serving(_flood), big=True),
    Fault("a gzip bomb", lambda: serving(_bombing), big=True),
    Fault("damaged gzip", says(reply("200 OK", record(), "Content-Encoding: gzip"))),
    Fault("a redirect loop", lambda: serving(_looping)),
    Fault("a redirect to file:", moved("file:///etc/passwd")),
    Fault("a redirect to javascript:", moved("javascript:alert(1)")),
    Fault("a redirect to nowhere", moved("http://[")),
    Fault("a redirect to another host", moved("http://localhost:1/")),
    Fault("an XML bomb", says(_location(XML_BOMB)), None),
    Fault("an XML file entity", says(_location(XML_FILE)), None),
)

TYPICAL = [
    one for one in FAULTS if one.name in {"refused", "timeout in headers", "403", "HTML with 404"}
]
"""One of each kind, for hosts: the resolver, which they all use, survives every one."""

# beyond what the hosts' own clients survive: they have no deadline for the whole of an exchange
HARDER = (
    Fault(
        "100 Continue for ever",
        lambda: serving(_pour(b"HTTP/1.1 100 Continue\r\n\r\n" * 9)),
        hangs=True,
    ),
    Fault("headers without end", lambda: serving(_pour(_OK.encode()))),
    Fault("no TLS", _no_tls, hangs=True),
)
