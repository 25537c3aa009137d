"""A run over files: they are read in several processes, and their DOIs are looked up together."""

from __future__ import annotations

import os
import sys
from collections import deque
from contextlib import suppress
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from doiuri import DOI
from doiuri.bibtex import ENTRY

from doiuri_cli._examine import (
    NOTHING,
    FileReport,
    examine,
    judge,
    with_entries,
    with_works_to_search,
)
from doiuri_cli.files import Source
from doiuri_cli.files._select import OPENED, STDIN
from doiuri_cli.readers import ReadError, configure, type_of
from doiuri_cli.registry import handle

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Generator, Iterable, Iterator, Sequence
    from typing import TypeVar

    from doiuri.resolver import LockContent

    from doiuri_cli._config import Config
    from doiuri_cli.registry import Answers, LookupCounts, WorksLookup
    from doiuri_cli.registry._missing import Searched
    from doiuri_cli.rules import Finding

    R = TypeVar("R")
    ShowProgress = Callable[[str, int, int | None], None]

_PROBE = 8192  # bytes in which a NUL makes a file of a folder a binary one
_STRAY = 1000  # bytes of a named file in which one NUL is a mistake in a text
_UNICODE_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")
_BATCH = 10_000  # mentions in the files that are judged together
_SMALL = 2_000_000  # bytes of files that one process reads as fast as several
_KILLED = "the process that read it was killed; there may be too little memory"


class Skipped(Exception):  # noqa: N818 - not an error
    """A file is passed over; the text says why."""


class InputFile(NamedTuple):
    """A file that is still to be read; or standard input or a pipe, which was read already."""

    path: str  # the path; for standard input, the name that it is given
    content: bytes | None = None  # the bytes of standard input or a pipe; None for a file
    named: bool = False  # whether it was named, and not found in a folder

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

        # A text in UTF-16 or UTF-32 has NULs, too
        if not content.startswith(_UNICODE_MARKS):
            probe = content[:_PROBE]
            allowed = max(1, len(probe) // _STRAY) if self.named else 0
            if probe.count(b"\0") > allowed:
                raise Skipped("binary")
        return Source.from_bytes(self.path, content)


class CheckResult(NamedTuple):
    """What a check has found."""

    reports: list[FileReport]  # one for each file
    counts: LookupCounts  # how the DOIs were looked up
    answers: Answers | None  # what is known about each DOI; None if batches of files were judged
    locked: set[str]  # the DOIs that the lock file has, by their keys
    recorded: int  # how many names are only in recorded HTTP
    searched: Searched | None  # what a search found; None if there was none


class Runner(NamedTuple):
    """Examines files: it reads them in several processes, and looks their DOIs up together.

    ``check`` takes batches of files, so that the reports on a large tree need not fit into memory:

    1. read the files, in processes that know nothing of the registry;
    2. ask about the DOIs that are new in the batch;
    3. look up the works and search for DOIs, if the configuration says so;
    4. judge each file by the answers, and keep its findings only.
    """

    config: Config
    jobs: int | None = None  # how many processes; None: as many as are of use
    # called with what is being done, the number done, and that of all
    progress: ShowProgress = lambda _what, _done, _total: None
    say: Callable[[str], object] = lambda _text: None  # called with what people are told meanwhile

    def check(
        self, inputs: Sequence[InputFile], lock: LockContent | None = None, *, at_once: bool = False
    ) -> CheckResult:
        """Return what is found in some files, in their order.

        :param at_once: whether all files are one batch, so that the result has the answers about each DOI.
        :raises ValueError: if the resolver or the cache is misconfigured, or a column is missing.
        """
        from doiuri_cli.registry import Inquiry, LookupCounts

        # A missing column is reported before anybody is asked, and works are fetched within one budget
        config = self.config
        is_one_batch = at_once or config.compare or config.search or bool(config.columns)
        counts = LookupCounts()
        judged: list[FileReport] = []
        recorded: dict[str, None] = {}
        with Inquiry(config, lock, partial(self.progress, "Checking DOIs")) as inquiry:
            for reports in self._batches(inputs, at_once=is_one_batch):
                # Links such as https://doi.org/f3sz4k: to short DOIs or to pages, as the registry will say
                short = chain.from_iterable(
                    report.short for report in reports if not report.recorded
                )
                answers = inquiry.ask([*names_to_ask(reports), *short], longer_names(reports))
                counts.add(answers.counts)

                lookup = self._look_up_works(reports, answers)
                counts.requests += lookup.requests
                counts.old += lookup.old
                searched = self._search(reports)
                search_results = NOTHING if searched is None else searched.found

                for report in reports:
                    if report.recorded:
                        recorded |= dict.fromkeys(report.names)
                    final = judge(report, config, answers, lookup.works, search_results)
                    judged.append(final._replace(names=(), short=(), without_doi=()))
            recorded_only = inquiry.count_others(recorded)
            locked = inquiry.locked
        all_answers = answers if is_one_batch else None  # those of the only batch
        return CheckResult(
            _test_prefix_once(judged), counts, all_answers, locked, recorded_only, searched
        )

    def _batches(self, inputs: Sequence[InputFile], *, at_once: bool) -> Iterator[list[FileReport]]:
        """Yield what the texts of some files show, in their order, in batches of about ``_BATCH`` mentions.

        There is at least one batch, which may be empty.

        :param at_once: whether all files are one batch.
        :raises ValueError: as ``read``.
        """
        if at_once:
            yield self.read(inputs)
            return
        batch: list[FileReport] = []
        mentions = 0
        for report in self.map(partial(examined, self.config), inputs, "Reading files"):
            batch.append(report)
            mentions += len(report.mentions)
            if mentions >= _BATCH:
                yield batch
                batch = []
                mentions = 0
        yield batch

    def _look_up_works(self, reports: Iterable[FileReport], answers: Answers) -> WorksLookup:
        """Look up the works that the entries in files cite; none if entries are not compared."""
        from doiuri_cli.registry import WorksLookup, look_up_works

        entries = chain.from_iterable(report.entries for report in reports)
        names = dict.fromkeys(entry.doi.name for entry in entries)
        if not names:
            return WorksLookup({})
        progress = partial(self.progress, "Fetching metadata")
        return look_up_works(names, answers.statuses, self.config, progress)

    def _search(self, reports: Iterable[FileReport]) -> Searched | None:
        """Return what a search finds about the works without a DOI; None if none is wanted."""
        if not self.config.search:
            return None
        from doiuri_cli.registry._missing import search_for

        works = list(chain.from_iterable(report.without_doi for report in reports))
        return search_for(works, self.config, self.say, partial(self.progress, "Searching"))

    def read(self, inputs: Sequence[InputFile]) -> list[FileReport]:
        """Return what the texts of some files show, in their order.

        :raises ValueError: if there are files, and none of them has a column that is to be read.
        """
        reports = list(self.map(partial(examined, self.config), inputs, "Reading files"))
        if reports and all(report.problem is None for report in reports):
            self._check_columns(reports)
        return reports

    def _check_columns(self, reports: Iterable[FileReport]) -> None:
        """Refuse the names of columns that no file has.

        :raises ValueError: if there is one.
        """
        known = set(chain.from_iterable(report.columns for report in reports))
        for name in self.config.columns:
            if name not in known:
                words = ", ".join(sorted(known)[:50]) or "none"  # a file may have thousands of keys
                raise ValueError(f"no file has the column {name!r}; known are {words}")

    def map(
        self, function: Callable[[InputFile], R], inputs: Iterable[InputFile], what: str
    ) -> Generator[R | FileReport, None, None]:
        """Yield what a function returns for each file, in order.

        If the system kills the process that reads a file, a report says so in the place of the result.

        :param function: the function; it must not raise an error, nor change anything outside of its process.
        """
        files = list(inputs)
        jobs = self.jobs or _useful_processes(files)
        for done, result in enumerate(self._map(function, files, jobs), 1):
            yield result
            self.progress(what, done, len(files))

    def _map(
        self, function: Callable[[InputFile], R], inputs: list[InputFile], jobs: int
    ) -> Iterator[R | FileReport]:
        """Yield as ``map`` does. After a process was killed, one process reads what is left."""
        if jobs <= 1 or len(inputs) <= 1:
            yield from map(function, inputs)
            return
        from concurrent.futures.process import BrokenProcessPool  # slow to import

        done = 0
        while done < len(inputs):
            try:
                for result in self._in_processes(function, inputs[done:], jobs):
                    yield result
                    done += 1
            except BrokenProcessPool:
                # Nobody knows what each of several processes was reading. One has more memory, too
                if jobs == 1:
                    yield FileReport(inputs[done].path, problem=_KILLED)
                    done += 1
                jobs = 1

    def _in_processes(
        self, function: Callable[[InputFile], R], inputs: list[InputFile], jobs: int
    ) -> Iterator[R]:
        """Yield what a function returns for each file, in order, from some processes.

        :raises BrokenProcessPool: if the system kills one. If it is the only one, it was reading the next file.
        """
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import active_children

        size = max(1, min(10, len(inputs) // (4 * jobs)))  # files that a process is given at once
        ahead = jobs + 1  # how many such pieces are given to the pool
        if jobs == 1:
            size = ahead = 1  # so that it is known which file a killed process was reading
        settings = self.config.extensions, self.config.columns
        with ProcessPoolExecutor(jobs, None, _prepare_worker, settings) as pool:
            try:
                # Not pool.map, which would go on reading while the registry is asked, and keep the results
                pieces = (inputs[start : start + size] for start in range(0, len(inputs), size))
                futures = (pool.submit(_apply, function, piece) for piece in pieces)
                waiting = deque(islice(futures, ahead))
                while waiting:
                    yield from waiting.popleft().result()
                    waiting.extend(islice(futures, 1))
            except BaseException:
                # They only read. The pool then drops the rest, and leaving it waits until it has done so:
                # Python would otherwise end while a thread of the pool still writes to a pipe
                for process in active_children():
                    process.terminate()
                raise


def _apply(function: Callable[[InputFile], R], inputs: Iterable[InputFile]) -> list[R]:
    return [function(file) for file in inputs]


def _useful_processes(files: Iterable[InputFile]) -> int:
    """Return how many processes to use: starting several takes longer than reading a few small files."""
    is_little = sum(map(_size, files)) < _SMALL
    if is_little:
        return 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _prepare_worker(extensions: Iterable[tuple[str, str]], columns: Iterable[str]) -> None:
    """Set up a worker: the parent handles Ctrl-C, and the worker exits with it even if it is killed."""
    configure(extensions, columns)
    import signal
    from threading import Thread

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process as soon as its parent has ended."""
    from multiprocessing import parent_process

    if parent := parent_process():
        parent.join()
        os._exit(1)


def _size(file: InputFile) -> int:
    if file.content is not None:
        return len(file.content)
    try:
        return os.stat(file.path).st_size  # noqa: PTH116 - for speed
    except OSError:
        return 0


_TEST_PREFIX = "10.5072/"  # DataCite's, for tests: nothing is registered


def _test_prefix_once(reports: list[FileReport]) -> list[FileReport]:
    """Return the reports with a single finding on DataCite's test prefix, the first.

    One in test data does not count as the first, since only ``--all`` shows it: such data has one of its own.
    """
    once: list[FileReport] = []
    is_reported = {True: False, False: False}  # in test data, and elsewhere
    for report in reports:
        kept = []
        for finding in report.findings:
            if not _is_of_test_prefix(finding):
                kept.append(finding)
            elif not is_reported[finding.in_test_data]:
                is_reported[finding.in_test_data] = True
                message = f"{finding.message}; 10.5072 is the prefix for tests, reported only once"
                kept.append(finding._replace(message=message))
        once.append(report._replace(findings=tuple(kept)))
    return once


def _is_of_test_prefix(finding: Finding) -> bool:
    """Return whether a finding says that a DOI is not registered, which no DOI of this prefix is."""
    name = finding.doi or ""
    return finding.code == "not-found" and name.startswith(_TEST_PREFIX)


def names_to_ask(reports: Iterable[FileReport]) -> list[str]:
    """Return the names in files, each once, without those that are only in recorded HTTP."""
    asked = (report.names for report in reports if not report.recorded)
    return list(dict.fromkeys(chain.from_iterable(asked)))


def mentioned(reports: Iterable[FileReport]) -> list[tuple[DOI, tuple[DOI, ...]]]:
    """Return the DOIs in files, but for recorded HTTP, each with the longer names that mentions may mean."""
    seen: dict[tuple[str, tuple[str, ...]], str] = {}
    for report in reports:
        for mention in report.mentions:
            if mention.name is not None and not mention.may_be_page and not report.recorded:
                seen.setdefault((mention.key, mention.longer), mention.name)
    return [(handle(name), tuple(map(DOI, longer))) for (_, longer), name in seen.items()]


def longer_names(reports: Iterable[FileReport]) -> dict[str, list[DOI]]:
    """Return the longer names that mentions may mean, by the keys of their DOIs."""
    longer: dict[str, dict[DOI, None]] = {}
    for report in reports:
        for mention in report.mentions:
            if mention.longer and not report.recorded:
                longer.setdefault(mention.key, {}).update(dict.fromkeys(map(DOI, mention.longer)))
    return {key: list(names) for key, names in longer.items()}


def only_recorded(reports: Iterable[FileReport]) -> int:
    """Return how many names are only in recorded HTTP."""
    recorded = {*chain.from_iterable(report.names for report in reports if report.recorded)}
    return len(recorded.difference(names_to_ask(reports)))


def examined(config: Config, file: InputFile) -> FileReport:
    """Return what a file mentions and what its text shows, or why it cannot be read."""

    def examine_whole(source: Source) -> FileReport:
        report = with_entries(examine(source, config), source, config)
        return with_works_to_search(report, source, config)

    return attempt(file, examine_whole)._replace(parts=())


def attempt(file: InputFile, work: Callable[[Source], R]) -> R | FileReport:
    """Return what a function returns for the text of a file, or a report that says why it cannot be read."""
    path = file.path
    try:
        return work(file.read())
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


def inputs_of(
    paths: Iterable[str], stdin_filename: str | None = None, named: Container[str] = ()
) -> list[InputFile]:
    """Return the files to read; standard input and what the shell opened are read at once.

    :param stdin_filename: the name of standard input, which decides how it is read.
    :param named: the paths that were named, and not found in folders.
    """
    inputs = []
    for path in paths:
        if path == STDIN:
            inputs.append(InputFile(stdin_filename or STDIN, sys.stdin.buffer.read()))
        elif OPENED.fullmatch(path):
            inputs.append(InputFile(path, _opened(path)))
        else:
            inputs.append(InputFile(path, named=path in named))
    return inputs


def with_entry_keys(config: Config, inputs: Iterable[InputFile]) -> Config:
    """Return the configuration with the keys of BibTeX entries in these files that hold names."""
    keys: set[str] = set()
    for file in inputs:
        if type_of(file.path) != "bibtex":
            continue
        # What cannot be read is reported when the file is examined
        with suppress(Skipped, OSError, UnicodeDecodeError):
            text = file.read().text
            keys.update(entry["key"] for entry in ENTRY.finditer(text) if "10." in entry["key"])
    return config._replace(entry_keys=frozenset(keys))


def _opened(path: str) -> bytes | None:
    """Return the content of a pipe; None if it cannot be read, which is said later."""
    try:
        return Path(path).read_bytes()
    except OSError:
        return None
