"""A circuit breaker: what it guards is left alone for a while after failures."""

from __future__ import annotations

import time
from math import inf


class Breaker:
    """Is open for a pause after a failure; whoever asks it then sends nothing. It closes by itself.

    Whether a failure opens it is up to the caller, and so is a lock if several threads use it.

    :param pause: seconds of the first pause.
    :param longest: seconds up to which each pause is twice as long as the one before, until ``forget``; by
        default all are the same.
    """

    def __init__(self, pause: float, longest: float | None = None) -> None:
        self._first = pause
        self._longest = pause if longest is None else longest
        self._next = pause
        self._open_until = -inf

    @property
    def left(self) -> float:
        """Seconds until it closes; 0 if it is closed."""
        return max(self._open_until - time.monotonic(), 0.0)

    @property
    def is_open(self) -> bool:
        """Whether a pause goes on."""
        return self.left > 0

    def open(self, seconds: float) -> None:
        """Open for some seconds; a pause that lasts longer is kept."""
        self._open_until = max(self._open_until, time.monotonic() + seconds)

    def trip(self) -> None:
        """Open for the next pause."""
        self.open(self.next_pause())

    def next_pause(self, at_least: float = 0.0) -> float:
        """Return the seconds of the next pause, and let the one after it be twice as long.

        :param at_least: seconds of the shortest pause.
        """
        pause = max(self._next, at_least)
        self._next = min(2 * pause, self._longest)
        return pause

    def forget(self) -> None:
        """Begin with the first pause again; one that goes on is kept."""
        self._next = self._first
