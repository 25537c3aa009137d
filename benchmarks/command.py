"""Measure the command ``doiuri`` in one run: ``python benchmarks/command.py [--quick]``.

Needs idutils; lychee is compared if it is on the path. Prints Markdown tables:

- a hook of 20 files, named as pre-commit does, in CPU time, against a Python that imports what a small
  script does; medians;
- a tree of files in which every DOI is known, in wall time, against ``find`` over the bytes in one process;
- requests, counted at a local DOI proxy in this process;
- which names come out of the files in ``tests/cli/cases``.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

import idutils  # type: ignore[import-untyped]
from doiuri import DOI, DOISyntaxError, find
from doiuri.resolver import Reply, Request, Resolver
from doiuri_proxy import running
from markup import SYNTAXES  # type: ignore[import-not-found]  # beside this file

CASES = Path(__file__).parents[1] / "tests" / "cli" / "cases"
BARE = [sys.executable, "-c", "import argparse, json, pathlib, re"]
COMMAND = [sys.executable, "-m", "doiuri_cli"]
SHARES = {
    "md": 30,
    "rst": 15,
    "py": 15,
    "html": 10,
    "bib": 10,
    "ipynb": 5,
    "yml": 5,
    "json": 5,
    "txt": 5,
}
MIX = (
    "10 kB a file, a DOI in 2 kB, of at most 10,000 names; "
    + ", ".join(f"{share} % {kind}" for kind, share in SHARES.items())
    + "; markup as in find.py's last table; docstrings and comments in Python, cells with outputs in "
    "notebooks, CSL-JSON, YAML with comments"
)
SYNTAX = {"md": "markdown", "rst": "rst", "html": "html", "bib": "bibtex", "py": "rst"}
FILE_SIZE = 10_000  # characters
GAP = 2_000  # characters with one DOI
_CROSSREF = re.compile(r"\b10\.\d{4,9}/[-._;()/:A-Z0-9]+", re.IGNORECASE)


class Text:
    """Writes files. Blocks without names take most of the time, so they are written once and used again."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._blocks = {}
        for syntax, block in SYNTAXES.items():
            self._blocks[syntax] = [block(self._chance, "") for _ in range(300)]

    def markup(self, syntax: str, size: int, names: Iterator[str]) -> str:
        """Return about ``size`` characters, a name in each ``GAP``."""
        blocks = []
        length = 0
        due = 0
        while length < size:
            if length >= due:
                block = SYNTAXES[syntax](self._chance, next(names))
                due += GAP
            else:
                block = self._chance.choice(self._blocks[syntax])
            blocks.append(block)
            length += len(block)
        return "".join(blocks)

    def file(self, kind: str, names: Iterator[str]) -> str:
        """Return the content of a file of ``FILE_SIZE`` characters."""
        match kind:
            case "py":
                return "".join(self._function(names) for _ in range(FILE_SIZE // GAP))
            case "ipynb":
                cells: list[object] = []
                for _ in range(FILE_SIZE // GAP):
                    cells += self._cells(names)
                notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
                return json.dumps(notebook, indent=1)
            case "yml":
                return "".join(self._settings(names) for _ in range(FILE_SIZE // GAP))
            case "json":
                return json.dumps([self._item(names) for _ in range(FILE_SIZE // GAP)], indent=2)
            case "txt":
                # of links, what follows the quote too: a name may end with an underscore
                return re.sub(r"`_{0,2}|[<>*\\]", "", self.markup("rst", FILE_SIZE, names))
            case _:
                return self.markup(SYNTAX[kind], FILE_SIZE, names)

    def _words(self, count: int) -> str:
        vocabulary = ("data", "of", "alpha", "10.5", "study", "v10.2", "rate")
        return " ".join(self._chance.choices(vocabulary, k=count))

    def _function(self, names: Iterator[str]) -> str:
        body = ""
        for n in range(26):
            body += f"    x{n} = f(x, {n}.5, 'value {n}')  # {self._words(5)}\n"
        return f'def g(x):\n    """{self._words(10)}\n\n    See doi:{next(names)}.\n    """\n{body}\n\n'

    def _cells(self, names: Iterator[str]) -> Iterator[dict[str, object]]:
        text = self.markup("markdown", 700, names).splitlines(keepends=True)
        yield {"cell_type": "markdown", "metadata": {}, "source": text}
        output = {"output_type": "stream", "name": "stdout", "text": [self._words(100)]}
        source = [f"x{n} = f({n})  # {self._words(4)}\n" for n in range(8)]
        yield {"cell_type": "code", "metadata": {}, "outputs": [output], "source": source}

    def _settings(self, names: Iterator[str]) -> str:
        items = ""
        for n in range(34):
            items += f"  - name: {self._words(4)}\n    value: {n}  # {self._words(3)}\n"
        return f"part{self._chance.randrange(10**9)}:\n  - doi: {next(names)}\n{items}"

    def _item(self, names: Iterator[str]) -> dict[str, object]:
        author = [{"family": self._words(1), "given": self._words(1)} for _ in range(20)]
        return {
            "id": str(self._chance.randrange(10**9)),
            "type": "article-journal",
            "DOI": next(names),
            "title": self._words(12),
            "author": author,
            "abstract": self._words(80),
        }


def tree(folder: Path, number: int, seed: int = 1) -> list[str]:
    """Write a tree of ``number`` files, 100 in a folder; return the names in it, each once."""
    chance = random.Random(seed)
    text = Text(seed)
    numbers = range(min(10_000, 5 * number))
    names = [f"10.{chance.randrange(1000, 99999)}/journal.pone.{n:07}" for n in numbers]
    used: dict[str, None] = {}

    def chosen() -> Iterator[str]:
        while True:
            name = chance.choice(names)
            used[name] = None
            yield name

    endless = chosen()
    kinds: list[str] = []
    for kind, share in SHARES.items():
        kinds += [kind] * share
    chance.shuffle(kinds)
    for n in range(number):
        place = folder / f"{n // 100:03}"
        place.mkdir(exist_ok=True)
        kind = kinds[n % 100]
        (place / f"{n:05}.{kind}").write_text(text.file(kind, endless), encoding="utf-8")
    return list(used)


def write_lock(path: Path, names: list[str]) -> None:
    """Write a lock file that knows the names."""
    entries: dict[str, object] = {
        DOI(name).key: {"json": {"DOI": name, "RA": "Crossref"}} for name in names
    }
    path.write_text(json.dumps({"doiuri-lock": 1, "exists": entries}, indent=0), encoding="utf-8")


def run(*arguments: object, cwd: Path, **environ: str) -> str:
    """Run the command; return its summary."""
    words = [*COMMAND, *map(str, arguments)]
    environment = {**os.environ, **environ}
    done = subprocess.run(
        words, cwd=cwd, capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode in {0, 1}, done.stderr
    return done.stderr


class Seconds(NamedTuple):
    """The time that work takes: of the clock, and of the processors, children included."""

    wall: float
    cpu: float


def seconds(work: Callable[[], object]) -> Seconds:
    begun = time.perf_counter()
    cpu_before = cpu_time()
    work()
    return Seconds(time.perf_counter() - begun, cpu_time() - cpu_before)


def cpu_time() -> float:
    """Return the CPU seconds of this process and of the children that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def cpu(command: list[str], cwd: Path) -> float:
    """Return the CPU seconds of a process and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode in {0, 1}, done.stderr
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def hook(rounds: int) -> None:
    """Compare the start of hooks with that of a bare Python; they take turns."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        names = tree(folder, 20)
        write_lock(folder / "doi.lock.json", names)
        store = folder / "store.sqlite3"
        fill_store(store, names)
        files = sorted(str(file.relative_to(folder)) for file in folder.glob("*/*"))
        check = [*COMMAND, "check", "--offline"]
        commands = {
            "bare Python": BARE,
            "`doiuri fix --check`": [*COMMAND, "fix", "--check", *files],
            "`doiuri check --offline`, all in the lock file": [*check, *files],
            "the same, all in the cache": [*check, "--lock=", "--cache", str(store), *files],
        }
        times: dict[str, list[float]] = {what: [] for what in commands}
        for command in commands.values():
            cpu(command, folder)
        for _ in range(rounds):
            for what, command in commands.items():
                times[what].append(cpu(command, folder))
    bare = statistics.median(times["bare Python"])
    print(f"Generated files: {MIX}.\n")
    print("| a hook of 20 unchanged files | CPU ms | ratio | goal |\n| --- | ---: | ---: | ---: |")
    for what, own in times.items():
        middle = statistics.median(own)
        print(f"| {what} | {1000 * middle:.0f} | {middle / bare:.1f} | ≤ 5 |")


def fill_store(path: Path, names: list[str]) -> None:
    """Write a store that knows the names, asked of a local proxy in the name of doi.org."""
    with Resolver(store=path, transport=_Registry(), rate=None) as resolver:
        for _ in resolver.check(names, batch=True):
            pass


class _Registry:
    """Says of every name that Crossref registers it."""

    def get(self, request: Request) -> Reply:
        names = request.url.partition("/doiRA/")[2].split(",")
        answer = [{"DOI": unquote(name), "RA": "Crossref"} for name in names]
        headers = {"Content-Type": "application/json"}
        return Reply(200, headers, json.dumps(answer).encode(), request.url)


def find_all(folder: Path) -> int:
    """Search all files of a tree with ``find``; return how many mentions it finds."""
    count = 0
    for file in sorted(folder.glob("*/*")):
        text = file.read_bytes().decode()
        count += sum(1 for _ in find(text, SYNTAX.get(file.suffix[1:], "text")))
    return count


def throughput(number: int, rounds: int) -> None:
    """Compare a check of a tree whose DOIs are all known with ``find``; they take turns."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_lock(folder / "doi.lock.json", tree(folder, number))
        size = sum(file.stat().st_size for file in folder.glob("*/*")) / 1e6
        # The names in code are in the lock file, too, though no file mentions them
        check = partial(run, "check", "--locked", "--ignore", "lock-unused", ".", cwd=folder)
        summary = check()
        theirs = []
        ours = []
        for _ in range(rounds):
            theirs.append(seconds(lambda: find_all(folder)))
            ours.append(seconds(check))
    pairs = list(zip(theirs, ours, strict=True))
    wall_ratio = statistics.median(our.wall / their.wall for their, our in pairs)
    cpu_ratio = statistics.median(our.cpu / their.cpu for their, our in pairs)
    fastest_find = min(their.wall for their in theirs)
    fastest_check = min(our.wall for our in ours)
    least_cpu = min(our.cpu for our in ours)
    print(f"\n{number:,} files, {size:.0f} MB, as above. {summary.splitlines()[0]}\n")
    print("| what | s | ratio | goal |\n| --- | ---: | ---: | ---: |")
    print(f"| `find` in one process, wall | {fastest_find:.1f} | 1.0 | |")
    print(f"| `doiuri check --locked`, wall | {fastest_check:.1f} | {wall_ratio:.1f} | ≤ 2 |")
    print(f"| the same, CPU time of all processes | {least_cpu:.1f} | {cpu_ratio:.1f} | |")


def requests() -> None:
    """Count the requests for 10,000 new names, with a few that are not registered."""
    bad = [f"10.99999/none.{n}" for n in range(5)]
    names = [f"10.1000/journal.pone.{n:09}" for n in range(10_000)]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "a.txt").write_text("\n".join(names + bad) + "\n", encoding="utf-8")
        lock = folder / "doi.lock.json"
        records = [{"handle": name, "values": []} for name in names]
        with running({"records": records, "agencies": {"10.1000": "Crossref"}}) as proxy:
            options = ("--resolver", proxy.url, "--cache", str(folder / "cache.sqlite3"))
            run("check", *options, ".", cwd=folder)
            first = len(proxy.log)
            run("check", *options, ".", cwd=folder)
            second = len(proxy.log) - first
            write_lock(lock, names + bad)
            run("check", "--resolver", proxy.url, "--cache", ":memory:", ".", cwd=folder)
            third = len(proxy.log) - first - second
    print("\n| 10,000 new names, and 5 that are not registered | requests | goal |")
    print("| --- | ---: | ---: |")
    print(f"| first run | {first} | ≤ 120 + 5 |")
    print(f"| second run, with the cache | {second} | |")
    print(f"| with the lock file, without the cache | {third} | 0 |")


def key(name: str) -> str | None:
    try:
        return DOI.parse(name).key
    except DOISyntaxError:
        return None


def with_doiuri(file: Path) -> set[str | None]:
    words = [*COMMAND, "find", "--isolated", "-o", "jsonl", str(file)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return {key(json.loads(line)["doi"]) for line in done.stdout.splitlines()}


def with_crossref(file: Path) -> set[str | None]:
    return {key(found) for found in _CROSSREF.findall(file.read_text("utf-8", errors="replace"))}


def with_idutils(file: Path) -> set[str | None]:
    words = file.read_text("utf-8", errors="replace").split()
    return {key(idutils.normalize_doi(word)) for word in words if idutils.is_doi(word)}


def with_lychee(file: Path) -> set[str | None]:
    words = ["lychee", "--dump", "--include-verbatim", "--no-progress", str(file)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    links = [word for word in done.stdout.split() if "doi.org/10." in word]
    return {key(link) for link in links}


def exactness() -> None:
    """Print the precision and the recall of the names in each file, each name once."""
    peers = {
        "doiuri": with_doiuri,
        "Crossref's pattern": with_crossref,
        "idutils, by word": with_idutils,
    }
    if shutil.which("lychee"):
        peers["lychee --dump (links only)"] = with_lychee
    print("\n| names in tests/cli/cases | precision | recall |\n| --- | ---: | ---: |")
    for peer, names_in in peers.items():
        right = returned = wanted = 0
        for folder in sorted(CASES.iterdir()):
            expected = json.loads((folder / "expected.json").read_text("utf-8"))
            for file, described in expected.items():
                mentions = described.get("mentions", ())
                true = {key(mention["doi"]) for mention in mentions if mention["doi"]}
                names = names_in(folder / file) - {None}
                right += len(names & true)
                returned += len(names)
                wanted += len(true)
        print(f"| {peer} | {right / max(returned, 1):.0%} | {right / wanted:.0%} |")


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the command doiuri.")
    parser.add_argument(
        "--quick", action="store_true", help="a tenth of the files, for a first look"
    )
    quick = parser.parse_args().quick
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if quick:
        hook(rounds=7)
        throughput(number=1_000, rounds=3)
    else:
        hook(rounds=15)
        throughput(number=10_000, rounds=3)
    requests()
    exactness()


if __name__ == "__main__":
    main()
