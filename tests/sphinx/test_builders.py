"""One project in every builder: each link leads to the DOI in the source."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest
from doiuri import DOI
from support.sphinx_build import ROOTS, Build, build, links, write

NAMES = json.loads((ROOTS / "book" / "names.json").read_text("utf-8"))
INDEX, SECOND = NAMES["index"], NAMES["second"]
ALL = INDEX + SECOND


def book(tmp_path: Path, builder: str, *options: str) -> Build:
    built = build(ROOTS / "book", tmp_path, builder, "-W", "-n", "-D", "doi_resolve=False", *options)
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
    ],
)
def test_html(tmp_path: Path, builder: str, pages: dict[str, list[str]]) -> None:
    built = book(tmp_path, builder)
    for name, expected in pages.items():
        assert names(built.text(name)) == expected
        assert 'href="doi:' not in built.text(name).lower()


def test_epub(tmp_path: Path) -> None:
    built = book(tmp_path, "epub")
    with zipfile.ZipFile(built.out / "Book.epub") as archive:
        for name, expected in {"index.xhtml": INDEX, "second.xhtml": SECOND}.items():
            page = archive.read(name).decode()
            ElementTree.fromstring(page)  # well-formed
            assert names(page) == expected


def test_text_has_the_names(tmp_path: Path) -> None:
    built = book(tmp_path, "text")
    shown = " ".join((built.text("index.txt") + built.text("second.txt")).split())
    assert all(f"doi:{name}" in shown for name in INDEX[:6])
    assert "Chaos, a reference, another." in shown


def test_man_has_the_links(tmp_path: Path) -> None:
    page = book(tmp_path, "man", "-D", "man_show_urls=1").text("book.1").replace("\\:", "").replace("\\", "")
    # docutils writes links in two ways; the title has no link
    urls = re.findall(r"X'tty: link (https[^']*)'", page) or re.findall(r"%<([^ ]*)>", page)
    assert [DOI.from_url(url).name for url in urls] == ALL[1:]


def test_texinfo_has_the_links(tmp_path: Path) -> None:
    page = book(tmp_path, "texinfo").text("book.texi")
    urls = re.findall(r"@(?:footnote|uref)\{(https:(?:@[@{}]|@comma\{\}|[^@{}\s,])+)", page)
    plain = [re.sub(r"@([@{}])", r"\1", url.replace("@comma{}", ",")) for url in urls]
    assert {DOI.from_url(url).name for url in plain} >= set(ALL) - {"10.1000/figure"}


def test_gettext_hands_translators_the_role(tmp_path: Path) -> None:
    catalogue = book(tmp_path, "gettext").text("index.pot")
    assert ":doi:`Chaos <10.1175/1520-0469(1963)020<0130:DNF>2.0.CO;2>`" in catalogue


@pytest.mark.parametrize("builder", ["html", "latex"])
def test_without_a_look_up_the_same_source_gives_the_same_bytes(tmp_path: Path, builder: str) -> None:
    assert book(tmp_path / "one", builder).bytes() == book(tmp_path / "two", builder, "-j", "2").bytes()


def test_long_names_wrap_in_latex(tmp_path: Path) -> None:
    title = "T\n=\n\n:doi:`10.1000/t`\n----------------\n\n"
    text = title + ":doi:`10.1000/a(b).c` :doi:`T/U <10.1000/x>`\n"
    page = build(write(tmp_path / "src", {"index.rst": text}), tmp_path, "latex", "-D", "doi_resolve=0")
    latex = next(page.out.glob("p*.tex")).read_text("utf-8")
    assert r"{doi:10.1000/\allowbreak{}a\allowbreak{}(b)\allowbreak{}.\allowbreak{}c}" in latex
    assert "{doi:10.1000/t}" in latex
    assert "{T/U}" in latex


def test_man_escapes_quotes_in_addresses(tmp_path: Path) -> None:
    conf = "extensions = ['sphinx_doiuri']\ndoi_resolve = False\nman_show_urls = True\n"
    conf += "man_pages = [('index', 'book', 'Book', 'X', 1)]\n"
    source = write(tmp_path / "src", {"conf.py": conf, "index.rst": "T\n=\n\n:doi:`T <10.1000/a'b$c>`\n"})
    page = build(source, tmp_path / "out", "man").text("book.1")
    assert "a%27b%24c" in page.replace("\\", "")
