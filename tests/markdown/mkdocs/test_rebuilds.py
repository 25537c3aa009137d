"""A new citation on one page changes the list on another; pages without citations stay as they are."""

from __future__ import annotations

import os
import re

import pytest
from doiuri_proxy.pytest_plugin import Proxies
from support.references import RECORDS

from .conftest import MakeSite, Site

PAGES = {
    "index.md": "# A\n\n[@doi:10.5555/kahn-a]\n",
    "b.md": "# B\n\nNothing yet\n",
    "c.md": "# C\n\n[@doi:10.5555/berg-1999]\n",
}
CITED = "# B\n\n[@doi:10.5555/kahn-b]\n"
SETTINGS = {
    "site_name": "Test",
    "theme": {"name": "mkdocs", "highlightjs": False},
    "plugins": [{"doiuri": {"bibliography": "references.md"}}],
}


def entries(page: str) -> list[str]:
    return re.findall(r'<li id="ref-([^"]*)"', page)


def build_changed(site: Site) -> set[str]:
    """Build what changed, as ``mkdocs build --dirty`` does; return the pages that were written."""
    pages = [path for path in (site.folder / "site").rglob("*.html") if path.name != "404.html"]
    for path in pages:
        os.utime(path, (2_000_000_000, 2_000_000_000))
    site.rebuild("build", dirty=True)
    return {
        str(path.relative_to(site.folder / "site").parent)
        for path in pages
        if path.stat().st_mtime != 2_000_000_000
    }


def test_a_dirty_build_writes_the_changed_page_and_the_list(
    site: MakeSite, doi_proxy: Proxies, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOIURI_RESOLVER", doi_proxy(RECORDS).url)
    built = site(PAGES)
    built.build(**SETTINGS)
    path = built.folder / "docs" / "b.md"
    path.write_text(CITED)
    os.utime(path, (2_100_000_000, 2_100_000_000))
    assert build_changed(built) == {"b", "references"}
    listed = (built.folder / "site" / "references" / "index.html").read_text("utf-8")
    assert entries(listed) == ["10.5555_2fkahn-a", "10.5555_2fkahn-b", "10.5555_2fberg-1999"]
