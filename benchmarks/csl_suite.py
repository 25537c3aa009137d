"""Run the official test suite of CSL on doiuri-csl, and print the score by category.

    git clone https://github.com/citation-style-language/test-suite
    git clone https://github.com/citation-style-language/locales
    python benchmarks/csl_suite.py test-suite locales

With names of fixtures after the folders, shows what was got and expected. A fixture passes if every character
is the same and looks the same, spaces that do not break lines too; tags are not compared.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, TypeAlias

from doiuri_csl import Cite, Locale, Place, Position, Processor, Run, Style
from doiuri_csl._xml import read_file

Line: TypeAlias = list[tuple[str, frozenset[str]]]
"""The characters of a line, and how each looks."""

SECTION = re.compile(r">>=+ *([A-Z0-9-]+) *=+>>\n(.*?)<<=+ *\1 *=+<<", re.DOTALL)
MARK = re.compile(r"^((?:\.\.|>>)\[\d+\] ?)", re.MULTILINE)
NO_FORM = "[CSL STYLE ERROR: reference with no printed form.]"
POSITIONS = list(Position)
BREAKING_SPACES = " \t\r"

# Fixtures that contradict the specification, by its section, or the locales of today
EXCEPTIONS = {
    "collapse_ChicagoAfterCollapse": "Cite Collapsing: after-collapse-delimiter follows collapsed groups only",
    "flipflop_NumericField": "Number: the fixture says itself that CSL reads the markup of the field",
    "date_NegativeDateSort": "locales: 'bc' and 'ad' begin with a space",
    "date_NegativeDateSortViaMacroOnYearMonthOnly": "locales: the same",
    "bugreports_SortedIeeeItalicsFail": "locales: the short form of June is June",
    "magic_SubsequentAuthorSubstituteNotFooled": "locales: the short form of translator is trans.",
}
PRIMARY = {"en": "en-US", "zh": "zh-CN", "cs": "cs-CZ", "da": "da-DK", "sv": "sv-SE", "el": "el-GR"}
TAGS = {"i": "italic", "em": "oblique", "b": "bold", "sup": "superscript", "sub": "subscript"}
STYLES = {
    "font-variant:small-caps": "small-caps",
    "text-decoration:underline": "underline",
    "font-style:oblique": "oblique",
}
NORMAL = {
    "font-style:normal": {"italic", "oblique"},
    "font-variant:normal": {"small-caps"},
    "font-weight:normal": {"bold"},
    "text-decoration:none": {"underline"},
    "baseline": {"superscript", "subscript"},
}


@dataclass
class Page(HTMLParser):
    """Reads what citeproc-js writes: lines of characters that look somehow."""

    lines: list[Line] = field(default_factory=lambda: [[]])
    formats: list[frozenset[str]] = field(default_factory=lambda: [frozenset()])

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        formats = self.formats[-1]
        if tag == "div":
            self.break_line(attributes.get("class") or "")
        elif tag in TAGS:
            formats |= {TAGS[tag]}
        elif tag == "span":
            style = (attributes.get("style") or "").replace(" ", "").rstrip(";")
            formats = (formats - NORMAL.get(style, set())) | (
                {STYLES[style]} if style in STYLES else set()
            )
        self.formats.append(formats)

    def break_line(self, kind: str) -> None:
        if kind == "csl-right-inline":
            self.lines[-1].append((" ", frozenset()))
        else:
            self.lines.append([])

    def handle_endtag(self, tag: str) -> None:
        self.formats.pop()
        if tag == "div":
            self.lines.append([])

    def handle_data(self, data: str) -> None:
        for character in data:
            if character == "\n":
                self.lines.append([])
            else:
                self.lines[-1].append((character, self.formats[-1]))


def tidied(lines: list[Line]) -> list[Line]:
    """Lines that are not empty, with single spaces, which look like nothing; other kinds of spaces stay."""
    shown = []
    for line in lines:
        characters: Line = []
        for character, formats in line:
            if not character.isspace():
                characters.append((character, formats))
            elif character not in BREAKING_SPACES:
                characters.append((character, frozenset()))
            elif characters and characters[-1][0] != " ":
                characters.append((" ", frozenset()))
        while characters and characters[-1][0] == " ":
            characters.pop()
        if characters:
            shown.append(characters)
    return shown


def expected_lines(result: str) -> list[Line]:
    page = Page()
    page.feed(re.sub(r'</div>\s*(?=<div class="csl-right-inline">)', "", result))
    page.close()
    return tidied(page.lines)


def lines_of(runs: tuple[Run, ...]) -> list[Line]:
    lines: list[Line] = [[]]
    for run in runs:
        for character in run.text:
            if character == "\n":
                lines.append([])
            else:
                lines[-1].append((character, frozenset(run.formats)))
    return tidied(lines)


def text_of(lines: list[Line]) -> list[str]:
    texts = []
    for line in lines:
        texts.append("".join(character for character, _ in line))
    return texts


def read_fixture(path: Path) -> dict[str, Any]:
    sections = dict(SECTION.findall(path.read_text("utf-8")))
    fixture = {"result": sections["RESULT"].strip("\n"), "csl": sections["CSL"].strip()}
    fixture["mode"] = sections["MODE"].strip()
    for name in ("INPUT", "CITATION-ITEMS", "CITATIONS", "BIBENTRIES"):
        if name in sections:
            fixture[name] = json.loads(sections[name])
    return fixture


def read_locale(lang: str, folder: Path) -> Locale:
    """The official locale of a language, or American English."""
    language = lang.partition("-")[0]
    names = ["en-US", PRIMARY.get(language, f"{language}-{language.upper()}"), lang]
    files = [folder / f"locales-{name}.xml" for name in dict.fromkeys(names)]
    return Locale(lang, tuple(read_file(file, "locale") for file in files if file.is_file()))


def cite_of(value: dict[str, Any]) -> Cite:
    return Cite(
        str(value["id"]),
        locator=str(value.get("locator") or ""),
        label=value.get("label") or "page",
        prefix=value.get("prefix") or "",
        suffix=value.get("suffix") or "",
        author_only=bool(value.get("author-only")),
        suppress_author=bool(value.get("suppress-author")),
        place=Place(POSITIONS[int(value.get("position") or 0)], bool(value.get("near-note"))),
    )


class Fixture:
    """One test of the suite, rendered."""

    def __init__(self, data: dict[str, Any], locales: Path) -> None:
        self.data = data
        style = Style.parse(data["csl"])
        for item in data["INPUT"]:
            item.setdefault("id", "undefined")
        locale = read_locale(style.default_locale or "en-US", locales)
        self.processor = Processor(style, data["INPUT"], locale)

    def lines(self) -> list[Line]:
        """What we render."""
        data = self.data
        if "CITATIONS" in data:
            count = self.register_citations()
        else:
            ids = (
                data["BIBENTRIES"][-1] if "BIBENTRIES" in data else [i["id"] for i in data["INPUT"]]
            )
            self.processor.set_citations([], uncited=map(str, ids))
        if data["mode"].startswith("bib"):
            return self.bibliography()
        if "CITATIONS" in data:
            marks = MARK.findall(data["result"])
            marks += [""] * (count - len(marks))
            numbers = range(count)
            return self.citations([self.processor.citation(number) for number in numbers], marks)
        if "CITATION-ITEMS" in data:
            citations = [list(map(cite_of, cites)) for cites in data["CITATION-ITEMS"]]
        else:
            citations = [[Cite(listed.id) for listed in self.processor.listed]]
        rendered = [self.processor.cite(cites) for cites in citations]
        return self.citations(rendered, [""] * len(citations))

    def register_citations(self) -> int:
        """Register the citations of the last step, in the order of the document; how many they are."""
        steps = self.data["CITATIONS"]
        citations = {step[0].get("citationID"): step[0] for step in steps}
        last, before, after = steps[-1][:3]
        pairs = [*before, [last.get("citationID"), self.note_of(last)], *after]
        cites = [list(map(cite_of, citations[key]["citationItems"])) for key, _ in pairs]
        self.processor.set_citations(cites, notes=[note for _, note in pairs])
        return len(pairs)

    def note_of(self, citation: dict[str, Any]) -> int:
        return int(citation.get("properties", {}).get("noteIndex", 0))

    def citations(self, rendered: list[tuple[Run, ...]], marks: list[str]) -> list[Line]:
        is_suppressed = '"suppress-author"' in json.dumps(self.data)
        lines = []
        for shown, mark in zip(rendered, marks, strict=False):
            runs = shown
            if not runs and not is_suppressed:
                runs = (Run(NO_FORM),)
            lines += lines_of((Run(mark), *runs))
        return lines

    def bibliography(self) -> list[Line]:
        lines = []
        for reference in self.processor.bibliography():
            label = [*reference.label, Run(" ")] if reference.label else []
            lines += lines_of((*label, *reference.runs))
        return lines


def rendered_lines(data: dict[str, Any], locales: Path) -> list[Line]:
    """What we render, or the error as a line."""
    try:
        return [line for line in Fixture(data, locales).lines() if line]
    except Exception as error:  # noqa: BLE001 (the score counts them)
        return [[(character, frozenset()) for character in f"{type(error).__name__}: {error}"]]


def main(suite: str, locales: str, *names: str) -> None:
    started = time.perf_counter()
    passed: Counter[str] = Counter()
    total: Counter[str] = Counter()
    failed = []
    same_text = 0
    for path in sorted(Path(suite, "processor-tests", "humans").glob("*.txt")):
        if names and path.stem not in names:
            continue
        data = read_fixture(path)
        wanted = expected_lines(data["result"])
        rendered = rendered_lines(data, Path(locales))
        category = path.stem.partition("_")[0]
        total[category] += 1
        if text_of(rendered) == text_of(wanted):
            same_text += 1
        if rendered == wanted:
            passed[category] += 1
        else:
            failed.append(path.stem)
        if names:
            print(path.stem, "got:", *text_of(rendered), "expected:", *text_of(wanted), sep="\n  ")
    for category, count in total.most_common():
        print(f"{category:16} {passed[category]:4} of {count}")
    seconds = time.perf_counter() - started
    print(
        f"{'all':16} {passed.total():4} of {total.total()}, {same_text} with the same text, {seconds:.1f} s"
    )
    print("failed:", *(name for name in failed if name not in EXCEPTIONS))
    for name in failed:
        if name in EXCEPTIONS:
            print(f"not counted against us: {name}: {EXCEPTIONS[name]}")


if __name__ == "__main__":
    if len(sys.argv) > 2:
        main(*sys.argv[1:])
    else:
        print(__doc__)
