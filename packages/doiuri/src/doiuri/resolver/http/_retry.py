"""Which failures may pass, and how long to wait before asking again."""

from __future__ import annotations

import random

ATTEMPTS = 3
LONGEST_WAIT = 30.0
"""Seconds that a Retry-After may ask for before we give up instead of waiting."""

PASSING = frozenset({429, 502, 503, 504})
"""HTTP statuses of a server that may answer in a moment. 403 means no, and 500 tends to stay."""


def backoff(attempt: int, pick: random.Random | None = None) -> float:
    """Seconds to wait after the ``attempt``-th failure (from 1): doubling, with jitter."""
    jitter = (pick or random).uniform(0.5, 1.0)
    return float(0.5 * 2 ** (attempt - 1) * jitter)


def pause(attempt: int, retry_after: float | None, pick: random.Random | None = None) -> float | None:
    """Seconds until the next attempt, or None to give up.

    ``retry_after`` is what the server asked for, in seconds; it is never cut short.
    """
    if attempt >= ATTEMPTS:
        return None
    if retry_after is None:
        return backoff(attempt, pick)
    return retry_after if retry_after <= LONGEST_WAIT else None
