"""Worker processes: started, replaced when they die, reloaded and stopped together."""

from __future__ import annotations

import os
import signal
import time
import traceback
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

_STOP_SIGNALS = {signal.SIGTERM, signal.SIGINT}
#: signals that wait until the process can handle them; their default would end it
HELD_SIGNALS = {signal.SIGHUP, signal.SIGUSR1}
#: signals that a worker has to unblock when it can take them
WORKER_SIGNALS = _STOP_SIGNALS | HELD_SIGNALS | {signal.SIGCHLD, signal.SIGALRM}
_MIN_LIFETIME = 1  # seconds: limits how often a worker that dies at once is replaced


class _Worker(NamedTuple):
    """A worker: its number, and time.monotonic() when it was forked."""

    number: int
    started: float


class Workers:
    """Forks worker processes and supervises them.

    :param count: how many workers
    :param serve: called in each worker as ``serve(ready, number, lifeline)``, with the signals blocked: calls
        ``ready()`` when it accepts connections, and returns after SIGTERM, or when the file descriptor
        ``lifeline`` becomes readable: the parent process has died. ``number``, 0-based, is that of the worker
        that it replaces.
    :param reopen: called in this process on SIGUSR1 and SIGHUP, before the workers get SIGUSR1
    :param reload: called on SIGHUP after that; if it returns True, the workers get SIGHUP, too
    """

    def __init__(
        self,
        count: int,
        serve: Callable[[Callable[[], None], int, int], None],
        reopen: Callable[[], None],
        reload: Callable[[], bool],
    ) -> None:
        """Prepare; `run` starts the workers."""
        self._count = count
        self._serve = serve
        self._reopen = reopen
        self._reload = reload
        self._started: dict[int, _Worker] = {}  # by process id
        # Only this process holds the writing end. When it dies, the workers read the end of the file.
        self._lifeline, self._lifeline_writer = os.pipe()

    def run(self, on_ready: Callable[[], None], on_stop: Callable[[], None], stop_time: int) -> int:
        """Run the workers until SIGTERM or SIGINT and return the exit status.

        :param on_ready: called when all workers accept connections
        :param on_stop: called before the workers are stopped
        :param stop_time: seconds that the workers have to finish their requests
        """
        # sigwait takes them one by one
        signal.pthread_sigmask(signal.SIG_BLOCK, WORKER_SIGNALS)
        if not self._start_all():
            self._send(signal.SIGKILL)
            return 1
        on_ready()
        self._supervise()
        on_stop()
        self._stop_all(stop_time)
        return 0

    def _start_all(self) -> bool:
        """Start the workers and wait until each is ready; return False if one exits before that."""
        reader, writer = os.pipe()

        def ready() -> None:
            os.write(writer, b".")
            os.close(writer)

        for number in range(self._count):
            self._start(ready, number)
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            # Ends when every worker has closed the pipe, by being ready or by exiting.
            return len(pipe.read()) == self._count

    def _start(self, ready: Callable[[], None], number: int) -> None:
        pid = os.fork()
        if pid == 0:
            self._run_worker(ready, number)
        self._started[pid] = _Worker(number, time.monotonic())

    def _run_worker(self, ready: Callable[[], None], number: int) -> NoReturn:
        status = 1
        try:
            os.close(self._lifeline_writer)
            self._serve(ready, number, self._lifeline)
            status = 0
        except BaseException:  # noqa: BLE001 - nothing may unwind into the parent's code
            traceback.print_exc()
        finally:
            os._exit(status)

    def _supervise(self) -> None:
        """Replace workers that die and pass on reloads, until SIGTERM or SIGINT."""
        while True:
            number = signal.sigwait(WORKER_SIGNALS)
            if number in _STOP_SIGNALS:
                return
            if number == signal.SIGCHLD:
                self._replace_exited()
            elif number in HELD_SIGNALS:
                self._reopen()
                self._send(signal.SIGUSR1)  # not after reloading, which may take long or fail
                if number == signal.SIGHUP and self._reload():
                    self._send(signal.SIGHUP)

    def _replace_exited(self) -> None:
        for worker in self._reap():
            if time.monotonic() - worker.started < _MIN_LIFETIME:
                time.sleep(_MIN_LIFETIME)
            self._start(lambda: None, worker.number)

    def _stop_all(self, stop_time: int) -> None:
        """Stop the workers; kill them after ``stop_time`` seconds or on a second SIGTERM or SIGINT."""
        self._send(signal.SIGTERM)
        signal.alarm(stop_time)  # macOS has no sigtimedwait
        self._reap()
        while self._started:
            if signal.sigwait(WORKER_SIGNALS) in _STOP_SIGNALS | {signal.SIGALRM}:
                self._send(signal.SIGKILL)
            self._reap()
        signal.alarm(0)

    def _reap(self) -> list[_Worker]:
        """Reap exited workers, and kill stopped ones; return those that exited."""
        exited = []
        for pid in self._started:
            changed, status = os.waitpid(pid, os.WNOHANG | os.WUNTRACED)
            if changed and os.WIFSTOPPED(status):
                os.kill(pid, signal.SIGKILL)  # it answers no more, but holds connections
            elif changed:
                exited.append(pid)
        return [self._started.pop(pid) for pid in exited]

    def _send(self, number: signal.Signals) -> None:
        for pid in self._started:
            os.kill(pid, number)
