"""Start the local DOI proxy, build the sites and blogs and run the scripts against it, print a summary.

The exit status is 0 if every step succeeded, every DOI got an answer, exactly the missing ones are marked,
and there are citations and cards.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path

from doiuri import DOI
from doiuri.resolver import Resolver

EXAMPLES = Path(__file__).resolve().parent
OUTPUT = EXAMPLES.parent / "build" / "demo"
READY = "doiuri-proxy ready at "
DOI_ORG = "https://doi.org/"


class Links(HTMLParser):
    """The links to DOIs on a page, (href, marked as not found), and how many citations and cards it has."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.found: list[tuple[str, bool]] = []
        self.citations = 0
        self.cards = 0
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        classes, href = (values.get("class") or "").split(), values.get("href") or ""
        if tag == "a" and "doi" in classes and href.startswith(DOI_ORG):  # citations lead to their entry
            self.found.append((href, "doi-not-found" in classes))
        self.citations += "doi-citation" in classes
        self.cards += "doi-card" in classes


@contextmanager
def local_proxy(records: Path) -> Iterator[str]:
    """Run the local DOI proxy on a free loopback port; yield its base URL."""
    command = [sys.executable, "-m", "doiuri_proxy", "--records", str(records), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") as server:
        assert server.stdout is not None
        try:
            line = server.stdout.readline()
            if not line.startswith(READY):
                sys.exit(f"the local DOI proxy did not start: {line.strip() or 'see its message above'}")
            yield line.removeprefix(READY).strip()
        finally:
            server.terminate()


def run(title: str, *command: str) -> list[str]:
    """Run one step and return the lines it printed; if it fails, print them and exit."""
    start = time.perf_counter()
    step = subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, encoding="utf-8", check=False
    )
    lines = (step.stdout + step.stderr).replace(str(EXAMPLES.parent) + os.sep, "").splitlines()
    if step.returncode:
        sys.exit("\n".join([*lines, f"{title} failed with exit status {step.returncode}"]))
    print(f"{title} ({time.perf_counter() - start:.1f} s)", flush=True)
    return lines


def builds() -> dict[str, list[str]]:
    """Return the commands that build the pages, by title."""
    site, blog, mkdocs, pelican = (EXAMPLES / name for name in ("site", "blog", "mkdocs", "pelican"))
    sphinx = ["sphinx", "-q", "-E", "-b", "html", str(site), str(OUTPUT / "site")]
    material = ["mkdocs", "build", "-f", str(mkdocs / "mkdocs.yml"), "-d", str(OUTPUT / "mkdocs")]
    settings, output = str(pelican / "pelicanconf.py"), str(OUTPUT / "pelican")
    return {
        "Sphinx site": ["-m", *sphinx],
        "Markdown blog": [str(blog / "build.py"), str(OUTPUT / "blog")],
        "MkDocs": ["-m", *material],
        "Pelican": ["-m", "pelican", str(pelican / "content"), "-s", settings, "-o", output],
    }


def build() -> list[Path]:
    """Build everything, print the warnings and the last line of each script, and return the pages."""
    for title, command in builds().items():
        for line in run(title, *command):
            print(f"    {line}")
    for script in sorted(EXAMPLES.glob("scripts/[!_]*.py")):
        print(f"    {run(f'Script {script.name}', str(script))[-1]}")
    return [
        *(OUTPUT / "site" / f"{name}.html" for name in ("index", "myst", "citations", "references")),
        *sorted((OUTPUT / "blog").glob("*.html")),
        OUTPUT / "mkdocs" / "index.html",
        OUTPUT / "mkdocs" / "reading" / "index.html",
        OUTPUT / "pelican" / "dois-in-a-blog.html",
    ]


def sum_up(pages: list[Path], base: str) -> None:
    """Print the summary; exit with an error if the pages and the proxy disagree."""
    read = [Links(page) for page in pages]
    links = [link for page in read for link in page.found]
    citations, cards = sum(page.citations for page in read), sum(page.cards for page in read)
    marked = {DOI.from_url(href) for href, missing in links if missing}
    dois = sorted({DOI.from_url(href) for href, _ in links})
    with Resolver(base, store=None) as resolver:
        outcomes = list(resolver.resolve_many(dois))
    status = {
        kind: [o.doi for o in outcomes if o.doi and o.status == kind]
        for kind in ("found", "not-found", "unknown")
    }
    print("\nPages to open:", *(f"  {os.path.relpath(page)}" for page in pages), sep="\n")
    missing = ", ".join(doi.name for doi in status["not-found"])
    print(f"DOIs: {len(links)} links to {len(dois)} DOIs; {len(status['found'])} verified, ", end="")
    print(f"{len(status['not-found'])} not found ({missing}), {len(status['unknown'])} unknown")
    print(f"Citations: {citations}; cards: {cards}")
    if not (citations and cards):
        sys.exit("there are no citations or no cards on the pages")
    if set(status["not-found"]) != marked or status["unknown"] or not links:
        sys.exit("the DOIs marked on the pages are not those that the proxy reports as missing")


def main() -> None:
    start = time.perf_counter()
    shutil.rmtree(OUTPUT, ignore_errors=True)
    OUTPUT.mkdir(parents=True)
    with local_proxy(EXAMPLES / "records.json") as base:
        os.environ |= {"DOIURI_RESOLVER": base, "DOIURI_CACHE": str(OUTPUT / "cache.sqlite")}
        os.environ["NO_MKDOCS_2_WARNING"] = "1"  # Material for MkDocs prints it in each build
        os.environ.pop("DOIURI_OFFLINE", None)
        sum_up(build(), base)
    print(f"Time: {time.perf_counter() - start:.1f} s")


if __name__ == "__main__":
    main()
