"""Hover cards, and metadata that agencies do not send, or that tries to be markup.

``tests/system`` shows hostile metadata in a browser.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from support.checks import assert_times, exactly
from support.references import HOSTILE, HOSTILE_BOOK, RECORDS, RETRACTED, hostile_records
from support.servers.faults import Fault
from support.servers.metadata import UNAVAILABLE, WEB_PAGE, faulty_agency, metadata_proxy
from support.servers.web import Site
from support.sphinx_build import Build, Serve, build, project, text_in, write

CSL = "application/vnd.citationstyles.csl+json"
CARD = {
    "title": "On <i>links</i> &amp; names",
    "author": [{"given": "Ada", "family": "Byron"}, {"literal": "The <b>Group</b>"}],
    "issued": {"date-parts": [[2019, 3, 1]]},
}
LINKED = ":doi:`10.1000/1`, :doi:`Title & so <10.1000/2>` and :doi:`10.1000/lost`"
PAGE = {"index.rst": f"T\n=\n\n{LINKED}\n\n.. image:: a.png\n   :target: doi:10.1000/2\n"}
DETAILS = ("-D", "doi_details=1")


@pytest.fixture
def cards(serve: Serve) -> Site:
    """A proxy that knows two of the DOIs, and their works."""
    return serve(
        metadata_proxy([{"handle": f"10.1000/{n}", "metadata": {CSL: CARD}} for n in (1, 2)])
    )


def test_cards_are_fetched_once_if_asked_for_and_kept_with_their_dois(
    tmp_path: Path, cards: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write(tmp_path / "src", PAGE)
    off = build(source, tmp_path / "off").text()
    assert re.search("doi-card|doiuri.css", off) is None
    existence = [f"/api/handles/10.1000/{name}" for name in ("1", "2", "lost")]
    assert sorted(asked.target for asked in cards.seen) == existence
    cards.seen.clear()
    page = build(source, tmp_path / "out", "html", *DETAILS, "-j", "2").text()
    assert sorted(asked.target for asked in cards.seen) == ["/10.1000/1", "/10.1000/2"]
    assert_times(2, 'aria-label="On links &amp; names. Ada Byron, The Group, 2019"', page)
    described = re.findall('<a aria-describedby="([^"]*)"', page)
    assert described == re.findall('class="doi-card" id="([^"]*)"', page)
    assert '<span class="doi-card-title" data-doi="On links &amp; names"></span>' in page
    assert "Ada Byron" not in text_in(page), "a card is text, which excerpts of the search show"
    assert '<script defer="defer" src="_static/doiuri.js' in page
    exactly(2, "cards", set(re.findall('class="doi-card" id="([^"]*)"', page)))
    assert "<script" not in page[page.index('<div class="body"') : page.index("</section>")]
    assert_times(1, "doiuri.css", page)
    assert (tmp_path / "out" / "html" / "_static" / "doiuri.css").exists()
    monkeypatch.setenv("DOIURI_OFFLINE", "1")
    for out in "out", "other":  # the environment has the works, and so has the cache
        assert build(source, tmp_path / out, "html", *DETAILS, "-a").text() == page
    book = build(source, tmp_path / "out", "epub", *DETAILS)
    assert "doi-card" not in book.text("index.xhtml")
    assert book.links("index.xhtml")[0].href == "https://doi.org/10.1000/1"
    german = build(source, tmp_path / "de", "html", *DETAILS, "-D", "language=de").text()
    assert 'aria-label="Über doi:10.1000/1"' in german
    assert 'title="Diese DOI wurde nicht gefunden."' in german


TEXT = (
    "T\n=\n\n:doi:p:`10.5555/kahn-2006, 10.5555/three` and :doi:t:`10.5555/three`\n\n"
    ":doi:`10.5555/kahn-a`\n\n.. doi:bibliography::\n"
)

LINKS = [
    (f"https://doi.org/10.5555/{name}", f"doi:10.5555/{name}")
    for name in ("kahn-2006", "three", "three", "kahn-a")
]
LISTED = [(url, url) for url, _ in LINKS[:2]]


def build_with(
    fault: Fault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *options: str
) -> Build:
    source = write(tmp_path / "src", {"index.rst": TEXT})
    monkeypatch.setenv("DOIURI_CACHE", ":memory:")
    with faulty_agency(RECORDS, fault) as proxy:
        monkeypatch.setenv("DOIURI_RESOLVER", proxy.url)
        return build(source, tmp_path, "html", "-D", "doi_budget=20", *options)


@pytest.mark.parametrize(
    ("fault", "options", "count"), [(UNAVAILABLE[0], (), 2), (UNAVAILABLE[1], DETAILS, 3)], ids=str
)
def test_metadata_that_cannot_be_had_is_counted_once(
    fault: Fault,
    options: tuple[str, ...],
    count: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    built = build_with(fault, tmp_path, monkeypatch, "-W", *options)
    assert "doi-card" not in built.text()
    assert (built.status, built.warnings) == (0, "")
    assert [(link.href, link.text) for link in built.links()] == LINKS + LISTED
    exactly(
        1, "reports", re.findall(f"the metadata of {count} DOIs could not be read: .", built.said)
    )
    assert "could not be checked" not in built.said
    assert re.search(r'\(<a class="doi[^>]*>doi:10.5555/kahn-2006</a>; ', built.text())


def test_a_web_page_is_no_metadata(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built = build_with(WEB_PAGE, tmp_path, monkeypatch)
    assert built.status == 0
    assert [(link.href, link.text) for link in built.links()] == LINKS
    assert built.at == [
        f"4: {name} has no metadata, so its citation is a plain link [doi.no-metadata]"
        for name in ("10.5555/kahn-2006", "10.5555/three")
    ]


def test_hostile_metadata_is_text_in_citations_cards_and_entries(
    tmp_path: Path, serve: Serve
) -> None:
    csl = {"title": "\\input{x} $x$", "author": [{"family": "\\input{x}"}]}
    tex = {"handle": "10.5555/tex", "metadata": {CSL: csl}}
    refs = f":doi:p:`10.5555/tex`\n\n{HOSTILE_BOOK['refs.rst']}"
    source = write(tmp_path / "src", {**HOSTILE_BOOK, "refs.rst": f"Title\n=====\n\n{refs}"})
    serve(metadata_proxy([*hostile_records(), tex]))
    html = build(source, tmp_path, "html", "-W")
    latex = build(source, tmp_path / "latex", "latex")
    assert (html.status, html.warnings) == (0, "")
    page, refs = html.text(), html.text("refs.html")
    assert page.count('class="doi-card"') >= 2 * len(HOSTILE)
    assert_times(len(HOSTILE) + 1, '<li class="csl-entry" id="doi-', refs)
    assert len(page) < 1_000_000  # thousands of names and long titles are cut
    for text in page, refs:
        body = text.partition("<section")[2].partition("</section>")[0]
        assert re.search(r"<(script|img|svg|x)\b", body) is None, text
        assert re.search(r"<[a-z]+[^>]* on[a-z]+=", re.sub(r'"[^"]*"', '""', body)) is None, text
        assert "\u202e" not in body, text
    assert r"\input{x}" not in next(latex.out.glob("*.tex")).read_text("utf-8")


def test_cards_of_citations_and_dois_without_a_card_are_counted_once(
    tmp_path: Path, server: Site
) -> None:
    text = ":doi:p:`10.5555/kahn-2006` :doi:p:`10.5555/no-metadata`\n\n.. doi:bibliography::\n"
    source = project(tmp_path, text)
    built = build(source, tmp_path, "html", *DETAILS)
    page = built.text()
    title = "A framework for distributed digital object services"
    assert f'<span class="doi-card-title" data-doi="{title}">' in page
    assert '<span class="doi-card-byline" data-doi="Robert Kahn, Robert Wilensky, 2006">' in page
    assert (
        '<span class="doi-card-byline" data-doi="International Journal on Digital Libraries">'
        in page
    )
    assert_times(1, 'class="doi-card"', page)  # none in the list
    assert "DOIs without metadata for a card: 1 of 2" in built.said
    works = [asked.target for asked in server.seen if "/api/" not in asked.target]
    assert sorted(works) == ["/10.5555/kahn-2006", "/10.5555/no-metadata"]
    assert "without metadata" not in build(source, tmp_path, "html", *DETAILS).said
    write(source, {"works.json": '[{"DOI": "10.5555/no-metadata", "title": "Own"}]'})
    assert build(source, tmp_path / "own", "html", "-D", "doi_works=works.json").warnings == ""


@pytest.mark.parametrize(("language", "word"), [("en", "retracted"), ("de", "zurückgezogen")])
def test_a_retracted_work_is_marked_with_one_warning(
    language: str, word: str, tmp_path: Path, serve: Serve
) -> None:
    more = "T\n=\n\n:doi:p:`10.5555/gone` :doi:`10.5555/gone`\n\n.. doi:bibliography::\n"
    files = {"index.rst": f"{more}\n.. toctree::\n\n   more\n", "more.rst": more}
    options = ("-D", f"language={language}", *DETAILS)
    serve(metadata_proxy([RETRACTED]))
    built = build(write(tmp_path / "src", files), tmp_path, "html", *options)
    again = build(tmp_path / "src", tmp_path, "html", *options)
    assert built.warnings.partition("WARNING: ")[2] == (
        "10.5555/gone: retracted 2020-06-05; notice 10.5555/notice [doi.retracted]\n"
    )
    assert again.warnings == ""
    for page in built.text(), built.text("more.html"):
        entry = page.partition('<li class="csl-entry" id=')[2].partition("</li>")[0]
        assert re.search(
            rf' <a [^>]*href="https://doi.org/10.5555/notice">\[{word} 2020-06-05\]</a>', entry
        ), page
        assert_times(2, f'<span class="doi-card-byline" data-doi="[{word} 2020-06-05]">', page)


def test_entries_isolate_what_runs_from_right_to_left_and_name_their_links_back(
    tmp_path: Path,
) -> None:
    work = {"id": "k", "title": "\u05e9\u05dd", "author": [{"family": "\u05db\u05d4\u05df"}]}
    conf = "doi_works, doi_resolve, smartquotes = 'works.json', False, False"
    text = 'A "<b>" & c\n===========\n\n:doi:p:`@k`\n\n.. doi:bibliography::\n'
    files = {"index.rst": text, "works.json": json.dumps([work])}
    source = project(tmp_path, "", conf, **files)

    page = build(source, tmp_path / "out").text()

    assert re.findall("<bdi>(.*?)</bdi>", page)[-2:] == ["\u05db\u05d4\u05df", "\u05e9\u05dd"]
    assert '<a role="doc-backlink" aria-label="Cited in A &quot;&lt;b&gt;&quot; &amp; c"' in page
