"""The look-up: once per build, only new DOIs; the warnings for DOIs that do not exist."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest
from doiuri import DOI
from doiuri.resolver import Outcome, Resolver
from support.ports import refusing
from support.servers.faults import NAME, TYPICAL, Fault
from support.servers.web import Site, resolver, site
from support.sphinx_build import build, write

FOUND = {f"10.1000/{number}": "https://example.org/" for number in range(100)}
CONF = 'extensions = ["sphinx_doiuri"]\n'
PAGES = {
    "conf.py": CONF,
    "index.rst": "T\n=\n\nOne :doi:`10.1000/1`\ntwo :doi:`10.1000/lost`\n\n.. toctree::\n\n   b\n",
    "b.rst": "B\n=\n\n:doi:`10.1000/LOST`, :doi:`10.1000/2`,\n:doi:`10.1000/1`\n",
}


def asked(server: Site) -> list[str]:
    return sorted(request.target.removeprefix("/api/handles/") for request in server.seen)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write(tmp_path / "src", PAGES)


def ask(monkeypatch: pytest.MonkeyPatch, server: Site) -> None:
    monkeypatch.setenv("DOIURI_RESOLVER", server.url)
    server.seen.clear()


NOT_FOUND = [
    "b.rst:4: WARNING: DOI not found: 10.1000/LOST [doi.not-found]",
    "index.rst:5: WARNING: DOI not found: 10.1000/lost [doi.not-found]",
]


@pytest.mark.parametrize("options", [(), ("-j", "2"), ("-j", "auto")])
def test_each_doi_is_asked_once_and_each_use_is_told(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    for number in range(12):  # Sphinx reads in several processes only if there are enough documents
        write(source, {f"many{number}.rst": f":orphan:\n\nT\n=\n\n:doi:`10.1000/{number}`\n"})
    with site(resolver(FOUND)) as server:
        ask(monkeypatch, server)
        built = build(source, tmp_path / "out", "html", *options)
        assert len(asked(server)) == 13
        assert Counter(target.upper() for target in asked(server)).most_common(1)[0][1] == 1
    assert built.told == NOT_FOUND
    marked = [link.text for link in built.links() if "doi-not-found" in link.classes]
    assert marked == ["doi:10.1000/lost"]
    (lost, *others) = built.links("b.html")
    assert "doi-not-found" in lost.classes
    assert lost.attributes["title"] == "This DOI was not found."
    assert not any("doi-not-found" in link.classes for link in others)


def test_answers_are_renewed_on_the_next_day_and_kept_if_they_cannot_be(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, strftime, registered = time.time(), time.strftime, {**FOUND}

    def marked(days: int) -> list[str]:
        later = time.gmtime(now + days * 86400)
        monkeypatch.setattr(time, "strftime", lambda form, when=later: strftime(form, when))
        monkeypatch.setenv("DOIURI_CACHE", str(tmp_path / f"{days}.sqlite"))
        built = build(source, tmp_path / "out")
        return [link.text for link in built.links() if "doi-not-found" in link.classes]

    with site(resolver(registered)) as server:
        ask(monkeypatch, server)
        assert marked(0) == ["doi:10.1000/lost"]
        monkeypatch.setenv("DOIURI_OFFLINE", "1")
        assert marked(1) == ["doi:10.1000/lost"]
        monkeypatch.delenv("DOIURI_OFFLINE")
        registered["10.1000/LOST"] = "https://example.org/"
        assert marked(2) == []


def test_only_what_is_new_is_asked(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with site(resolver(FOUND)) as server:
        ask(monkeypatch, server)
        build(source, tmp_path / "out")
        server.seen.clear()
        write(source, {"b.rst": "B\n=\n\n:doi:`10.1000/1` :doi:`10.1000/77`\n\n:doi:`10.1000/lost`\n"})
        built = build(source, tmp_path / "out")
    assert asked(server) == ["10.1000/77"]
    assert built.told == ["b.rst:6: WARNING: DOI not found: 10.1000/lost [doi.not-found]"]


def test_without_a_network_the_first_cause_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Most DOIs are not even asked about, because earlier requests failed."""
    page = "T\n=\n\n" + "\n".join(f":doi:`10.1000/{number}`" for number in range(60))
    source = write(tmp_path / "src", {"conf.py": 'extensions = ["sphinx_doiuri"]', "index.rst": page})
    with refusing() as port:
        monkeypatch.setenv("DOIURI_RESOLVER", f"http://127.0.0.1:{port}")
        built = build(source, tmp_path / "out")
    assert (built.status, built.warnings) == (0, "")
    assert f"60 of 60 DOIs could not be checked: 127.0.0.1:{port}: Connection refused\n" in built.said


FAULTY = {"index.rst": f"T\n=\n\n:doi:`{NAME}` and :doi:`T <{NAME}>`\n"}


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The pages if nothing is looked up."""
    folder = tmp_path_factory.mktemp("plain")
    return build(write(folder / "src", FAULTY), folder, "html", "-D", "doi_resolve=False").bytes()


@pytest.mark.parametrize("fault", TYPICAL, ids=str)
def test_fault_changes_no_byte_and_fails_no_build(
    fault: Fault, plain: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write(tmp_path / "src", FAULTY)
    with fault.serve() as server:
        monkeypatch.setenv("DOIURI_RESOLVER", server.url)
        monkeypatch.setenv("DOIURI_CACHE", ":memory:")
        built = build(source, tmp_path / "out", "html", "-W", "-D", "doi_timeout=100", "-D", "doi_budget=0.5")
    assert (built.status, built.warnings) == (0, "")
    assert built.bytes() == plain
    assert ("could not be checked" in built.said) == (fault.status == "unknown")


def test_the_dois_of_all_pages_are_checked_in_one_call(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The resolver divides the budget among the DOIs of one call."""
    asked: list[set[DOI]] = []

    def check(_: Resolver, dois: Iterable[DOI], **_options: object) -> list[Outcome]:
        asked.append({*dois})
        return [Outcome(doi, "found") for doi in asked[-1]]

    monkeypatch.setattr(Resolver, "check", check)
    assert build(source, tmp_path).warnings == ""
    assert asked == [{DOI(f"10.1000/{name}") for name in ("1", "2", "lost")}]
