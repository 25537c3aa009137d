"""Compare processors of CSL: time and entries of doiuri-csl, citeproc-js, pandoc and citeproc-py.

    npm install --prefix peers citeproc
    python -m venv peers/py && peers/py/bin/pip install citeproc-py pypandoc-binary
    python benchmarks/processors.py peers peers/py LOCALES WORKS STYLE...

LOCALES is a clone of CSL's locales, WORKS a file of works, each STYLE a ``.csl`` file. Prints a markdown table:
the CPU time of a list of 1,000 works, start of the program included, as a median over the styles; and, of the
entries of which citeproc-js and pandoc print the same text, how many the other two print like them. Spaces and
addresses are not compared.
"""

import html
import json
import re
import resource
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from doiuri.citations import read_works

SIZE = 1000
ENTRY = re.compile(
    r'<div (?:id="ref-([^"]*)" )?class="csl-entry"[^>]*>(.*?)(?=<div [^>]*class="csl-entry"|\Z)',
    re.DOTALL,
)

OURS = """
import json, sys
from doiuri_csl import Processor, Style, to_text
style, items, locales = sys.argv[1:]
items = json.load(open(items, encoding="utf-8"))
processor = Processor(Style.load(style), items)
processor.set_citations([], uncited=[item["id"] for item in items])
json.dump([(entry.id, to_text(entry.whole)) for entry in processor.bibliography()], sys.stdout)
"""
CITEPROC_PY = """
import json, sys, warnings
warnings.simplefilter("ignore")
from citeproc import Citation, CitationItem, CitationStylesBibliography, CitationStylesStyle, formatter
from citeproc.source.json import CiteProcJSON
style, items, locales = sys.argv[1:]
items = json.load(open(items, encoding="utf-8"))
source = CiteProcJSON(items)
list_ = CitationStylesBibliography(CitationStylesStyle(style, validate=False), source, formatter.plain)
for item in items:
    list_.register(Citation([CitationItem(item["id"])]))
list_.sort()
json.dump([(key, str(entry)) for key, entry in zip(list_.keys, list_.bibliography())], sys.stdout)
"""
CITEPROC_JS = """
const fs = require("fs");
const [folder, style, file, locales] = process.argv.slice(2);
const CSL = require(folder + "/node_modules/citeproc");
const items = JSON.parse(fs.readFileSync(file, "utf8"));
const byId = Object.fromEntries(items.map((item) => [item.id, item]));
const retrieveLocale = (lang) => {
  const name = `${locales}/locales-${lang}.xml`;
  return fs.existsSync(name) && fs.readFileSync(name, "utf8");
};
console.log = () => {};
const engine = new CSL.Engine({ retrieveLocale, retrieveItem: (id) => byId[id] }, fs.readFileSync(style, "utf8"));
engine.updateItems(items.map((item) => item.id));
const [about, entries] = engine.makeBibliography();
const named = about.entry_ids.map((ids, index) => [ids[0], entries[index]]);
fs.writeFileSync(1, JSON.stringify(named));
"""


def text_of(entry: str) -> str:
    """Return the letters, digits and punctuation of an entry, without spaces and addresses."""
    text = html.unescape(re.sub("<[^>]*>", "", entry or ""))
    return re.sub(r"\s|https?://\S+", "", text)


def commands(
    peers: str, python: str, folder: Path, style: str, works: Path, locales: str
) -> dict[str, list[str]]:
    for name, script in {"ours.py": OURS, "other.py": CITEPROC_PY, "other.js": CITEPROC_JS}.items():
        (folder / name).write_text(script, "utf-8")
    (folder / "empty.md").write_text("---\nnocite: '@*'\n---\n", "utf-8")
    [pandoc] = Path(python).glob("lib/*/site-packages/pypandoc/files/pandoc")
    files = [style, str(works), locales]
    return {
        "doiuri-csl": [sys.executable, str(folder / "ours.py"), *files],
        "citeproc-js": ["node", str(folder / "other.js"), str(Path(peers).resolve()), *files],
        "pandoc": [
            *(
                str(pandoc),
                "--citeproc",
                f"--csl={style}",
                f"--bibliography={works}",
                "--to=html",
                "--wrap=none",
            ),
            str(folder / "empty.md"),
        ],
        "citeproc-py": [f"{python}/bin/python", str(folder / "other.py"), *files],
    }


def run(name: str, command: list[str]) -> tuple[float, dict[str, str]]:
    """Return the seconds of CPU time, and the entries by id; none if the program fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if done.returncode:
        print(f"{name}: {done.stderr.strip()[-200:]}", file=sys.stderr)
        return seconds, {}
    entries = dict(ENTRY.findall(done.stdout) if name == "pandoc" else json.loads(done.stdout))
    return seconds, {key: text_of(entry) for key, entry in entries.items()}


def count(
    items: list[dict[str, Any]], entries: dict[str, dict[str, str]], agreed: Counter[str]
) -> None:
    """Count the entries of which citeproc-js and pandoc print the same text, and who else does."""
    for item in items:
        texts = {processor: listed.get(item["id"], "") for processor, listed in entries.items()}
        if not texts["pandoc"] or texts["pandoc"] != texts["citeproc-js"]:
            continue
        for processor, text in texts.items():
            agreed[processor] += text == texts["pandoc"]


def main(peers: str, python: str, locales: str, file: str, *styles: str) -> None:
    works_of_file = read_works([file]).merge({}).values()
    items = [{**work.csl, "id": f"w{number}"} for number, work in enumerate(works_of_file)]
    many: list[dict[str, Any]] = []
    for number, item in enumerate(islice(cycle(items), SIZE)):
        many.append({**item, "id": f"w{number}", "title": f"{item.get('title', '')} {number}"})
    times: dict[str, list[float]] = {}
    agreed: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        works = Path(name, "works.json")
        for style in styles:
            entries = {}
            works.write_text(json.dumps(many), "utf-8")
            for processor, command in commands(
                peers, python, Path(name), style, works, locales
            ).items():
                times.setdefault(processor, []).append(run(processor, command)[0])
            works.write_text(json.dumps(items), "utf-8")
            for processor, command in commands(
                peers, python, Path(name), style, works, locales
            ).items():
                entries[processor] = run(processor, command)[1]
            count(items, entries, agreed)
    print("| processor | seconds | entries |\n| --- | --- | --- |")
    total = agreed["pandoc"]
    for processor, seconds in times.items():
        share = f"{agreed[processor] / total:.1%} of {total}"
        print(f"| {processor} | {statistics.median(seconds):.2f} | {share} |")


if __name__ == "__main__":
    if len(sys.argv) > 5:
        main(*sys.argv[1:])
    else:
        print(__doc__)
