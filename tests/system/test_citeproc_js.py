"""Entries in our styles beside those of citeproc-js, the processor of Zotero, over works of all types."""

from __future__ import annotations

import json
import re
import subprocess
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from doiuri.citations import Bibliography, Format, Part, Style, format_entries, read_works
from support.programs import needs

HERE = Path(__file__).parent
CORPUS = HERE.parent / "cases" / "references"
# What we do on purpose
INTENDED = {
    "Hyphens in given names": "Min-jun is M.-J., not M.",
    "A report with a number": "a report's number is not a range: no en dash in 2019-04",
    "Lower-case initials": "S., not shuang",
    "A preprint on puddles": "bioRxiv, container and publisher, once",
    "江河的泥沙": "citeproc-js drops the italics of East Asian titles",
}
FORMATS: dict[str, Format] = {"i": "emphasis", "b": "strong", "sub": "subscript", "sup": "superscript"}
SPANS: dict[str, Format] = {"font-variant:small-caps;": "small-caps"}
Characters = list[tuple[str, frozenset[Format]]]


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The script beside an installed citeproc-js."""
    npm, folder = needs("npm"), tmp_path_factory.mktemp("citeproc")
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
            self._open[-1] = "emphasis"  # a second time: upright again

    def handle_endtag(self, tag: str) -> None:
        self._open.pop()

    def handle_data(self, data: str) -> None:
        formats = {kind for kind in self._open if kind}
        if self._open.count("emphasis") % 2 == 0:
            formats.discard("emphasis")
        self.characters += ((character, frozenset(formats)) for character in data)


def theirs(script: Path, style: Style, locale: str, bibliography: Bibliography) -> list[Characters]:
    """What citeproc-js returns for the entries of a bibliography, without white space around them."""
    spec = find_spec("citeproc")
    assert spec
    assert spec.origin
    folder = Path(spec.origin).parent / "data" / "locales"
    items: list[dict[str, Any]] = []
    for reference in bibliography.references:
        name = {"DOI": reference.work.doi.name} if reference.work.doi else {}
        items.append({**reference.work.csl, **name, "id": f"w{reference.number}"})
    given = {
        "style": re.sub(
            r'<text variable="citation-number" prefix="\[" suffix="\]"/>', "", style.xml.decode()
        ),
        "locales": {name: (folder / f"locales-{name}.xml").read_text("utf-8") for name in ("en-US", locale)},
        "locale": locale,
        "items": items,
    }
    command = [needs("node"), str(script)]
    done = subprocess.run(
        command, input=json.dumps(given).encode(), capture_output=True, timeout=300, check=True
    )
    entries = json.loads(done.stdout)
    found = []
    for reference in bibliography.references:
        source = entries[f"w{reference.number}"]
        if reference.work.doi:  # ours shows the link as it is encoded
            raw = f"https://doi.org/{reference.work.doi.name}".replace("<", "&#60;").replace(">", "&#62;")
            source = source.replace(raw, reference.work.doi.url)
        found.append(stripped(Reader(source).characters))
    return found


def stripped(characters: Characters) -> Characters:
    text = "".join(character for character, _ in characters)
    return characters[len(text) - len(text.lstrip()) : len(text.rstrip())]


def characters_of(parts: tuple[Part, ...]) -> Characters:
    return [(character, part.formats) for part in parts for character in part.text]


@pytest.mark.parametrize("locale", ["en-US", "de-DE"])
@pytest.mark.parametrize("name", ["author-date", "numeric"])
def test_text_and_emphasis_are_those_of_citeproc_js(script: Path, name: str, locale: str) -> None:
    works = read_works(["works.json"], CORPUS).complete({})
    style = Style.load(name)
    bibliography = Bibliography(works, works, style, locale)
    ours = map(characters_of, format_entries(bibliography.references, style, locale))
    different = {
        reference.work.title
        for reference, mine, other in zip(
            bibliography.references, ours, theirs(script, style, locale, bibliography), strict=True
        )
        if mine != other
    }
    assert different == set(INTENDED)
