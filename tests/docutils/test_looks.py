"""How links look in HTML of plain docutils: long names wrap, links to missing DOIs are struck out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

import pytest
from docutils import nodes
from docutils.core import publish_doctree, publish_from_doctree, publish_string
from docutils.writers import (
    Writer,
    docutils_xml,
    html4css1,
    html5_polyglot,
    latex2e,
    manpage,
    pseudoxml,
)
from docutils_doiuri import Parser
from doiuri_proxy import running
from support.checks import assert_times, only
from support.docutils_page import OFF, body
from support.sphinx_build import links

LONG = "10.1002/(SICI)1522-2594(199911)42:5<952::AID-MRM16>3.0.CO;2-S"
BROKEN = "10.1002/|(SICI)|1522-2594|(199911)|42:|5|&lt;952:|:|AID-MRM16&gt;|3.|0.|CO;|2-S"
BROKEN = BROKEN.replace("|", "<wbr />")
STRUCK = '<s title="This DOI was not found.">'
DEAD = f"""
=============================
Title :doi:`{LONG}` and more
=============================

.. contents::

Head :doi:`{LONG}`
------------------------------------------------------------------------------

See |s| [1]_, :doi:`10.1000/lost`, :doi:`a *title* <10.1000/lost>` and `mine <doi:10.1000/lost>`_.

.. |s| replace:: :doi:`Put <10.1000/lost>`
.. [1] Note :doi:`10.1000/lost`

.. figure:: none.png
   :target: doi:10.1000/lost

   Caption :doi:`10.1000/lost`

.. list-table:: Table :doi:`10.1000/lost`

   * - :doi:`{LONG}`
"""
HTML = [html4css1.Writer, html5_polyglot.Writer]
OTHERS = [latex2e.Writer, manpage.Writer, docutils_xml.Writer, pseudoxml.Writer]
Settings = dict[str, object]


@pytest.fixture
def dead(tmp_path: Path) -> Iterator[Settings]:
    """Settings with which no DOI exists."""
    with running([]) as proxy:
        yield {
            "doi_resolve": True,
            "doi_resolver": proxy.url,
            "doi_cache": str(tmp_path / "cache"),
            "report_level": 5,
            "output_encoding": "unicode",
            "use_latex_citations": True,  # without a value, docutils warns; the same for the next two
            "legacy_column_widths": False,
        }


def publish(writer: Writer[str], settings: Settings, text: str = DEAD) -> str:
    return str(publish_string(text, parser=Parser(), writer=writer, settings_overrides=settings))


@pytest.mark.parametrize("written", [f":doi:`{LONG}`", f":doi:`doi:{LONG}`"])
def test_a_long_name_may_be_broken_and_a_title_stays_whole(written: str) -> None:
    html = body(f"{written} :doi:`10.1000/182` :doi:`A title <{LONG}>`")
    assert f">doi:{BROKEN}</a>" in html
    assert ">doi:10.1000/182</a>" in html
    assert ">A title</a>" in html
    assert [link.text for link in links(html)] == [f"doi:{LONG}", "doi:10.1000/182", "A title"]


@pytest.mark.parametrize("writer", HTML)
def test_dead_links_are_struck_out_wherever_they_are(
    writer: type[Writer[str]], dead: Settings
) -> None:
    html = publish(writer(), dead)
    ElementTree.fromstring(html[html.index("<body") : html.index("</html>")])  # well-formed
    inside = re.findall(rf"{STRUCK}(.*?)</s></a>", html)
    lost = "doi:10.1000/lost"
    assert inside == [
        *[f"doi:{BROKEN}"] * 2,
        "Put",
        lost,
        "a *title*",
        "mine",
        *[lost] * 3,
        f"doi:{BROKEN}",
    ]
    assert (
        sum("doi-not-found" in link.classes for link in links(html)) == len(inside) + 1
    )  # an image
    assert re.search("<title>.*wbr.*</title>", html) is None
    contents = re.findall(r'<a class="reference internal" href="#head[^>]*>(.*?)</a>', html)
    assert [entry.count("<") for entry in contents] == [0]


@pytest.mark.parametrize("writer", OTHERS)
def test_other_formats_are_as_they_are(writer: type[Writer[str]], dead: Settings) -> None:
    page = publish(writer(), dead)
    assert "lost" in page
    assert re.search(r"wbr|<s\b|not found\.|raw", page) is None
    assert re.search("[\u200b\u2060\xad]", page) is None


def test_a_document_that_is_kept_for_any_format_has_no_html(dead: Settings) -> None:
    doctree = publish_doctree(DEAD, parser=Parser(), settings_overrides=dead)
    assert next(doctree.findall(nodes.raw), None) is None
    html = publish_from_doctree(doctree, writer=html5_polyglot.Writer(), settings_overrides=OFF)
    assert_times(11, "doi-not-found", str(html))


@pytest.mark.parametrize("writer", HTML)
def test_bibliographic_fields_are_plain_text(writer: type[Writer[str]], dead: Settings) -> None:
    """They are metadata, too: of the page, and of articles in Pelican."""
    text = f"Title\n=====\n\n:Author: Ann :doi:`{LONG}`\n:Paper: :doi:`10.1000/lost`\n"
    page = publish(writer(), dead, text)
    author = only("author", re.findall(r'<meta (?=[^>]*name="author")[^>]*content="([^"]*)"', page))
    assert unescape(author) == f"Ann doi:{LONG}"
    paper = re.split("</dd>|</tr>", page.partition(">Paper")[2])[0]
    assert "doi-not-found" in paper
    assert "<s " not in paper
