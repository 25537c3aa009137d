"""Hover cards: the text of works of any quality, and pages without metadata."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from doiuri import DOI
from doiuri.plugins.display import Details, details_of
from doiuri.records import Work
from support.servers.web import Answer, Asked, Site, resolver, site
from support.sphinx_build import build, write

TARGETS = {"10.1000/1": "https://example.org/", "10.1000/2": "https://example.org/"}
CARD = {
    "title": "On <i>links</i> &amp; names",
    "author": [{"given": "Ada", "family": "Byron"}, {"literal": "The <b>Group</b>"}],
    "issued": {"date-parts": [[2019, 3, 1]]},
}
PAGE = {"index.rst": "T\n=\n\n:doi:`10.1000/1`, :doi:`Title & so <10.1000/2>` and :doi:`10.1000/lost`\n"}


def answering(metadata: Callable[[str], Answer]) -> Callable[[Asked], Answer]:
    rest = resolver(TARGETS)

    def answer(asked: Asked) -> Answer:
        if asked.target.startswith("/api/"):
            return rest(asked)
        assert "csl+json" in asked.headers["accept"]
        return metadata(asked.target[1:])

    return answer


def csl(_: str) -> Answer:
    return Answer(200, {"Content-Type": "application/vnd.citationstyles.csl+json"}, json.dumps(CARD).encode())


@pytest.mark.parametrize(
    ("csl", "details"),
    [
        (CARD, Details("On links & names", "Ada Byron, The Group, 2019", "")),
        ({"title": "A", "container-title": ["J", "K"]}, Details("A", "", "J")),
        ({"title": "x" * 5000}, Details("x" * 299 + "…", "", "")),
        ({"title": "T", "author": [{"family": name} for name in "ABC"]}, Details("T", "A, B, C", "")),
        ({"title": "T", "author": [{"family": name} for name in "ABCD"]}, Details("T", "A, et al.", "")),
        ({"title": "", "author": [{"family": "B"}]}, None),
        ({}, None),
    ],
)  # fmt: skip
def test_details_of_works(csl: dict[str, object], details: Details | None) -> None:
    assert details_of(Work(DOI("10.1000/1"), csl)) == details


def cards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, metadata: Callable[[str], Answer], *options: str
) -> tuple[str, Site]:
    source = write(tmp_path / "src", PAGE)
    with site(answering(metadata)) as server:
        monkeypatch.setenv("DOIURI_RESOLVER", server.url)
        built = build(source, tmp_path / "out", "html", *options)
    assert built.status == 0
    return built.text(), server


def test_card_and_accessible_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page, _ = cards(tmp_path, monkeypatch, csl, "-D", "doi_details=1")
    assert 'aria-label="doi:10.1000/1: On links &amp; names. Ada Byron, The Group, 2019"' in page
    assert 'aria-label="Title &amp; so: On links &amp; names. Ada Byron, The Group, 2019"' in page
    assert '<span class="doi-card-title">On links &amp; names</span>' in page
    assert page.count('class="doi-card"') == 2
    assert "<script" not in page[page.index('<div class="body"') : page.index("</section>")]
    assert page.count("doiuri.css") == 1
    assert (tmp_path / "out" / "html" / "_static" / "doiuri.css").exists()


@pytest.mark.parametrize(
    "answer",
    [
        Answer(404),
        Answer(429),
        Answer(200, {"Content-Type": "text/html"}, b"<html>"),
    ],
    ids=lambda answer: str(answer.status),
)
def test_without_an_answer_the_page_is_the_plain_one(
    answer: Answer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, _ = cards(tmp_path / "plain", monkeypatch, lambda _: answer)
    page, _ = cards(tmp_path / "cards", monkeypatch, lambda _: answer, "-D", "doi_details=1")
    assert page == plain


def test_cards_are_fetched_once_if_asked_for_and_kept_with_their_dois(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    off, server = cards(tmp_path / "off", monkeypatch, csl)
    assert "doi-card" not in off
    assert all(asked.target.startswith("/api/") for asked in server.seen)
    first, server = cards(tmp_path, monkeypatch, csl, "-D", "doi_details=1", "-j", "2")
    asked = [asked.target for asked in server.seen]
    existence = [f"/api/handles/10.1000/{name}" for name in ("1", "2", "lost")]
    assert sorted(asked) == ["/10.1000/1", "/10.1000/2", *existence]
    monkeypatch.setenv("DOIURI_OFFLINE", "1")
    for out in "out", "other":  # the environment has the works, and so has the cache
        again = build(tmp_path / "src", tmp_path / out, "html", "-D", "doi_details=1", "-a")
        assert again.text() == first
    book = build(tmp_path / "src", tmp_path / "out", "epub", "-D", "doi_details=1")
    assert "doi-card" not in book.text("index.xhtml")
    assert book.links("index.xhtml")[0].href == "https://doi.org/10.1000/1"


def test_translated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page, _ = cards(tmp_path, monkeypatch, csl, "-D", "doi_details=1", "-D", "language=de")
    assert 'aria-label="Über doi:10.1000/1"' in page
    assert 'title="Diese DOI wurde nicht gefunden."' in page
