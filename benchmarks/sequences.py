"""Compare sequences of citations with those of citeproc-js: places, groups, and what tells works apart.

    python benchmarks/sequences.py FOLDER LOCALES STYLE... [--seeds 1] [--show 0]

FOLDER is where ``npm install citeproc`` was run, LOCALES a folder with CSL's locales, each STYLE a ``.csl`` file.
Each style gets 60 random citations of 30 works: one to four cites with places, prefixes, suffixes and names left
out; in styles of notes, with gaps between the notes. Prints how many citations are the same text, but for double
spaces; ``--show`` also prints so many of the others.
"""

import argparse
import html
import json
import random
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from doiuri_csl import Cite, Locale, Processor, Style, to_text

SCRIPT = """
const CSL = require("citeproc");
const input = JSON.parse(require("fs").readFileSync(0, "utf8"));
const items = Object.fromEntries(input.items.map((item) => [item.id, item]));
const system = { retrieveLocale: (name) => input.locales[name], retrieveItem: (id) => items[id] };
const sequences = input.jobs.map(({ style, citations }) => {
  const engine = new CSL.Engine(system, style);
  return engine.rebuildProcessorState(citations, "text", []).map(([id, note, text]) => text);
});
process.stdout.write(JSON.stringify({ version: require("citeproc/package.json").version, sequences }));
"""
CITATIONS = 60
FAMILIES = "Doe Doe Doe Roe Abel Ångström Li Smith Smith Kuhn Ito Poe Weber".split()  # noqa: SIM905
GIVEN = ("Ann", "Bert", "Adam", "Ann Mary", "Vincent", "Jean-Paul", "Zoe", "Max")
TYPES = ("article-journal", "book", "chapter", "article-journal", "webpage", "thesis")
TITLES = (
    "Ants and their cities",
    "Bees",
    "On the origin of wasps",
    "The spiders",
    "Flies: a history",
)
PLACES = (("12", "page"), ("12-14", "page"), ("3", "chapter"), ("xii", "page"), ("7, 9", "page"))
PREFIXES = ("see ", "see also ", "cf. ", "e.g., ")
SUFFIXES = (", passim", " and others", ", with a map")


class Citation(NamedTuple):
    """One citation: its note, 0 in the text, and its cites."""

    note: int
    cites: list[Cite]


def works(chance: random.Random) -> list[dict[str, Any]]:
    """Thirty works, many of the same names and years."""
    items: list[dict[str, Any]] = []
    for number in range(30):
        kind = chance.choice(TYPES)
        item: dict[str, Any] = {"id": f"w{number}", "type": kind, "title": chance.choice(TITLES)}
        item["title"] += f" {number}"
        people = []
        for _ in range(chance.choice((0, 1, 1, 1, 2, 2, 3, 4, 7))):
            people.append({"family": chance.choice(FAMILIES), "given": chance.choice(GIVEN)})
        if people:
            item["author"] = people
        if not people and chance.random() < 0.5:
            item["editor"] = [{"family": "Poe", "given": "Ed"}]
        if chance.random() < 0.9:
            item["issued"] = {"date-parts": [[chance.choice((1999, 2001, 2001, 2006))]]}
        if chance.random() < 0.3:
            item["title-short"] = f"Short {number}"
        if kind in ("article-journal", "chapter"):
            item["container-title"] = chance.choice(("Journal of Insects", "Insects Today"))
            item["page"] = f"{number + 100}-{number + 110}"
        if kind == "article-journal":
            item["volume"] = str(number + 1)
        if kind in ("book", "chapter", "thesis"):
            item |= {"publisher": "Press", "publisher-place": "Rome"}
        items.append(item)
    return items


def random_citations(chance: random.Random, ids: list[str], *, in_notes: bool) -> list[Citation]:
    """Random citations, which often come back to the works just cited."""
    citations: list[Citation] = []
    note = 0
    recent: list[str] = ids[:1]
    for _ in range(CITATIONS):
        if in_notes:
            note += chance.choice((0, 1, 1, 1, 1, 1, 1, 2, 3))
            note = max(note, 1)
        cites: list[Cite] = []
        for _ in range(chance.choice((1, 1, 1, 1, 2, 2, 3, 4))):
            key = chance.choice(ids)
            if chance.random() < 0.5:
                key = chance.choice(recent)
            if any(cite.id == key for cite in cites) and chance.random() < 0.9:
                continue
            locator, label = ("", "page")
            if chance.random() < 0.4:
                locator, label = chance.choice(PLACES)
            prefix = chance.choice(PREFIXES) if chance.random() < 0.15 else ""
            suffix = chance.choice(SUFFIXES) if chance.random() < 0.15 else ""
            is_suppressed = chance.random() < 0.05
            cites.append(Cite(key, locator, label, prefix, suffix, suppress_author=is_suppressed))
            recent = [*recent[-3:], key]
        citations.append(Citation(note, cites))
    return citations


def for_citeproc(citations: list[Citation]) -> list[dict[str, Any]]:
    """The citations as citeproc-js takes them."""
    given = []
    for number, citation in enumerate(citations):
        items = []
        for cite in citation.cites:
            item: dict[str, Any] = {"id": cite.id}
            if cite.locator:
                item |= {"locator": cite.locator, "label": cite.label}
            if cite.prefix:
                item["prefix"] = cite.prefix
            if cite.suffix:
                item["suffix"] = cite.suffix
            if cite.suppress_author:
                item["suppress-author"] = True
            items.append(item)
        properties = {"noteIndex": citation.note}
        given.append({"citationID": f"c{number}", "citationItems": items, "properties": properties})
    return given


class Sequence(NamedTuple):
    """Random citations in a style."""

    path: Path
    style: Style
    citations: list[Citation]

    def locale(self, folder: Path) -> Locale:
        """Return the style's language from a folder of locales, English if it is not there."""
        lang = self.style.default_locale or "en-US"
        names = (lang, f"{lang}-{lang.upper()}", "en-US")
        files = [folder / f"locales-{name}.xml" for name in names]
        return Locale.read(next(file for file in files if file.exists()))


def make_sequences(paths: list[Path], ids: list[str], seeds: range) -> list[Sequence]:
    sequences = []
    for path in paths:
        style = Style.load(path)
        for seed in seeds:
            chance = random.Random(f"{seed} {path.stem}")
            citations = random_citations(chance, ids, in_notes=style.class_ == "note")
            sequences.append(Sequence(path, style, citations))
    return sequences


def ours(items: list[dict[str, Any]], sequence: Sequence, locale: Locale) -> list[str]:
    processor = Processor(sequence.style, items, locale)
    notes = [citation.note for citation in sequence.citations]
    processor.set_citations([citation.cites for citation in sequence.citations], notes=notes)
    return [to_text(processor.citation(number)) for number in range(len(notes))]


def theirs(
    folder: Path, locales: Path, items: list[dict[str, Any]], sequences: list[Sequence]
) -> list[list[str]]:
    """Return the citations of each sequence as citeproc-js writes them."""
    jobs = []
    for path, _, citations in sequences:
        jobs.append({"style": path.read_text("utf-8"), "citations": for_citeproc(citations)})
    files = locales.glob("locales-*.xml")
    texts = {file.stem.removeprefix("locales-"): file.read_text("utf-8") for file in files}
    done = subprocess.run(
        ["node", "-e", SCRIPT],
        input=json.dumps({"locales": texts, "items": items, "jobs": jobs}),
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
    )
    answer = json.loads(done.stdout)
    print(f"citeproc-js {answer['version']}\n")
    expected: list[list[str]] = answer["sequences"]
    return expected


def compare(sequence: Sequence, mine: list[str], expected: list[str], most_shown: int) -> int:
    """Return how many citations are the same; print this, and some of the others."""
    mine = [" ".join(text.split()) for text in mine]
    expected = [" ".join(html.unescape(text).split()) for text in expected]
    numbers = range(len(mine))
    others = [number for number in numbers if mine[number] != expected[number]]
    same = len(mine) - len(others)
    print(f"{same} of {len(mine)}  {sequence.path.stem}")
    for number in others[:most_shown]:
        before = sequence.citations[max(0, number - 1)]
        print(f"   {number} after {before}\n    {sequence.citations[number]}")
        print(f"    ours        {mine[number]}\n    citeproc-js {expected[number]}")
    return same


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("locales", type=Path)
    parser.add_argument("styles", type=Path, nargs="+")
    parser.add_argument("--seed", type=int, default=1, help="the first seed")
    parser.add_argument("--seeds", type=int, default=1, help="how many sequences a style")
    parser.add_argument("--show", type=int, default=0, help="how many differences a style")
    options = parser.parse_args()

    items = works(random.Random(58))
    ids = [item["id"] for item in items]
    seeds = range(options.seed, options.seed + options.seeds)
    sequences = make_sequences(options.styles, ids, seeds)
    expected = theirs(options.folder, options.locales, items, sequences)

    same: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for sequence, texts in zip(sequences, expected, strict=True):
        mine = ours(items, sequence, sequence.locale(options.locales))
        kind = sequence.style.class_
        same[kind] += compare(sequence, mine, texts, options.show)
        counts[kind] += len(texts)
    for name, count in counts.items():
        print(f"{name}: {same[name]} of {count}, {same[name] / count:.1%}")


if __name__ == "__main__":
    main()
