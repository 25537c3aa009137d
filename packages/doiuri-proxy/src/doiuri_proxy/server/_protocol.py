"""HTTP/1.1 on a connection, with limits of size, number and time."""

from __future__ import annotations

import asyncio
import http
from dataclasses import dataclass
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

_CHUNK_SIZE = 16_384  # bytes
_STOP_GRACE = 0.2  # seconds after the server's stop in which an idle connection may still deliver a request
_UNAVAILABLE = (
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
)


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that protect the proxy from slow and hostile clients.

    >>> Limits(connections=100).connections
    100
    """

    #: connections at a time, of all clients of a process; further ones get status 503
    connections: int = 10_000
    #: bytes of a request line with its headers; longer ones get status 414 or 431
    head: int = 32_768
    #: seconds that a client has to send a whole request; then it gets status 408
    request: float = 20
    #: seconds without the client reading anything of the response; then the connection is closed
    stall: float = 20
    #: seconds that an idle connection is kept open
    keep_alive: int = 20


class _Connection(h11.Connection):
    """h11's state machine, with the HTTP status of a request that it refuses."""

    error_status = 400
    max_head: int

    def next_event(self) -> Any:
        event = None
        try:
            waiting = len(self.trailing_data[0]) if self.their_state is h11.IDLE else 0
            event = super().next_event()
            if isinstance(event, h11.Request):
                self._check_head(waiting - len(self.trailing_data[0]))
        except h11.RemoteProtocolError as error:
            line_ended = event is not None or b"\n" in self.trailing_data[0]
            self.error_status = error.error_status_hint
            if self.error_status == 431 and not line_ended:
                self.error_status = 414
            raise
        return event

    def _check_head(self, size: int) -> None:
        if size > self.max_head:  # h11 checks the size only while a head is incomplete
            raise h11.RemoteProtocolError("head too long", error_status_hint=431)


def protocol_class(limits: Limits) -> type[H11Protocol]:
    """Return the protocol with these limits, as a class: uvicorn creates an instance for each connection."""

    class Protocol(_LimitedProtocol):
        pass

    Protocol.limits = limits
    return Protocol


class _LimitedProtocol(H11Protocol):
    limits: Limits
    conn: _Connection
    cycle: RequestResponseCycle | None  # type: ignore[assignment]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.conn = _Connection(h11.SERVER, self.limits.head)
        self.conn.max_head = self.limits.head
        self._request_timer: asyncio.TimerHandle | None = None
        self._stall_timer: asyncio.TimerHandle | None = None
        self._closing_timer: asyncio.TimerHandle | None = None
        self._stopping = False
        self._task: asyncio.Task[Any] | None = None
        self._answer, self.app = self.app, self._run

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Refuse a connection over the limit; start the request timer of any other."""
        super().connection_made(transport)
        if len(self.connections) > self.limits.connections:
            transport.write(_UNAVAILABLE)
            self._log_refusal(503, 0)
            self._close()
        else:
            self._update_request_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timers, and the answer that nobody waits for any more."""
        self._cancel_request_timer()
        self._cancel_stall_timer()
        if self._closing_timer is not None:
            self._closing_timer.cancel()
        super().connection_lost(exc)
        if self._task is not None:
            self._task.cancel()

    def eof_received(self) -> None:
        """Limit the time to send what is left: asyncio closes the connection after this call."""
        self._limit_closing()

    def data_received(self, data: bytes) -> None:
        """Pass data on in chunks: h11 checks the limit of a head only while the head is incomplete."""
        size = min(_CHUNK_SIZE, self.limits.head)
        for start in range(0, len(data), size):
            if not self.transport.is_closing():
                super().data_received(data[start : start + size])
        self._update_request_timer()
        self._announce_close()

    def on_response_complete(self) -> None:
        """Wait for the next request, which may be in the buffer already."""
        super().on_response_complete()
        if self.transport.is_closing():
            self._limit_closing()
        if self.conn.trailing_data[0]:
            self._update_request_timer()
        self._announce_close()

    def shutdown(self) -> None:
        """Answer requests that are under way, or that the client sent before it could know of the stop."""
        self._stopping = True
        self._announce_close()
        self.loop.call_later(_STOP_GRACE, self._shut_down)

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection."""
        super().timeout_keep_alive_handler()
        self._limit_closing()

    def pause_writing(self) -> None:
        """Start the stall timer: the client has stopped reading."""
        super().pause_writing()
        self._stall_timer = self.loop.call_later(self.limits.stall, self.transport.abort)

    def resume_writing(self) -> None:
        """Cancel the stall timer."""
        super().resume_writing()
        self._cancel_stall_timer()

    def send_400_response(self, msg: str) -> None:
        """Refuse a request with the status that fits, and close the connection."""
        if self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE} and not self._is_responding():
            status, body = http.HTTPStatus(self.conn.error_status), msg.encode()
            head = f"HTTP/1.1 {status.value} {status.phrase}\r\nContent-Type: text/plain; charset=utf-8\r\n"
            head += f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
            self.transport.write(head.encode() + body)
            self._log_refusal(status, len(body))
        self._close()

    def _log_refusal(self, status: int, size: int) -> None:
        log = getattr(self.config.app, "on_refusal", None)
        if log is not None:
            log(status, size, self.client[0] if self.client else "-")

    async def _run(self, *args: Any) -> None:
        """Run the application, until the client disconnects."""
        self._task = asyncio.current_task()
        try:
            await self._answer(*args)
        except asyncio.CancelledError:
            if self.cycle is None or not self.cycle.disconnected:
                raise
        finally:
            self._task = None

    def _close(self) -> None:
        self.transport.close()
        self._limit_closing()

    def _limit_closing(self) -> None:
        """Abort a connection that is being closed if the client does not read what is left."""
        if self._closing_timer is None:
            self._closing_timer = self.loop.call_later(self.limits.stall, self.transport.abort)

    def _is_responding(self) -> bool:
        """Return whether a response is being sent: anything written now would become part of it."""
        return self.cycle is not None and self.cycle.response_started and not self.cycle.response_complete

    def _update_request_timer(self) -> None:
        """Run the request timer while a request is awaited or arriving."""
        if self.conn.their_state in {h11.IDLE, h11.SEND_BODY}:
            if self._request_timer is None:
                self._request_timer = self.loop.call_later(self.limits.request, self._on_request_timeout)
        else:
            self._cancel_request_timer()

    def _cancel_request_timer(self) -> None:
        if self._request_timer is not None:
            self._request_timer.cancel()
            self._request_timer = None

    def _cancel_stall_timer(self) -> None:
        if self._stall_timer is not None:
            self._stall_timer.cancel()
            self._stall_timer = None

    def _on_request_timeout(self) -> None:
        """Refuse a request that did not arrive in time; close the connection if none was begun."""
        self._request_timer = None
        if self.conn.trailing_data[0] or self.conn.their_state is h11.SEND_BODY:
            self.conn.error_status = 408
            self.send_400_response("The request took too long.")
        self._close()

    def _shut_down(self) -> None:
        if not self.transport.is_closing():
            super().shutdown()
        if self.transport.is_closing():
            self._limit_closing()

    def _announce_close(self) -> None:
        """Let the next response say ``Connection: close`` if the server is stopping."""
        # uvicorn copies the header from the request to the response
        if self._stopping and self.cycle is not None and not self.cycle.response_started:
            self.cycle.scope["headers"] = [*self.cycle.scope["headers"], (b"connection", b"close")]
