"""HTTP/1.1 on a connection, within limits of size, number and time."""

from __future__ import annotations

import http
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

if TYPE_CHECKING:
    import asyncio

_PIECE = 16_384  # bytes
_ON_ITS_WAY = 0.2  # seconds after the server's stop in which a request may still arrive on an idle connection
_BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
)


@dataclass(frozen=True, slots=True)
class Limits:
    """What one client, and all together, may take.

    ``connections`` at once, ``head`` in bytes (request line and headers), ``request`` seconds to send a whole
    request, ``stall`` seconds without taking any of the answer, ``keep_alive`` seconds between requests.
    """

    connections: int = 10_000
    head: int = 32_768
    request: float = 20
    stall: float = 20
    keep_alive: int = 20


class _Connection(h11.Connection):
    """h11's state machine; keeps why a request was refused."""

    refused = 400

    def next_event(self) -> Any:
        try:
            return super().next_event()
        except h11.RemoteProtocolError as error:
            line_ended = b"\n" in self.trailing_data[0]
            self.refused = error.error_status_hint
            if self.refused == 431 and not line_ended:
                self.refused = 414
            raise


def protocol_of(limits: Limits) -> type[H11Protocol]:
    """Make the protocol class for these limits: uvicorn makes one for each connection."""

    class Protocol(_Protocol):
        bounds = limits

    return Protocol


class _Protocol(H11Protocol):
    bounds: Limits
    conn: _Connection
    cycle: RequestResponseCycle | None  # type: ignore[assignment]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.conn = _Connection(h11.SERVER, self.bounds.head)
        self._slow: asyncio.TimerHandle | None = None
        self._stalled: asyncio.TimerHandle | None = None
        self._leaving = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Refuse a connection beyond the limit; give any other its time for a request."""
        super().connection_made(transport)
        if len(self.connections) > self.bounds.connections:
            transport.write(_BUSY)
            transport.close()
        else:
            self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the timers."""
        self._slow = self._cancelled(self._slow)
        self._stalled = self._cancelled(self._stalled)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on, in pieces: h11 holds the limit of a head only against one that is not complete yet."""
        piece = min(_PIECE, self.bounds.head)
        for start in range(0, len(data), piece):
            if not self.transport.is_closing():
                super().data_received(data[start : start + piece])
        self._watch()
        self._say_last()

    def _watch(self) -> None:
        """Run the request's timer while a request is awaited or arriving."""
        if self.conn.their_state in {h11.IDLE, h11.SEND_BODY}:
            self._slow = self._slow or self.loop.call_later(self.bounds.request, self._too_slow)
        else:
            self._slow = self._cancelled(self._slow)

    def on_response_complete(self) -> None:
        """Wait for the next request, which may be here already."""
        super().on_response_complete()
        if self.conn.trailing_data[0]:
            self._watch()
        self._say_last()

    def shutdown(self) -> None:
        """Answer what is under way, or on its way: a client that sent it in time is not to lose it."""
        self._leaving = True
        self._say_last()
        self.loop.call_later(_ON_ITS_WAY, self._leave)

    def _leave(self) -> None:
        if not self.transport.is_closing():
            super().shutdown()

    def _say_last(self) -> None:
        """Tell the client that this answer is the last one, when the server stops."""
        if self._leaving and self.cycle is not None and not self.cycle.response_started:
            self.cycle.scope["headers"] = [*self.cycle.scope["headers"], (b"connection", b"close")]

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection, even if its client does not take what it was sent."""
        super().timeout_keep_alive_handler()
        self.loop.call_later(self.bounds.stall, self.transport.abort)

    def pause_writing(self) -> None:
        """Give a client that does not read its time."""
        super().pause_writing()
        self._stalled = self.loop.call_later(self.bounds.stall, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on: the client reads."""
        super().resume_writing()
        self._stalled = self._cancelled(self._stalled)

    def send_400_response(self, msg: str) -> None:
        """Refuse a request with the status that says why."""
        status, reason = self.conn.refused, http.HTTPStatus(self.conn.refused).phrase
        if self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE} and self.cycle_is_over():
            body = msg.encode()
            head = f"HTTP/1.1 {status} {reason}\r\nContent-Type: text/plain; charset=utf-8\r\n"
            head += f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
            self.transport.write(head.encode() + body)
        self.transport.close()

    def cycle_is_over(self) -> bool:
        """Tell whether no answer is under way, so that a refusal would not end up inside it."""
        return self.cycle is None or self.cycle.response_complete or not self.cycle.response_started

    def _too_slow(self) -> None:
        """Refuse a request that did not arrive in time; who sent nothing at all is just let go."""
        self._slow = None
        if self.conn.trailing_data[0] or self.conn.their_state is h11.SEND_BODY:
            self.conn.refused = 408
            self.send_400_response("The request took too long.")
        self.transport.close()

    @staticmethod
    def _cancelled(timer: asyncio.TimerHandle | None) -> None:
        if timer is not None:
            timer.cancel()
