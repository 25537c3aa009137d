"""How links look: long names may be broken, links to DOIs that do not exist are struck out."""

from __future__ import annotations

import re
from html import unescape
from xml.etree import ElementTree

import pytest
from doiuri import DOI
from doiuri_proxy.pytest_plugin import Proxies

from .conftest import Render

WHY = ' title="This DOI was not found.">'


def test_a_dead_link_is_struck_out_and_says_why(doi_proxy: Proxies, render: Render) -> None:
    name = "10.1000/" + ".".join(["none"] * 9)
    source = f'<doi:{name}> [*a* b](doi:{name}) [c](doi:{name} "Mine")'
    html = render(source, resolve=True, resolver=doi_proxy([]).url).html
    assert f"{WHY}<s>doi:10.1000/<wbr />none.<wbr />" in html
    assert f"{WHY}<s><em>a</em> b</s></a>" in html
    assert re.search('class="doi doi-not-found" href="[^"]*" title="Mine"><s>c</s></a>', html)


PLACES = [
    "# Heading {}",
    "*{}* and __{}__",
    "- > {}",
    "| a |\n| --- |\n| {} |",
    "Note[^1]\n\n[^1]: In a note {}",
    "Term {}\n:   Definition {}",
    '<figure markdown="1">\n<figcaption markdown="span">Caption {}</figcaption>\n</figure>',
    "[*with* `markup`](doi:10.1000/lost) {}",
    "[![image](i.png)](doi:10.1000/lost) {}",
    "{}{{: .mine }}",
]
MENTIONS = [
    "doi:10.1000/lost",
    "<doi:10.1000/lost>",
    "[](doi:10.1000/lost)",
    "[@doi:10.1000/lost]",
    "@doi:10.1000/lost",
]


@pytest.mark.parametrize("place", PLACES)
def test_dead_links_look_dead_everywhere(place: str, doi_proxy: Proxies, render: Render) -> None:
    proxy = doi_proxy([])
    for mention in MENTIONS:
        source = f"[TOC]\n\n{place.format(mention, mention)}"
        html = render(source, "extra", "toc", "smarty", resolve=True, resolver=proxy.url).html
        ElementTree.fromstring(f"<div>{html.replace('&#160;', ' ')}</div>")  # well-formed
        assert html.count('<a class="doi') == source.count("10.1000/lost")
        assert len(re.findall(rf"{WHY}<s>(?:(?!</?[as]>).)*</s></a>", html)) == source.count("10.1000/lost")
        assert html.count("<s>") == source.count("10.1000/lost")


HOSTILE = [
    "<script>alert(1)</script>",
    "&amp;&lt;b&gt;&#60;.&quot;",
    "\"'><img src=x onerror=alert(1)>",
    "a&b(c&d).e&f",
    "שלום/עולם.مرحبا",
    "x" * 5_000,
    "/" * 5_000 + "a",
    "<wbr />&-<wbr>",
]


@pytest.mark.parametrize("part", HOSTILE)
def test_breaks_are_only_in_the_text_of_hostile_names(part: str, doi_proxy: Proxies, render: Render) -> None:
    doi = DOI(f"10.1000/{part}.{'none.' * 9}end")
    html = render(f"[]({doi.uri})", resolve=True, resolver=doi_proxy([]).url).html
    found = re.fullmatch(
        r'<p><a class="doi doi-not-found" href="([^"<>]*)"([^<>]*)><s>(.*)</s></a></p>', html
    )
    assert found
    assert unescape(found[1]) == doi.url
    assert f"{found[2]}>" == WHY
    pieces = found[3].split("<wbr />")
    assert len(pieces) > 9
    assert not any("<" in piece or ">" in piece for piece in pieces)
    assert "".join(map(unescape, pieces)) == f"doi:{doi.name}"  # no entity is in two pieces
    assert not any(piece.endswith("&amp;") for piece in pieces)
