"""How links look on pages and sites: long names may be broken, dead ones are struck out, works have cards."""

from __future__ import annotations

import json
import re
from typing import Any
from xml.etree import ElementTree

import pytest
from doiuri import DOI
from doiuri.plugins.display import STYLE_SHEET
from doiuri_proxy.pytest_plugin import Proxies
from support.checks import assert_times

from .conftest import CSL, VALUES, MakeSite, Render, Serve

WHY = ' title="This DOI was not found.">'
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
    *("doi:10.1000/lost", "<doi:10.1000/lost>", "[](doi:10.1000/lost)"),
    *("[@doi:10.1000/lost]", "@doi:10.1000/lost"),
]


@pytest.mark.parametrize("mention", MENTIONS)
@pytest.mark.parametrize("place", PLACES)
def test_dead_links_look_dead_everywhere(
    place: str, mention: str, serve: Serve, render: Render
) -> None:
    serve([])
    source = f"[TOC]\n\n{place.format(mention, mention)}"
    html = render(source, "extra", "toc", "smarty", resolve=True).html
    ElementTree.fromstring(f"<div>{html.replace('&#160;', ' ')}</div>")  # well-formed
    struck = re.findall(rf"{WHY}<s>(?:(?!</?[as]>).)*</s></a>", html)
    made = [html.count('<a class="doi'), len(struck), html.count("<s>")]
    assert made == [source.count("10.1000/lost")] * 3


def test_a_dead_link_keeps_its_breaks_its_markup_and_its_title(
    serve: Serve, render: Render
) -> None:
    serve([])
    name = "10.1000/" + ".".join(["none"] * 9)
    html = render(f'<doi:{name}> [*a* b](doi:{name}) [c](doi:{name} "Mine")', resolve=True).html
    assert f"{WHY}<s>doi:10.1000/<wbr />none.<wbr />" in html
    assert f"{WHY}<s><em>a</em> b</s></a>" in html
    assert re.search('class="doi doi-not-found" href="[^"]*" title="Mine"><s>c</s></a>', html)


LONG = "10.1002/(SICI)1522-2594(199911)42:5<952::AID-MRM16>3.0.CO;2-S"
BROKEN = "10.1002/|(SICI)|1522-2594|(199911)|42:|5|&lt;952:|:|AID-MRM16&gt;|3.|0.|CO;|2-S"
BROKEN = BROKEN.replace("|", "<wbr />")
FIRST = {"author": [{"family": "Kahn"}], "issued": {"date-parts": [[2006]]}, "title": "First"}
INDEX = f"# Start\n\n@{{doi:{LONG}}} <doi:{LONG}>\n\n## About <doi:{LONG}>\n\nEnd"
HOOK = """
def on_page_context(context, page, config, nav):
    page.content = page.content.replace("End", "Changed")
"""


@pytest.mark.usefixtures("resolver")
@pytest.mark.doi_records([{"handle": LONG, "values": VALUES, "metadata": {CSL: FIRST}}])
def test_names_are_broken_on_pages_and_in_the_list_and_whole_in_the_search(site: MakeSite) -> None:
    built = site({"index.md": INDEX, "../hook.py": HOOK})
    plugins = ["search", {"doiuri": {"bibliography": "references.md"}}]
    built.build(plugins=plugins)
    broken_url = BROKEN.replace("<wbr />&lt;", "%3C").replace("&gt;<wbr />", "%3E")
    assert f">https://<wbr />doi.org/<wbr />{broken_url}</a>" in built.source(
        "references/index.html"
    )
    assert_times(2, f">doi:{BROKEN}</a>", built.source("index.html"))
    entries = json.loads(built.source("search/search_index.json"))["docs"]
    assert {entry["location"].partition("#")[0] for entry in entries if LONG in entry["text"]} == {
        ""
    }
    assert [entry["location"] for entry in entries if DOI(LONG).url in entry["text"]]
    assert not any("10.1002/ (" in entry["text"] for entry in entries)
    # what another plugin changes meanwhile stays
    built.build(plugins=plugins, hooks=["hook.py"])
    assert "<p>Changed</p>" in built.source("index.html")
    assert f">doi:{LONG}</a>".replace("<9", "&lt;9").replace("6>", "6&gt;") in built.source(
        "index.html"
    )


WORK = {
    "title": 'On <i>links</i> &amp; "names" in T<W>',
    "author": [{"given": "Ada", "family": "Byron"}],
    "container-title": "Nature",
    "issued": {"date-parts": [[1843]]},
}
CARDS: list[dict[str, Any]] = [
    {"handle": "10.1000/1", "values": VALUES, "metadata": {CSL: WORK}},
    {"handle": "10.1000/2", "values": VALUES},
]
SOURCE = "# T [@doi:10.1000/1]\n\n*[A & *b*](doi:10.1000/1)* doi:10.1000/2 doi:10.1000/lost and [@doi:10.1000/1]"
TITLE = "On links &amp; &quot;names&quot; in T&lt;W&gt;"
CARD = (
    '<em><span class="doi-details"><a aria-describedby="doi-card-0" class="doi" '
    'href="https://doi.org/10.1000/1">A &amp; <em>b</em></a>'
    '<button type="button" class="doi-more" popovertarget="doi-card-0" '
    'aria-label="About A &amp; b"></button>'
    '<span class="doi-card" id="doi-card-0" role="tooltip" popover="auto" '
    f'aria-label="{TITLE}. Ada Byron, 1843. Nature">'
    f'<span class="doi-card-title" data-doi="{TITLE}"></span>'
    '<span class="doi-card-byline" data-doi="Ada Byron, 1843"></span>'
    '<span class="doi-card-byline" data-doi="Nature"></span></span></span></em>'
)


@pytest.mark.doi_records(CARDS)
def test_links_have_cards_if_their_works_have_titles(doi_proxy: Proxies, render: Render) -> None:
    options = {"resolve": True, "resolver": doi_proxy.url}
    html = render(SOURCE, details=True, **options).html
    assert CARD in html
    cited = '<span class="doi-details"><a aria-describedby="doi-card-1" href="#ref-10.1000_2f1"'
    assert cited in html
    assert 'aria-label="About Byron, 1843"></button>' in html
    text = re.sub("<[^>]*>", "", html)
    assert "Ada" not in text.partition("References")[0], (
        "a card is text, which excerpts and feeds show"
    )
    assert_times(2, "doi-card-title", html)  # neither entries nor headings have one
    asked = [request.path for request in doi_proxy.log if not request.path.startswith(b"/api/")]
    assert sorted(asked) == [b"/10.1000/1", b"/10.1000/2"]
    assert "doi-card" not in render(SOURCE, **options).html
    image = render(
        "[![A tide](a.png)](doi:10.1000/1)", details=True, **options
    ).html  # keeps its name
    assert 'class="doi"' in image
    assert not re.search("doi-card|aria-label", image)


@pytest.mark.usefixtures("resolver")
@pytest.mark.doi_records(CARDS)
def test_mkdocs_adds_the_style_sheet_and_keeps_cards_out_of_the_search(site: MakeSite) -> None:
    pages = {"sub/b.md": "[@doi:10.1000/1] [A](doi:10.1000/1)", "c.md": "# On doi:10.1000/1"}
    built = site({"index.md": SOURCE, **pages})
    built.build(plugins=["search", {"doiuri": {"details": True}}], extra_css=["mine.css"])
    assert CARD in built.source("index.html")
    sheets = re.findall('<link href="([^"]*(?:doiuri|mine).css)"', built.source("sub/b/index.html"))
    assert sheets == ["../../assets/doiuri.css", "../../mine.css"]  # the author's has the last word
    assert built.source("assets/doiuri.css") == STYLE_SHEET.read_text("utf-8")
    assert '<script src="assets/doiuri.js"></script>' in built.source("index.html")
    found = json.loads(built.source("search/search_index.json"))["docs"]
    assert not [page for page in found if re.search("About A|Ada Byron", page["text"])]
    assert "<title>On doi:10.1000/1 - Test</title>" in built.source("c/index.html")
