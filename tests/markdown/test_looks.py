"""How links look: long names may be broken, links to DOIs that do not exist are struck out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from doiuri_proxy.pytest_plugin import Proxies
from support.devtools import browsing

from .conftest import Render

NAME = "10.26321/Á.GUTIÉRREZ.ZARZA.02.2018.03"
BROKEN = "10.26321/<wbr />Á.<wbr />GUTIÉRREZ.<wbr />ZARZA.<wbr />02.<wbr />2018.<wbr />03"


@pytest.mark.parametrize("source", [f"doi:{NAME}", f"<doi:{NAME}>", f"[](doi:{NAME})"])
def test_a_long_name_may_be_broken(source: str, render: Render) -> None:
    html = render(source).html
    assert f">doi:{BROKEN}</a></p>" in html
    assert f">doi:{NAME}</a>" in html.replace("<wbr />", "")


def test_a_link_of_the_author_that_shows_its_url_may_be_broken(render: Render) -> None:
    url = "https://doi.org/10.1103/PhysRevLett.59.381"
    assert ">https://<wbr />doi.org/<wbr />10.1103/<wbr />PhysRevLett.<wbr />59." in render(f"<{url}>").html
    other = url.replace("doi.org", "example.org")
    assert f">{other}</a>" in render(f"<{other}>").html


def test_titles_and_short_names_stay_whole(render: Render) -> None:
    source = f"[A very long title with {NAME} in it](doi:{NAME}) doi:10.1103/PhysRevLett.59.381"
    assert "wbr" not in render(source).html


def test_headings_have_the_same_ids_and_tables_of_contents(render: Render) -> None:
    html = render(f"[TOC]\n\n# See doi:{NAME}", "toc").html
    contents, heading = html.split("<h1", 1)
    assert "wbr" not in contents
    assert heading.startswith(' id="see-doi1026321agutierrezzarza02201803">')
    assert BROKEN in heading


def test_a_dead_link_is_struck_out_and_says_why(doi_proxy: Proxies, render: Render) -> None:
    name = "10.1000/" + ".".join(["none"] * 9)
    source = f'<doi:{name}> [*a* b](doi:{name}) [c](doi:{name} "Mine")'
    html = render(source, resolve="records", resolver=doi_proxy([]).url).html
    why = ' title="This DOI was not found.">'
    assert f"{why}<s>doi:10.1000/<wbr />none.<wbr />" in html
    assert f"{why}<s><em>a</em> b</s></a>" in html
    assert re.search('class="doi doi-not-found" href="[^"]*" title="Mine"><s>c</s></a>', html)


LOOK = """({
  wide: document.documentElement.scrollWidth > innerWidth,
  lines: document.querySelector("a.doi").getClientRects().length,
  copied: (getSelection().selectAllChildren(document.querySelector("a.doi")), `${getSelection()}`),
  struck: [...document.querySelectorAll("a.doi-not-found")].map(a =>
    [a.title, a.innerText, getComputedStyle(a.firstChild).textDecorationLine])})"""


@pytest.mark.newest
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_without_any_style_sheet_at_400_pixels(
    scheme: str, doi_proxy: Proxies, render: Render, tmp_path: Path
) -> None:
    name = "10.1000/" + ".".join(["none"] * 20)
    html = render(f"See doi:{name}", resolve="records", resolver=doi_proxy([]).url).html
    page = tmp_path / "page.html"
    head = '<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    page.write_text(f'{head}<meta name="color-scheme" content="light dark">{html}', "utf-8")
    with browsing() as browser:
        browser.open(page, width=400, touch=True, prefers_color_scheme=scheme)
        look = browser.run(LOOK)
    assert not look["wide"]
    assert look["lines"] > 1
    assert look["copied"] == f"doi:{name}"
    assert look["struck"] == [["This DOI was not found.", f"doi:{name}", "line-through"]]
