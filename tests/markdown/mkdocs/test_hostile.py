"""Metadata that tries to be markup or to run scripts, on the pages of a site, in a browser."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from doiuri_proxy.pytest_plugin import Proxies
from support.devtools import Page, browsing
from support.references import ATTACKS, HARMLESS, HOSTILE, PROVOKE, hostile_records

from .conftest import MakeSite

pytestmark = pytest.mark.newest

PLUGIN = {"bibliography": "references.md", "text": "{authors} ({year}): {title}"}
PAGES = {
    "index.md": f"# On [{'; '.join(f'@doi:{name}' for name in HOSTILE)}]\n\n"
    + " ".join(f"@doi:{name} [](doi:{name})" for name in HOSTILE),
    "other.md": f"# Other\n\n@doi:{HOSTILE[0]}\n",
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Page]:
    with browsing() as page:
        yield page


@pytest.mark.parametrize("theme", ["mkdocs", "material"])
def test_nothing_runs(
    theme: str, browser: Page, site: MakeSite, doi_proxy: Proxies, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOIURI_RESOLVER", doi_proxy(hostile_records()).url)
    built = site(PAGES)
    settings = {"font": False} if theme == "material" else {"highlightjs": False}  # no other servers
    extensions = ["toc", "attr_list", "tables", "smarty", "footnotes"]
    built.build(
        plugins=["search", {"doiuri": PLUGIN}],
        theme={"name": theme, **settings},
        markdown_extensions=extensions,
        strict=True,
    )
    assert built.messages() == []
    for name in ("index.html", "references/index.html", "other/index.html"):
        browser.open(built.folder / "site" / name)
        assert json.loads(browser.run_async(PROVOKE)) == HARMLESS, name
        browser.run(f"document.body.insertAdjacentHTML('beforeend', {ATTACKS[1]!r})")
        browser.wait("document.documentElement.lang === 'owned'")  # what runs would have been seen
    listed = (built.folder / "site" / "references" / "index.html").read_text("utf-8")
    assert listed.count('<li id="ref-') == len(HOSTILE)
