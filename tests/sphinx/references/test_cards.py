"""Cards of cited DOIs: from the works, without other requests."""

from __future__ import annotations

from pathlib import Path

from support.servers.web import Site
from support.sphinx_build import build, write


def test_cards_of_citations(tmp_path: Path, server: Site) -> None:
    text = "T\n=\n\n:doi:p:`10.5555/kahn-2006` :doi:`10.5555/no-metadata`\n\n.. doi:bibliography::\n"
    source = write(tmp_path / "src", {"index.rst": text})
    built = build(source, tmp_path, "html", "-D", "doi_details=1")
    page = built.text()
    title = "A framework for distributed digital object services"
    assert f'<span class="doi-card-title">{title}</span>' in page
    assert '<span class="doi-card-byline">Robert Kahn, Robert Wilensky, 2006</span>' in page
    assert '<span class="doi-card-byline">International Journal on Digital Libraries</span>' in page
    assert page.count('class="doi-card"') == 1  # none in the list
    assert "DOIs without metadata for a card: 1 of 2" in built.said
    assert sum(asked.target == "/10.5555/kahn-2006" for asked in server.seen) == 2


def test_a_citation_without_metadata_is_counted_once(tmp_path: Path, server: Site) -> None:
    source = write(tmp_path / "src", {"index.rst": "T\n=\n\n:doi:p:`10.5555/no-metadata`\n"})
    built = build(source, tmp_path, "html", "-D", "doi_details=1")
    assert "DOIs without metadata for a card: 1 of 1" in built.said
    assert [asked.target for asked in server.seen if "/api/" not in asked.target] == ["/10.5555/no-metadata"]
    again = build(source, tmp_path, "html", "-D", "doi_details=1")
    assert "without metadata" not in again.said
