"""Spelling does not matter: a DOI is the same in any case of its letters, with any label and escapes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from support.servers.web import Site
from support.sphinx_build import build, write

NAMES = ["10.5555/kahn-b", "10.5555/KAHN-B", "doi:10.5555/Kahn-b", "https://dx.doi.org/10.5555/%6Bahn-B"]


@pytest.mark.parametrize("name", NAMES)
def test_a_doi_has_one_request_one_number_and_one_entry(name: str, tmp_path: Path, server: Site) -> None:
    cited = f":doi:p:`10.5555/kahn-a; 10.5555/kahn-b` :doi:t:`{name}` :doi:`{name}` `T <doi:10.5555/kAHN-B>`_"
    files = {"index.rst": f"T\n=\n\n{cited}\n\n.. doi:bibliography::\n   :nocite: {name}\n"}
    built = build(write(tmp_path / "src", files), tmp_path, "html", "-D", "doi_citation=number")
    assert [link.text for link in built.links()][:3] == ["1", "2", "Kahn [2]"]
    assert len({link.href for link in built.links()[1:3]}) == 1
    assert built.text().count('<li id="doi-') == 2
    assert len(server.seen) == 2
    assert [line for line in built.told if "not found" in line] == []


@pytest.mark.parametrize(
    "name", ["10.5555/lost", "10.5555/LOST", "doi:10.5555/Lost", "https://doi.org/10.5555/l%6Fst"]
)
def test_an_accepted_doi_is_accepted(name: str, tmp_path: Path, server: Site) -> None:
    source = write(tmp_path / "src", {"index.rst": f"T\n=\n\n:doi:`{name}` and :doi:`10.5555/three`\n"})
    build(source, tmp_path / "lock", "doi-lock")
    lock = json.loads((source / "doi.lock.json").read_text("utf-8"))
    (source / "doi.lock.json").write_text(
        json.dumps(lock | {"accepted": {"10.5555/LOST": "withdrawn"}}), "utf-8"
    )
    for builder in "html", "linkcheck", "doi-lock", "html":
        built = build(source, tmp_path / "out", builder, "-D", "linkcheck_report_timeouts_as_broken=0")
        assert [line for line in built.told if "10.5555" in line] == [], builder
        assert built.status == 0
    assert "withdrawn" in (source / "doi.lock.json").read_text("utf-8")


@pytest.mark.parametrize("known", ["known", "unknown"])
def test_numbers_have_the_reading_order_and_lists_every_work(
    known: str, tmp_path: Path, server: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That is the order of the toctrees; documents in none come last, by name."""
    order = {
        "index": "three",
        "b": "kahn-b",
        "a": "kahn-a",
        "x": "kahn-2006",
        "y": "berg-1999",
        "z": "literal",
    }
    files = {name: f"T\n=\n\n:doi:p:`10.5555/{work}`\n\n" for name, work in order.items()}
    files["index"] += ".. toctree::\n\n   b\n   a\n"
    files["y"] += ".. doi:bibliography::\n   :scope: project\n"
    monkeypatch.setenv("DOIURI_OFFLINE", str(known == "unknown"))
    source = write(tmp_path / "src", {f"{name}.rst": text for name, text in files.items()})
    built = build(source, tmp_path, "html", "-D", "doi_citation=number")
    entries = re.findall(r'<li><p><a class="doi|<li id="doi-([\w-]*)-\w{8}"', built.text("y.html"))
    names = re.findall(
        r'href="https://doi.org/10.5555/([\w-]*)"', built.text("y.html").partition("doi-bibliography")[2]
    )
    assert names == [*order.values()]
    assert len(entries) == len(order)
    if known == "known":
        shown = [built.links(f"{name}.html")[0] for name in order]
        assert [link.text for link in shown] == ["1", "2", "3", "4", "5", "6"]
