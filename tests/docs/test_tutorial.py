"""The pages that lead step by step, followed word by word: what they show is what comes out."""

from __future__ import annotations

import re
from pathlib import Path

from support.manual.walkthrough import ROOT, follow, steps


def followed(name: str, tmp_path: Path) -> Path:
    """The folder after all steps of a page of the manual."""
    folder = tmp_path / "paper"
    folder.mkdir()
    page = (ROOT / "docs" / name).read_text(encoding="utf-8")
    done = follow(page, folder, str(tmp_path / "cache.sqlite"))
    assert done == [(command, output) for kind, command, output in steps(page) if kind == "run"]
    assert len(done) > 3
    return folder


def test_the_tutorial_works_as_written(tmp_path: Path) -> None:
    folder = followed("tutorial/index.rst", tmp_path)
    page = (folder / "_build" / "html" / "index.html").read_text(encoding="utf-8")
    assert "Bak et al. (1987)" in page
    assert "Lorenz, 1963" in page
    assert 'href="https://doi.org/10.1038/nphys1170"' in page


def test_the_tutorial_says_where_its_packages_and_records_come_from() -> None:
    page = (ROOT / "docs" / "tutorial" / "index.rst").read_text(encoding="utf-8")
    shell = re.findall(r"^( *)\.\. code-block:: sh\n\n((?:\1   .*\n)+)", page, re.MULTILINE)
    lines = [line.strip() for _, block in shell for line in block.splitlines()]
    assert lines[:3] == ["git clone https://github.com/doiuri/doiuri", "mkdir paper", "cd paper"]
    named = [word for line in lines for word in line.split() if word.startswith("../doiuri/")]
    assert named[-1] == "../doiuri/examples/records.json"
    assert [word for word in named if not (ROOT / word.removeprefix("../doiuri/")).exists()] == []


def test_the_links_of_the_tutorial_work_on_github() -> None:
    source = ROOT / "docs" / "tutorial" / "index.rst"
    page = source.read_text(encoding="utf-8")
    targets = re.findall(r"<(\.\./[^>]+)>`_", page)
    assert ":doc:" not in page  # GitHub shows it as plain text
    assert len(targets) > 5
    assert [target for target in targets if not (source.parent / target).is_file()] == []


def test_migrating_works_as_written(tmp_path: Path) -> None:
    folder = followed("howto/migrating.rst", tmp_path)
    assert "(https://doi.org/10.1000/456%23789)" in (folder / "methods.md").read_text(encoding="utf-8")
    page = (folder / "_build" / "html" / "index.html").read_text(encoding="utf-8")
    assert "Deterministic nonperiodic flow" in page
    assert 'href="https://doi.org/10.1175/1520-0469(1963)020%3C0130:DNF%3E2.0.CO;2"' in page
