"""Cards of cited DOIs: from the works, without other requests."""

from __future__ import annotations

import json
from pathlib import Path

from doiuri import DOI
from doiuri.records import Work
from sphinx_doiuri._details import Details, details_of, read_details
from support.servers.web import Site
from support.sphinx_build import build, write

CSL = {
    "title": "A",
    "author": [{"family": "B", "given": "C."}],
    "issued": "2001",
    "container-title": ["J", "K"],
}


def test_details_of_metadata_and_works() -> None:
    read = read_details(json.dumps({**CSL, "issued": {"date-parts": [[2001]]}}).encode())
    assert read == details_of(Work(DOI("10.1/1"), CSL)) == Details("A", ("C. B",), "2001", "J")
    assert details_of(Work(DOI("10.1/1"), {"author": [{"family": "B"}]})) is None
    long = details_of(Work(DOI("10.1/1"), {"title": "x" * 900}))
    assert long is not None
    assert len(long.title) == 300


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
