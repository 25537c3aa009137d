"""Objects that stay usable in the child of a fork."""

from __future__ import annotations

import os
import threading
import weakref


class ForkSafe:
    """Has a lock that is free in the child of a fork, and a hook for what a child must not inherit.

    Another thread may fork right after ``__init__``: set what the hook needs before calling it.
    """

    def __init__(self) -> None:
        # re-entrant: the garbage collector may close an iteration in the thread that holds it
        self._lock = threading.RLock()
        with _registration:
            _all.add(self)

    def _disconnect(self) -> None:
        """Close what a child must not inherit; called before the fork with the lock held."""


_all: weakref.WeakSet[ForkSafe] = weakref.WeakSet()
_held: list[ForkSafe] = []
_registration = threading.RLock()  # held during a fork, too


def _before_fork() -> None:
    _registration.acquire()
    for item in tuple(_all):
        item._lock.acquire()
        _held.append(item)
        item._disconnect()


def _after_fork() -> None:
    while _held:
        _held.pop()._lock.release()
    _registration.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)
