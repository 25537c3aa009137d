"""How links look in HTML: long names wrap at marks, links to DOIs that do not exist are struck out."""

from __future__ import annotations

import re
import shutil
import zipfile
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

import pytest
from doiuri import DOI
from support.servers.metadata import metadata_proxy
from support.servers.web import resolver, site
from support.sphinx_build import ROOTS, Build, build, write

LONG = "10.1002/(SICI)1522-2594(199911)42:5<952::AID-MRM16>3.0.CO;2-S"
PAGE = f"""T
=

:doi:`{LONG}`

:doi:`10.1000/182` :doi:`A title <{LONG}>`

Dead: :doi:`10.1000/lost` and :doi:`a title <10.1000/lost>` and https://doi.org/10.1000/lost

Head :doi:`{LONG}`
----------------------------------------------------------------------------------
"""


def page(folder: Path, builder: str = "html", *options: str) -> Build:
    conf = 'extensions = ["sphinx_doiuri"]\ndoi_cache = ":memory:"\n'
    with site(resolver({LONG: "https://example.org/", "10.1000/182": "https://example.org/"})) as server:
        source = write(folder / "src", {"index.rst": PAGE, "conf.py": f"{conf}doi_resolver = {server.url!r}"})
        return build(source, folder / "out", builder, *options)


def test_only_long_names_may_be_broken(tmp_path: Path) -> None:
    built = page(tmp_path)
    text = built.text()
    assert (
        ">doi:10.1002/<wbr />(SICI)<wbr />1522-2594<wbr />(199911)<wbr />42:<wbr />5<wbr />&lt;952:" in text
    )
    assert ">doi:10.1000/182</a>" in text
    assert ">A title</a>" in text
    names = [link.text for link in built.links() if "doi" in link.classes and "10.1002" in link.href]
    assert names == [f"doi:{LONG}", "A title", f"doi:{LONG}"]
    assert "wbr" not in (built.out / "searchindex.js").read_text("utf-8")
    assert re.search("<title>.*wbr.*</title>", text) is None


def test_an_image_that_links_to_a_dead_doi_stays_a_link(tmp_path: Path) -> None:
    text = ".. image:: dot.png\n   :target: {}10.1000/lost\n\n"
    page = "T\n=\n\n" + text.format("https://doi.org/") + text.format("doi:")
    conf = 'extensions = ["sphinx_doiuri"]\ndoi_cache = ":memory:"\n'
    with site(resolver({})) as server:
        conf += f"doi_resolver = {server.url!r}"
        source = write(tmp_path / "src", {"index.rst": page, "conf.py": conf})
        shutil.copy(ROOTS / "book" / "dot.png", source)
        built = build(source, tmp_path / "out")
    assert built.status == 0
    links = re.findall(
        r'<a class="[^"]*doi-not-found[^"]*"[^>]*title="This DOI was not found.">(?=<img)', built.text()
    )
    assert len(links) == 2


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


def citing(folder: Path, builder: str) -> Build:
    with site(metadata_proxy([CITED])) as server:
        conf = f'extensions = ["sphinx_doiuri"]\ndoi_cache = ":memory:"\ndoi_resolver = {server.url!r}\n'
        conf += 'project = "Book"\nversion = "1"\n'
        return build(write(folder / "src", {"index.rst": CITING, "conf.py": conf}), folder / "out", builder)


def test_entries_wrap_and_dead_links_are_struck_out_everywhere(tmp_path: Path) -> None:
    text = citing(tmp_path, "html").text()
    parts = ">https://<wbr />doi.org/<wbr />10.1002/<wbr />(SICI)<wbr />1522-2594<wbr />(199911)<wbr />42:"
    assert parts in text
    assert text.count("<s>doi:10.1000/lost</s></a>") == len(PLACES)
    assert text.count('title="This DOI was not found."') == len(PLACES)


def test_e_books_look_the_same_and_are_well_formed(tmp_path: Path) -> None:
    with zipfile.ZipFile(citing(tmp_path, "epub").out / "Book.epub") as archive:
        text = archive.read("index.xhtml").decode()
    ElementTree.fromstring(text)
    assert text.count("<s>doi:10.1000/lost</s></a>") == len(PLACES)
    assert "doi.org/<wbr />10.1002/" in text


@pytest.mark.parametrize(
    ("builder", "name"),
    [("text", "index.txt"), ("man", "book.1"), ("texinfo", "book.texi"), ("xml", "index.xml")],
)
def test_other_formats_have_no_marks_in_names(tmp_path: Path, builder: str, name: str) -> None:
    text = citing(tmp_path, builder).text(name)
    assert re.search("[\u200b\u2060\xad]|wbr|<s>", text) is None
    assert "10.1000/lost" in text
    assert builder != "text" or LONG.partition("<")[0] in text


HOSTILE = [
    "<script>alert(1)</script>",
    "&amp;&lt;b&gt;&#60;.&quot;",
    "\"'><img src=x onerror=alert(1)>",
    "שלום/עולם.مرحبا",
    "x" * 5_000,
    "/" * 1_000 + "a",
    "<wbr />&-<s>",
]


def test_breaks_are_only_in_the_text_of_hostile_names(tmp_path: Path) -> None:
    dois = [DOI(f"10.1000/{part}.{'none.' * 9}end") for part in HOSTILE]
    text = "T\n=\n\n" + "".join(f":doi:`{doi.uri}`\n\n" for doi in dois)
    conf = 'extensions = ["sphinx_doiuri"]\ndoi_cache = ":memory:"\n'
    with site(resolver({})) as server:
        conf += f"doi_resolver = {server.url!r}"
        built = build(write(tmp_path / "src", {"index.rst": text, "conf.py": conf}), tmp_path / "out")
    found = re.findall(
        r'<a class="([^<>"]*)" href="([^<>"]*)" title="([^<>"]*)"><s>(.*?)</s></a>', built.text()
    )
    assert [unescape(href) for _, href, _, _ in found] == [doi.url for doi in dois]
    assert {title for _, _, title, _ in found} == {"This DOI was not found."}
    for doi, (_, _, _, inside) in zip(dois, found, strict=True):
        pieces = inside.split("<wbr />")
        assert len(pieces) > 9
        assert not any("<" in piece or ">" in piece for piece in pieces)
        assert "".join(map(unescape, pieces)) == f"doi:{doi.name}"  # no entity is in two pieces
