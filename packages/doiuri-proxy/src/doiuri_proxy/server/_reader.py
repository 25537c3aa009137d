"""Requests read from the bytes of a connection, with limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import h11

from doiuri_proxy.app._http import Request

if TYPE_CHECKING:
    from collections.abc import Iterable

_CHUNK_SIZE = 16_384  # bytes


class MalformedRequestError(Exception):
    """The bytes are not a valid request, or its head is too long."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        #: the HTTP status that says why
        self.status = status


class Reader:
    """Reads the requests of one connection in order.

    h11 only parses: each request gets a new `h11.Connection`, which starts with what the last one left.
    """

    def __init__(self, max_head: int) -> None:
        """Refuse heads of more than ``max_head`` bytes."""
        self._max_head = max_head
        self._received = bytearray()  # not passed to h11 yet
        self._start(b"")

    @property
    def has_data(self) -> bool:
        """Whether bytes were received that belong to no event yet."""
        return bool(self._received or self._parser.trailing_data[0])

    @property
    def expects_continue(self) -> bool:
        """Whether the client waits for status 100 before it sends the body."""
        return self._parser.they_are_waiting_for_100_continue

    def feed(self, data: bytes) -> None:
        """Take bytes as they were received."""
        self._received += data

    def next_event(self) -> Request | bytes | h11.EndOfMessage | None:
        """Return the head of a request, a piece of its body, or its end; None if that needs more bytes.

        Raises MalformedRequestError; then there are no more events.
        """
        while True:
            try:
                event = self._parser.next_event()
            except h11.RemoteProtocolError as error:
                raise MalformedRequestError(self._status(error)) from None
            if isinstance(event, h11.Request):
                return self._read_head(event)
            if isinstance(event, h11.Data):
                return bytes(event.data)
            if isinstance(event, h11.EndOfMessage):
                self._start(self._parser.trailing_data[0])
                return event
            if not self._received:
                return None
            # h11 checks the size of a head only while it is incomplete, so it gets small pieces
            self._pass(bytes(self._received[:_CHUNK_SIZE]))
            del self._received[:_CHUNK_SIZE]

    def _start(self, data: bytes) -> None:
        self._parser = h11.Connection(h11.SERVER, self._max_head)
        self._size = 0
        if data:
            self._pass(data)

    def _pass(self, data: bytes) -> None:
        self._parser.receive_data(data)
        self._size += len(data)

    def _read_head(self, event: h11.Request) -> Request:
        if self._size - len(self._parser.trailing_data[0]) > self._max_head:
            raise MalformedRequestError(431)
        path, _, query = event.target.partition(b"?")
        if not path.startswith(b"/"):  # RFC 9112 §3.2.2: the target may be a whole URL
            _, separator, rest = path.partition(b"://")
            path = b"/" + rest.partition(b"/")[2] if separator else path
        method, version = event.method.decode("ascii"), event.http_version.decode("ascii")
        return Request(method, path, query, _join(event.headers), version=version)

    def _status(self, error: h11.RemoteProtocolError) -> int:
        if error.error_status_hint == 431 and b"\n" not in self._parser.trailing_data[0]:
            return 414  # not even the request line is complete
        return error.error_status_hint


def _join(fields: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return headers by name; repeated ones become a list (RFC 9110 §5.3)."""
    headers: dict[str, str] = {}
    for raw_name, raw_value in fields:
        name, value = raw_name.decode("latin-1"), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers
