"""The command ``doiuri``, run in this process or as a process."""

from __future__ import annotations

import contextlib
import gc
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any
from unittest import mock

from doiuri import Handle
from doiuri.resolver import Entry, Key, SQLiteStore, _process

File = tuple[str, str | bytes]  # its name, whose end is its type, and its text
MAIN = entry_points(group="console_scripts")["doiuri"].load()
COMMAND = [sys.executable, "-m", "doiuri_cli"]

# A shell lets its background jobs ignore interrupts, and their children inherit that.
_WITH_INTERRUPTS = (
    "import signal, runpy; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "runpy.run_module('doiuri_cli', run_name='__main__', alter_sys=True)"
)
INTERRUPTIBLE = [sys.executable, "-c", _WITH_INTERRUPTS]
"""The command as a process that an interrupt ends, however the tests were started."""


def doiuri(
    *arguments: object, cwd: str | Path = os.curdir, stdin: bytes = b"", **environ: str
) -> subprocess.CompletedProcess[str]:
    """Run the command in this process, as a new one would; return its exit code and what it wrote."""
    words = [*map(str, arguments)]
    streams = [
        io.TextIOWrapper(io.BytesIO(content), "utf-8", newline="") for content in (stdin, b"", b"")
    ]
    _process._after_fork()  # a new process knows no servers
    _process._stores.clear()
    threshold = gc.get_threshold()
    with (
        contextlib.chdir(cwd),
        mock.patch.dict(os.environ, environ) if environ else contextlib.nullcontext(),
        mock.patch.multiple(sys, stdin=streams[0], stdout=streams[1], stderr=streams[2]),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("default")
        try:
            MAIN(words)
        except SystemExit as end:
            code = end.code or 0
        finally:
            gc.set_threshold(*threshold)
    said = []
    for stream in streams[1:]:
        stream.flush()
        stream.buffer.seek(0)
        said.append(stream.buffer.read().decode(errors="surrogateescape"))
    assert isinstance(code, int)
    return subprocess.CompletedProcess(words, code, *said)


def doiuri_process(
    *arguments: object, cwd: str | Path = os.curdir, stdin: bytes = b"", **environ: str
) -> subprocess.CompletedProcess[str]:
    """Run the command as a process; return its exit code and what it wrote."""
    words = [*COMMAND, *map(str, arguments)]
    run = subprocess.run(
        words,
        cwd=cwd,
        input=stdin,
        capture_output=True,
        env={**os.environ, **environ},
        check=False,
    )
    decoded = (stream.decode(errors="surrogateescape") for stream in (run.stdout, run.stderr))
    return subprocess.CompletedProcess(words, run.returncode, *decoded)


def findings(
    path: str, text: str | bytes, *options: object, **environ: str
) -> list[dict[str, Any]]:
    """Return what ``doiuri check`` finds in a text, as a file of this name; nobody is asked."""
    lock = () if any(str(one).startswith("--lock") for one in options) else ("--lock=",)
    return _listed("check", path, text, "--offline", "--quiet", *lock, *options, **environ)


def codes(path: str, text: str | bytes, *options: object, **environ: str) -> list[str]:
    """Return the codes of what ``doiuri check`` finds in a text."""
    return [one["code"] for one in findings(path, text, *options, **environ)]


def places(path: str, text: str | bytes, *options: object) -> list[dict[str, Any]]:
    """Return where ``doiuri find`` finds DOIs in a text, as a file of this name."""
    return _listed("find", path, text, *options)


def names(path: str, text: str | bytes) -> list[str]:
    """Return the DOIs that ``doiuri find`` finds in a text."""
    return [one["doi"] for one in places(path, text)]


def _listed(
    command: str, path: str, text: str | bytes, *options: object, **environ: str
) -> list[dict[str, Any]]:
    words = "--output-format=jsonl", "--stdin-filename", path, *_options(options), "-"
    run = doiuri(command, *words, stdin=_encoded(text), **environ)
    assert run.returncode in {0, 1}, run
    assert "cannot be read" not in run.stderr, run
    return [json.loads(line) for line in run.stdout.splitlines()]


def fixed(path: str, text: str, *options: object, **environ: str) -> str:
    """Return a text after ``doiuri fix``, as a file of this name."""
    words = "fix", "--quiet", "--stdin-filename", path, *_options(options), "-"
    run = doiuri(*words, stdin=_encoded(text), **environ)
    assert run.returncode in {0, 1}, run
    return run.stdout


def listed_in_files(
    command: str, files: Iterable[File], *options: object
) -> list[list[dict[str, Any]]]:
    """Return what a command lists about each of some files, which it reads in one run."""
    with written(files) as paths:
        words = "--output-format=jsonl", *_options(options), *paths
        run = doiuri(command, *words)
    assert run.returncode in {0, 1}, run
    assert "cannot be read" not in run.stderr, run

    by_path: dict[str, list[dict[str, Any]]] = {path: [] for path in paths}
    for one in map(json.loads, run.stdout.splitlines()):
        by_path[one["path"]].append(one)
    return [*by_path.values()]


def findings_in_files(files: Iterable[File], *options: object) -> list[list[dict[str, Any]]]:
    """Return what ``doiuri check`` finds in each of some files, in one run; nobody is asked."""
    return listed_in_files("check", files, "--offline", "--quiet", "--lock=", *options)


def places_in_files(files: Iterable[File], *options: object) -> list[list[dict[str, Any]]]:
    """Return where ``doiuri find`` finds DOIs in each of some files, in one run."""
    return listed_in_files("find", files, *options)


def fixed_files(files: Iterable[File], *options: object) -> list[str]:
    """Return the texts of some files after one run of ``doiuri fix``."""
    with written(files) as paths:
        run = doiuri("fix", "--quiet", *_options(options), *paths)
        assert run.returncode in {0, 1}, run
        return [Path(path).read_bytes().decode(errors="surrogateescape") for path in paths]


@contextlib.contextmanager
def written(files: Iterable[File]) -> Iterator[list[str]]:
    """Write files, each into a folder of its own; yield their paths, as commands name them."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for number, (name, text) in enumerate(files):
            path = Path(folder, f"{number}", name)
            path.parent.mkdir(parents=True)
            path.write_bytes(_encoded(text))
            paths.append(str(path))
        yield paths


def _options(options: Sequence[object]) -> Sequence[object]:
    return options if "--config" in options else ("--isolated", *options)


def _encoded(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode(errors="surrogateescape")


def register(folder: Path, module: str, code: str, readers: Mapping[str, str]) -> None:
    """Install a package with readers: the functions for some extensions."""
    (folder / f"{module}.py").write_text(code, "utf-8")
    lines = "".join(
        f"{extension} = {module}:{function}\n" for extension, function in readers.items()
    )
    (folder / f"{module}-1.0.dist-info").mkdir()
    (folder / f"{module}-1.0.dist-info" / "entry_points.txt").write_text(
        f"[doiuri.readers]\n{lines}"
    )


def remember(
    cache: Path, answers: Mapping[str, bool], base: str = "https://doi.org", *, fresh: bool = True
) -> None:
    """Write into a cache which names are registered, as the resolver of this address answered."""
    expires = time.time() + 3600 if fresh else 1.0
    entries = {}
    for name, is_found in answers.items():
        answer: dict[str, object] = {
            "responseCode": 1 if is_found else 100,
            "handle": name,
            "values": [],
        }
        key = Key("record", base, Handle.from_name(name).key)
        entries[key] = Entry(json.dumps(answer).encode(), "application/json", expires)
    store = SQLiteStore(str(cache))
    store.put_many(entries)
    store.close()


def piece(text: str, place: dict[str, Any]) -> str:
    """Return the piece of a text at a place that ``check`` or ``find`` names; not for cells of notebooks."""
    starts = [0, *(end.end() for end in re.finditer(r"\r\n?|\n", text))]
    first, last = (
        starts[place[f"{end}line"] - 1] + place[f"{end}column"] - 1 for end in ("", "end_")
    )
    return text[first:last]
