"""A DOI proxy over a real socket: a function from a request's target to the response."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from urllib.parse import unquote, urlsplit

from support.proxy_records import value
from support.servers.faults import Server, record, reply, serving

Handler = Callable[[str], bytes]


@contextmanager
def handling(handle: Handler) -> Iterator[Server]:
    """A server that answers each GET request with ``handle(target)``, and refuses any other."""

    def answer(_server: Server, connection: socket.socket, request: bytes) -> None:
        method, target, _ = request.split(b" ", 2)
        if method == b"GET":
            connection.sendall(handle(target.decode()))
        else:
            connection.sendall(reply("405 Method Not Allowed", b""))

    with serving(answer) as server:
        yield server


def targets(server: Server) -> list[str]:
    """The targets of all requests so far, in order of arrival."""
    return [request.split(b" ")[1].decode() for request in server.requests]


def header(request: bytes, name: str) -> str | None:
    """The value of a request's header; None if it has none."""
    for line in request.decode("latin-1").split("\r\n")[1:]:
        key, _, text = line.partition(":")
        if key.lower() == name.lower():
            return text.strip()
    return None


def found(name: str, *values: dict[str, object]) -> bytes:
    own = values or (value("URL", f"https://example.org/{name}"),)
    return reply("200 OK", record(name, *own))


def not_found(name: str) -> bytes:
    return reply("404 Not Found", json.dumps({"responseCode": 100, "handle": name}).encode())


def proxy(
    records: Mapping[str, tuple[dict[str, object], ...]] | None = None,
    agencies: Callable[[str], dict[str, str]] | None = None,
) -> Handler:
    """A handler with the REST API and Which RA; without ``records`` every name has a record.

    ``agencies`` returns the members of Which RA's item about a name, right or wrong ones; without it there is
    no Which RA.
    """

    def handle(target: str) -> bytes:
        path = urlsplit(target).path
        if path.startswith("/doiRA/") and agencies is not None:
            names = [unquote(name) for name in path.removeprefix("/doiRA/").split(",")]
            return reply(
                "200 OK", json.dumps([{"DOI": name, **agencies(name)} for name in names]).encode()
            )
        name = unquote(path.removeprefix("/api/handles/"))
        if not path.startswith("/api/handles/"):
            return not_found(name)
        if records is None:
            return found(name)
        if name.upper() not in records:
            return not_found(name)
        return found(name, *records[name.upper()])

    return handle
