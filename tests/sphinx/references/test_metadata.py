"""Metadata that agencies do not send, that tries to be markup, or that cards show.

``tests/system`` shows hostile metadata in a browser.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.references import HOSTILE, HOSTILE_BOOK, RECORDS, RETRACTED, hostile_records
from support.servers.faults import Fault
from support.servers.metadata import UNAVAILABLE, WEB_PAGE, faulty_agency, metadata_proxy
from support.servers.web import Site, site
from support.sphinx_build import Build, build, write

TEXT = (
    "T\n=\n\n:doi:p:`10.5555/kahn-2006, 10.5555/three` and :doi:t:`10.5555/three`\n\n"
    ":doi:`10.5555/kahn-a`\n\n.. doi:bibliography::\n"
)
LINKS = [
    (f"https://doi.org/10.5555/{name}", f"doi:10.5555/{name}")
    for name in ("kahn-2006", "three", "three", "kahn-a")
]
LISTED = [(url, url) for url, _ in LINKS[:2]]


def build_with(fault: Fault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *options: str) -> Build:
    source = write(tmp_path / "src", {"index.rst": TEXT})
    monkeypatch.setenv("DOIURI_CACHE", ":memory:")
    with faulty_agency(RECORDS, fault) as proxy:
        monkeypatch.setenv("DOIURI_RESOLVER", proxy.url)
        return build(source, tmp_path, "html", "-D", "doi_budget=20", *options)


@pytest.mark.parametrize("fault", UNAVAILABLE, ids=str)
def test_metadata_that_cannot_be_had_is_counted_once(
    fault: Fault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = build_with(fault, tmp_path, monkeypatch, "-W")
    assert (built.status, built.warnings) == (0, "")
    assert [(link.href, link.text) for link in built.links()] == LINKS + LISTED
    assert len(re.findall("the metadata of 2 DOIs could not be read: .", built.said)) == 1
    assert "could not be checked" not in built.said
    assert re.search(r'\(<a class="doi[^>]*>doi:10.5555/kahn-2006</a>; ', built.text())


def test_a_web_page_is_no_metadata(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built = build_with(WEB_PAGE, tmp_path, monkeypatch)
    assert built.status == 0
    assert [(link.href, link.text) for link in built.links()] == LINKS
    told = [line.partition("index.rst:")[2] for line in built.warnings.splitlines()]
    assert told == [
        f"4: WARNING: {name} has no metadata, so its citation is a plain link [doi.no-metadata]"
        for name in ("10.5555/kahn-2006", "10.5555/three")
    ]


def test_hostile_metadata_is_text_in_citations_cards_and_entries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    csl = {"title": "\\input{x} $x$", "author": [{"family": "\\input{x}"}]}
    tex = {"handle": "10.5555/tex", "metadata": {"application/vnd.citationstyles.csl+json": csl}}
    refs = f":doi:p:`10.5555/tex`\n\n{HOSTILE_BOOK['refs.rst']}"
    source = write(tmp_path / "src", {**HOSTILE_BOOK, "refs.rst": f"Title\n=====\n\n{refs}"})
    with site(metadata_proxy([*hostile_records(), tex])) as server:
        monkeypatch.setenv("DOIURI_RESOLVER", server.url)
        html = build(source, tmp_path, "html", "-W")
        latex = build(source, tmp_path / "latex", "latex")
    assert (html.status, html.warnings) == (0, "")
    page, refs = html.text(), html.text("refs.html")
    assert page.count('class="doi-card"') >= 2 * len(HOSTILE)
    assert refs.count('<li id="doi-') == len(HOSTILE) + 1
    assert len(page) < 1_000_000  # thousands of names and long titles are cut
    for text in page, refs:
        body = text.partition("<section")[2].partition("</section>")[0]
        assert re.search(r"<(script|img|svg|x)\b", body) is None
        assert re.search(r"<[a-z]+[^>]* on[a-z]+=", re.sub(r'"[^"]*"', '""', body)) is None
        assert "\u202e" not in body
    assert r"\input{x}" not in next(latex.out.glob("*.tex")).read_text("utf-8")


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
    assert sum(asked.target == "/10.5555/kahn-2006" for asked in server.seen) == 1


@pytest.mark.parametrize(("language", "word"), [("en", "retracted"), ("de", "zurückgezogen")])
def test_a_retracted_work_is_marked_with_one_warning(
    language: str, word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = "T\n=\n\n:doi:p:`10.5555/gone` :doi:`10.5555/gone`\n\n.. doi:bibliography::\n"
    files = {"index.rst": f"{more}\n.. toctree::\n\n   more\n", "more.rst": more}
    options = ("-D", f"language={language}", "-D", "doi_details=1")
    with site(metadata_proxy([RETRACTED])) as server:
        monkeypatch.setenv("DOIURI_RESOLVER", server.url)
        built = build(write(tmp_path / "src", files), tmp_path, "html", *options)
        again = build(tmp_path / "src", tmp_path, "html", *options)
    assert built.warnings.partition("WARNING: ")[2] == (
        "10.5555/gone: retracted 2020-06-05; notice 10.5555/notice [doi.retracted]\n"
    )
    assert again.warnings == ""
    for page in built.text(), built.text("more.html"):
        entry = page.partition("<li id=")[2].partition("</li>")[0]
        assert re.search(rf' <a [^>]*href="https://doi.org/10.5555/notice">\[{word} 2020-06-05\]</a>', entry)
        assert page.count(f'<span class="doi-card-byline">[{word} 2020-06-05]</span>') == 2


def test_a_citation_without_metadata_is_counted_once(tmp_path: Path, server: Site) -> None:
    source = write(tmp_path / "src", {"index.rst": "T\n=\n\n:doi:p:`10.5555/no-metadata`\n"})
    built = build(source, tmp_path, "html", "-D", "doi_details=1")
    assert "DOIs without metadata for a card: 1 of 1" in built.said
    assert [asked.target for asked in server.seen if "/api/" not in asked.target] == ["/10.5555/no-metadata"]
    again = build(source, tmp_path, "html", "-D", "doi_details=1")
    assert "without metadata" not in again.said
    write(source, {"works.json": '[{"DOI": "10.5555/no-metadata", "title": "Own"}]'})
    assert build(source, tmp_path / "own", "html", "-D", "doi_works=works.json").warnings == ""
