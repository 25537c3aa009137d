"""Hover cards of links in Markdown and MkDocs."""

from __future__ import annotations

import json
import re

import pytest
from doiuri.plugins.display import STYLE_SHEET
from doiuri_proxy.pytest_plugin import Proxies

from .conftest import Render
from .mkdocs.conftest import DATA, MakeSite, site

__all__ = ["site"]

CSL = {
    "title": 'On <i>links</i> &amp; "names" in T<W>',
    "author": [{"given": "Ada", "family": "Byron"}],
    "container-title": "Nature",
    "issued": {"date-parts": [[1843]]},
}
VALUES = [{"index": 1, "type": "URL", "data": DATA}]
RECORDS = [
    {"handle": "10.1000/1", "values": VALUES, "metadata": {"application/vnd.citationstyles.csl+json": CSL}},
    {"handle": "10.1000/2", "values": VALUES},
]
SOURCE = "# T\n\n*[A & *b*](doi:10.1000/1)* doi:10.1000/2 doi:10.1000/lost and [@doi:10.1000/1]"
TITLE = "On links &amp; &quot;names&quot; in T&lt;W&gt;"
CARD = (
    f'<em><span class="doi-details"><a aria-label="A &amp; b: {TITLE}. Ada Byron, 1843. Nature" class="doi" '
    'href="https://doi.org/10.1000/1">A &amp; <em>b</em></a>'
    '<button type="button" class="doi-more" popovertarget="doi-card-0" '
    'aria-label="About A &amp; b">i</button>'
    '<span class="doi-card" id="doi-card-0" role="tooltip" popover="auto">'
    f'<span class="doi-card-title">{TITLE}</span><span class="doi-card-byline">Ada Byron, 1843</span>'
    '<span class="doi-card-byline">Nature</span></span></span></em>'
)

pytestmark = pytest.mark.doi_records(RECORDS)


def test_links_have_cards_if_their_works_have_titles(doi_proxy: Proxies, render: Render) -> None:
    html = render(SOURCE, resolve=True, resolver=doi_proxy.url, details=True).html
    assert CARD in html
    assert html.count("doi-card-title") == 1  # neither citations nor entries have one
    asked = [request.path for request in doi_proxy.log if not request.path.startswith(b"/api/")]
    assert sorted(asked) == [b"/10.1000/1", b"/10.1000/2"]
    assert "doi-card" not in render(SOURCE, resolve=True, resolver=doi_proxy.url).html


def test_an_image_keeps_its_name(doi_proxy: Proxies, render: Render) -> None:
    source = "[![A tide](a.png)](doi:10.1000/1)"
    html = render(source, resolve=True, resolver=doi_proxy.url, details=True).html
    assert 'class="doi"' in html
    assert "doi-card" not in html
    assert "aria-label" not in html


def test_mkdocs_adds_the_style_sheet_and_keeps_cards_out_of_the_search(
    doi_proxy: Proxies, monkeypatch: pytest.MonkeyPatch, site: MakeSite
) -> None:
    monkeypatch.setenv("DOIURI_RESOLVER", doi_proxy.url)
    pages = {"sub/b.md": "[@doi:10.1000/1] [A](doi:10.1000/1)", "c.md": "# On doi:10.1000/1"}
    built = site({"index.md": SOURCE, **pages})
    built.build(plugins=["search", {"doiuri": {"details": True}}])
    assert CARD in built.source("index.html")
    assert '<link href="../../assets/doiuri.css"' in built.source("sub/b/index.html")
    assert built.source("assets/doiuri.css") == STYLE_SHEET.read_text("utf-8")
    found = json.loads(built.source("search/search_index.json"))["docs"]
    assert not [page for page in found if re.search("About A|Ada Byron", page["text"])]
    assert "<title>On doi:10.1000/1 - Test</title>" in built.source("c/index.html")
