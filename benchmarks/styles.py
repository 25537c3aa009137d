"""Compare lists and citations in styles with those of citeproc-js: the table of fidelity in the manual.

    python benchmarks/styles.py FOLDER WORKS STYLE...

FOLDER is where ``npm install citeproc`` was run, WORKS a file of works without DOIs, each STYLE a name or a
``.csl`` file. Both get the items of the file whole, and the same terms. Prints a markdown table: of how many
works the entry, the citation, and the citation with a page are the same text.
"""

import html
import json
import re
import subprocess
import sys
from importlib import resources
from pathlib import Path

from doiuri.citations import Bibliography, CitationItem, ReferenceStyle, Span, read_works, text_of

SCRIPT = Path(__file__).parents[1] / "tests" / "system" / "citeproc.js"
NUMBER = re.compile(r'<div class="csl-left-margin">[(\[]?\d*[.)\]]*\s*</div>')
MARKING = "system.embedBibliographyEntry = (id) => `<!--${id}-->`;\nconst formatted"
MARK = re.compile("<!--(.*?)-->")
LINK = re.compile(r"\s*https?://\S+$")


def ours(spans: tuple[Span, ...]) -> str:
    return text_of(spans).strip()


def theirs(source: str) -> str:
    return html.unescape(re.sub("<[^>]*>", "", NUMBER.sub("", source))).strip()


def main(folder: str, file: str, names: list[str]) -> None:
    works = read_works([file]).merge({})
    items = [{**work.csl, "id": str(key), "system_id": str(key)} for key, work in works.items()]
    pages = [
        [{"id": item["id"], "label": "page", "locator": page} for item in items]
        for page in ("", "12")
    ]
    citations = [[cite] for cites in pages for cite in cites]
    locale = (resources.files("doiuri_csl") / "locales/locales-en-US.xml").read_text("utf-8")
    print("| style | entries | citations | with a page |\n| --- | --- | --- | --- |")
    for name in names:
        style = ReferenceStyle.load(name)
        xml = style.xml.decode().replace(
            '"citation-number" prefix="[" suffix="]"', '"citation-number"'
        )
        job = {"style": xml, "locale": "en-US", "citations": citations}
        given = json.dumps({"locales": {"en-US": locale}, "items": items, "jobs": [job]})
        command = ["node", "-e", SCRIPT.read_text("utf-8").replace("const formatted", MARKING)]
        done = subprocess.run(
            command, input=given, capture_output=True, text=True, check=True, cwd=folder
        )
        [other] = json.loads(done.stdout)
        # Of some works a style has no entry, which citeproc-js leaves out
        sources = {MARK.findall(source)[0]: source for source in other["entries"]}
        bibliography = Bibliography(works, works, style)
        same = 0
        for entry in bibliography.entries():
            mine, source = ours(entry.spans), theirs(sources.get(str(entry.key), ""))
            same += source in (mine, LINK.sub("", mine))  # ours always has a link
        keys = {str(key): key for key in works}
        alike = [
            ours(bibliography.citation([CitationItem(keys[c["id"]], "", "page", c["locator"])]))
            == theirs(source)
            for [c], source in zip(citations, other["citations"], strict=True)
        ]
        counts = same, sum(alike[: len(works)]), sum(alike[len(works) :])
        print(
            f"| {Path(name).stem} |",
            " | ".join(f"{count / len(works):.0%}" for count in counts),
            "|",
        )


if __name__ == "__main__":
    if len(sys.argv) > 3:
        main(sys.argv[1], sys.argv[2], sys.argv[3:])
    else:
        print(__doc__)
