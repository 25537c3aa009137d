"""Parallel and incremental builds, and builds from the lock file."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from doiuri.resolver import Resolver
from support.servers.web import Site
from support.sphinx_build import Build, build, write

REFS = "R\n=\n\n.. doi:bibliography::\n   :scope: project\n"
FILES = {
    "index.rst": "T\n=\n\n.. toctree::\n\n   a\n   b\n   c\n   refs\n",
    "a.rst": "A\n=\n\n:doi:p:`10.5555/kahn-a`\n",
    "b.rst": "B\n=\n\nNothing yet, but :doi:`10.5555/three`\n",
    "c.rst": "C\n=\n\n:doi:p:`10.5555/berg-1999`\n",
    "refs.rst": REFS,
}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write(tmp_path / "src", FILES)


def shown(built: Build, name: str) -> list[str]:
    return [link.text for link in built.links(name)]


def written(built: Build) -> set[str]:
    """The pages that were written; Sphinx itself writes those again whose toctree has a changed page."""
    return set(re.findall(r"writing output\.\.\. \[ *\d+%\] (\S+)", built.said)) - {"index"}


def test_a_new_citation_changes_the_list_and_the_letters(
    source: Path, tmp_path: Path, server: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOIURI_CACHE", ":memory:")
    first = build(source, tmp_path)
    assert shown(first, "a.html") == ["KAHN, 2001"]
    server.seen.clear()
    write(source, {"b.rst": "B\n=\n\n:doi:p:`10.5555/kahn-b`\n"})
    second = build(source, tmp_path)
    assert [asked.target for asked in server.seen] == ["/10.5555/kahn-b"]
    assert written(second) == {"a", "b", "refs"}
    assert shown(second, "a.html") == ["KAHN, 2001a"]
    assert shown(second, "b.html") == ["Kahn, 2001b"]


def test_an_unchanged_rebuild_writes_and_asks_nothing(source: Path, tmp_path: Path, server: Site) -> None:
    build(source, tmp_path)
    assert len(server.seen) == 2 + 1  # two cited works, and one DOI that is only linked
    server.seen.clear()
    again = build(source, tmp_path)
    build(source, tmp_path / "other")  # the cache has the works
    assert (written(again), again.warnings, server.seen) == (set(), "", [])


def test_a_lock_file_builds_offline_byte_for_byte(
    source: Path, tmp_path: Path, server: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    online = build(source, tmp_path / "online")
    assert build(source, tmp_path / "lock", "doi-lock").warnings == ""
    content = (source / "doi.lock.json").read_bytes()
    lock = json.loads(content)
    assert lock["doiuri-lock"] == 1
    assert list(lock["works"]) == ["10.5555/BERG-1999", "10.5555/KAHN-A"]
    build(source, tmp_path / "lock again", "doi-lock")
    assert (source / "doi.lock.json").read_bytes() == content
    server.seen.clear()
    monkeypatch.setenv("DOIURI_CACHE", ":memory:")
    offline = build(source, tmp_path / "offline")
    assert (offline.warnings, server.seen) == ("", [])
    assert {k: v for k, v in offline.bytes().items() if k.endswith(".html")} == {
        k: v for k, v in online.bytes().items() if k.endswith(".html")
    }


def test_what_the_lock_file_lacks_is_told(source: Path, tmp_path: Path, server: Site) -> None:
    build(source, tmp_path / "lock", "doi-lock")
    cited = "B\n=\n\n:doi:p:`10.5555/kahn-b` and :doi:p:`10.5555/three`\n"
    write(source, {"b.rst": cited, "c.rst": "C\n=\n"})
    built = build(source, tmp_path)
    run = "run sphinx-build -b doi-lock to"
    missing = f"is not in the lock file; {run} add it [doi.lock-missing]"
    unused = f"is in the lock file but in no document; {run} update it [doi.lock-unused]"
    assert built.told == [
        f"b.rst:4: WARNING: 10.5555/kahn-b {missing}",
        f"b.rst:4: WARNING: the metadata of 10.5555/three {missing}",
        f"doi.lock.json:5: WARNING: 10.5555/BERG-1999 {unused}",
    ]
    assert shown(built, "b.html") == ["doi:10.5555/kahn-b", "doi:10.5555/three"]


def test_existence_comes_first_if_there_are_too_many(
    source: Path, tmp_path: Path, server: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Resolver().settings
    monkeypatch.setattr(Resolver, "settings", replace(settings, rate=1e-3))
    built = build(source, tmp_path)
    targets = [asked.target for asked in server.seen]
    assert targets[0].startswith("/doiRA/")
    assert shown(built, "a.html") == ["KAHN, 2001"]
