"""Texts that are no pages: docstrings inside a page, and excerpts of posts on other pages."""

from __future__ import annotations

import json
import re

import pytest

from ..page import Page
from ..test_cards import RECORDS
from .conftest import MakeSite

pytestmark = [pytest.mark.doi_records(RECORDS), pytest.mark.usefixtures("resolver")]

WORKS = [{"id": "own", "title": "Own work", "author": [{"family": "Abel"}], "issued": "2001"}]
CITED = "[@doi:10.1000/1, p. 3]"
TEXT = f"{CITED}, @own, doi:10.1000/1, doi:10.1000/lost, [x](doi:10.1000)"
LOST, BAD = "doi:10.1000/lost: not found", 'doi:10.1000: no "/" after the prefix'
AUTHOR_YEAR = "(Byron, 1843, p. 3), Abel (2001), "
NUMBER = "[1, p. 3], Abel [2], "
IDS = re.compile(r'\sid="((?:cite-|ref-|doi-card-)[^"]*)"')

# Like mkdocstrings, which converts docstrings with the same extensions
HOOK = """
from markdown import Markdown
from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor

class Docstrings(Preprocessor):
    def run(self, lines):
        return [self.docstring(line[4:]) if line.startswith("::: ") else line for line in lines]

    def docstring(self, text):
        text, inner = TEXTS.get(text, text), Markdown(extensions=EXTENSIONS)
        return self.md.htmlStash.store(f'<div class="docstring">{inner.convert(text)}</div>')

class DocstringsExtension(Extension):
    def extendMarkdown(self, md):
        md.preprocessors.register(Docstrings(md), "docstrings", 26)

def on_pre_build(config):
    global EXTENSIONS
    EXTENSIONS = config.markdown_extensions
    EXTENSIONS.append(DocstringsExtension())
"""


def check(text: str, shown: str) -> None:
    """Check a text on a page: its citations link to the DOI, without a list, ids and cards."""
    assert Page(text).text.strip().startswith(shown)
    doi = "https://doi.org/10.1000/1", "doi"
    assert [link[:2] for link in Page(text).links if "1000/1" in link[0]] == [doi, doi]
    assert not re.search('doi-references|doi-card|id="(ref|cite)', text)


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ({}, AUTHOR_YEAR),
        ({"bibliography": "references.md"}, AUTHOR_YEAR),
        ({"bibliography": "references.md", "citation": "number"}, NUMBER),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
class TestTexts:
    def test_inside_a_page(self, options: dict[str, object], shown: str, site: MakeSite) -> None:
        source = f"# On doi:10.1000/1\n\n{CITED} doi:10.1000/1\n\n::: text\n\n::: doi:10.1000/lost\n"
        built = site({"index.md": source, "works.json": json.dumps(WORKS)})
        (built.folder / "hook.py").write_text(f"TEXTS = {{'text': {TEXT!r}}}\n{HOOK}", encoding="utf-8")
        doiuri = {"details": True, "works": "docs/works.json", "nocite": ["10.1000/gone"], **options}
        built.build(plugins=[{"doiuri": doiuri}], hooks=["hook.py"])
        html = built.source("index.html")
        [text, _] = re.findall('<div class="docstring">(.*?)</div>', html, re.DOTALL)
        check(text, shown)
        ids = IDS.findall(html)
        assert "cite-10.1000_2f1" in ids
        assert len(ids) == len(set(ids))
        assert built.messages() == [
            f"index.md:7: {LOST}",
            f"index.md: {BAD}",
            "nocite: doi:10.1000/gone: not found",
        ]

    def test_excerpts_of_posts(self, options: dict[str, object], shown: str, site: MakeSite) -> None:
        post = "---\ndate: 2026-01-0{0}\n---\n# Post {0} on doi:10.1000/1\n\n{1}\n\n<!-- more -->\n\nEnd\n"
        posts = {f"blog/posts/{n}.md": post.format(n, TEXT) for n in (1, 2)}
        built = site({"blog/index.md": "# Blog\n", **posts, "works.json": json.dumps(WORKS)})
        built.build(
            plugins=["blog", {"doiuri": {"details": True, "works": "docs/works.json", **options}}],
            theme={"name": "material", "font": False},
        )
        html = built.source("blog/index.html")
        texts = re.findall(r"<h2.*?<p>(.*?)</p>", html, re.DOTALL)
        assert len(texts) == 2
        for text in texts:
            check(text, shown)
        assert built.messages() == [
            f"blog/posts/{n}.md:6: {problem}" for n in (1, 2) for problem in (LOST, BAD)
        ]
