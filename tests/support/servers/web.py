"""Small real HTTP servers on loopback that record their requests."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import astuple, dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urlsplit

from doiuri_proxy import Records, answer
from support.proxy_records import value

if TYPE_CHECKING:
    import ssl


class Asked(NamedTuple):
    """One request: ``target`` is the raw request target; names of headers are in lower case."""

    method: str
    target: str
    headers: dict[str, str]


class Answer(NamedTuple):
    status: int = 200
    headers: Mapping[str, str] = {}
    body: bytes = b""


JSON = {"Content-Type": "application/json;charset=utf-8"}

Answering = Callable[[Asked], Answer]


@dataclass
class Site:
    """A running server; ``seen`` are the requests so far, ``port`` serves to give it other host names."""

    url: str
    port: int
    seen: list[Asked] = field(default_factory=list)

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def at(self, host: str) -> str:
        """Return the URL of this server under another name of the loopback interface."""
        return self.url.replace("127.0.0.1", host)


class Server(ThreadingHTTPServer):
    """Closes at once, and does not report clients that hang up."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128  # with 5, of eight threads one would wait a second to be connected

    def handle_error(self, request: object, client_address: object) -> None:
        pass


@contextmanager
def site(answer: Answering, *, tls: ssl.SSLContext | None = None) -> Iterator[Site]:
    """Serve the answers of ``answer`` on a free port of 127.0.0.1."""
    asked: list[Asked] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = (
            True  # otherwise a body waits 40 ms for the acknowledgement of its head
        )

        def do_GET(self) -> None:
            request = Asked(
                self.command, self.path, {k.lower(): v for k, v in self.headers.items()}
            )
            asked.append(request)
            status, headers, body = answer(request)
            self.send_response(status)
            for name, text in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, text)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        do_HEAD = do_POST = do_PUT = do_GET  # noqa: N815 - http.server's names

        def log_message(self, *_: object) -> None:
            pass

    with serving(Server(("127.0.0.1", 0), Handler), tls) as port:
        scheme = "https" if tls else "http"
        yield Site(f"{scheme}://127.0.0.1:{port}", port, asked)


@contextmanager
def serving(server: ThreadingHTTPServer, tls: ssl.SSLContext | None = None) -> Iterator[int]:
    """Run ``server`` in a thread, and yield its port."""
    if tls is not None:
        server.socket = tls.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def record(name: str, *urls: str) -> dict[str, object]:
    """Return a record in the form of the REST API, with these URL values."""
    return {
        "handle": name,
        "values": [value("URL", url, index) for index, url in enumerate(urls, 1)],
    }


def any_record(asked: Asked) -> Answer:
    """Answer as a DOI proxy that has an empty record of each name."""
    path = urlsplit(asked.target).path
    if not path.startswith("/api/handles/"):
        return Answer(200, JSON, b"{}")
    name = unquote(path.removeprefix("/api/handles/"))
    body = json.dumps({"responseCode": 1, "handle": name, "values": []})
    return Answer(200, JSON, body.encode())


def answering(records: Mapping[str, Any] | Iterable[Mapping[str, Any]]) -> Answering:
    """Answer as the DOI proxy does that has these records."""
    known = Records(records)

    def reply(asked: Asked) -> Answer:
        status, body, kind, headers = astuple(
            answer(known, asked.method, asked.target, asked.headers)
        )
        return Answer(status, {"Content-Type": kind, **dict(headers)}, body)

    return reply


def resolver(targets: Mapping[str, str]) -> Answering:
    """Answer with the records of names that have these URLs; redirect to any URL, whatever is accepted."""

    def reply(asked: Asked) -> Answer:
        path = urlsplit(asked.target).path
        if path.startswith("/api/"):
            return answering([record(*item) for item in targets.items()])(asked)._replace(
                headers=JSON
            )
        name = unquote(path[1:])
        return Answer(302, {"Location": targets[name]}) if name in targets else Answer(404)

    return reply
