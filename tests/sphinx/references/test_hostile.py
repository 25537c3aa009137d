"""Metadata that tries to be markup; ``tests/system`` shows it in a browser."""

from pathlib import Path

import pytest
from support.references import HOSTILE, HOSTILE_BOOK, hostile_records
from support.servers.metadata import metadata_proxy
from support.servers.web import site
from support.sphinx_build import build, write


def test_hostile_metadata_has_citations_cards_and_entries(tmp_path: Path) -> None:
    with site(metadata_proxy(hostile_records())) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("DOIURI_RESOLVER", server.url)
        html = build(write(tmp_path / "src", HOSTILE_BOOK), tmp_path, "html", "-W")
    assert (html.status, html.warnings) == (0, "")
    page, refs = html.text(), html.text("refs.html")
    assert page.count('class="doi-card"') >= 2 * len(HOSTILE)
    assert refs.count('<li id="doi-') == len(HOSTILE)
    assert len(page) < 1_000_000  # thousands of names and long titles are cut
