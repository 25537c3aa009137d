"""``mkdocs serve``: a change of a page shows, and only changed sources are read again."""

from __future__ import annotations

import pytest
from doiuri_proxy.pytest_plugin import Proxies

from .conftest import RECORDS, MakeSite


def test_a_change_is_built_and_only_new_dois_are_requested(
    site: MakeSite, doi_proxy: Proxies, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = site({"index.md": "# A\n\ndoi:10.1000/182", "b.md": "# B\n\ndoi:10.1000/456"})
    proxy = doi_proxy(RECORDS)
    monkeypatch.setenv("DOIURI_RESOLVER", proxy.url)
    monkeypatch.setenv("DOIURI_CACHE", ":memory:")
    built.build()
    assert len(proxy.log) == 2
    (built.folder / "docs" / "b.md").write_text("# B\n\ndoi:10.1000/456 and doi:10.1000/none")
    built.rebuild("serve")
    classes = [style for _, style, _ in built.page("b/index.html").links if style.startswith("doi")]
    assert classes == ["doi", "doi doi-not-found"]
    assert [request.path for request in proxy.log[2:]] == [b"/api/handles/10.1000/none"]
