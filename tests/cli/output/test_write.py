"""``-o``: several formats at once, in files that are whole."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from support.cli.command import doiuri


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.md").write_text("<http://doi.org/10.1000/182>")
    monkeypatch.chdir(tmp_path)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return doiuri("check", "--isolated", "--offline", "-q", "a.md", *arguments)


def test_files_come_besides_the_standard_output(tmp_path: Path) -> None:
    done = run("-o", "sarif:a.sarif", "--output-format", "markdown:a:b.md")
    assert done.stdout == run("-o", "full").stdout
    assert json.loads(Path("a.sarif").read_text("utf-8"))["version"] == "2.1.0"
    assert Path("a:b.md").read_text("utf-8").startswith("| Place")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.md", "a.sarif", "a:b.md"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("-o xml", "'xml' is not a format; choose from full, concise,"),
        ("-o sarif:", "'sarif:' names no file; write sarif:FILE, or sarif for standard output"),
        ("-o json -o github", "two formats for standard output; write FORMAT:FILE"),
        ("-o json:a -o sarif:a", "two formats for a; write FORMAT:FILE"),
        ("-o json:none/a.json", "cannot write none/a.json: there is no folder "),
        ("-o json:.", "cannot write .: it is a folder"),
    ],
)
def test_wrong_use_is_said_before_anything_is_written(words: str, message: str, tmp_path: Path) -> None:
    done = run(*words.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert [*tmp_path.iterdir()] == [tmp_path / "a.md"]


def test_a_file_is_whole_or_as_it_was(tmp_path: Path) -> None:
    Path("a.json").write_text("before")
    limited = (
        f"ulimit -f 0; exec {sys.executable} -m doiuri_cli check --isolated --offline a.md -o json:a.json"
    )
    done = subprocess.run(["sh", "-c", limited], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "doiuri: cannot write a.json: File too large" in done.stderr
    assert Path("a.json").read_text() == "before"
    assert sorted(tmp_path.iterdir()) == [tmp_path / "a.json", tmp_path / "a.md"]


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert run("-o", f"json:{pipe}").returncode == 0
        assert json.loads(os.read(reader, 65536))[0]["code"] == "not-https"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.parametrize("path", ["link.json", "inside/a.json", "read.json", "./sub/../read.json"])
@pytest.mark.parametrize("name", ["check", "fix"])
def test_no_link_in_the_tree_and_no_file_that_is_checked_is_written(
    name: str, path: str, tmp_path: Path
) -> None:
    tree, outside = tmp_path / "tree", tmp_path / "outside"
    for folder in (tree, outside, tree / "sub"):
        folder.mkdir()
    (tree / "link.json").symlink_to(outside / "a.json")
    (tree / "inside").symlink_to(outside)
    (tree / "read.json").write_text("{}")
    for cwd, place in ((tree, path), (tmp_path, f"tree/{path}"), (outside, f"{tree}/{path}")):
        done = doiuri(name, "--isolated", f"-ojson:{place}", tree, cwd=cwd, DOIURI_OFFLINE="1")
        assert (done.returncode, done.stdout) == (2, "")
        assert f"doiuri: cannot write {place}: " in done.stderr
        assert (tree / "read.json").read_text() == "{}"
        assert not [*outside.iterdir()]
    assert doiuri(name, "--isolated", "-ojson:a.json", tree, cwd=tree, DOIURI_OFFLINE="1").returncode == 0
