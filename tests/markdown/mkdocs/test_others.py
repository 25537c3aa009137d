"""MkDocs beside other plugins: mkdocs-bibtex, mkdocs-jupyter, docstrings and blogs; works of a file."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace
from typing import Any

import pytest
from mkdocs.commands.build import build
from mkdocs.exceptions import Abort
from support.checks import only
from support.named_files import FILES, OPTIONS

from ..conftest import MakeSite, Page
from ..test_looks import CARDS as RECORDS

pytestmark = [pytest.mark.doi_records(RECORDS), pytest.mark.usefixtures("resolver")]

BIB = "@article{knuth, title={Literate programming}, author={Knuth, D.}, journal={J}, year={1984}}"
WORKS = [
    {"id": "own", "title": "Own work", "author": [{"family": "Abel"}], "issued": "2001"},
    {"id": "more", "title": "More", "author": [{"family": "Zorn"}], "issued": "2002"},
]
TEXT = """\
Tip [@DOI:10.1000/182], [@knuth], @doi:10.1000/182 [p. 3], [see @own, p. 2], [@{own}] and @{doi:10.1000/182}s.
`[@doi:10.1000/182]`

"""


@pytest.mark.parametrize("bibtex_first", [True, False])
@pytest.mark.parametrize("inline", [True, False])
def test_citations_of_mkdocs_bibtex_and_ours_stand_on_one_page(
    bibtex_first: bool, inline: bool, site: MakeSite
) -> None:
    built = site({"index.md": TEXT, "../works.bib": BIB, "../works.json": json.dumps(WORKS)})
    bibtex = {"bib_file": str(built.folder / "works.bib"), "enable_inline_citations": inline}
    plugins = [{"bibtex": bibtex}, {"doiuri": {"resolve": False, "works": ["works.json"]}}]
    if not bibtex_first:
        plugins.reverse()
    built.build(plugins=plugins, markdown_extensions=["footnotes"])
    html = built.source("index.html")
    citations = re.findall('<span class="doi-citation">.*?</span>', html)
    assert [Page(citation).text for citation in citations] == [
        *("(doi:10.1000/182)", "doi:10.1000/182, p. 3", "(see Abel, 2001, p. 2)"),
        *("(Abel, 2001)", "doi:10.1000/182"),
    ]
    assert "<code>[@doi:10.1000/182]</code>" in html
    assert "Literate programming" in html


HOOK = """
def on_files(files, **_):
    for file in files:
        if file.src_uri.endswith(".ipynb"):  # as mkdocs-jupyter does
            file.is_documentation_page = lambda: True
"""


def test_citations_and_links_in_notebooks_are_reported_once(site: MakeSite) -> None:
    ours = ["[@doi:10.1000/182]", "[@own, p. 2]", "[A](DOI:10.1000/182)", "<doi:10.1000/182>"]
    ours += ["@{doi:10.1000/182}", "see @{own} x", "[A]: doi:10.1000/182", "[A](<doi:10.1000/182>)"]
    pages = {"index.md": "", "../hook.py": HOOK, "../works.json": json.dumps(WORKS)}
    for number, source in enumerate([*ours, "x@other.org, doi: 1, doi:10.1000/182"]):
        cells = [{"cell_type": "markdown", "source": [f"A\n\n{source}\n"]}]
        pages[f"{number}.ipynb"] = json.dumps({"cells": cells})
    built = site(pages)
    built.build(plugins=[{"doiuri": {"resolve": False, "works": "works.json"}}], hooks=["hook.py"])
    notebooks = ", ".join(f"{number}.ipynb" for number in range(len(ours)))
    assert built.messages() == [
        f"citations and doi: links in notebooks stay as they are written: {notebooks}"
    ]


def test_works_of_a_file_stand_in_the_list_of_the_site(site: MakeSite) -> None:
    pages = {"index.md": "# A\n\n[@own] and `@more`", "b.md": "# B\n\n@own"}
    files = {
        "a.bib": "@book{own, author = {Abel}, year = 2001}",
        "more.json": json.dumps(WORKS[1:]),
    }
    built = site({**pages, **{f"../{name}": text for name, text in files.items()}})
    options = {"works": [*files], "nocite": ["@more"], "bibliography": "references.md"}
    built.build(plugins=[{"doiuri": {"resolve": False, **options}}], strict=True)
    page = built.page("references/index.html")
    assert re.findall(r"(Abel|Zorn) \((\d+)\)", page.text) == [("Abel", "2001"), ("Zorn", "2002")]
    back = [(href, text) for href, css_class, text in page.links if css_class == "doi-backref"]
    assert back == [("../#cite-own", "↩\xa01"), ("../b/#cite-own", "2")]


def test_a_change_of_a_file_that_an_option_names_is_noticed_by_serve(site: MakeSite) -> None:
    files = {name: contents[0] for name, contents in FILES.items()}
    built = site({f"../{name}": text for name, text in files.items()})
    watched: list[str] = []
    built.build(plugins=[{"doiuri": {"resolve": False, **OPTIONS}}])
    config = built.config()
    build(config)
    server: Any = SimpleNamespace(watch=watched.append)
    config.plugins.on_serve(server, config=config, builder=build)
    watchable = {str(built.folder / name) for name in files if name != "doi.lock.json"}
    assert set(watched) == watchable, (
        "builds write the lock file, so a watched one would build twice"
    )


def test_a_lock_file_that_breaks_while_serve_runs_is_said_in_a_sentence(site: MakeSite) -> None:
    built = site({"index.md": "# A\n\n[@doi:10.1000/182]"})
    built.build(plugins=[{"doiuri": {"lock": "doi.lock.json"}}])
    config = built.config()
    build(config)
    (built.folder / "doi.lock.json").write_text("<<<<<<< HEAD\n", encoding="utf-8")

    with pytest.raises(Abort):
        build(config)

    assert "doiuri: " in built.log.text
    assert "doi.lock.json" in built.log.records[-1].getMessage()


@pytest.mark.parametrize("listed", ["references", "b"])
def test_a_work_with_an_invalid_doi_is_one_warning(listed: str, site: MakeSite) -> None:
    files = {"../works.bib": f"@book{{b, doi = {{10/abc}}}}\n{BIB}"}
    built = site({**files, "index.md": "# A\n\n[@knuth]", "b.md": "# B\n\n[@knuth]"})
    options = {"resolve": False, "works": "works.bib"}
    options["bibliography"] = "references.md" if listed == "references" else ""
    built.build(plugins=[{"doiuri": options}])
    invalid = only("message", built.messages())
    assert "works.bib:1: b: '10/abc' is not a DOI" in invalid
    assert "(Knuth, 1984)" in built.page("index.html").text
    assert "Literate programming" in built.page(f"{listed}/index.html").text


BROKEN = """\
@book{a, doi = {10/abc}}
@book{b, author = {Abel}, doi = {10.1000/b}}
@book{c, title = {C}
@book{d, author = {Other}, doi = {10.1000/b}}
"""


@pytest.mark.parametrize("cited", ["[@d]", "Nothing"])
@pytest.mark.parametrize("listed", ["references.md", ""])
def test_all_works_with_problems_are_warned_of_once_even_if_nothing_cites_them(
    listed: str, cited: str, site: MakeSite
) -> None:
    built = site({"index.md": "# A\n\nx", "b.md": f"# B\n\n{cited}", "../works.bib": BROKEN})
    options = {"resolve": False, "works": "works.bib", "bibliography": listed}

    built.build(plugins=[{"doiuri": options}])
    messages = built.messages()
    with pytest.raises(Abort):
        built.build(plugins=[{"doiuri": options}], strict=True)

    assert [re.findall(r"works\.bib:(\d)", message) for message in messages] == [
        ["1"],
        ["3"],
        ["4"],
    ]
    assert ("(Abel, n.d.)" in built.page("b/index.html").text) == (cited == "[@d]")


CITED = "[@doi:10.1000/1, p. 3]"
MIXED = f"{CITED}, @own, doi:10.1000/1, doi:10.1000/lost, [x](doi:10.1000)"
LOST = "doi:10.1000/lost: not found"
BAD = 'doi:10.1000: no "/" after the prefix'
AUTHOR_YEAR = "(Byron, 1843, p. 3), Abel (2001), "
NUMBER = "[1, p. 3], Abel [2], "

# Like mkdocstrings, which converts docstrings with the same extensions
DOCSTRINGS = """
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


LISTED: dict[str, object] = {"bibliography": "references.md"}
TEXTS: list[tuple[dict[str, object], str]] = [
    ({}, AUTHOR_YEAR), (LISTED, AUTHOR_YEAR), ({**LISTED, "citation": "number"}, NUMBER)
]  # fmt: skip


@pytest.mark.parametrize(("options", "shown"), TEXTS, ids=["page", "list", "numbers"])
class TestTexts:
    def test_inside_a_page(self, options: dict[str, object], shown: str, site: MakeSite) -> None:
        source = (
            f"# On doi:10.1000/1\n\n{CITED} doi:10.1000/1\n\n::: text\n\n::: doi:10.1000/lost\n"
        )
        hook = f"TEXTS = {{'text': {MIXED!r}}}\n{DOCSTRINGS}"
        built = site({"index.md": source, "works.json": json.dumps(WORKS), "../hook.py": hook})
        doiuri = {
            "details": True,
            "works": "docs/works.json",
            "nocite": ["10.1000/gone"],
            **options,
        }
        built.build(plugins=[{"doiuri": doiuri}], hooks=["hook.py"])
        html = built.source("index.html")
        [text, _] = re.findall('<div class="docstring">(.*?)</div>', html, re.DOTALL)
        check(text, shown)
        assert 'id="cite-10.1000_2f1"' in html
        assert built.messages() == [
            f"index.md:7: {LOST}",
            f"index.md: {BAD}",
            "nocite: doi:10.1000/gone: not found",
        ]

    def test_excerpts_of_posts(
        self, options: dict[str, object], shown: str, site: MakeSite
    ) -> None:
        post = "---\ndate: 2026-01-0{0}\n---\n# Post {0} on doi:10.1000/1\n\n{1}\n\n<!-- more -->\n\nEnd\n"
        posts = {f"blog/posts/{n}.md": post.format(n, MIXED) for n in (1, 2)}
        built = site({"blog/index.md": "# Blog\n", **posts, "works.json": json.dumps(WORKS)})
        built.build(
            plugins=["blog", {"doiuri": {"details": True, "works": "docs/works.json", **options}}],
            theme={"name": "material", "font": False},
        )
        html = built.source("blog/index.html")
        [first, second] = re.findall(r"<h2.*?<p>(.*?)</p>", html, re.DOTALL)
        check(first, shown)
        check(second, shown)
        assert built.messages() == [
            f"blog/posts/1.md:6: {LOST}",
            f"blog/posts/1.md:6: {BAD}",
            f"blog/posts/2.md:6: {LOST}",
            f"blog/posts/2.md:6: {BAD}",
        ]
