"""Two policies: when to repeat a request, and what a result says about the server."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from doiuri._json import load
from doiuri.resolver.http._request import TransportError, is_elsewhere

if TYPE_CHECKING:
    from doiuri.resolver.http._request import Reply, Request

MAX_ATTEMPTS = 3
MAX_RETRY_WAIT = 30.0
"""Seconds of a Retry-After that we wait; after a longer one we give up."""

TRANSIENT = frozenset({429, 502, 503, 504})
"""HTTP statuses of a server that may soon answer. 403 is a refusal, and 500 tends to persist."""

REFUSALS = TRANSIENT | {401, 403, 407, 408}
"""HTTP statuses that say nothing about a DOI."""


RETRIED = 0.5
"""How much a failure counts that is followed by another attempt."""


def is_transient(result: Reply | TransportError) -> bool:
    """Return whether the same request may succeed when it is repeated."""
    return result.transient if isinstance(result, TransportError) else result.status in TRANSIENT


def retry_delay(
    attempt: int, retry_after: float | None, generator: random.Random | None = None
) -> float | None:
    """Return the seconds to wait before the next attempt; None to give up.

    :param attempt: number of attempts so far.
    :param retry_after: seconds that the server asked for; never cut short.
    """
    if attempt >= MAX_ATTEMPTS:
        return None
    if retry_after is None:
        jitter = (generator or random).uniform(0.5, 1.0)
        return float(0.5 * 2 ** (attempt - 1) * jitter)
    return retry_after if retry_after <= MAX_RETRY_WAIT else None


def failure_weight(result: Reply | TransportError, request: Request) -> float | None:
    """Return how much a result counts as a failure of the server: 0 for an answer, 1 for a refusal.

    None: the result says nothing about the server.
    """
    if isinstance(result, TransportError):
        return 1.0 if result.counts else None
    if is_elsewhere(result.url, request.url):
        return 0.0  # our server answered with a redirect; the rest is up to another one
    if result.status in REFUSALS:
        return 1.0
    if request.any_host or result.body.lstrip()[:1] in {b"{", b"["}:
        return 0.25 if result.status >= 500 else 0.0  # it may fail for one name, but hardly for all
    return 1.0 if result.status == 200 or result.status >= 500 else 0.0


def unusable_weight(reply: Reply) -> float:
    """Return how much a reply that cannot be used counts as a failure of the server.

    A reply that is not even JSON counts like a refusal; any other may be due to a single name.
    """
    if reply.status != 200:
        return 0.25
    try:
        load(reply.body)
    except ValueError:
        return 1.0
    return 0.25
