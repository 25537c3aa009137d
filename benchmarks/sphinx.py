"""Measure the cost of the extension: user CPU of sphinx-build on pages full of DOIs, compared with its peers.

    python benchmarks/sphinx.py [--quick]

Prints a markdown table. Each figure is a median of builds from nothing; "warm" has all answers in the cache.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from doiuri_proxy import running

DOIS = 20
DOI_ROLE = """
from docutils import nodes, utils
from sphinx.util.nodes import split_explicit_title

def role(typ, rawtext, text, lineno, inliner, options={}, content=[]):
    explicit, title, part = split_explicit_title(utils.unescape(text))
    url = "https://doi.org/" + part
    return [nodes.reference(title, title if explicit else "DOI:" + part, internal=False, refuri=url)], []

def setup(app):
    app.connect("builder-inited", lambda app: app.add_role("doi", role, override=True))
    return {"parallel_read_safe": True}
"""
EXTLINKS = (
    "extensions = ['sphinx.ext.extlinks']\nextlinks = {'doi': ('https://doi.org/%s', 'doi:%s')}\n"
)
OURS = "extensions = ['sphinx_doiuri']\n"
COPIED = (
    "import os, sys\nsys.path.insert(0, os.path.dirname(__file__))\nextensions = ['doi_role']\n"
)


def name(page: int, number: int) -> str:
    return f"10.1000/bench.{page}.{number}(2026)"


def write(folder: Path, pages: int, conf: str, *, role: bool = True) -> None:
    folder.mkdir(parents=True)
    (folder / "conf.py").write_text(conf)
    (folder / "doi_role.py").write_text(DOI_ROLE)
    toc = "".join(f"   page{page}\n" for page in range(pages))
    (folder / "index.rst").write_text(f"Index\n=====\n\n.. toctree::\n\n{toc}")
    for page in range(pages):
        mention = ":doi:`{}`" if role else "doi:{}"
        form = f"Some words about {mention} and more."
        text = "\n\n".join(form.format(name(page, number)) for number in range(DOIS))
        (folder / f"page{page}.rst").write_text(f"Page {page}\n========\n\n{text}\n")


def cost(source: Path, target: Path, *options: str, **environment: str) -> tuple[float, float]:
    """User CPU and wall clock of one build, in seconds."""
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", *options]
    command += [str(source), str(target)]
    variables = {**os.environ, "DOIURI_OFFLINE": "1", **environment}
    user_before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    begun = time.perf_counter()
    subprocess.run(command, check=True, env=variables)
    wall = time.perf_counter() - begun
    user = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - user_before
    return user, wall


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="60 pages and 3 builds, not 500 and 5")
    parser.add_argument("--builds", type=int, help="how many builds of each kind")
    given = parser.parse_args()
    pages = 60 if given.quick else 500
    rounds = given.builds
    if not rounds:
        rounds = 3 if given.quick else 5
    value = {
        "index": 1,
        "type": "URL",
        "data": {"format": "string", "value": "https://example.org/"},
        "ttl": 86400,
    }
    records = []
    for page in range(pages):
        for number in range(DOIS):
            records.append({"handle": name(page, number), "values": [value]})
    served = {"records": records, "agencies": {"10.1000": "Crossref"}}
    with tempfile.TemporaryDirectory() as folder, running(served) as proxy:
        report(Path(folder), pages, rounds, proxy.url)


@dataclass
class Kind:
    """One way to build, and what its builds took: user CPU and wall clock, in seconds."""

    name: str
    source: Path
    options: tuple[str, ...] = ()
    cache: str = ":memory:"  # "cold": a new file for each build
    url: str = ""  # none: offline
    user: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)

    def build(self, target: Path) -> None:
        cache = str(target.with_suffix(".sqlite")) if self.cache == "cold" else self.cache
        online = {"DOIURI_RESOLVER": self.url, "DOIURI_OFFLINE": "0"} if self.url else {}
        user, wall = cost(self.source, target, *self.options, DOIURI_CACHE=cache, **online)
        self.user.append(user)
        self.wall.append(wall)


def report(folder: Path, pages: int, rounds: int, url: str) -> None:
    ours = folder / "ours"
    write(folder / "nothing", pages, "", role=False)
    write(folder / "extlinks", pages, EXTLINKS)
    write(folder / "copied", pages, COPIED)
    write(ours, pages, f"{OURS}doi_budget = 600\n")
    cache = str(folder / "cache.sqlite")
    Kind("", ours, (), cache, url).build(folder / "fill")
    kinds = [
        Kind("no DOIs linked", folder / "nothing"),
        Kind("extlinks", folder / "extlinks"),
        Kind("a copy of doi_role.py", folder / "copied"),
        Kind("ours, resolving off", ours, ("-D", "doi_resolve=False")),
        Kind("ours, warm", ours, (), cache, url),
        Kind("ours, cold", ours, (), "cold", url),
    ]
    for turn in range(rounds):
        for number, kind in enumerate(kinds):  # in turns, so that noise affects all alike
            kind.build(folder / f"{turn}-{number}")
    table(kinds, pages)
    user, _ = cost(ours, folder / "fill", DOIURI_CACHE=":memory:", DOIURI_RESOLVER=url)
    print(
        f"\nAn unchanged rebuild takes {user:.2f} s of user CPU, and no requests (it ran offline)."
    )


def table(kinds: list[Kind], pages: int) -> None:
    extlinks = statistics.median(kinds[1].user)
    unresolved = statistics.median(kinds[3].wall)
    print(f"{pages} pages with {DOIS} DOIs each; medians of {len(kinds[0].user)} builds\n")
    print("| build | user CPU, s | of extlinks | wall clock, s | DOIs per second |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for kind in kinds:
        user = statistics.median(kind.user)
        wall = statistics.median(kind.wall)
        rate = ""
        if kind.cache == "cold" and wall > unresolved:
            rate = f"{pages * DOIS / (wall - unresolved):.0f}"
        print(f"| {kind.name} | {user:.2f} | {user / extlinks:.3f} | {wall:.2f} | {rate} |")


if __name__ == "__main__":
    main()
