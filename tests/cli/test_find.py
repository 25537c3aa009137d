"""``doiuri find``."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from support.cli.command import doiuri


def test_json(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("See doi:10.1000/182.")
    place = {
        "path": "a.txt",
        "line": 1,
        "column": 5,
        "end_line": 1,
        "end_column": 20,
        "cell": None,
        "entry": None,
        "text": "doi:10.1000/182",
        "doi": "10.1000/182",
    }
    assert json.loads(doiuri("find", "-o", "json", cwd=tmp_path).stdout) == [place]
    assert json.loads(doiuri("find", "--output-format=jsonl", cwd=tmp_path).stdout) == place
    (tmp_path / "a.txt").unlink()
    (tmp_path / os.fsdecode(b"caf\xe9.txt")).write_text("doi:10.1000/182")
    (found,) = json.loads(doiuri("find", "-o", "json", cwd=tmp_path).stdout)
    assert found["path"] == r"caf\xe9.txt"
    (tmp_path / os.fsdecode(b"caf\xe9.txt")).unlink()
    assert json.loads(doiuri("find", "-o", "json", cwd=tmp_path).stdout) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("meta.yaml", '{% set name = "x" %}\nabout:\n  doi_url: https://doi.org/10.1000/182\n'),
        ("a.ipynb", '{"cells": [{"cell_type": "markdown", "source": ["doi:10.1000/182"]'),
        ("a.json", '[{"id": "x", "type": "book", "title": "t", "DOI": "10.1000/182"'),
        ("CITATION.cff", "doi: 10.1000/182\nauthors: [\n"),
    ],
)
def test_all_commands_read_the_same_in_a_file_that_is_not_what_its_name_says(
    name: str, text: str, tmp_path: Path
) -> None:
    """What find and lock do not see, check would report as missing in the lock file."""
    (tmp_path / name).write_text(text)
    found = doiuri("find", "--unique", cwd=tmp_path)
    assert (found.returncode, found.stdout) == (0, "10.1000/182\n"), found
    accepted = ("--accept", "10.1000/182", "--reason", "a test")
    assert doiuri("lock", "--offline", *accepted, cwd=tmp_path).returncode == 0
    assert doiuri("lock", "--check", "--prune", cwd=tmp_path).stdout == ""
    assert doiuri("check", "--locked", "--ignore=unreadable", cwd=tmp_path).stdout == ""


def test_a_file_that_is_read_as_plain_text_is_named_and_drops_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_text('{"cells": [{"source": ["doi:10.1000/182"]')
    assert doiuri("find", cwd=tmp_path).stderr.startswith("doiuri: a.ipynb: read as plain text: ")
    accepted = ("--accept", "10.1000/183", "--reason", "a test")
    doiuri("lock", "--offline", *accepted, cwd=tmp_path)
    locked = doiuri("lock", "--offline", "--prune", cwd=tmp_path)
    assert "doiuri: --prune drops nothing: a file was read as plain text" in locked.stderr
    assert "10.1000/183" in (tmp_path / "doi.lock.json").read_text()
    assert "lock-unused" not in doiuri("check", "--locked", cwd=tmp_path).stdout


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("post.mdx", "import X from 'x'\n\n[Kahn](https://doi.org/10.1000/182) `10.1000/code`\n"),
        ("one.nbib", "PMID- 1\nLID - 10.1000/182 [doi]\n"),
        ("one.enw", "%0 Journal Article\n%R 10.1000/182\n"),
    ],
)
def test_more_types_of_files_in_folders(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    assert doiuri("find", "--unique", cwd=tmp_path).stdout == "10.1000/182\n"
