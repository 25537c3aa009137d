"""Sphinx's cards in Chromium: they open by mouse, keyboard and touch, and fit the window."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.devtools import Page
from support.references import HOSTILE_BOOK, NOTES, hostile_records
from support.servers.metadata import metadata_proxy
from support.servers.web import Answer, Asked, resolver, site
from support.sphinx_build import build, write

CARD = {
    "title": "A title",
    "author": [{"given": "Ada", "family": "Byron"}],
    "issued": {"date-parts": [[1843]]},
}
MANY = """Many
====

First :doi:`10.1000/1` and :doi:`10.1000/2`, doi:10.1000/3 and doi:10.1000/4, again doi:10.1000/2.

Four doi:10.1000/2, doi:10.1000/3, doi:10.1000/4, doi:10.1000/5.
"""
# How many marks of notes begin a line, as the page is or without what is before them
LINE_BEGINS = """without => {
  document.head.append(document.createElement('style'));
  if (without) document.head.lastChild.textContent = '.footnote-reference::before {content: none !important}';
  const marks = [...document.querySelectorAll('.footnote-reference')];
  if (marks.length < 50) throw new Error('no marks');
  return marks.filter(mark => {
    const before = document.createRange();
    before.setStart(mark.previousSibling, mark.previousSibling.length - 1);
    before.setEnd(mark.previousSibling, mark.previousSibling.length);
    return before.getBoundingClientRect().left > mark.getBoundingClientRect().left;
  }).length;
}"""
SHOWN = "getComputedStyle(document.querySelector('.doi-card')).display !== 'none'"
CLEAR = """(() => {
  const linear = v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = c => { const [r, g, b] = c.match(/[0-9.]+/g).map(v => linear(v / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b };
  const style = getComputedStyle(document.querySelector('.doi-card'));
  const [a, b] = [light(style.color), light(style.backgroundColor)].sort((x, y) => y - x);
  return (a + 0.05) / (b + 0.05) })()"""


@pytest.fixture(scope="module")
def html(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cards")
    text = "T\n=\n\nText :doi:`10.1000/1`, and more.\n\n.. toctree::\n\n   many\n"
    conf = 'extensions = ["sphinx_doiuri"]\nhtml_theme = "furo"\ndoi_details = True\ndoi_cache = ":memory:"\n'
    rest = resolver({f"10.1000/{number}": "https://example.org/" for number in range(1, 6)})

    def answer(asked: Asked) -> Answer:
        number = asked.target[-1]
        title = CARD if number == "1" else CARD | {"title": f"Title {number}"}
        body = json.dumps(title).encode()
        kind = {"Content-Type": "application/vnd.citationstyles.csl+json"}
        return rest(asked) if asked.target.startswith("/api/") else Answer(200, kind, body)

    with site(answer) as server:
        source = write(
            folder / "src",
            {
                "index.rst": text,
                "many.rst": MANY,
                "conf.py": f"{conf}doi_resolver = {server.url!r}\n",
            },
        )
        return build(source, folder).out / "index.html"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_card_opens_under_the_mouse_and_can_be_read(browser: Page, html: Path, scheme: str) -> None:
    browser.open(html, prefers_color_scheme=scheme)
    assert not browser.run(SHOWN)
    browser.hover(".doi-details > a")
    browser.wait(SHOWN)
    assert browser.run(CLEAR) >= 7  # WCAG 2.2, level AAA
    shown = "[...document.querySelectorAll('.doi-card > span')].map(e => getComputedStyle(e, '::before').content)"
    assert browser.run(shown)[:2] == ['"A title"', '"Ada Byron, 1843"']
    browser.hover(".doi-card")
    assert browser.run(SHOWN)


def test_card_opens_on_keyboard_focus(browser: Page, html: Path) -> None:
    browser.open(html)
    for _ in range(30):
        browser.press_tab()
        if browser.run("document.activeElement.classList.contains('doi')"):
            break
    browser.wait(SHOWN)
    browser.press_tab()
    browser.wait(f"!({SHOWN})")


def test_card_opens_by_touch_while_the_link_stays_a_link(browser: Page, html: Path) -> None:
    browser.open(html, touch=True, width=400)
    assert (
        browser.run("getComputedStyle(document.querySelector('.doi-more')).display")
        == "inline-block"
    )
    browser.tap(".doi-more")
    browser.wait("document.querySelector('.doi-card').matches(':popover-open')")
    box = "(e => (r => [r.left, r.right, r.top, r.bottom])(e.getBoundingClientRect()))"
    card = browser.run(f"{box}(document.querySelector('.doi-card'))")
    button = browser.run(f"{box}(document.querySelector('.doi-more'))")
    assert 0 <= card[0] < card[1] <= 400
    is_beside = card[2] >= button[3] - 1 or card[3] <= button[2] + 1
    assert is_beside, "the card covers the line of its button"
    assert min(abs(card[2] - button[3]), abs(card[3] - button[2])) < 40, "the card is far away"


def test_five_buttons_of_a_paragraph_are_one_for_all_its_works(browser: Page, html: Path) -> None:
    browser.open(html.with_name("many.html"), touch=True, width=400)
    names = [f"About doi:10.1000/{number}" for number in range(1, 5)]
    labels = browser.run("[...document.querySelectorAll('.doi-more')].map(e => e.ariaLabel)")
    assert labels == ["; ".join(names), *(f"About doi:10.1000/{number}" for number in range(2, 6))]

    browser.tap(".doi-more")
    card = "document.querySelector('.doi-card:popover-open')"
    browser.wait(f"{card} !== null")
    titles = [f"{title}. Ada Byron, 1843" for title in ("A title", "Title 2", "Title 3", "Title 4")]
    assert browser.run(f"{card}.ariaLabel") == "; ".join(titles)
    shown = browser.run(f"[...{card}.querySelectorAll('.doi-card-title')].map(e => e.dataset.doi)")
    assert shown == ["A title", "Title 2", "Title 3", "Title 4"]
    assert browser.descriptions().count("Title 2. Ada Byron, 1843") == 3  # as links have them


@pytest.mark.parametrize("theme", ["furo", "alabaster"])
def test_no_line_begins_with_the_mark_of_a_note(browser: Page, theme: str, tmp_path: Path) -> None:
    sentences = " ".join(f"{'x' * length} :doi:p:`@a`." for length in [*range(1, 20)] * 3)
    conf = f"extensions = ['sphinx_doiuri']\nhtml_theme = {theme!r}\n"
    conf += "doi_works, doi_reference_style = 'works.json', 'notes.csl'\n"
    files = {
        "index.rst": f"T\n=\n\n{sentences}\n",
        "conf.py": conf,
        "notes.csl": NOTES,
        "works.json": '[{"id": "a", "type": "book", "title": "Ants"}]',
    }
    browser.open(build(write(tmp_path / "src", files), tmp_path).out / "index.html", width=400)

    assert browser.run(f"({LINE_BEGINS})(false)") == 0
    assert browser.run(f"({LINE_BEGINS})(true)") > 0, "without the rule, some do"


def test_escape_closes_a_card_however_it_was_opened(browser: Page, html: Path) -> None:
    """WCAG 2.2, 1.4.13: without moving the pointer or the focus."""
    browser.open(html)
    browser.hover(".doi-details > a")
    browser.wait(SHOWN)
    browser.press_escape()
    browser.wait(f"!({SHOWN})")
    browser.hover("h1")
    browser.hover(".doi-details > a")
    browser.wait(SHOWN)


def test_accessible_name(browser: Page, html: Path) -> None:
    browser.open(html)
    assert "doi:10.1000/1" in browser.names()
    assert "A title. Ada Byron, 1843" in browser.descriptions()


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with the cards of works that have thousands of authors or a title of 10,000 characters."""
    folder = tmp_path_factory.mktemp("long")
    with site(metadata_proxy(hostile_records())) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("DOIURI_RESOLVER", server.url)
        options = "html", "-D", "html_theme=alabaster"
        return build(write(folder / "src", HOSTILE_BOOK), folder, *options).out / "refs.html"


@pytest.mark.parametrize("width", [1200, 400])
@pytest.mark.parametrize("number", [0, 1])
def test_a_long_card_stays_inside_the_window(
    browser: Page, long: Path, width: int, number: int
) -> None:
    browser.open(long, width=width)
    assert browser.run("document.documentElement.scrollWidth") <= width
    details = f"document.querySelectorAll('.doi-details')[{number}]"
    browser.run(f"{details}.id = 'long'; {details}.scrollIntoView({{block: 'center'}})")
    browser.hover("#long > a")
    browser.wait(
        "getComputedStyle(document.querySelector('#long > .doi-card')).display === 'block'"
    )
    box = browser.run(
        "(r => [r.left, r.right, r.top, r.bottom])"
        "(document.querySelector('#long > .doi-card').getBoundingClientRect())"
    )
    assert 0 <= box[0] < box[1] <= width
    assert 0 <= box[2] < box[3] <= 600
