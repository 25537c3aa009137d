"""Start the local DOI proxy, build the site and the blog and run the scripts against it, print a summary.

The exit status is 0 if every step succeeded, every DOI got an answer and exactly the missing ones are
marked.
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


class Links(HTMLParser):
    """The links of class ``doi`` on a page: (href, marked as not found)."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.found: list[tuple[str, bool]] = []
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        classes = (values.get("class") or "").split()
        if tag == "a" and "doi" in classes:
            self.found.append((values.get("href") or "", "doi-not-found" in classes))


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


def build() -> list[Path]:
    """Build everything, print the warnings and the last line of each script, and return the pages."""
    site, blog = OUTPUT / "site", OUTPUT / "blog"
    sphinx = ["-m", "sphinx", "-q", "-E", "-b", "html", str(EXAMPLES / "site"), str(site)]
    steps = {"Sphinx site": sphinx, "Markdown blog": [str(EXAMPLES / "blog" / "build.py"), str(blog)]}
    for title, command in steps.items():
        print(*(f"    {line}" for line in run(title, *command)), sep="\n")
    for script in sorted(EXAMPLES.glob("scripts/[!_]*.py")):
        print(f"    {run(f'Script {script.name}', str(script))[-1]}")
    return [site / "index.html", site / "myst.html", *sorted(blog.glob("*.html"))]


def sum_up(pages: list[Path], base: str) -> None:
    """Print the summary; exit with an error if the pages and the proxy disagree."""
    links = [link for page in pages for link in Links(page).found]
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
    if set(status["not-found"]) != marked or status["unknown"] or not links:
        sys.exit("the DOIs marked on the pages are not those that the proxy reports as missing")


def main() -> None:
    start = time.perf_counter()
    shutil.rmtree(OUTPUT, ignore_errors=True)
    OUTPUT.mkdir(parents=True)
    with local_proxy(EXAMPLES / "records.json") as base:
        os.environ |= {"DOIURI_RESOLVER": base, "DOIURI_CACHE": str(OUTPUT / "cache.sqlite")}
        os.environ.pop("DOIURI_OFFLINE", None)
        sum_up(build(), base)
    print(f"Time: {time.perf_counter() - start:.1f} s")


if __name__ == "__main__":
    main()
