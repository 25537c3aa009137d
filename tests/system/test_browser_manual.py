"""The manual and the example site in Chromium: pages fit a phone, and the search finds."""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from doiuri_proxy import running
from support.devtools import Page
from support.manual.building import ROOT, built_manual
from support.programs import needs
from support.sphinx_build import build

PHONE = 400
WIDE = 1200
TOO_WIDE = """[document.documentElement, ...document.querySelectorAll("article .table-wrapper")]
    .filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.innerText.slice(0, 60))"""
CUT = """[...document.querySelectorAll("pre")]
    .filter(e => !e.closest(".aligned, .highlight-default:not(.doctest)"))
    .filter(e => e.scrollWidth > e.clientWidth + 1 || /\\^\\^\\^|[├└]/.test(e.innerText))
    .map(e => e.innerText.slice(0, 60))"""
SCROLLS = """[...document.querySelectorAll("pre")].filter(e => e.scrollWidth > e.clientWidth + 1)
    .map(e => e.innerText.slice(0, 60))"""
SMALL = """[...document.images].filter(e => e.clientWidth && /webp$/.test(e.src))
    .filter(e => e.clientWidth < 0.7 * (e.naturalWidth / 2)).map(e => e.src)"""
FIRST = """[...document.querySelector("article h1").parentElement.children]
    .find(e => !/H1|SPAN/.test(e.tagName) && e.getClientRects().length).tagName"""
FOUND = "[...document.querySelectorAll('#search-results li a')].map(a => a.innerText)"


@pytest.fixture(scope="module")
def url(manual: Path) -> Iterator[str]:
    """The search loads its words by requests, so it needs a server."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(manual))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def manual() -> Path:
    needs("chromium")
    return built_manual()


def test_every_page_and_table_fits_a_phone_and_no_code_scrolls_on_a_wide_screen(
    browser: Page, manual: Path
) -> None:
    paths = [
        path
        for path in sorted(manual.rglob("*.html"))
        if path.parent != manual or path.stem == "index"
    ]
    assert len(paths) > 30
    for path in paths:
        name = path.relative_to(manual)
        browser.open(path, width=PHONE)
        assert browser.run(TOO_WIDE) == [], name
        assert browser.run(CUT) == [], name
        assert browser.run(SMALL) == [], f"the letters of a picture are tiny in {name}"
        assert browser.run(FIRST) == "P", f"{name} does not begin with a sentence"
        browser.open(path, width=WIDE)
        assert browser.run(SCROLLS) == [], name


def test_the_index_and_headings_fit_a_phone(browser: Page, manual: Path) -> None:
    right = "[...document.querySelectorAll('article a')].map(link => link.getBoundingClientRect().right)"
    lines = "[...document.querySelectorAll(':is(h1, h2) > code')].map(code => code.getClientRects().length)"
    browser.open(manual / "genindex.html", width=PHONE)
    assert max(browser.run(right)) < PHONE
    browser.open(manual / "reference" / "api" / "testing.html", width=PHONE)
    assert set(browser.run(lines)) == {1}


@pytest.mark.parametrize(("words", "title"), [("lock", "The command"), ("rate limit", "Design")])
def test_the_search_finds(browser: Page, url: str, words: str, title: str) -> None:
    browser.open(f"{url}/search.html?q={words.replace(' ', '+')}")
    browser.wait(f"{FOUND}.includes('{title}')")


def test_the_example_site_fits_a_narrow_window_in_any_theme(
    browser: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Alabaster, unlike furo, breaks no line inside literals."""
    with running(ROOT / "examples" / "records.json") as proxy:
        monkeypatch.setenv("DOIURI_RESOLVER", proxy.url)
        site = build(ROOT / "examples" / "site", tmp_path, "html", "-D", "html_theme=alabaster").out
    for name in ("index", "paper", "citations", "references", "myst"):
        browser.open(site / f"{name}.html", width=400)
        assert browser.run("document.documentElement.scrollWidth") <= 400, name
        widths = "[...document.querySelectorAll('td')].map(cell => cell.offsetWidth / innerWidth)"
        assert min(browser.run(widths), default=1) > 0.75, f"{name}: the cells stand side by side"
