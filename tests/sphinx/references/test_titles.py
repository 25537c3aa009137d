"""Cross-references to titles that cite: their texts and their targets."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import pytest
from support.servers.web import Site
from support.sphinx_build import Build, build, write

LABELS = {
    "index.rst": "T\n=\n\n:ref:`one`, :ref:`two`, :ref:`rubric`, :ref:`own <one>` and :any:`two`\n\n"
    ".. toctree::\n\n   a\n   b\n",
    "a.rst": f"A\n=\n\n.. _one:\n\nOn :doi:t:`10.5555/kahn-a`\n{'-' * 30}\n\n.. _rubric:\n\n"
    ".. rubric:: See :doi:p:`10.5555/kahn-a`\n\nSee :ref:`one`\n\n"
    f".. _other:\n.. _two:\n\nAfter :doi:p:`10.5555/no-metadata`\n{'-' * 50}\n",
    "b.rst": "B\n=\n",
}


def references(built: Build, name: str) -> list[str]:
    return re.findall(r'<span class="std std-ref">([^<]*)</span>', built.text(name))


def test_references_to_titles_show_the_label_and_ids_keep_the_name(tmp_path: Path, server: Site) -> None:
    source = write(tmp_path / "src", LABELS)
    built = build(source, tmp_path, "html", "-j", "2")
    after = "After (doi:10.5555/no-metadata)"
    assert references(built, "index.html") == ["On KAHN (2001)", after, "See (KAHN, 2001)", "own", after]
    assert references(built, "a.html") == ["On KAHN (2001)"]
    assert 'id="on-doi-10-5555-kahn-a"' in built.text("a.html")
    write(source, {"b.rst": f"B\n=\n\n.. _three:\n\n:doi:p:`10.5555/kahn-a`\n{'-' * 30}\n\n:ref:`three`\n"})
    again = build(source, tmp_path)
    assert references(again, "b.html") == ["(KAHN, 2001)"]
    assert references(again, "index.html") == references(built, "index.html")
    fresh = build(source, tmp_path / "fresh")
    assert again.bytes()["objects.inv"] == fresh.bytes()["objects.inv"]


def test_references_change_with_the_label(
    tmp_path: Path, server: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write(tmp_path / "src", LABELS)
    monkeypatch.setenv("DOIURI_OFFLINE", "1")
    offline = build(source, tmp_path)
    assert references(offline, "index.html")[0] == "On doi:10.5555/kahn-a"
    monkeypatch.delenv("DOIURI_OFFLINE")
    online = build(source, tmp_path)
    assert references(online, "index.html")[0] == "On KAHN (2001)"
    again = build(source, tmp_path)
    assert re.findall(r"writing output\.\.\. \[ *\d+%\] (\S+)", again.said) == []


def test_titles_are_kept_without_their_documents(tmp_path: Path, server: Site) -> None:
    build(write(tmp_path / "src", LABELS), tmp_path)
    environment = pickle.loads((tmp_path / "doctrees" / "environment.pickle").read_bytes())
    assert len(environment.domaindata["doi"]["titles"]["a"]) > 1
    assert len(pickle.dumps(environment.domaindata["doi"])) < 5_000
