"""Measure the cost of citations: builds of pages that cite works, compared with sphinxcontrib-bibtex.

    python benchmarks/citations.py [--builds 5]

Prints a markdown table: 1,000 citations of 200 works on 50 pages, with one list of references. Ours takes the
works from the lock file, the other from a .bib file. Each figure is a median of builds from nothing.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

PAGES = 50
CITATIONS = 20  # on a page
WORKS = 200
OURS = "extensions = ['sphinx_doiuri']\n"
BIBTEX = "extensions = ['sphinxcontrib.bibtex']\nbibtex_bibfiles = ['refs.bib']\n"
ENTRY = """
@article{{w{0},
  author = {{{1}, A.}}, title = {{Work {0}}}, journal = {{A journal}}, year = {2}, doi = {{{3}}},
}}
"""


def name(work: int) -> str:
    return f"10.5555/WORK.{work}(2026)"


def family(work: int) -> str:
    return "".join(chr(ord("a") + int(digit)) for digit in str(work)).title() + "son"


def lock() -> str:
    """A lock file with the metadata of each work."""
    works = {}
    for work in range(WORKS):
        author = {"family": family(work), "given": "A."}
        issued = {"date-parts": [[1900 + work % 100]]}
        works[name(work)] = {
            "author": [author],
            "container-title": "A journal",
            "issued": issued,
            "title": f"Work {work}",
            "type": "article-journal",
        }
    return json.dumps({"doiuri-lock": 1, "work": works})


def bib() -> str:
    entries = []
    for work in range(WORKS):
        year = 1900 + work % 100
        entries.append(ENTRY.format(work, family(work), year, name(work)))
    return "".join(entries)


def write(folder: Path, conf: str, role: str, directive: str) -> Path:
    folder.mkdir()
    (folder / "conf.py").write_text(conf)
    (folder / "doi.lock.json").write_text(lock())
    (folder / "refs.bib").write_text(bib())
    toc = "".join(f"   page{page}\n" for page in range(PAGES))
    (folder / "index.rst").write_text(f"Index\n=====\n\n.. toctree::\n\n{toc}\n{directive}\n")
    for page in range(PAGES):
        paragraphs = []
        for number in range(CITATIONS):
            work = (page * CITATIONS + number) * 7 % WORKS
            citation = role.format(work=work, name=name(work))
            paragraphs.append(f"Some words about {citation}.")
        text = "\n\n".join(paragraphs)
        (folder / f"page{page}.rst").write_text(f"Page {page}\n========\n\n{text}\n")
    return folder


class Cost(NamedTuple):
    """What one build took, in seconds."""

    user: float
    wall: float


def cost(source: Path, target: Path) -> Cost:
    """Build once; return the user CPU and the wall clock."""
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "-b", "html", str(source), str(target)]
    environment = {**os.environ, "DOIURI_OFFLINE": "1", "DOIURI_CACHE": ":memory:"}
    user_before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    begun = time.perf_counter()
    subprocess.run(command, check=True, env=environment)
    wall = time.perf_counter() - begun
    user = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - user_before
    return Cost(user, wall)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--builds", type=int, default=5, help="how many builds of each kind")
    rounds = parser.parse_args().builds
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        theirs = write(folder / "b", BIBTEX, ":cite:p:`w{work}`", ".. bibliography::")
        listing = ".. doi:bibliography::\n   :scope: project"
        ours = write(folder / "o", OURS, ":doi:p:`{name}`", listing)
        sources = {"sphinxcontrib-bibtex": theirs, "ours, lock file": ours}
        costs: dict[str, list[Cost]] = {kind: [] for kind in sources}
        for turn in range(rounds):
            for kind, source in sources.items():  # in turns, so that noise affects all alike
                costs[kind].append(cost(source, folder / f"{turn}-{source.name}"))

    peer = statistics.median(build.user for build in costs["sphinxcontrib-bibtex"])
    print(f"{PAGES * CITATIONS} citations of {WORKS} works; medians of {rounds} builds\n")
    print("| build | user CPU, s | lowest to highest | ratio | wall clock, s |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for kind, builds in costs.items():
        users = [build.user for build in builds]
        median = statistics.median(users)
        wall = statistics.median(build.wall for build in builds)
        spread = f"{min(users):.2f} to {max(users):.2f}"
        print(f"| {kind} | {median:.2f} | {spread} | {median / peer:.3f} | {wall:.2f} |")


if __name__ == "__main__":
    main()
