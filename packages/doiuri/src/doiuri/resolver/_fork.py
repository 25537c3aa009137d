"""What survives a fork: locks that are free in the child, and whoever must know that it is one."""

from __future__ import annotations

import os
import threading
import weakref


class ForkSafe:
    """Has a lock that is free in the child of a fork, in which nothing open is inherited.

    Another thread may fork right after ``__init__``: what the methods below need is set before it is called.
    """

    def __init__(self) -> None:
        # the same thread may come again: the garbage collector ends a forgotten iteration at any moment
        self._lock = threading.RLock()
        with _enlisting:
            _all.add(self)

    def _disconnect(self) -> None:
        """Let go of what a child must not inherit; called before the fork with the lock held."""

    def _restart(self) -> None:
        """Begin anew in the child, where no other thread is; called with the lock held."""


_all: weakref.WeakSet[ForkSafe] = weakref.WeakSet()
_held: list[ForkSafe] = []
_enlisting = threading.RLock()  # held during a fork, too


def _before_fork() -> None:
    _enlisting.acquire()
    for each in tuple(_all):
        each._lock.acquire()
        _held.append(each)
        each._disconnect()


def _after_fork() -> None:
    while _held:
        _held.pop()._lock.release()
    _enlisting.release()


def _in_child() -> None:
    for each in _held:
        each._restart()
    _after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_in_child)
