"""A new citation on one page changes the list on another; pages without citations stay as they are."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest
from doiuri_proxy.pytest_plugin import Proxies
from mkdocs.commands.build import build
from mkdocs.config import load_config
from support.ports import free_port
from support.references import RECORDS

from .conftest import MakeSite, Site, fetch, wait_for

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

pytestmark = pytest.mark.newest


def entries(page: str) -> list[str]:
    return re.findall(r'<li id="ref-([^"]*)"', page)


def contents(requests: list[bytes]) -> list[bytes]:
    return [path for path in requests if not path.startswith(b"/api/")]


def test_a_served_site_has_the_new_citation_in_its_list(site: MakeSite, doi_proxy: Proxies) -> None:
    folder = site(PAGES).folder
    proxy, port = doi_proxy(RECORDS), free_port()
    (folder / "mkdocs.yml").write_text(json.dumps(SETTINGS))
    environment = {"DOIURI_RESOLVER": proxy.url, "DOIURI_CACHE": ":memory:", "NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-m", "mkdocs", "serve", "-a", f"127.0.0.1:{port}"]
    url = f"http://127.0.0.1:{port}"
    with subprocess.Popen(
        command, cwd=folder, env={**os.environ, **environment}, stderr=subprocess.DEVNULL
    ) as server:
        try:
            before = wait_for(f"{url}/references/", "doi-references")
            assert entries(before) == ["10.5555_2fkahn-a", "10.5555_2fberg-1999"]
            assert ">KAHN, 2001</a>" in fetch(f"{url}/")
            other, asked = fetch(f"{url}/c/"), len(proxy.log)
            (folder / "docs" / "b.md").write_text(CITED)
            after = wait_for(f"{url}/references/", "kahn-b")
            assert entries(after) == ["10.5555_2fkahn-a", "10.5555_2fkahn-b", "10.5555_2fberg-1999"]
            assert ">KAHN, 2001a</a>" in fetch(f"{url}/")
            assert ">Kahn, 2001b</a>" in fetch(f"{url}/b/")
            assert without_times(fetch(f"{url}/c/")) == without_times(other)
            new = [request.path for request in proxy.log[asked:]]
            assert set(new) <= {b"/10.5555/kahn-b", b"/api/handles/10.5555/kahn-b"}
            assert len(contents(new)) == 2  # the work and its reference
            (folder / "docs" / "b.md").write_text(PAGES["b.md"])
            wait_for(f"{url}/", ">KAHN, 2001</a>")
            assert without_times(fetch(f"{url}/references/")) == without_times(before)
            assert len(proxy.log) == asked + len(new)
        finally:
            server.terminate()


def without_times(page: str) -> str:
    """A served page without the number of the build, which is for reloading."""
    return re.sub(r"livereload\([0-9]+, [0-9]+\)|Build Date.*", "", page)


def build_changed(site: Site) -> set[str]:
    """Build what changed, as ``mkdocs build --dirty`` does; return the pages that were written."""
    pages = [path for path in (site.folder / "site").rglob("*.html") if path.name != "404.html"]
    for path in pages:
        os.utime(path, (2_000_000_000, 2_000_000_000))
    config = load_config(str(site.folder / "mkdocs.yml"))
    config.plugins.on_startup(command="build", dirty=True)
    build(config, dirty=True)
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
