"""Put small faults into changed functions, one at a time, and show those that no test notices.

python -m support.mutants.run [REF] [--code PATH ...] [--tests PATH ...] [--at-most N]

The tests run first without a fault, to record which of them reach which line. That is kept in
``build/mutants`` for each file of tests, until the file changes, or any code that it may use.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from coverage import CoverageData
from support.mutants import reach
from support.mutants.faults import Fault, changed_functions, faults_of

ROOT = Path.cwd()
BUILD = ROOT / "build" / "mutants"
COPIES = BUILD / "copies"
OUR_TESTS = Path(__file__).parents[2]
NO_TESTS_RUN = 5  # pytest's exit code
PATIENCE = 200  # seconds for the tests of a fault, or of a file
MOST_LINES = 10  # about the tests of one fault; if there are more, their files are named
FOLDERS = {
    "doiuri": "core",
    "urllib-doiuri": "clients",
    "requests-doiuri": "clients",
    "httpx-doiuri": "clients",
    "fsspec-doiuri": "datasets",
}
"""The folders of tests that do not have the name of their package."""
SETTINGS = """[run]
data_file = {folder}/.coverage
include = */build/mutants/copies/*/packages/*
parallel = true
patch = subprocess, _exit
sigterm = true
disable_warnings = module-not-imported, module-not-measured, no-data-collected
"""


@dataclass(frozen=True)
class Copy:
    """A copy of the packages, into which one fault at a time is put."""

    folder: Path

    @classmethod
    def make(cls, number: int) -> Copy:
        folder = COPIES / str(number)
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "packages", folder / "packages", ignore=ignored)
        # By their content: by the time, two faults in the same second would be the same file.
        words = ["-m", "compileall", "-q", "--invalidation-mode", "checked-hash", str(folder)]
        subprocess.run([sys.executable, *words], check=True)
        return cls(folder)

    def run(self, *words: str, **variables: str) -> tuple[int, str]:
        """Run pytest on this copy, and end it or what it leaves behind; return its exit code and output."""
        paths = [*self.folder.glob("packages/*/src"), OUR_TESTS]
        # CI asks for more inputs; coverage may measure the process that runs this.
        inherited = {
            name: value
            for name, value in os.environ.items()
            if name != "CI" and not name.startswith("COVERAGE_")
        }
        environment = {
            **inherited,
            **variables,
            "PYTHONPATH": os.pathsep.join(map(str, paths)),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        options = ["-x", "-q", "-p", "no:cacheprovider", "-p", reach.__name__]
        output = self.folder / "output.txt"
        with output.open("wb") as stream:
            process = subprocess.Popen(
                [sys.executable, *words, *options],
                cwd=ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(PATIENCE)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        return process.wait(), output.read_text(encoding="utf-8", errors="replace")

    def notices(self, fault: Fault, tests: Iterable[str]) -> bool:
        """Return whether one of these tests fails with a fault."""
        source = self.folder / fault.path
        chosen = self.folder / "chosen.json"
        chosen.write_text(json.dumps([*tests]), encoding="utf-8")
        right = source.read_bytes()
        source.write_bytes(fault.applied(right))
        try:
            code, _ = self.run("-m", "pytest", *files_of(tests), **{reach.CHOSEN: str(chosen)})
        finally:
            source.write_bytes(right)
        return code not in {0, NO_TESTS_RUN}


def files_of(tests: Iterable[str]) -> list[str]:
    return sorted({test.partition("::")[0] for test in tests})


_thread = threading.local()


def own_copy() -> Copy:
    """Return the copy of the packages that belongs to this thread."""
    if not hasattr(_thread, "copy"):
        _thread.copy = Copy.make(threading.get_ident())
    copy: Copy = _thread.copy
    return copy


def main() -> None:
    arguments = parsed_arguments()
    ref = arguments.ref or git("merge-base", "main", "HEAD").strip()
    faults = changed_faults(ref, arguments.code)
    tried = evenly(faults, arguments.at_most)
    print(f"{len(tried)} of {len(faults)} faults in functions changed since {ref}", flush=True)
    shutil.rmtree(COPIES, ignore_errors=True)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        try:
            survivors = show_survivors(tried, arguments.tests, pool)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    print(f"{len(tried) - survivors} of {len(tried)} faults were noticed")


def show_survivors(faults: list[Fault], given: list[str] | None, pool: ThreadPoolExecutor) -> int:
    """Print each fault that is not noticed, with the tests that were run; return how many there are."""
    files = sorted({file for fault in faults for file in tests_of(fault.path, given)})
    recordings = dict(zip(files, pool.map(recorded, files), strict=True))

    def survived(fault: Fault) -> tuple[bool, list[str]]:
        own = {file: recordings[file] for file in tests_of(fault.path, given)}
        tests = reaching(fault, own)
        return not tests or not own_copy().notices(fault, tests), tests

    count = 0
    for fault, (is_survivor, tests) in zip(faults, pool.map(survived, faults), strict=True):
        if is_survivor:
            count += 1
            print(report(fault, tests), flush=True)
    return count


def parsed_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="nox -s mutants --", description=__doc__)
    parser.add_argument("ref", nargs="?", help="default: where this branch left main")
    parser.add_argument("--code", nargs="+", default=["packages"], metavar="PATH")
    parser.add_argument(
        "--tests", nargs="+", metavar="PATH", help="default: the package's own folder"
    )
    parser.add_argument(
        "--at-most", type=int, default=300, metavar="N", help="faults, evenly chosen"
    )
    return parser.parse_args()


def git(*words: str) -> str:
    run = subprocess.run(["git", *words], capture_output=True, encoding="utf-8", check=True)
    return run.stdout


def changed_faults(ref: str, code: list[str]) -> list[Fault]:
    """Return the faults of all functions that are not, with the same text, in the files of a commit."""
    changed = git("diff", "--name-only", "--no-renames", ref, "--", *code).splitlines()
    before = {*git("ls-tree", "-r", "--name-only", "--full-tree", ref).splitlines()}
    paths = [*changed, *git("ls-files", "--others", "--exclude-standard", "--", *code).splitlines()]
    sources = [path for path in paths if path.endswith(".py") and "/src/" in path]
    old = [git("show", f"{ref}:{path}") for path in sources if path in before]

    faults = []
    for path in sources:
        if Path(path).exists():
            source = Path(path).read_bytes()
            for function in changed_functions(source.decode(), old):
                faults += faults_of(function, path, source)
    return faults


def evenly(faults: list[Fault], at_most: int) -> list[Fault]:
    """Return so many of the faults, from all parts of the list."""
    if len(faults) <= at_most:
        return faults
    return [faults[index * len(faults) // at_most] for index in range(at_most)]


def tests_of(path: str, given: list[str] | None) -> list[str]:
    """Return the files of tests for a source file: those given, or the folder of its package."""
    package = path.split("/")[1]
    folder = FOLDERS.get(package, package.removeprefix("doiuri-").removesuffix("-doiuri"))
    files: set[Path] = set()
    for place in map(Path, given or [f"tests/{folder}"]):
        files |= {place} if place.is_file() else {*place.rglob("test_*.py")}
    return sorted(file.as_posix() for file in files)


def recorded(test: str) -> list[CoverageData]:
    """Return which tests of a file reach which lines, from the last time if nothing has changed.

    A file that fails while that is recorded, or hangs, as a fork of a process with threads may, reaches none.
    """
    folder = BUILD / "reach" / test.replace("/", "+")
    digest = digest_of_code() + hashlib.sha256(Path(test).read_bytes()).hexdigest()
    stamp = folder / "digest"
    if not stamp.is_file() or stamp.read_text() != digest:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        settings = folder / "coveragerc"
        settings.write_text(SETTINGS.format(folder=folder))
        words = ["-m", "coverage", "run", f"--rcfile={settings}", "-m", "pytest", test]
        code, output = own_copy().run(*words)
        if code not in {0, NO_TESTS_RUN}:
            last_line = output.rstrip().rpartition("\n")[2]
            print(
                f"{test} is left out: it fails or hangs without any fault: {last_line}", flush=True
            )
            shutil.rmtree(folder, ignore_errors=True)
            return []
        stamp.write_text(digest)

    parts = []
    for file in folder.glob(".coverage.*"):
        part = CoverageData(str(file))
        part.read()
        parts.append(part)
    return parts


@cache
def digest_of_code() -> str:
    """Return a digest of all packages, and of what the tests share."""
    digest = hashlib.sha256()
    for path in sorted([*Path("packages").rglob("*"), *Path("tests").rglob("*")]):
        is_test = path.name.startswith("test_") or path.suffix == ".pyc"
        if path.is_file() and not is_test:
            digest.update(path.read_bytes())
    return digest.hexdigest()


def reaching(fault: Fault, recordings: Mapping[str, list[CoverageData]]) -> list[str]:
    """Return the tests that run the statement of a fault: ids, or a file for all its tests.

    A file counts as a whole if the statement runs in a child process, in a fixture of several tests, or
    only while tests are collected.
    """
    tests = []
    collecting = []
    for file, parts in recordings.items():
        contexts = set()
        for part in parts:
            lines = contexts_by_line(part, fault.path)
            contexts |= {context for line in fault.lines for context in lines.get(line, ())}
        if contexts == {reach.NO_TEST}:
            collecting.append(file)
        elif "" in contexts:
            tests.append(file)
        else:
            tests += sorted(contexts - {reach.NO_TEST})
    return tests or collecting


@cache
def contexts_by_line(recording: CoverageData, path: str) -> Mapping[int, list[str]]:
    """Return in which contexts the lines of a source file were run; each worker has its own copy of it."""
    lines: Mapping[int, list[str]] = {}
    for measured in recording.measured_files():
        if measured.endswith(f"/{path}"):
            lines = recording.contexts_by_lineno(measured)
    return lines


def report(fault: Fault, tests: list[str]) -> str:
    """Return the lines about a fault that is not noticed: place, fault, tests."""
    lines = [f"{fault.path}:{fault.line}: {fault.before!r} → {fault.after!r}"]
    if not tests:
        lines.append("    no test reaches it")
    counts = Counter(test.partition("[")[0] for test in tests)
    if len(counts) > MOST_LINES:
        counts = Counter(test.partition("::")[0] for test in tests)
    for name, count in counts.items():
        lines.append(f"    {name}" if count == 1 else f"    {name} ({count} cases)")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
