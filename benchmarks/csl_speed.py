"""Measure doiuri-csl beside citeproc-js and pandoc: the CPU time and the memory of formatting a document.

    python benchmarks/csl_speed.py FOLDER PANDOC STYLE... [--rounds 3] [--works 1000] [--many STYLE]

FOLDER is where ``npm install citeproc`` was run, PANDOC the program (``pip install pypandoc_binary`` has one),
each STYLE a ``.csl`` file. Each process starts, reads the works, formats as many citations as there are works, and
the list. The processors take turns; each figure is a median, a ratio is ours by theirs. Then works of one year by
the same authors, in a style that tells them apart, and what one edit among all citations costs in the first style.
"""

import argparse
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from doiuri_csl import Cite, Processor, Style

PEERS = ("citeproc-js", "pandoc")
SECONDS = 120  # after which a peer is stopped

CITEPROC = """
const CSL = require("citeproc");
const { readFileSync } = require("fs");
const [style, works, locale] = process.argv.slice(1);
const items = JSON.parse(readFileSync(works, "utf8"));
const byId = Object.fromEntries(items.map((item) => [item.id, item]));
const system = { retrieveLocale: () => readFileSync(locale, "utf8"), retrieveItem: (id) => byId[id] };
const engine = new CSL.Engine(system, readFileSync(style, "utf8"), "en-US", true);
engine.updateItems(items.map((item) => item.id));
const citations = items.map((item, number) => (
    { citationID: `c${number}`, citationItems: [{ id: item.id }], properties: { noteIndex: number + 1 } }));
const shown = engine.rebuildProcessorState(citations, "html");
const [, entries] = engine.makeBibliography();
process.stdout.write(JSON.stringify([shown, entries]));
"""

OURS = """
import json, sys
from pathlib import Path
from doiuri_csl import Cite, Processor, Style, to_html
style, works = sys.argv[1:]
items = json.loads(Path(works).read_text("utf-8"))
processor = Processor(Style.load(style), items)
processor.set_citations([[Cite(item["id"])] for item in items])
shown = [to_html(processor.citation(number)) for number in range(len(items))]
entries = [to_html(entry.label) + to_html(entry.runs) for entry in processor.bibliography()]
print(json.dumps([shown, entries]))
"""


class Cost(NamedTuple):
    """What one process took."""

    cpu: float
    """User and system time, in seconds."""

    memory: float
    """The most memory that it held, in MB."""


def cost_of(command: list[str], folder: str) -> Cost | None:
    """Return what a command takes, None if it does not end in time."""
    with Path(os.devnull).open("wb") as nowhere:
        process = subprocess.Popen(command, stdout=nowhere, cwd=folder)
        stop_at = time.monotonic() + SECONDS
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > stop_at:
                process.kill()
                process.wait()
                return None
            time.sleep(0.01)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{command[0]} failed: {process.returncode}")
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def word(chance: random.Random, syllables: int) -> str:
    pairs = (chance.choice("bcdfghklmnprst") + chance.choice("aeiou") for _ in range(syllables))
    return "".join(pairs)


def make_works(count: int) -> list[dict[str, Any]]:
    """Return articles, books and chapters with one to six authors."""
    chance = random.Random(count)
    families = [word(chance, chance.choice([2, 3])).title() for _ in range(700)]
    given = [word(chance, 2).title() for _ in range(200)]
    works = []
    for number in range(count):
        people = []
        for _ in range(chance.choice([1, 2, 3, 3, 4, 6])):
            names = f"{chance.choice(given)} {chance.choice(given)[0]}."
            people.append({"family": chance.choice(families), "given": names})
        words = [word(chance, chance.choice([1, 2, 3])) for _ in range(9)]
        kind = chance.choice(["article-journal", "article-journal", "book", "chapter"])
        work = {
            "id": f"w{number}",
            "type": kind,
            "title": " ".join(words).capitalize(),
            "author": people,
            "issued": {"date-parts": [[chance.randrange(1990, 2025), chance.randrange(1, 13)]]},
            "DOI": f"10.5555/{number}",
        }
        if kind != "book":
            work["container-title"] = f"Journal of {chance.choice(families)}"
            work["page"] = f"{number + 100}-{number + 111}"
        if kind == "article-journal":
            work["volume"] = str(chance.randrange(1, 90))
        else:
            work["publisher"] = "Press"
        works.append(work)
    return works


def make_team_works(count: int, authors: int) -> list[dict[str, Any]]:
    """Return works of one year by the same authors."""
    team = [{"family": f"Name{number}", "given": f"Ann{number} B."} for number in range(authors)]
    issued = {"date-parts": [[2001]]}
    return [
        {
            "id": f"w{n}",
            "type": "article-journal",
            "title": f"T{n}",
            "author": team,
            "issued": issued,
        }
        for n in range(count)
    ]


class Bench(NamedTuple):
    """Where the processors are."""

    node_folder: str
    pandoc: str
    rounds: int

    def medians(self, style: str, works: list[dict[str, Any]]) -> dict[str, Cost | None]:
        """Return what each processor takes for works in a style."""
        locale = resources.files("doiuri_csl") / "locales/locales-en-US.xml"
        with tempfile.TemporaryDirectory() as temporary:
            items = Path(temporary, "works.json")
            items.write_text(json.dumps(works), "utf-8")
            text = Path(temporary, "text.md")
            text.write_text("\n\n".join(f"[@{work['id']}]" for work in works), "utf-8")
            options = ["--csl", style, "--bibliography", str(items)]
            commands = {
                "doiuri-csl": [sys.executable, "-c", OURS, style, str(items)],
                "citeproc-js": ["node", "-e", CITEPROC, style, str(items), str(locale)],
                "pandoc": [self.pandoc, str(text), "-t", "html", "--citeproc", *options],
            }
            costs: dict[str, list[Cost | None]] = {name: [] for name in commands}
            for _ in range(self.rounds):
                for name, command in commands.items():
                    if None not in costs[name]:
                        costs[name].append(cost_of(command, self.node_folder))
        return {name: median(found) for name, found in costs.items()}


def median(costs: list[Cost | None]) -> Cost | None:
    ended = [cost for cost in costs if cost is not None]
    if len(ended) < len(costs):
        return None
    cpu = statistics.median(cost.cpu for cost in ended)
    return Cost(cpu, statistics.median(cost.memory for cost in ended))


def row(name: str, costs: dict[str, Cost | None]) -> str:
    """Return a line of the table: ours, then each peer with the ratios of time and of memory."""
    ours = costs["doiuri-csl"]
    assert ours is not None
    cells = [name, f"{ours.cpu:.2f} s, {ours.memory:.0f} MB"]
    for peer in PEERS:
        cost = costs[peer]
        if cost is None:
            cells.append(f"more than {SECONDS} s")
            continue
        cells.append(f"{cost.cpu:.2f} s, {cost.memory:.0f} MB")
        cells[-1] += f" ({ours.cpu / cost.cpu:.2f}, {ours.memory / cost.memory:.2f})"
    return f"| {' | '.join(cells)} |"


def edit_cost(style: str, works: list[dict[str, Any]]) -> float:
    """Return the milliseconds of CPU to take an edit of one citation and to see what it changed."""
    processor = Processor(Style.load(style), works)
    citations = [[Cite(work["id"])] for work in works]
    processor.set_citations(citations)
    before = [processor.citation(number) for number in range(len(works))]
    taken = []
    for number in range(len(works) // 2, len(works) // 2 + 5):
        citations[number] = [Cite(works[number]["id"], locator="12")]
        started = time.process_time()
        processor.set_citations(citations)
        after = [processor.citation(index) for index in range(len(works))]
        changed = [index for index in range(len(works)) if after[index] != before[index]]
        taken.append(time.process_time() - started)
        assert changed == [number], changed
        before = after
    return statistics.median(taken) * 1000


def versions(folder: str, pandoc: str) -> str:
    ask = "process.version + ', citeproc-js ' + require('citeproc/package.json').version"
    node = subprocess.check_output(["node", "-p", ask], cwd=folder, text=True).strip()
    first_line = subprocess.check_output([pandoc, "--version"], text=True).splitlines()[0]
    return f"Python {platform.python_version()}, Node {node}, {first_line}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder")
    parser.add_argument("pandoc")
    parser.add_argument("styles", nargs="+")
    parser.add_argument("--rounds", type=int, default=3, help="how many runs of each")
    parser.add_argument("--works", type=int, default=1000)
    parser.add_argument(
        "--many", default="", help="the style for many authors; the first if not given"
    )
    options = parser.parse_args()
    bench = Bench(options.folder, options.pandoc, options.rounds)
    works = make_works(options.works)
    first = options.styles[0]
    many = options.many or first

    print(versions(options.folder, options.pandoc))
    print(
        f"{len(works)} works, as many citations, and the list; medians of {options.rounds} runs\n"
    )
    print(
        "| style | doiuri-csl | citeproc-js (ratios) | pandoc (ratios) |\n| --- | --- | --- | --- |"
    )
    for style in options.styles:
        print(row(Path(style).stem, bench.medians(style, works)), flush=True)
    for count, authors in [(3, 400), (3, 3000), (100, 100)]:
        costs = bench.medians(many, make_team_works(count, authors))
        print(row(f"{Path(many).stem}, {count} works × {authors} authors", costs), flush=True)
    milliseconds = edit_cost(first, works)
    print(f"\nOne edit among {len(works)} citations, {Path(first).stem}: {milliseconds:.0f} ms")


if __name__ == "__main__":
    main()
