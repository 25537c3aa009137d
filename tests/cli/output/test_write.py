"""``-o``: several formats at once, in files that are whole."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import TextIO

import click
import pytest
from click.testing import CliRunner, Result
from doiuri_cli import output as module
from doiuri_cli.output import FORMATS, Output, output_option, write_report
from support.cli.command import doiuri
from support.cli.findings import finding, report, written


@pytest.fixture(autouse=True)
def _no_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FORCE_COLOR", raising=False)


@click.command()
@output_option
def command(outputs: list[Output]) -> None:
    write_report(report(finding()), outputs)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command, arguments)


def test_each_format_on_standard_output() -> None:
    for name in FORMATS:
        result = run("-o", name)
        assert (result.exit_code, result.stdout) == (0, written(report(finding()), name))


def test_files_come_besides_the_standard_output(tmp_path: Path) -> None:
    sarif, table = tmp_path / "a.sarif", tmp_path / "a:b.md"
    result = run("-o", f"sarif:{sarif}", "--output-format", f"markdown:{table}")
    assert result.stdout == written(report(finding()), "full")
    assert json.loads(sarif.read_text("utf-8"))["version"] == "2.1.0"
    assert table.read_text("utf-8").startswith("| Place")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.sarif", "a:b.md"]


def test_wrong_use_is_said_before_anything_is_written() -> None:
    for words, message in (
        ("-o xml", "'xml' is not a format; choose from full, concise,"),
        ("-o sarif:", "'sarif:' names no file; write sarif:FILE, or sarif for standard output"),
        ("-o json -o github", "two formats for standard output; write FORMAT:FILE"),
        ("-o json:a -o sarif:a", "two formats for a; write FORMAT:FILE"),
    ):
        result = run(*words.split())
        assert (result.exit_code, result.stdout) == (2, "")
        assert message in result.stderr


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    result = run("-o", f"json:{tmp_path / 'none' / 'a.json'}")
    assert result.exit_code != 0
    assert (
        f"cannot write {tmp_path / 'none' / 'a.json'}: there is no folder {tmp_path / 'none'}"
        in result.stderr
    )
    assert result.stdout == ""
    assert "it is a folder" in run("-o", f"json:{tmp_path}").stderr


def test_a_file_is_whole_or_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.json"
    path.write_text("before")

    def fail(_report: object, stream: TextIO) -> None:
        stream.write("half")
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(module, "_writer", lambda _name: fail)
        result = run("-o", f"json:{path}")
    assert "No space left on device" in result.stderr
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert run("-o", f"json:{pipe}").exit_code == 0
        assert json.loads(os.read(reader, 65536))[0]["code"] == "not-found"
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
