"""Worker processes on one listening socket: started, replaced when they die, stopped together."""

from __future__ import annotations

import os
import signal
import time
import traceback
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_SIGNALS = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD, signal.SIGALRM}
_PAUSE = 1  # seconds: a worker that lived for less is replaced only after as long


class Workers:
    """Forks ``count`` workers that run ``work(ready, lifeline)``, and looks after them.

    A worker calls ``ready()`` when it serves, and stops on SIGTERM and when the file descriptor ``lifeline``
    comes to its end, for then this process has died. On SIGHUP ``reload`` is called here; if that returns
    True, the workers get the signal too.
    """

    def __init__(
        self, count: int, work: Callable[[Callable[[], None], int], None], reload: Callable[[], bool]
    ) -> None:
        """Prepare; nothing runs yet."""
        self._count = count
        self._work = work
        self._reload = reload
        self._born: dict[int, float] = {}
        self._lifeline, self._life = os.pipe()

    def run(self, on_ready: Callable[[], None], on_stop: Callable[[], None], stop_time: int) -> int:
        """Run until SIGTERM or SIGINT and return the exit status; ``stop_time`` is in seconds."""
        signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        if not self._start_all():
            self._signal(signal.SIGKILL)
            return 1
        on_ready()
        while (number := signal.sigwait(_SIGNALS)) not in {signal.SIGTERM, signal.SIGINT}:
            if number == signal.SIGCHLD:
                self._replace()
            elif number == signal.SIGHUP and self._reload():
                self._signal(signal.SIGHUP)
        on_stop()
        self._stop(stop_time)
        return 0

    def _start_all(self) -> bool:
        """Start all workers and wait until they serve; False if one cannot."""
        waiting, done = os.pipe()
        for _ in range(self._count):
            self._start(lambda: os.close(done) if os.write(done, b".") else None)
        os.close(done)
        ready = sum(len(byte) for byte in iter(lambda: os.read(waiting, 1), b""))
        os.close(waiting)
        return ready == self._count

    def _start(self, ready: Callable[[], None] = lambda: None) -> None:
        pid = os.fork()
        if pid:
            self._born[pid] = time.monotonic()
            return
        status = 1
        try:
            os.close(self._life)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
            self._work(ready, self._lifeline)
            status = 0
        except BaseException:  # noqa: BLE001 - the child must end here, whatever happened
            traceback.print_exc()
        finally:
            os._exit(status)

    def _dead(self) -> list[float]:
        """Bury the workers that ended; returns when each was born."""
        ended = [pid for pid in self._born if os.waitpid(pid, os.WNOHANG)[0]]
        return [self._born.pop(pid) for pid in ended]

    def _replace(self) -> None:
        for born in self._dead():
            if time.monotonic() - born < _PAUSE:
                time.sleep(_PAUSE)
            self._start()

    def _stop(self, stop_time: int) -> None:
        """Let the workers finish what they have in hand, and end those that do not."""
        self._signal(signal.SIGTERM)
        signal.alarm(stop_time)
        self._dead()
        while self._born:
            if signal.sigwait(_SIGNALS) not in {signal.SIGCHLD, signal.SIGHUP}:  # time is up, or asked again
                self._signal(signal.SIGKILL)
            self._dead()
        signal.alarm(0)

    def _signal(self, number: signal.Signals) -> None:
        for pid in self._born:
            os.kill(pid, number)
