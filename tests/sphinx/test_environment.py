"""Doctrees and the environment hold DOIs; writers of attributes show their URIs."""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path
from xml.etree import ElementTree

import pytest
from doiuri import DOI
from support.servers.web import resolver, site
from support.sphinx_build import build, write

DOIS = [DOI("10.1000/A<b>"), DOI("10.1000/á"), DOI("10.1000/LOST")]
TEXT = "T\n=\n\n:doi:`10.1000/A<b>`, `x <doi:10.1000/%C3%A1>`_ and :doi:`10.1000/lost`\n"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write(tmp_path / "src", {"index.rst": TEXT})


@pytest.mark.parametrize("builder", ["xml", "pseudoxml"])
def test_writers_of_attributes_show_the_uri(source: Path, tmp_path: Path, builder: str) -> None:
    built = build(source, tmp_path, builder, "-D", "doi_resolve=False")
    page = built.text(f"index.{builder}")
    assert [DOI.from_uri(uri) for uri in re.findall(r'<reference [^>]*doi="([^"]*)"', page)] == DOIS
    if builder == "xml":
        ElementTree.fromstring(page)  # well-formed


def test_requests_name_this_package_and_its_version(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with site(resolver({})) as server:
        monkeypatch.setenv("DOIURI_RESOLVER", server.url)
        build(source, tmp_path)
        agents = {asked.headers["user-agent"] for asked in server.seen}
    [agent] = agents
    assert agent.startswith(f"sphinx-doiuri/{version('sphinx-doiuri')} doiuri/{version('doiuri')} (+https://")
