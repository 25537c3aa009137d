"""Readers of other packages: real packages on the path of a real process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.cli.command import doiuri_process

if TYPE_CHECKING:
    from pathlib import Path

MODULES = {
    "org_reader": "from doiuri_cli import Part\ndef read(source):\n yield Part(source.text[12:], start=12)\n",
    "refuses": "from doiuri_cli import ReadError\ndef read(source):\n    raise ReadError('not my type')\n",
    "fails": "def read(source):\n    return [1 / 0]\n",
    "wrong": "def read(source):\n    return ['text']\n",
    "text": "print('loaded')\ndef read(source):\n    return []\n",
}
ENTRY_POINTS = """\
[doiuri.readers]
.org = org_reader:read
.one = refuses:read
.two = fails:read
.three = wrong:read
.four = missing:read
.txt = text:read
"""
FAILED = "doiuri: {0}: read as plain text: the reader for {1} failed: {2}"
READ = {
    "a.org": "",
    "A.ORG": "",
    "a.one": "doiuri: a.one: read as plain text: not my type",
    "a.two": FAILED.format("a.two", ".two (fails:read)", "ZeroDivisionError: division by zero"),
    "a.three": FAILED.format("a.three", ".three (wrong:read)", "TypeError: expected Part, not str"),
    "a.four": FAILED.format(
        "a.four", ".four (missing:read)", "ModuleNotFoundError: No module named 'missing'"
    ),
    "a.five": "",
    "org": "",
    "a.txt": "",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in MODULES.items():
        (tmp_path / f"{name}.py").write_text(text, "utf-8")
    info = tmp_path / "some_readers-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: some-readers\nVersion: 1.0\n", "utf-8")
    (info / "entry_points.txt").write_text(ENTRY_POINTS, "utf-8")
    for name in READ:
        (tmp_path / name).write_text("10.1000/181 10.1000/1813")
    return tmp_path


def test_a_reader_of_another_package_is_used_unless_it_fails_or_we_read_the_type(folder: Path) -> None:
    run = doiuri_process("find", "--isolated", *READ, cwd=folder, PYTHONPATH=str(folder))
    found = [
        f"{name}:1:{column}: 10.1000/18{column}"
        for name in READ
        for column in (1, 13)
        if column == 13 or name.lower() != "a.org"
    ]
    assert run.stdout.splitlines() == found
    assert run.stderr.splitlines() == [line for line in READ.values() if line]
