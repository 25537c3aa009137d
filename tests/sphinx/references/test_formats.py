"""Citations and lists in every builder."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest
from support.servers.web import Site
from support.sphinx_build import Build, build, write

PAGE = """\
T
=

See :doi:p:`10.5555/kahn-2006, 10.5555/a<b>#c;d,(e)` and :doi:t:`10.5555/kahn-a`.

.. doi:bibliography::
"""


def page(tmp_path: Path, builder: str, *options: str, **files: str) -> Build:
    conf = "extensions = ['sphinx_doiuri']\nproject = 'Book'\nversion = '1'\ncopyright = 'us'\n"
    source = write(tmp_path / "src", {"conf.py": conf, "index.rst": PAGE, **files})
    built = build(source, tmp_path, builder, "-W", *options)
    assert (built.status, built.warnings) == (0, "")
    return built


@pytest.mark.parametrize(
    ("builder", "name"), [("text", "index.txt"), ("man", "book.1"), ("texinfo", "book.texi")]
)
def test_plain_formats(tmp_path: Path, server: Site, builder: str, name: str) -> None:
    text = " ".join(page(tmp_path, builder).text(name).split()).replace("@comma{}", ",")
    assert "Kahn & Wilensky, 2006" in text
    assert "KAHN (2001)" in text
    assert "https://doi.org/10.5555/kahn-a" in text.replace("\\:", "")
    assert "↑" not in text


def test_texinfo_links_to_the_entry(tmp_path: Path, server: Site) -> None:
    text = page(tmp_path, "texinfo").text("book.texi")
    anchors = set(re.findall(r"@anchor\{([0-9a-f]+)\}", text))
    linked = re.findall(r"@ref\{([0-9a-f]+),,(?:Kahn|KAHN)", text)
    assert len(linked) == 2
    assert set(linked) <= anchors


@pytest.mark.parametrize("builder", ["dirhtml", "singlehtml"])
def test_other_html(tmp_path: Path, server: Site, builder: str) -> None:
    other = {"b.rst": f"{PAGE}   :scope: project\n", "index.rst": f"{PAGE}\n.. toctree::\n\n   b\n"}
    text = page(tmp_path, builder, **other).text("index.html")
    ids = re.findall(r'id="([^"]+)"', text)
    mine = [id_ for id_ in ids if id_.startswith("doi-")]
    inside = re.findall(r'href="#(doi-[^"]+)"', text)
    assert len(mine) == len(set(mine))
    assert inside
    assert set(inside) <= set(mine)


def test_epub(tmp_path: Path, server: Site) -> None:
    built = page(tmp_path, "epub")
    with zipfile.ZipFile(built.out / "Book.epub") as archive:
        text = archive.read("index.xhtml").decode()
    ElementTree.fromstring(text)  # well-formed
    assert set(re.findall(r'href="#(doi-[^"]+)"', text)) <= set(re.findall(r'id="(doi-[^"]+)"', text))


@pytest.mark.parametrize(
    ("builder", "name"),
    [("latex", "book.tex"), ("man", "book.1"), ("texinfo", "book.texi"), ("singlehtml", "index.html")],
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
    text = page(tmp_path, builder, "-D", "doi_reference_style=numeric", **files).text(name)
    assert "Beta" in text
    assert "Alpha" not in text


def test_gettext_hands_translators_the_roles(tmp_path: Path, server: Site) -> None:
    catalogue = page(tmp_path, "gettext").text("index.pot")
    assert ":doi:p:`10.5555/kahn-2006, 10.5555/a<b>#c;d,(e)` and :doi:t:`10.5555/kahn-a`" in catalogue
    assert server.seen == []


def test_translated_citations(tmp_path: Path, server: Site) -> None:
    po = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\nmsgid ""\n'
    po += '"See :doi:p:`10.5555/kahn-2006, 10.5555/a<b>#c;d,(e)` and "\n":doi:t:`10.5555/kahn-a`."\n'
    po += 'msgstr "Siehe :doi:t:`10.5555/kahn-2006`."\n'
    files = {"locale/de/LC_MESSAGES/index.po": po}
    built = page(tmp_path, "html", "-D", "language=de", "-D", "locale_dirs=locale", **files)
    assert built.links()[0].text == "Kahn und Wilensky (2006)"
    assert built.text().count('<li id="doi-') == 1


def test_latex(tmp_path: Path, server: Site) -> None:
    text = page(tmp_path, "latex").text("book.tex")
    linked = re.findall(r"\\hyperref\[\\detokenize\{(index:doi-[^}]+)\}\]", text)
    assert len(linked) == 3
    assert set(linked) <= set(re.findall(r"\\label\{\\detokenize\{([^}]+)\}\}", text))
    assert r"\sphinxurl{https://doi.org/10.5555/kahn-2006}" in text
