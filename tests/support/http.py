"""A bare HTTP client for tests: sends a request unchanged, follows no redirect, reads one response."""

import http.client
import json
import socket
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]  # names in lower case
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    def json(self) -> Any:
        return json.loads(self.body)


def ask(
    url: str,
    target: str,
    method: str = "GET",
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
    timeout: float = 20,
) -> Answer:
    """Send one request with the target unchanged, and read the response."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=timeout)
    try:
        connection.request(method, target, body, dict(headers or {}))
        response = connection.getresponse()
        names = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, names, response.read())
    finally:
        connection.close()


def connect(url: str, timeout: float = 20) -> socket.socket:
    parts = urlsplit(url)
    return socket.create_connection((parts.hostname, parts.port), timeout=timeout)


def send(url: str, raw: bytes, timeout: float = 20) -> bytes:
    """Send bytes on a new connection, and return everything received until the server closes it."""
    received = []
    with connect(url, timeout) as connection:
        # a server that refuses a request may leave the rest unread; closing then resets the connection
        with suppress(ConnectionError):
            connection.sendall(raw)
        with suppress(ConnectionError):
            while piece := connection.recv(65536):
                received.append(piece)
    return b"".join(received)
