"""Metadata that tries to be markup or to run scripts, in a browser."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from support.devtools import Page, browsing
from support.references import ATTACKS, HARMLESS, HOSTILE, PROVOKE, hostile_records
from support.servers.metadata import metadata_proxy
from support.servers.web import site
from support.sphinx_build import Build, build, write

pytestmark = pytest.mark.newest

CONF = """extensions = ["sphinx_doiuri", "myst_parser"]
doi_details = True
doi_text = "{authors} ({year}): {title}"
"""
ALL = ", ".join(HOSTILE)
FILES = {
    "conf.py": CONF,
    "index.rst": f"""\
On :doi:t:`{ALL}`
{"=" * 999}

:doi:p:`{ALL}` {" ".join(f":doi:`{name}`" for name in HOSTILE)}

.. toctree::

   myst
   refs
""",
    "myst.md": f"# M\n\n{{doi:p}}`{ALL}` {' '.join(f'[](doi:{name})' for name in HOSTILE)}\n\n"
    "```{doi:bibliography}\n```\n",
    "refs.rst": "R\n=\n\n.. doi:bibliography::\n   :scope: project\n\n"
    f":doi:`Many authors <{HOSTILE[-1]}>` and :doi:`a long title <{HOSTILE[-2]}>`\n",
}


@pytest.fixture(scope="module")
def html(tmp_path_factory: pytest.TempPathFactory) -> Build:
    folder = tmp_path_factory.mktemp("hostile")
    with site(metadata_proxy(hostile_records())) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("DOIURI_RESOLVER", server.url)
        patch.setenv("DOIURI_CACHE", ":memory:")
        return build(write(folder / "src", FILES), folder, "html", "-W")


@pytest.fixture(scope="module")
def browser() -> Iterator[Page]:
    with browsing() as page:
        yield page


@pytest.mark.parametrize("name", ["index", "myst", "refs"])
def test_nothing_runs(browser: Page, html: Build, name: str) -> None:
    assert html.warnings == ""
    browser.open(html.out / f"{name}.html")
    assert json.loads(browser.run_async(PROVOKE)) == HARMLESS
    browser.run(f"document.body.insertAdjacentHTML('beforeend', {ATTACKS[1]!r})")
    browser.wait("document.documentElement.lang === 'owned'")  # what runs would have been seen


def test_there_are_citations_cards_and_entries_for_all(html: Build) -> None:
    page, refs = html.text(), html.text("refs.html")
    assert page.count('class="doi-card"') >= 2 * len(HOSTILE)
    assert refs.count('<li id="doi-') == len(HOSTILE)
    assert len(page) < 1_000_000  # thousands of names and long titles are cut


@pytest.mark.parametrize("width", [1200, 400])
@pytest.mark.parametrize("number", [0, 1])
def test_a_long_card_stays_inside_the_window(browser: Page, html: Build, width: int, number: int) -> None:
    browser.open(html.out / "refs.html", width=width)
    assert browser.run("document.documentElement.scrollWidth") <= width
    details = f"document.querySelectorAll('.doi-details')[{number}]"
    browser.run(f"{details}.id = 'long'; {details}.scrollIntoView({{block: 'center'}})")
    browser.hover("#long > a")
    browser.wait("getComputedStyle(document.querySelector('#long > .doi-card')).display === 'block'")
    box = browser.run(
        "(r => [r.left, r.right, r.top, r.bottom])"
        "(document.querySelector('#long > .doi-card').getBoundingClientRect())"
    )
    assert 0 <= box[0] < box[1] <= width
    assert 0 <= box[2] < box[3] <= 600
