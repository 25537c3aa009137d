"""Start the local DOI proxy, build the sites and blogs, check a paper and run the scripts against it, sum up.

The exit status is 0 if every step succeeded, every DOI got an answer, exactly the missing ones are marked,
every citation leads to the entry of its work, every entry leads back, and there are cards.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
import webbrowser
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from doiuri import DOI
from doiuri.resolver import Resolver

EXAMPLES = Path(__file__).resolve().parent
OUTPUT = EXAMPLES.parent / "build" / "demo"
REPORT = OUTPUT / "paper.sarif"
READY = "doiuri-proxy ready at "
DOI_ORG = "https://doi.org/"

# Sphinx and Markdown have different names for the list and its links back.
LISTS = {"doi-bibliography", "doi-references"}
BACK = {"doi-back", "doi-backref"}
CITATIONS = {"site": 12, "blog": 5, "mkdocs": 4, "pelican": 2}
"""The number of citations on the pages of each example."""
PAGES = {
    "site": ("index", "paper", "citations", "references", "myst"),
    "mkdocs": ("index", "citing", "reading", "references"),
}
# Elements without an end tag
VOID = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}


PICTURES = {
    "paper": "A page built by Sphinx, with a dead DOI and a card",
    "references": "A list of references",
}
"""What is on the pictures of the manual, of which each has a light and a dark one."""

PAGE = """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>doiuri: the demo</title>
<style>
  :root {{ color-scheme: light dark; --line: light-dark(#d0d7de, #3d444d); --code: light-dark(#f6f8fa, #151b23) }}
  body {{ max-width: 56rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.6 system-ui, sans-serif }}
  h2 {{ margin-top: 2.5rem; border-bottom: 1px solid var(--line) }}
  pre {{ background: var(--code); padding: .8rem; border-radius: .4rem; font-size: .85rem }}
  pre {{ white-space: pre-wrap; overflow-wrap: anywhere }}
  figure {{ display: inline-block; margin: 0 1rem 1rem 0; max-width: 26rem; vertical-align: top }}
  img {{ width: 100%; border: 1px solid var(--line); border-radius: .4rem }}
  .columns {{ columns: 16rem 3 }}
  .columns section {{ break-inside: avoid }}
  .columns h3 {{ margin-top: 0 }}
  .finding {{ border: 1px solid var(--line); border-radius: .4rem; margin: 1rem 0; padding: .6rem 1rem }}
  .finding p {{ margin: .3rem 0 }}
  .level {{ border: 1px solid; border-radius: 1rem; padding: 0 .6rem; font-size: .85rem }}
  .error {{ color: light-dark(#b3261e, #ff8f87) }}
  .warning {{ color: light-dark(#7a5200, #e3b341) }}
</style>
<h1>The demo</h1>
<p>Built by Sphinx, Python-Markdown, MkDocs and Pelican; a DOI that is not registered is struck out.</p>
<div class="columns">
{pages}</div>
<h2>In light and dark</h2>
{pictures}
<h2>On the command line</h2>
<pre>{command}</pre>
<h2>In code scanning</h2>
<p>The same findings, from the report <a href="{report}">{report}</a> that GitHub and editors read.</p>
{findings}
<h2>In scripts</h2>
{scripts}
</html>
"""


class Place(NamedTuple):
    """An element of a page."""

    page: Path
    id: str

    def __str__(self) -> str:
        return f"{os.path.relpath(self.page, OUTPUT)}#{self.id}"


@dataclass
class Link:
    """A link from a citation to an entry, or back."""

    href: str
    text: str = ""

    def target(self, page: Path) -> Place:
        """Return where it leads from ``page``."""
        url = urlsplit(self.href)
        if not url.path:
            return Place(page, url.fragment)
        path = (page.parent / unquote(url.path)).resolve()
        if path.is_dir():
            path /= "index.html"
        return Place(path, url.fragment)


@dataclass
class Entry:
    """An entry in a list of references."""

    dois: list[DOI] = field(default_factory=list)
    back: list[Link] = field(default_factory=list)


class Element(NamedTuple):
    """An element whose end tag has not been read yet."""

    tag: str
    classes: set[str]
    id: str


class DOILink(NamedTuple):
    """A link to a DOI."""

    doi: DOI
    is_dead: bool  # whether it is marked as not registered


class Page(HTMLParser):
    """The links to DOIs on a page, its citations, the entries of its lists of references, ids and cards."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.links: list[DOILink] = []
        self.citations: list[Link] = []
        self.entries: dict[str, Entry] = {}
        self.ids: set[str] = set()
        self.cards = 0
        self.title = ""
        self._open: list[Element] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        classes = set(values.get("class", "").split())
        element = Element(tag, classes, values.get("id", ""))
        self.ids.add(element.id)
        if "doi-card" in classes:
            self.cards += 1
        if tag not in VOID:
            self._open.append(element)
        if tag == "a":
            self._link(values.get("href", ""), classes)

    def _link(self, href: str, classes: set[str]) -> None:
        around = self._open_classes()
        entry = self._entry() if around & LISTS else None
        if "doi" in classes and href.startswith(DOI_ORG):  # citations lead to their entry
            link = DOILink(DOI.from_url(href), "doi-not-found" in classes)
            self.links.append(link)
            if entry:
                entry.dois.append(link.doi)
        elif "doi-citation" in around:
            self.citations.append(Link(href))
        elif around & BACK and entry:
            entry.back.append(Link(href))

    def _open_classes(self) -> set[str]:
        """Return the classes of all open elements."""
        return set().union(*(element.classes for element in self._open))

    def _entry(self) -> Entry | None:
        """Return the entry of the innermost open list item with an id."""
        for element in reversed(self._open):
            if element.tag == "li" and element.id:
                return self.entries.setdefault(element.id, Entry())
        return None

    def handle_endtag(self, tag: str) -> None:
        if any(element.tag == tag for element in self._open):
            while self._open.pop().tag != tag:
                pass

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1].tag == "title" and not self.title:
            self.title = data.strip()
        in_link = any(element.tag == "a" for element in self._open)
        if in_link and self.citations and "doi-citation" in self._open_classes():
            self.citations[-1].text += data


@contextmanager
def local_proxy(records: Path) -> Iterator[str]:
    """Run the local DOI proxy on a free loopback port; yield its base URL."""
    command = [sys.executable, "-m", "doiuri_proxy", "--records", str(records), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") as server:
        assert server.stdout is not None
        try:
            line = server.stdout.readline()
            if not line.startswith(READY):
                reason = line.strip() or "see its message above"
                sys.exit(f"the local DOI proxy did not start: {reason}")
            yield line.removeprefix(READY).strip()
        finally:
            server.terminate()


def run(title: str, *command: str, expected: int = 0) -> list[str]:
    """Run one step and return the lines it printed; if it fails, print them and exit.

    :param expected: its exit status
    """
    start = time.perf_counter()
    words = [sys.executable, *command]
    options: dict[str, Any] = {"capture_output": True, "text": True, "encoding": "utf-8"}
    step = subprocess.run(words, **options, cwd=EXAMPLES.parent, check=False)
    output: str = step.stdout + step.stderr
    lines = output.replace(str(EXAMPLES.parent) + os.sep, "").splitlines()
    if step.returncode != expected:
        sys.exit("\n".join([*lines, f"{title} failed with exit status {step.returncode}"]))
    print(f"{title} ({time.perf_counter() - start:.1f} s)", flush=True)
    return lines


def builds() -> dict[str, list[str]]:
    """Return the commands that build the pages, by title."""
    site = str(EXAMPLES / "site")
    blog = str(EXAMPLES / "blog" / "build.py")
    mkdocs = str(EXAMPLES / "mkdocs" / "mkdocs.yml")
    posts = str(EXAMPLES / "pelican" / "content")
    settings = str(EXAMPLES / "pelican" / "pelicanconf.py")
    sphinx = ["sphinx", "-q", "-E", "-b", "html", site, str(OUTPUT / "site")]
    material = ["mkdocs", "build", "-f", mkdocs, "-d", str(OUTPUT / "mkdocs")]
    material.append("--no-directory-urls")  # the links work from files, too
    pelican = ["pelican", posts, "-s", settings, "-o", str(OUTPUT / "pelican")]
    return {
        "Sphinx site": ["-m", *sphinx],
        "Markdown blog": [blog, str(OUTPUT / "blog")],
        "MkDocs": ["-m", *material],
        "Pelican": ["-m", *pelican],
    }


def build() -> list[Path]:
    """Build everything, print the warnings, and return the pages."""
    for title, command in builds().items():
        for line in run(title, *command):
            print(f"    {line}")
    return [
        *(OUTPUT / "site" / f"{name}.html" for name in PAGES["site"]),
        *sorted((OUTPUT / "blog").glob("*.html")),
        *(OUTPUT / "mkdocs" / f"{name}.html" for name in PAGES["mkdocs"]),
        OUTPUT / "pelican" / "dois-in-a-blog.html",
    ]


def run_scripts() -> dict[str, str]:
    """Run the scripts, print the last line of each, and return what each printed."""
    outputs = {}
    for script in sorted(EXAMPLES.glob("scripts/[!_]*.py")):
        lines = run(f"Script {script.name}", str(script))
        print(f"    {lines[-1]}")
        outputs[script.name] = "\n".join(lines)
    return outputs


def check_paper() -> str:
    """Check the paper, which has findings, write them as SARIF, and return the command line and its output."""
    words = ["check", "--compare", "--isolated", "--lock=", "examples/paper"]
    report = ["-o", "full", "-o", f"sarif:{REPORT}"]
    lines = run("The command", "-m", "doiuri_cli", *words, *report, expected=1)
    return "\n".join(["$ doiuri check --compare examples/paper", *lines])


def sum_up(paths: list[Path], base: str) -> None:
    """Print the summary; exit with an error if the pages and the proxy disagree."""
    pages = [Page(path) for path in paths]
    links: list[DOILink] = []
    for page in pages:
        links += page.links
    dois = sorted({link.doi for link in links})
    with Resolver(base, store=None) as resolver:
        outcomes = resolver.resolve_many(dois)
        statuses = {doi: outcome.status for doi, outcome in zip(dois, outcomes, strict=True)}
        wrong = list(wrong_references(pages, resolver))

    print("", *table(pages, statuses), "", sep="\n")
    missing = {doi for doi, status in statuses.items() if status == "not-found"}
    print("Dead, and marked on the pages:", ", ".join(doi.name for doi in sorted(missing)))
    citations = sum(len(page.citations) for page in pages)
    entries = sum(len(page.entries) for page in pages)
    cards = sum(page.cards for page in pages)
    print(f"{citations} citations of {entries} works in lists of references; {cards} cards")

    if wrong:
        sys.exit("\n".join(wrong))
    if not cards:
        sys.exit("there are no cards on the pages")
    marked = {link.doi for link in links if link.is_dead}
    if missing != marked or "unknown" in statuses.values() or not dois:
        sys.exit("the DOIs marked on the pages are not those that the proxy reports as missing")


def table(pages: list[Page], statuses: Mapping[DOI, str]) -> Iterator[str]:
    """Return a line for each page: its path, how many links are right, dead or unknown, and its citations."""
    rows = [(os.path.relpath(page.path), count(page, statuses)) for page in pages]
    total: Counter[str] = Counter()
    for _, counts in rows:
        total += counts
    rows.append(("all pages", total))

    width = max(len(name) for name, _ in rows)
    yield f"{'page':{width}}  citations  links to DOIs  right  dead  unknown"
    for name, counts in rows:
        dead = counts["not-found"]
        unknown = counts["unknown"]
        cited = counts["cited"]
        links = counts.total() - cited
        line = f"{name:{width}}  {cited or '':9}"
        if links:
            line += f"  {links:13}  {links - dead - unknown:5}  {dead:4}  {unknown:7}"
        yield line


def count(page: Page, statuses: Mapping[DOI, str]) -> Counter[str]:
    """Return the links of a page by status, and its citations, which lead to an entry, as "cited"."""
    counts = Counter(statuses[link.doi] for link in page.links)
    return counts + Counter(cited=len(page.citations))


def by_program(paths: list[Path]) -> dict[str, dict[str, Path]]:
    """Return the pages by the program that built them, and by title."""
    pages: dict[str, dict[str, Path]] = {}
    for program, folder in zip(builds(), CITATIONS, strict=True):
        own = [path for path in paths if path.is_relative_to(OUTPUT / folder)]
        pages[program] = {Page(path).title: path for path in own}
    return pages


class Shown(NamedTuple):
    """What the demo made, for its page."""

    pages: Mapping[str, Mapping[str, Path]]
    """The pages by the program that built them, and by title."""

    command: str
    """The command line that checked the paper, and what it printed."""

    report: Path
    """The findings as SARIF."""

    scripts: Mapping[str, str]
    """What each script printed."""


def write_page(shown: Shown, folder: Path, root: Path) -> Path:
    """Write the page and return its path.

    :param folder: where it is written; links lead from there
    :param root: the folder of the repository, which has the pictures and the files that the findings are about
    """
    path = folder / "index.html"
    text = PAGE.format(
        pages=page_lists(shown.pages, folder),
        pictures=figures(root / "docs" / "pictures", folder),
        command=escape(shown.command),
        report=href(shown.report, folder),
        findings=finding_cards(json.loads(shown.report.read_text(encoding="utf-8")), root),
        scripts=script_outputs(shown.scripts),
    )
    path.write_text(text, encoding="utf-8")
    return path


def href(path: Path, folder: Path) -> str:
    """Return a link from a page in ``folder``."""
    return escape(Path(os.path.relpath(path, folder)).as_posix())


def page_lists(pages: Mapping[str, Mapping[str, Path]], folder: Path) -> str:
    """Return the lists of pages, one for each program."""
    text = ""
    for program, paths in pages.items():
        items = ""
        for title, path in paths.items():
            items += f'<li><a href="{href(path, folder)}">{escape(title)}</a></li>\n'
        text += f"<section>\n<h3>{program}</h3>\n<ul>\n{items}</ul>\n</section>\n"
    return text


def figures(pictures: Path, folder: Path) -> str:
    """Return the pictures of pages, light and dark beside each other."""
    text = ""
    for name, caption in PICTURES.items():
        for mode in ("light", "dark"):
            source = href(pictures / f"{name}-{mode}.webp", folder)
            legend = f"<figcaption>{caption}, {mode}</figcaption>"
            text += f'<figure><img src="{source}" alt="{caption}">{legend}</figure>\n'
    return text


def finding_cards(report: Mapping[str, Any], root: Path) -> str:
    """Return the results of a SARIF report: level, message, place, the line of the file, and why it matters."""
    (run,) = report["runs"]
    reasons = {
        rule["id"]: rule["fullDescription"]["text"] for rule in run["tool"]["driver"]["rules"]
    }
    text = ""
    for result in run["results"]:
        code = result["ruleId"]
        level = result["level"]
        location = result["locations"][0]["physicalLocation"]
        name = location["artifactLocation"]["uri"]
        number = location["region"]["startLine"]
        line = (root / name).read_text(encoding="utf-8").splitlines()[number - 1]
        text += (
            '<div class="finding">\n'
            f'<p><span class="level {level}">{level}</span> <strong>{code}</strong> '
            f"{escape(result['message']['text'])}</p>\n"
            f"<pre>{escape(name)}:{number}\n{escape(line.strip())}</pre>\n"
            f"<p>{with_code(reasons[code])}</p>\n</div>\n"
        )
    return text


def with_code(text: str) -> str:
    """Return a text in HTML, what is between backquotes as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def script_outputs(outputs: Mapping[str, str]) -> str:
    """Return what each script printed, below its name."""
    text = ""
    for name, output in outputs.items():
        text += f"<h3>{escape(name)}</h3>\n<pre>{escape(output)}</pre>\n"
    return text


def wrong_references(pages: list[Page], resolver: Resolver) -> Iterator[str]:
    """Return what is wrong with the citations and the lists of references."""
    ids: set[Place] = set()
    cited: set[Place] = set()
    entries: dict[Place, Entry] = {}
    for page in pages:
        ids.update(Place(page.path, name) for name in page.ids)
        cited.update(link.target(page.path) for link in page.citations)
        for name, entry in page.entries.items():
            entries[Place(page.path, name)] = entry

    for example, expected in CITATIONS.items():
        folder = OUTPUT / example
        number = sum(len(page.citations) for page in pages if page.path.is_relative_to(folder))
        if number != expected:
            yield f"{example}: {number} citations, expected {expected}"
    for page in pages:
        for link in page.citations:
            target = entries.get(link.target(page.path))
            if target is None or not names_the_author(link.text, target, resolver):
                name = os.path.relpath(page.path, OUTPUT)
                yield f"{name}: the citation {link.text} does not lead to the entry of its work"
    for place, entry in entries.items():
        targets = {link.target(place.page) for link in entry.back}
        if place not in cited or not targets or not targets <= ids:
            yield f"{place}: this entry does not lead back to a citation"


def names_the_author(text: str, entry: Entry, resolver: Resolver) -> bool:
    """Return whether the text of a citation names the first author and the year of an entry's work."""
    if len(entry.dois) != 1:
        return False
    work = resolver.work(entry.dois[0])
    return work.authors[0].family in text and str(work.year or "n.d.") in text


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--open", action="store_true", help="show the pages in a browser")
    options = parser.parse_args()
    start = time.perf_counter()
    shutil.rmtree(OUTPUT, ignore_errors=True)
    OUTPUT.mkdir(parents=True)
    with local_proxy(EXAMPLES / "records.json") as base:
        os.environ |= {"DOIURI_RESOLVER": base, "DOIURI_CACHE": str(OUTPUT / "cache.sqlite")}
        os.environ["NO_MKDOCS_2_WARNING"] = "1"  # Material for MkDocs prints it in each build
        os.environ.pop("DOIURI_OFFLINE", None)
        paths = build()
        shown = Shown(by_program(paths), check_paper(), REPORT, run_scripts())
        index = write_page(shown, OUTPUT, EXAMPLES.parent)
        sum_up(paths, base)
    print(f"Time: {time.perf_counter() - start:.1f} s")
    print("The pages:", os.path.relpath(index))
    if options.open and not webbrowser.open(index.as_uri()):
        sys.exit("no browser found; open the page by hand")


if __name__ == "__main__":
    main()
