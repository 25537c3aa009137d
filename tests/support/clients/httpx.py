"""Clients of httpx-doiuri, of which the asynchronous ones are used as if they were not."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, Self, cast

import httpx
import httpx_doiuri.httpx2
from anyio.from_thread import BlockingPortal, start_blocking_portal
from httpx_doiuri import AsyncClient, Client

TLS = httpx.create_ssl_context()  # takes longer than a test
LIBRARIES = {"httpx": httpx_doiuri, "httpx2": httpx_doiuri.httpx2}
"""What gets ``doi:`` URIs with each of the two, by its name."""

SYNC_KINDS = [f"{library} Client" for library in LIBRARIES]
KINDS = [
    *SYNC_KINDS,
    *(f"{library} AsyncClient on {loop}" for library in LIBRARIES for loop in ("asyncio", "trio")),
]


class Blocking:
    """An asynchronous client whose coroutines run to their end."""

    def __init__(self, portal: BlockingPortal, client: AsyncClient) -> None:
        vars(self).update(_portal=portal, _client=client)

    def __getattr__(self, name: str) -> Any:
        member = getattr(self._client, name)
        if not inspect.iscoroutinefunction(member):
            return member
        return lambda *args, **options: self._portal.call(partial(member, *args, **options))

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self._client, name, value)

    @contextmanager
    def stream(self, *args: Any, **options: Any) -> Iterator[httpx.Response]:
        context = self._client.stream(*args, **options)
        with self._portal.wrap_async_context_manager(context) as response:
            yield response

    def chunks(self, response: httpx.Response, size: int | None) -> Iterator[bytes]:
        chunks = response.aiter_bytes(size)

        async def following() -> bytes | None:
            return await anext(chunks, None)

        while (chunk := self._portal.call(following)) is not None:
            yield chunk


class Clients:
    """Opens clients of one kind, and closes them at the end.

    :param kind: one of KINDS.
    """

    def __init__(self, kind: str) -> None:
        library, self.kind = kind.split(" ", 1)
        self.httpx: Any = importlib.import_module(library)
        self.is_async = self.kind != "Client"
        ours: Any = LIBRARIES[library]
        self.type: Any = ours.AsyncClient if self.is_async else ours.Client
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        if self.is_async:
            self._portal = self._stack.enter_context(start_blocking_portal(self.kind.split()[-1]))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def open(self, resolver: str | None = None, **options: Any) -> Client:
        """Return a client that talks to this resolver."""
        options.setdefault("verify", TLS)
        client = self.type(resolver=resolver, **options)
        if not self.is_async:
            return cast("Client", self._stack.enter_context(client))
        self._stack.enter_context(self._portal.wrap_async_context_manager(client))
        return cast("Client", Blocking(self._portal, client))

    def transport(self, **options: Any) -> Any:
        """Return the library's transport for such a client."""
        return (self.httpx.AsyncHTTPTransport if self.is_async else self.httpx.HTTPTransport)(**options)

    def callback(self, function: Callable[..., None]) -> Callable[..., Any]:
        """Return an event hook, or a callback of the trace extension, that calls a function."""
        if not self.is_async:
            return function

        async def call(*args: Any) -> None:
            function(*args)

        return call

    def chunks(self, client: Client, response: httpx.Response, size: int | None = None) -> Iterator[bytes]:
        """Return the parts of a streamed response."""
        if self.is_async:
            return cast("Blocking", client).chunks(response, size)
        return response.iter_bytes(size)
