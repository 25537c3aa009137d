"""The manual in Chromium: pages fit a phone, each begins with a sentence, and the search finds."""

from __future__ import annotations

import functools
import http.server
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.browser import command
from support.devtools import browsing

ROOT = Path(__file__).parents[2]
PHONE, WIDE = 400, 1200
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
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    command("chromium")
    folder = tmp_path_factory.mktemp("manual") / "html"
    subprocess.run([sys.executable, "-m", "sphinx", "-q", "-b", "html", ROOT / "docs", folder], check=True)
    return folder


@pytest.fixture
def url(pages: Path) -> Iterator[str]:
    """The search loads its words by requests, so it needs a server."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(pages))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.newest
def test_every_page_and_table_fits_a_phone(pages: Path) -> None:
    paths = [path for path in sorted(pages.rglob("*.html")) if path.parent != pages or path.stem == "index"]
    assert len(paths) > 30
    with browsing() as page:
        for path in paths:
            page.open(path, width=PHONE)
            assert page.run(TOO_WIDE) == [], path.relative_to(pages)
            assert page.run(CUT) == [], path.relative_to(pages)
            assert page.run(SMALL) == [], f"the letters of a picture are tiny in {path.relative_to(pages)}"
            assert page.run(FIRST) == "P", f"{path.relative_to(pages)} does not begin with a sentence"


@pytest.mark.newest
def test_the_index_and_headings_fit_a_phone(pages: Path) -> None:
    right = "[...document.querySelectorAll('article a')].map(link => link.getBoundingClientRect().right)"
    lines = "[...document.querySelectorAll(':is(h1, h2) > code')].map(code => code.getClientRects().length)"
    with browsing() as page:
        page.open(pages / "genindex.html", width=PHONE)
        assert max(page.run(right)) < PHONE
        page.open(pages / "reference" / "api" / "testing.html", width=PHONE)
        assert set(page.run(lines)) == {1}


@pytest.mark.newest
def test_the_reference_shows_no_docstring_of_another_library(pages: Path) -> None:
    """Such as httpx's, in Markdown, below signatures of fifty lines."""
    text = "".join(path.read_text("utf-8") for path in sorted((pages / "reference" / "api").glob("*.html")))
    assert 'id="httpx_doiuri.Client.send"' in text
    foreign = ("typing.", "][0]", "Override in subclasses", "Alias for field", "&lt;function")
    assert [words for words in foreign if words in text] == []


@pytest.mark.newest
def test_no_code_scrolls_on_a_wide_screen(pages: Path) -> None:
    with browsing() as page:
        for path in sorted(pages.rglob("*.html")):
            page.open(path, width=WIDE)
            assert page.run(SCROLLS) == [], path.relative_to(pages)


@pytest.mark.newest
@pytest.mark.parametrize(("words", "title"), [("lock", "The command"), ("rate limit", "Design")])
def test_the_search_finds(url: str, words: str, title: str) -> None:
    with browsing() as page:
        page.open(f"{url}/search.html?q={words.replace(' ', '+')}")
        page.wait(f"{FOUND}.includes('{title}')")
