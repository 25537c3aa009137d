"""Lists and citations beside those of citeproc-js, the processor of Zotero, over works of all types."""

from __future__ import annotations

import json
import subprocess
from html.parser import HTMLParser
from importlib import resources
from itertools import chain, pairwise, product
from pathlib import Path
from typing import Any

import pytest
from doiuri.citations import Bibliography, CitationItem, ReferenceStyle, Span, read_works, text_of
from doiuri_csl import Format
from support.programs import needs
from support.references import RECORDED, Recorded

HERE = Path(__file__).parent
CORPUS = HERE.parent / "cases" / "references"
# What we do on purpose
INTENDED = {
    "The river": "citeproc-js has AD only before the year 500",
    "A report with a number": "a report's number is not a range: no en dash in 2019-04",
    "Lower-case initials": "S., not shuang",
    "A preprint on puddles": "bioRxiv, container and publisher, once",
    "江河的泥沙": "citeproc-js drops the italics of East Asian titles",
}

FORMATS: dict[str, Format] = {
    "i": "italic",
    "b": "bold",
    "sub": "subscript",
    "sup": "superscript",
}
SPANS: dict[str, Format] = {"font-variant:small-caps;": "small-caps"}
Characters = list[tuple[str, frozenset[Format]]]


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The script beside an installed citeproc-js."""
    npm = needs("npm")
    folder = tmp_path_factory.mktemp("citeproc")
    command = [npm, "install", "--silent", "--prefix", str(folder), "citeproc@2.4.63"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        pytest.skip(f"NOT TESTED: citeproc-js cannot be installed: {done.stderr[-300:]}")
    (folder / "citeproc.js").write_bytes((HERE / "citeproc.js").read_bytes())
    return folder / "citeproc.js"


class Reader(HTMLParser):
    """Reads the characters in HTML with their formats."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.characters: Characters = []
        self._open: list[Format | None] = []
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        style = (dict(attrs).get("style") or "").replace(" ", "")
        self._open.append(FORMATS.get(tag) or SPANS.get(style))
        if style == "font-style:normal;":
            self._open[-1] = "italic"  # a second time: upright again

    def handle_endtag(self, tag: str) -> None:
        self._open.pop()

    def handle_data(self, data: str) -> None:
        formats = {kind for kind in self._open if kind}
        if self._open.count("italic") % 2 == 0:
            formats.discard("italic")
        self.characters += ((character, frozenset(formats)) for character in data)


def theirs(
    script: Path, items: list[dict[str, Any]], jobs: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """What citeproc-js returns for each job: the listed ids of the items, entries and citations."""
    folder = resources.files("doiuri_csl") / "locales"
    locales = {
        name: folder.joinpath(f"locales-{name}.xml").read_text("utf-8")
        for name in ("en-US", "de-DE", "fr-FR")
    }
    done = subprocess.run(
        [needs("node"), str(script)],
        input=json.dumps({"locales": locales, "items": items, "jobs": jobs}).encode(),
        capture_output=True,
        timeout=300,
        check=True,
    )
    formatted: list[dict[str, Any]] = json.loads(done.stdout)
    return formatted


def plain(source: str) -> str:
    return "".join(character for character, _ in stripped(Reader(source).characters))


def stripped(characters: Characters) -> Characters:
    text = "".join(character for character, _ in characters)
    return characters[len(text) - len(text.lstrip()) : len(text.rstrip())]


def characters_of(spans: tuple[Span, ...]) -> Characters:
    characters: Characters = []
    for run in chain.from_iterable(span.runs for span in spans):
        characters += [(character, run.formats) for character in run.text]
    return characters


def as_item(cite: CitationItem) -> dict[str, Any]:
    """Return a cite as citeproc-js reads it."""
    prefix = cite.prefix and f"{cite.prefix} "
    item = {"id": cite.key, "label": cite.label, "locator": cite.locator}
    return {**item, "prefix": prefix, "suffix": cite.suffix, "suppress-author": cite.no_author}


def own_style(name: str) -> str:
    """Return a style of ours without the number of an entry, which the host shows."""
    number = '<text variable="citation-number" prefix="[" suffix="]"/>'
    return ReferenceStyle.load(name).xml.decode().replace(number, "")


JOBS = list(product(("author-date", "numeric"), ("en-US", "de-DE")))


def test_entries_order_and_citations_in_our_styles_are_those_of_citeproc_js(script: Path) -> None:
    works = read_works(["works.json"], CORPUS).merge({})
    ids = {f"w{number}": key for number, key in enumerate(works)}
    items = []
    for id_, key in ids.items():
        item = {**works[key].csl, "id": id_}
        doi = works[key].doi
        if doi is not None:
            item["DOI"] = doi.name
        items.append(item)
    # Alone, with a page, and beside the next one
    alike = [id_ for id_, key in ids.items() if works[key].title != "The river"]
    cited = [[(id_, "")] for id_ in alike] + [[(id_, "12-14")] for id_ in alike]
    cited += [[(one, ""), (other, "")] for one, other in pairwise(alike)]
    citations = []
    for cites in cited:
        citations.append([{"id": id_, "label": "page", "locator": page} for id_, page in cites])
    styles = {name: ReferenceStyle.load(name) for name, _ in JOBS}
    jobs = [
        {"style": own_style(name), "locale": locale, "citations": citations}
        for name, locale in JOBS
    ]
    wrong = []
    for (name, locale), result in zip(JOBS, theirs(script, items, jobs), strict=True):
        bibliography = Bibliography(works, works, styles[name], locale)
        keys = [reference.key for reference in bibliography.references]
        assert keys == [ids[id_] for id_ in result["ids"]]
        entries = bibliography.entries()
        different = set()
        sources = dict(zip(keys, result["entries"], strict=True))
        for reference, entry in zip(bibliography.references, entries, strict=True):
            work = reference.work
            shown = sources[reference.key]
            if work.doi:  # ours shows the link as it is encoded
                raw = f"https://doi.org/{work.doi.name}".replace("<", "&#60;").replace(">", "&#62;")
                shown = shown.replace(raw, work.doi.url)
            if characters_of(entry.spans) != stripped(Reader(shown).characters):
                different.add(work.title)
        assert different == set(INTENDED), (result, name, locale)
        for cites, source in zip(cited, result["citations"], strict=True):
            spans = bibliography.citation(
                CitationItem(ids[id_], "", page and "page", page) for id_, page in cites
            )
            if characters_of(spans) != stripped(Reader(source).characters):
                wrong.append(f"{name} {locale}: {text_of(spans)} not {plain(source)}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("recorded", RECORDED, ids=str)
def test_what_the_tests_of_the_core_compare_with_is_what_citeproc_js_shows(
    recorded: Recorded, script: Path
) -> None:
    citations = [list(map(as_item, cites)) for cites in recorded.cites]
    style = own_style(recorded.style) if "own" in recorded.case else recorded.style
    job = {"style": style, "locale": recorded.locale, "citations": citations}
    [result] = theirs(script, recorded.works, [job])
    listed = zip(result["ids"], result["entries"], strict=True)
    shown = [f"{id_}: {plain(source)}" for id_, source in listed]
    assert [*shown, *map(plain, result["citations"])] == recorded.lines
