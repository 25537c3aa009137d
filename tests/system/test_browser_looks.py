"""Links in a narrow window: long names wrap at marks, links to DOIs that do not exist are struck out."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import docutils_doiuri
import markdown
import pytest
from docutils.core import publish_string
from docutils.writers import html4css1, html5_polyglot
from doiuri_proxy.pytest_plugin import Proxies
from mkdocs.commands.build import build as build_site
from mkdocs.config import load_config
from support.devtools import Page
from support.sphinx_build import build, write

LONG = "10.1002/(SICI)1522-2594(199911)42:5<952::AID-MRM16>3.0.CO;2-S"
DATA = {"format": "string", "value": "https://example.org/"}
RECORDS = [{"handle": LONG, "values": [{"index": 1, "type": "URL", "data": DATA}]}]
WHY = "This DOI was not found."
HEAD = '<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
LOOK = """(text => {
  const links = [...document.querySelectorAll("a.doi")];
  const long = links.find(link => link.textContent === text), lines = [];
  const walker = document.createTreeWalker(long, 4);
  while (walker.nextNode()) for (let i = 0; i < walker.currentNode.length; i++) {
    const range = document.createRange();
    range.setStart(walker.currentNode, i); range.setEnd(walker.currentNode, i + 1);
    const top = Math.round(range.getClientRects()[0].top);
    if (lines.at(-1)?.top !== top) lines.push({top, text: ""});
    lines.at(-1).text += range.toString() }
  return {
    lines: lines.map(line => line.text),
    copied: (getSelection().selectAllChildren(long), `${getSelection()}`),
    right: Math.max(...links.flatMap(link => [...link.getClientRects()].map(box => box.right))),
    struck: links.filter(link => link.matches(".doi-not-found")).map(link => [link, link.querySelector("s")])
      .map(([a, s]) => [a.title || s.title, a.innerText, getComputedStyle(s).textDecorationLine])}})"""


def by_docutils(writer: type[html4css1.Writer | html5_polyglot.Writer], folder: Path) -> Path:
    text = f"Some words and :doi:`{LONG}`, :doi:`10.1000/lost`, :doi:`a title <10.1000/lost>`"
    settings = {"doi_resolve": True, "report_level": 5, "legacy_column_widths": False}
    page = folder / "page.html"
    page.write_bytes(
        publish_string(
            text, parser=docutils_doiuri.Parser(), writer=writer(), settings_overrides=settings
        )
    )
    return page


def by_html4(folder: Path) -> Path:
    return by_docutils(html4css1.Writer, folder)


def by_html5(folder: Path) -> Path:
    return by_docutils(html5_polyglot.Writer, folder)


def by_markdown(folder: Path) -> Path:
    """Without any style sheet."""
    options = {"doiuri": {"resolve": True}}
    text = f"See <doi:{LONG}>, doi:10.1000/lost, [a title](doi:10.1000/lost)"
    html = markdown.markdown(text, extensions=["doiuri"], extension_configs=options)
    page = folder / "page.html"
    page.write_text(f"{HEAD}{html}", "utf-8")
    return page


def by_mkdocs(theme: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        (folder / "docs").mkdir()
        text = f"# Start\n\n<doi:{LONG}>\n\ndoi:10.1000/lost, [*a* title](doi:10.1000/lost)\n"
        (folder / "docs" / "index.md").write_text(text, "utf-8")
        settings = {"name": theme, **({"font": False} if theme == "material" else {})}
        config = {
            "site_name": "Test",
            "theme": settings,
            "plugins": ["doiuri"],
            "use_directory_urls": False,
        }
        (folder / "mkdocs.yml").write_text(json.dumps(config), "utf-8")
        build_site(load_config(str(folder / "mkdocs.yml")))
        return folder / "site" / "index.html"

    return make


def by_sphinx(theme: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        text = f"T\n=\n\n:doi:`{LONG}`\n\n:doi:`10.1000/lost` and :doi:`a title <10.1000/lost>`\n"
        source = write(folder / "src", {"index.rst": text})
        return build(source, folder / "out", "html", "-D", f"html_theme={theme}").out / "index.html"

    return make


HOSTS: dict[str, Callable[[Path], Path]] = {
    "docutils, HTML 4": by_html4,
    "docutils, HTML 5": by_html5,
    "Markdown": by_markdown,
    **{f"MkDocs, {theme}": by_mkdocs(theme) for theme in ("mkdocs", "readthedocs", "material")},
    **{f"Sphinx, {theme}": by_sphinx(theme) for theme in ("alabaster", "furo")},
}


@pytest.mark.parametrize("host", HOSTS)
def test_lines_end_at_marks_and_dead_links_look_dead(
    browser: Page, tmp_path: Path, doi_proxy: Proxies, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    monkeypatch.setenv("DOIURI_RESOLVER", doi_proxy(RECORDS).url)
    browser.open(HOSTS[host](tmp_path), width=300)
    look = browser.run(f"{LOOK}('doi:{LONG}')")
    assert look["copied"] == "".join(look["lines"]) == f"doi:{LONG}"
    assert len(look["lines"]) > 1
    assert all(line[-1] in "/.:;,)>_-" or nxt[0] in "(<" for line, nxt in pairwise(look["lines"]))
    assert look["right"] <= 300
    assert look["struck"] == [
        [WHY, text, "line-through"] for text in ("doi:10.1000/lost", "a title")
    ]
