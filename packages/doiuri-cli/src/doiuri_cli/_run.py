"""All files of a run: read and examined in several processes, their DOIs looked up at once."""

from __future__ import annotations

import os
import sys
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from doiuri import DOI

from doiuri_cli._examine import NOTHING, FileReport, examine
from doiuri_cli.files import Source
from doiuri_cli.files._select import STDIN
from doiuri_cli.readers import ReadError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from typing import TypeVar

    from doiuri.records import Work

    from doiuri_cli._config import Config
    from doiuri_cli.registry._check import Answers
    from doiuri_cli.registry._lock import Lock

    T = TypeVar("T")
    R = TypeVar("R")
    ShowProgress = Callable[[str, int, int | None], None]

_PROBE = 8192  # bytes in which a NUL makes a file a binary one
_UNICODE_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")
_SMALL = 2_000_000  # bytes of files that one process reads as fast as several
_CHUNK = 500_000  # bytes that a process is given at once, at least
_CHUNKS = 32  # that a process is given, at most


class Skipped(Exception):  # noqa: N818 - not an error
    """A file is passed over; the text says why."""


class Content(NamedTuple):
    """Standard input, or a file that is still to be read.

    :ivar path: the path; for standard input, the name that it is given.
    :ivar content: the bytes of standard input; None for a file.
    """

    path: str
    content: bytes | None = None

    def read(self) -> Source:
        """Return the text.

        :raises Skipped: if it is binary.
        :raises OSError: if it cannot be read.
        :raises UnicodeDecodeError: if it is not in the encoding that its byte order mark says.
        """
        content = self.content
        if content is None:
            with open(self.path, "rb", buffering=0) as file:  # noqa: PTH123 - for speed
                content = file.readall()
        if b"\0" in content[:_PROBE] and not content.startswith(_UNICODE_MARKS):
            raise Skipped("binary")
        return Source.from_bytes(self.path, content)


class Question(NamedTuple):
    """A file, and what is known about its DOIs: the arguments of ``examine``.

    :ivar content: the file.
    :ivar statuses: the status of each DOI; None if they are not known yet.
    :ivar missing: the keys of DOIs that are not in the lock file.
    :ivar works: the works that its entries name, by the DOI's key.
    """

    content: Content
    statuses: Mapping[str, str] | None = None
    missing: Collection[str] = frozenset()
    works: Mapping[str, Work] = NOTHING


class Result(NamedTuple):
    """What a run has found.

    :ivar reports: one for each file.
    :ivar answers: what is known about the DOIs.
    """

    reports: list[FileReport]
    answers: Answers


class Run(NamedTuple):
    """How to examine files.

    :ivar config: the configuration.
    :ivar jobs: the number of processes; None: as many as are of use.
    :ivar progress: called with what is being done, the number done, and that of all.
    """

    config: Config
    jobs: int | None = None
    progress: ShowProgress = lambda _what, _done, _total: None

    def check(self, contents: Sequence[Content], lock: Lock | None = None) -> Result:
        """Return what is found in some files, in their order.

        :param contents: the files.
        :param lock: the lock file.
        :raises ValueError: if the resolver or the cache is not configured rightly.
        """
        from doiuri_cli.registry._check import check_names

        reports = self.read(contents)
        names = dict.fromkeys(chain.from_iterable(report.names for report in reports))
        answers = check_names(names, self.config, lock, partial(self.progress, "Checking DOIs"))
        works = self._works(reports, answers)
        again = dict(_doubtful(contents, reports, answers, works))
        for number, report in zip(
            again, self.map(self._examine, again.values(), "Examining files"), strict=True
        ):
            reports[number] = report
        return Result(reports, answers)

    def _works(self, reports: Iterable[FileReport], answers: Answers) -> Mapping[str, Work]:
        names = dict.fromkeys(chain.from_iterable(report.entries for report in reports))
        if not names:
            return NOTHING
        from doiuri_cli.registry._check import look_up_works

        progress = partial(self.progress, "Fetching metadata")
        works, requests = look_up_works(names, answers.statuses, self.config, progress)
        answers.requests += requests
        return works

    def read(self, contents: Sequence[Content]) -> list[FileReport]:
        """Return what the texts of some files show, in their order."""
        return list(self.map(self._examine, map(Question, contents), "Reading files"))

    @property
    def _examine(self) -> Callable[[Question], FileReport]:
        return partial(_examined, self.config)

    def map(self, function: Callable[[Question], R], questions: Iterable[Question], what: str) -> Iterator[R]:
        """Yield what a function returns for each file, in order.

        :param function: the function; it must not raise an error.
        :param questions: the files.
        :param what: what is being done, for the progress.
        """
        asked = [(question, _size(question)) for question in questions]
        total = sum(size for _, size in asked)
        jobs = self.jobs or (1 if total < _SMALL else _processors())
        chunks = list(_chunks(asked, max(_CHUNK, total // (_CHUNKS * jobs))))
        done = 0
        for results in _map(partial(_each, function), chunks, min(jobs, len(chunks))):
            yield from results
            done += len(results)
            self.progress(what, done, len(asked))


def _doubtful(
    contents: Iterable[Content],
    reports: Iterable[FileReport],
    answers: Answers,
    works: Mapping[str, Work],
) -> Iterator[tuple[int, Question]]:
    """Yield the files whose findings depend on the answers, each with its number."""
    bad = answers.missing | {key for key, status in answers.statuses.items() if status == "not-found"}
    for number, (content, report) in enumerate(zip(contents, reports, strict=True)):
        if not (bad or works or report.pending):
            continue
        keys = {DOI(name).key for name in report.names}
        described = {key: works[key] for key in keys if key in works} if report.entries else NOTHING
        if report.pending or described or not keys.isdisjoint(bad):
            statuses = {key: answers.statuses[key] for key in keys if key in answers.statuses}
            yield number, Question(content, statuses, answers.missing & keys, described)


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _map(function: Callable[[T], R], items: Sequence[T], jobs: int) -> Iterator[R]:
    """Yield what a function returns for each item, in order."""
    if jobs <= 1:
        yield from map(function, items)
        return
    from concurrent.futures import ProcessPoolExecutor  # slow to import

    with ProcessPoolExecutor(jobs, initializer=_prepare_worker) as pool:
        try:
            yield from pool.map(function, items)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _prepare_worker() -> None:
    """Leave Ctrl-C to the first process, and end with it even if it is killed."""
    import signal
    from threading import Thread

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    from multiprocessing import parent_process

    if parent := parent_process():
        parent.join()
        os._exit(1)


def _each(function: Callable[[T], R], items: Sequence[T]) -> list[R]:
    return list(map(function, items))


def _chunks(questions: Iterable[tuple[Question, int]], most: int) -> Iterator[list[Question]]:
    """Yield the questions, each with the size of its file, in groups that take about the same time."""
    chunk: list[Question] = []
    total = 0
    for question, size in questions:
        chunk.append(question)
        total += size + 1000
        if total >= most:
            yield chunk
            chunk, total = [], 0
    if chunk:
        yield chunk


def _size(question: Question) -> int:
    path, content = question.content
    if content is not None:
        return len(content)
    try:
        return os.stat(path).st_size  # noqa: PTH116 - for speed
    except OSError:
        return 0


def _examined(config: Config, question: Question) -> FileReport:
    return attempt(
        question.content,
        lambda source: examine(source, config, question.statuses, question.missing, question.works),
    )


def attempt(content: Content, work: Callable[[Source], R]) -> R | FileReport:
    """Return what a function returns for a file, or the report on a file that cannot be read."""
    path = content.path
    try:
        return work(content.read())
    except Skipped as reason:
        return FileReport(path, skipped=str(reason))
    except ReadError as error:
        problem = str(error)
    except OSError as error:
        problem = error.strerror or str(error)
    except UnicodeDecodeError as error:
        problem = f"not {error.encoding}, which its byte order mark says"
    except RecursionError:
        problem = "nested too deeply"
    except Exception as error:  # noqa: BLE001 - a reader may be of another package
        problem = f"cannot be read: {type(error).__name__}: {error}"
    return FileReport(path, problem=problem)


def contents_of(paths: Iterable[str], stdin_filename: str | None = None) -> list[Content]:
    """Return the files to read; standard input is read at once.

    :param paths: the paths; "-" stands for standard input.
    :param stdin_filename: the name of standard input, which decides how it is read.
    """
    return [
        Content(stdin_filename or STDIN, sys.stdin.buffer.read()) if path == STDIN else Content(path)
        for path in paths
    ]
