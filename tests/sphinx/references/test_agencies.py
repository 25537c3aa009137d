"""Agencies that do not send metadata: the build passes, with links in place of citations."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.references import RECORDS
from support.servers.faults import Fault
from support.servers.metadata import UNAVAILABLE, WEB_PAGE, faulty_agency
from support.servers.web import Site
from support.sphinx_build import Build, build, write

TEXT = (
    "T\n=\n\n:doi:p:`10.5555/kahn-2006, 10.5555/three` and :doi:t:`10.5555/three`\n\n"
    ":doi:`10.5555/kahn-a`\n\n.. doi:bibliography::\n"
)
LINKS = [
    (f"https://doi.org/10.5555/{name}", f"doi:10.5555/{name}")
    for name in ("kahn-2006", "three", "three", "kahn-a")
]


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
    assert [(link.href, link.text) for link in built.links()] == LINKS
    assert len(re.findall("the metadata of 2 DOIs could not be read: .", built.said)) == 1
    assert "could not be checked" not in built.said
    assert "doi-bibliography" not in built.text()


def test_a_web_page_is_no_metadata(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built = build_with(WEB_PAGE, tmp_path, monkeypatch)
    assert built.status == 0
    assert [(link.href, link.text) for link in built.links()] == LINKS
    told = [line.partition("index.rst:")[2] for line in built.warnings.splitlines()]
    assert told == [
        f"4: WARNING: {name} has no metadata, so its citation is a plain link [doi.no-metadata]"
        for name in ("10.5555/kahn-2006", "10.5555/three")
    ]


def test_a_later_build_has_what_was_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: Site
) -> None:
    build_with(UNAVAILABLE[0], tmp_path, monkeypatch)
    monkeypatch.setenv("DOIURI_RESOLVER", server.url)
    built = build(tmp_path / "src", tmp_path)
    assert built.links()[0].text == "Kahn and Wilensky, 2006"
