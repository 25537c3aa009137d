"""One project in every builder: each link leads to the DOI in the source, and looks as it should."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest
from doiuri import DOI
from support.checks import assert_in_order, assert_times, exactly
from support.servers.metadata import metadata_proxy
from support.servers.web import Site, resolver
from support.sphinx_build import ROOTS, Build, Serve, build, links, page, project, write

NAMES = json.loads((ROOTS / "book" / "names.json").read_text("utf-8"))
INDEX, SECOND = NAMES["index"], NAMES["second"]
ALL = INDEX + SECOND
LONG = "10.1002/(SICI)1522-2594(199911)42:5<952::AID-MRM16>3.0.CO;2-S"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the documents of the book are read once for all builders."""
    return tmp_path_factory.mktemp("book")


def book(folder: Path, builder: str, *options: str) -> Build:
    built = build(ROOTS / "book", folder, builder, "-W", "-n", "-D", "doi_resolve=False", *options)
    assert (built.status, built.warnings) == (0, "")
    return built


def names(page: str) -> list[str]:
    return [DOI.from_url(link.href).name for link in links(page)]


@pytest.mark.parametrize(
    ("builder", "pages"),
    [
        ("html", {"index.html": INDEX, "second.html": SECOND}),
        ("dirhtml", {"index.html": INDEX, "second/index.html": SECOND}),
        ("singlehtml", {"index.html": ALL}),
        ("epub", {"index.xhtml": INDEX, "second.xhtml": SECOND}),
    ],
)
def test_html(folder: Path, builder: str, pages: dict[str, list[str]]) -> None:
    built = book(folder, builder)
    texts = {name: built.text(name) for name in pages}
    assert {name: names(text) for name, text in texts.items()} == pages
    assert 'href="doi:' not in "".join(texts.values()).lower()
    if builder == "epub":
        assert all(
            ElementTree.fromstring(text) is not None for text in texts.values()
        )  # well-formed


def test_text_has_the_names(folder: Path) -> None:
    built = book(folder, "text")
    shown = " ".join((built.text("index.txt") + built.text("second.txt")).split())
    assert all(f"doi:{name}" in shown for name in INDEX[:6])
    assert "Chaos, a reference, another." in shown


def test_man_has_the_links(folder: Path) -> None:
    page = (
        book(folder, "man", "-D", "man_show_urls=1")
        .text("book.1")
        .replace("\\:", "")
        .replace("\\", "")
    )
    # docutils writes links in two ways; the title has no link
    urls = re.findall(r"X'tty: link (https[^']*)'", page) or re.findall(r"%<([^ ]*)>", page)
    assert [DOI.from_url(url).name for url in urls] == ALL[1:]


def test_texinfo_has_the_links(folder: Path) -> None:
    page = book(folder, "texinfo").text("book.texi")
    urls = re.findall(r"@(?:footnote|uref)\{(https:(?:@[@{}]|@comma\{\}|[^@{}\s,])+)", page)
    plain = [re.sub(r"@([@{}])", r"\1", url.replace("@comma{}", ",")) for url in urls]
    assert {DOI.from_url(url).name for url in plain} >= set(ALL) - {"10.1000/figure"}


@pytest.mark.parametrize("builder", ["html", "latex"])
def test_without_a_look_up_the_same_source_gives_the_same_bytes(
    tmp_path: Path, builder: str
) -> None:
    assert (
        book(tmp_path / "one", builder).bytes()
        == book(tmp_path / "two", builder, "-j", "2").bytes()
    )


@pytest.mark.parametrize("builder", ["xml", "pseudoxml"])
def test_writers_of_attributes_show_the_uri(folder: Path, builder: str) -> None:
    shown = book(folder, builder).text(f"index.{builder}")
    assert [
        DOI.from_uri(uri).name for uri in re.findall(r'<reference [^>]*doi="([^"]*)"', shown)
    ] == INDEX
    if builder == "xml":
        ElementTree.fromstring(shown)  # well-formed


def test_long_names_wrap_in_latex_and_quotes_in_addresses_are_escaped_in_man(
    tmp_path: Path,
) -> None:
    title = "T\n=\n\n:doi:`10.1000/t`\n----------------\n\n"
    text = title + ":doi:`10.1000/a(b).c` :doi:`T/U <10.1000/a'b$c>`\n"
    conf = "extensions = ['sphinx_doiuri']\ndoi_resolve = False\nman_show_urls = True\n"
    conf += "man_pages = [('index', 'book', 'Book', 'X', 1)]\n"
    source = write(tmp_path / "src", {"conf.py": conf, "index.rst": text})
    latex = next(build(source, tmp_path, "latex").out.glob("p*.tex")).read_text("utf-8")
    assert r"{doi:10.1000/\allowbreak{}a\allowbreak{}(b)\allowbreak{}.\allowbreak{}c}" in latex
    assert "{doi:10.1000/t}" in latex
    assert "{T/U}" in latex
    assert "a%27b%24c" in build(source, tmp_path, "man").text("book.1").replace("\\", "")


BREAKS = (
    ">doi:10.1002/<wbr />(SICI)<wbr />1522-2594<wbr />(199911)<wbr />42:<wbr />5<wbr />&lt;952:"
)


def test_only_long_names_may_be_broken(tmp_path: Path) -> None:
    names = f":doi:`{LONG}`\n\n:doi:`10.1000/182` :doi:`A title <{LONG}>`\n\nHead :doi:`{LONG}`\n{'-' * 80}\n"
    source = project(tmp_path, names, "doi_resolve = False")
    built = build(source, tmp_path / "out", search=True)
    assert BREAKS in built.text()
    assert ">doi:10.1000/182</a>" in built.text()
    assert ">A title</a>" in built.text()
    assert [link.text for link in built.links() if "10.1002" in link.href] == [
        f"doi:{LONG}", "A title", f"doi:{LONG}"
    ]  # fmt: skip
    assert "wbr" not in (built.out / "searchindex.js").read_text("utf-8")
    assert re.search("<title>.*wbr.*</title>", built.text()) is None


MARKUP = '10.1002/(SICI)1522-2594(199911)42:5<script>alert("&lt;")</script>&amp;<b>'


def test_nothing_in_a_name_becomes_markup(tmp_path: Path) -> None:
    built = page(tmp_path, f":doi:`{MARKUP}` :doi:`!{MARKUP}` :doi:`T <{MARKUP}>`\n")
    joined = built.text().replace("<wbr />", "")
    assert joined != built.text()
    assert "(199911)42:5&lt;script&gt;alert" in joined
    assert re.search("<script>alert|</?b>", joined) is None
    found = [(DOI.from_url(link.href).name, link.text) for link in built.links()]
    assert found == [(MARKUP, f"doi:{MARKUP}"), (MARKUP, "T")]


def test_an_image_that_links_to_a_dead_doi_stays_a_link(tmp_path: Path, serve: Serve) -> None:
    serve(resolver({}))
    text = "T\n=\n" + "".join(
        f"\n.. image:: dot.png\n   :target: {form}10.1000/lost\n"
        for form in ("https://doi.org/", "doi:")
    )
    source = write(tmp_path / "src", {"index.rst": text})
    shutil.copy(ROOTS / "book" / "dot.png", source)
    shown = build(source, tmp_path / "out").text()
    found = '<a class="[^"]*doi-not-found[^"]*"[^>]*title="This DOI was not found.">(?=<img)'
    exactly(2, "matches", re.findall(found, shown))


CSL = "application/vnd.citationstyles.csl+json"
CITED = {
    "handle": LONG,
    "metadata": {
        CSL: {"author": [{"family": "Kahn"}], "issued": {"date-parts": [[2006]]}, "title": "First"},
    },
}
CITING = f"""T
=

See :doi:p:`{LONG}` and :doi:p:`10.1000/lost`. [#n]_

.. contents::

.. [#n] A note with :doi:`10.1000/lost`

Dead :doi:`10.1000/lost`
------------------------

.. table:: Table of :doi:`10.1000/lost`

   == =======================================
   1  *before* :doi:`10.1000/lost` **after**
   == =======================================

.. doi:bibliography::
"""
PLACES = ("citation", "footnote", "heading", "caption", "table")


@pytest.fixture
def cited(serve: Serve) -> Site:
    """A proxy that knows one work."""
    return serve(metadata_proxy([CITED]))


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the page is read once for all builders."""
    return tmp_path_factory.mktemp("papers")


def citing(folder: Path, builder: str) -> Build:
    conf = 'extensions = ["sphinx_doiuri"]\nproject = "Book"\nversion = "1"\n'
    return build(
        write(folder / "src", {"index.rst": CITING, "conf.py": conf}), folder / "out", builder
    )


@pytest.mark.parametrize("builder", ["html", "epub"])
def test_entries_wrap_and_dead_links_are_struck_out_everywhere(
    builder: str, papers: Path, cited: Site
) -> None:
    text = citing(papers, builder).text("index.xhtml" if builder == "epub" else "index.html")
    assert set(re.findall('href="#(doi-[^"]+)"', text)) <= set(re.findall('id="(doi-[^"]+)"', text))
    assert (
        ">https://<wbr />doi.org/<wbr />10.1002/<wbr />(SICI)<wbr />1522-2594<wbr />(199911)"
        in text
    )
    assert_times(len(PLACES), "<s>doi:10.1000/lost</s></a>", text)
    assert_times(len(PLACES), 'title="This DOI was not found."', text)


@pytest.mark.parametrize(
    ("builder", "name"),
    [("text", "index.txt"), ("man", "book.1"), ("texinfo", "book.texi"), ("xml", "index.xml")],
)
def test_other_formats_have_no_marks_in_names(
    papers: Path, cited: Site, builder: str, name: str
) -> None:
    text = " ".join(citing(papers, builder).text(name).split()).replace("@comma{}", ",")
    assert re.search("[\u200b\u2060\xad]|wbr|<s>|↑", text) is None
    assert "10.1000/lost" in text
    assert "Kahn, 2006" in text
    assert builder != "text" or LONG.partition("<")[0] in text


PAGE = """\
T
=

See :doi:p:`10.5555/kahn-2006, 10.5555/a<b>#c;d,(e)` and :doi:t:`10.5555/kahn-a`.

.. doi:bibliography::
"""


def cites(tmp_path: Path, builder: str, *options: str, **files: str) -> Build:
    conf = "extensions = ['sphinx_doiuri']\nproject = 'Book'\nversion = '1'\ncopyright = 'us'\n"
    source = write(tmp_path / "src", {"conf.py": conf, "index.rst": PAGE, **files})
    built = build(source, tmp_path, builder, "-W", *options)
    assert (built.status, built.warnings) == (0, "")
    return built


@pytest.mark.parametrize(
    ("builder", "name"),
    [
        ("latex", "book.tex"),
        ("man", "book.1"),
        ("texinfo", "book.texi"),
        ("singlehtml", "index.html"),
    ],
)
def test_documents_that_a_builder_leaves_out_do_not_count(
    tmp_path: Path, server: Site, builder: str, name: str
) -> None:
    """``a`` is in no toctree; it comes before ``b`` on pages of their own, but not in one book."""
    toctree = "T\n=\n\n.. toctree::\n\n   b\n\n.. doi:bibliography::\n   :scope: project\n"
    files = {
        "a.rst": ":orphan:\n\nA\n=\n\n:doi:p:`10.5555/kahn-a`\n",
        "b.rst": "B\n=\n\n:doi:p:`10.5555/kahn-b`\n",
        "index.rst": toctree,
    }
    numeric = "-D", "doi_reference_style=numeric"
    text = cites(tmp_path, builder, *numeric, **files).text(name)
    assert "Beta" in text
    assert "Alpha" not in text
    if builder == "latex":
        text = cites(
            tmp_path / "more", builder, *numeric, "-D", "latex_appendices=a", **files
        ).text(name)
        assert_in_order(text, "Beta", "Alpha")


def test_gettext_hands_translators_the_roles(tmp_path: Path, server: Site) -> None:
    catalogue = cites(tmp_path, "gettext").text("index.pot")
    assert (
        ":doi:p:`10.5555/kahn-2006, 10.5555/a<b>#c;d,(e)` and :doi:t:`10.5555/kahn-a`" in catalogue
    )
    catalogue = book(tmp_path / "book", "gettext").text("index.pot")
    assert ":doi:`Chaos <10.1175/1520-0469(1963)020<0130:DNF>2.0.CO;2>`" in catalogue
    assert server.seen == []


def test_translated_citations(tmp_path: Path, server: Site) -> None:
    po = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\nmsgid ""\n'
    po += (
        '"See :doi:p:`10.5555/kahn-2006, 10.5555/a<b>#c;d,(e)` and "\n":doi:t:`10.5555/kahn-a`."\n'
    )
    po += 'msgstr "Siehe :doi:t:`10.5555/kahn-2006`."\n'
    files = {"locale/de/LC_MESSAGES/index.po": po}
    built = cites(tmp_path, "html", "-D", "language=de", "-D", "locale_dirs=locale", **files)
    assert built.links()[0].text == "Kahn und Wilensky (2006)"
    assert_times(1, '<li class="csl-entry" id="doi-', built.text())


def test_latex_links_to_the_entry(tmp_path: Path, server: Site) -> None:
    text = cites(tmp_path, "latex").text("book.tex")
    linked = re.findall(r"\\hyperref\[\\detokenize\{(index:doi-[^}]+)\}\]", text)
    exactly(3, "links to entries", linked)
    assert set(linked) <= set(re.findall(r"\\label\{\\detokenize\{([^}]+)\}\}", text))
    assert r"\sphinxurl{https://doi.org/10.5555/kahn-2006}" in text
