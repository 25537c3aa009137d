"""HTTP/1.1 on a connection, with limits of size, number and time."""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

from doiuri_proxy.app._http import CLIENT_LEFT, Request, Response
from doiuri_proxy.server._reader import MalformedRequestError, Reader
from doiuri_proxy.server._writer import CONTINUE, UNAVAILABLE, closes, write_refusal, write_response

if TYPE_CHECKING:
    from doiuri_proxy.app._app import App

_LINGER = 2  # seconds that a refused client has to read the response while it still sends

_log = logging.getLogger("doiuri_proxy")
if sys.version_info >= (3, 12):
    # Answers that wait for nothing need no other turn of the event loop.
    _start_task = partial(asyncio.Task, eager_start=True)
else:
    _start_task = asyncio.Task


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
    #: seconds that a client has to read a response; then the connection is closed
    stall: float = 20
    #: seconds that an idle connection is kept open
    keep_alive: float = 20


class Protocol(asyncio.Protocol):
    """One connection: answers requests in order, and writes each response in one piece."""

    def __init__(self, app: App, limits: Limits, connections: set[Protocol]) -> None:
        """Prepare a connection; it is one of ``connections`` while it is open."""
        self._app = app
        self._limits = limits
        self._connections = connections
        self._loop = asyncio.get_running_loop()
        self._reader = Reader(limits.head)
        self._request: Request | None = None  # has begun to arrive, and its end is not here
        self._form = bytearray()  # its body
        self._began = 0.0  # when its head had arrived
        self._answered = False  # a response to it was written
        self._task: asyncio.Task[None] | None = None  # answers a request
        self._asked: Request | None = None  # the request that it answers
        self._stopping = False
        self._closing = False
        self._unsent = False
        self._awaited: Literal["request", "next", "end"] | None = None  # that has a deadline
        self._deadline = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._stall_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Refuse a connection over the limit."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - for type checkers
        self._transport = transport
        transport.set_write_buffer_limits(high=0)  # pause_writing: the client has not taken all
        self._client = str((transport.get_extra_info("peername") or ("-",))[0])
        self._connections.add(self)
        self._app.metrics.set_connections(len(self._connections))
        if len(self._connections) > self._limits.connections:
            self._closing = True
            self._app.record_refusal(503, 0, self._client)
            transport.write(UNAVAILABLE)
            transport.close()
        else:
            self._await("request", self._limits.request)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        """Cancel the answer that nobody waits for any more."""
        self._connections.discard(self)
        self._app.metrics.set_connections(len(self._connections))
        self._closing = True
        for timer in (self._timer, self._stall_timer):
            if timer is not None:
                timer.cancel()
        if self._task is not None and self._asked is not None:
            seconds = time.perf_counter() - self._began
            self._app.record(self._asked, Response(CLIENT_LEFT), self._client, seconds)
        self._cancel_task()

    def data_received(self, data: bytes) -> None:
        """Read on, unless the connection is being closed."""
        if not self._closing:
            self._reader.feed(data)
            self._read()

    def pause_writing(self) -> None:
        """Limit the time that the client has to read a response."""
        self._unsent = True
        self._stall_timer = self._loop.call_later(self._limits.stall, self._transport.abort)

    def resume_writing(self) -> None:
        """Go on with the next request: the client has read the response."""
        self._unsent = False
        if self._stall_timer is not None:
            self._stall_timer.cancel()
        self._read()

    def shutdown(self, grace: float) -> None:
        """Answer requests that are under way, or that arrive within ``grace`` seconds."""
        if not self._stopping:
            self._stopping = True
            self._loop.call_later(grace, self._shut_down)

    def abort(self) -> None:
        """Close the connection at once."""
        self._transport.abort()

    def _shut_down(self) -> None:
        if self._closing or (self._task is None and self._request is None):
            self._transport.close()

    def _read(self) -> None:
        """Read on to the end of a request, and start its answer."""
        hungry = False
        try:
            while self._may_read() and not hungry:
                event = self._reader.next_event()
                if event is None:
                    hungry = True
                elif isinstance(event, Request):
                    self._begin(event)
                elif isinstance(event, bytes):
                    self._take(event)
                else:
                    self._end()
                    break
        except MalformedRequestError as error:
            self._refuse(error.status, "Invalid HTTP request received.")
        if self._request is not None and self._request.method != "POST":
            self._start(self._request)  # whatever its body may be
        if not self._closing:
            self._update(hungry=hungry)

    def _may_read(self) -> bool:
        """Return whether a request may be read: one at a time, and not while a response is unsent."""
        if self._closing:
            return False
        return self._request is not None or (self._task is None and not self._unsent)

    def _update(self, *, hungry: bool) -> None:
        """Take no more bytes from the system than are needed, and choose the limit of time."""
        has_data = self._reader.has_data
        if hungry or not has_data:
            self._transport.resume_reading()
        else:
            self._transport.pause_reading()
            if self._may_read():
                self._loop.call_soon(self._read)  # after what other connections have to do
        if self._request is not None or (self._task is None and has_data):
            self._await("request", self._limits.request)
        elif self._task is None and self._awaited is None:
            self._await("next", self._limits.keep_alive)

    def _begin(self, request: Request) -> None:
        self._request, self._answered, self._began = request, False, time.perf_counter()
        refusal = self._app.refusal(request)
        if refusal is not None:
            self._write(request, refusal, close=True)
        elif request.method == "POST" and self._reader.expects_continue:
            self._transport.write(CONTINUE)

    def _take(self, data: bytes) -> None:
        """Keep a piece of a form; the body of any other request has no meaning (RFC 9110 §9.3.1)."""
        if self._request is not None and self._request.method == "POST":
            self._form += data
            refusal = self._app.form_refusal(self._request, len(self._form))
            if refusal is not None:
                self._write(self._request, refusal, close=True)

    def _end(self) -> None:
        request, self._request = self._request, None
        if request is not None:
            form, self._form = bytes(self._form), bytearray()
            self._start(self._app.with_form(request, form))

    def _start(self, request: Request) -> None:
        """Start the answer to a request, unless that was done before its end arrived."""
        if self._task is None and not self._answered and not self._closing:
            self._awaited, self._asked = None, request
            task = _start_task(self._answer(request), loop=self._loop)
            self._task = None if task.done() else task

    async def _answer(self, request: Request) -> None:
        try:
            self._write(request, await self._app.answer(request))
        except Exception:  # noqa: BLE001 - a bug: the client gets a response, the log the traceback
            _log.exception("cannot send the response to %s", request.target)
            self._refuse(500, "Internal error")
        if self._task is not None:
            self._task = None
            self._loop.call_soon(self._read)

    def _write(self, request: Request, response: Response, *, close: bool = False) -> None:
        # A client that waits for 100 may leave out the body now: what it sends next could be a request.
        close = close or self._stopping or self._reader.expects_continue or closes(request)
        data = write_response(request, response, close=close)
        self._app.record(request, response, self._client, time.perf_counter() - self._began)
        self._transport.write(data)
        self._answered = True
        if close:
            self._close()

    def _refuse(self, status: int, message: str) -> None:
        """Close the connection, with a response to a request that has none."""
        if self._request is None or not self._answered:
            body = message.encode()
            self._transport.write(write_refusal(status, body))
            self._app.record_refusal(status, len(body), self._client)
        self._cancel_task()
        self._linger()

    def _close(self) -> None:
        """Close the connection after what was written."""
        self._closing = True
        if self._request is not None or self._reader.has_data:
            self._linger()
        else:
            self._transport.close()

    def _linger(self) -> None:
        """Close the connection, but first read for a while what the client may still be sending.

        RFC 9112 §9.6: otherwise the system would reset the connection, and the response could be lost.
        """
        self._closing = True
        self._transport.write_eof()
        self._transport.resume_reading()
        self._await("end", _LINGER)

    def _cancel_task(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None

    def _await(self, awaited: Literal["request", "next", "end"], seconds: float) -> None:
        """Set the deadline of what is awaited now, unless it is set already."""
        if self._awaited == awaited:
            return
        self._awaited = awaited
        self._deadline = self._loop.time() + seconds
        if self._timer is not None and self._timer.when() > self._deadline:
            self._timer.cancel()
            self._timer = None
        if self._timer is None:
            self._timer = self._loop.call_at(self._deadline, self._on_timer)

    def _on_timer(self) -> None:
        """Close the connection at the deadline; a timer is not moved when the deadline is."""
        self._timer = None
        if self._awaited is None:
            return
        if self._loop.time() < self._deadline:
            self._timer = self._loop.call_at(self._deadline, self._on_timer)
        elif self._awaited == "request" and (self._request is not None or self._reader.has_data):
            self._refuse(408, "The request took too long.")
        else:
            self._transport.close()
