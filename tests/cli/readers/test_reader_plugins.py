"""Readers of other packages: real packages on the path of a real process."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from doiuri_cli import Source
from doiuri_cli.readers import reader_for

if TYPE_CHECKING:
    from pathlib import Path

MODULES = {
    "org_reader": "from doiuri_cli import Part\ndef read(source):\n  yield Part(source.text[2:], start=2)\n",
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
PROGRAM = """
import sys
from doiuri_cli import ReadError, Source
from doiuri_cli.readers import reader_for
for path in sys.argv[1:]:
    read = reader_for(path)
    try:
        print([(part.text, part.span(0, 1)) for part in read(Source(path, "# text"))] if read else None)
    except ReadError as error:
        print(error)
"""
READ = {
    "a.org": "[('text', (2, 3))]",
    "A.ORG": "[('text', (2, 3))]",
    "a.one": "not my type",
    "a.two": "the reader for .two (fails:read) failed: ZeroDivisionError: division by zero",
    "a.three": "the reader for .three (wrong:read) failed: TypeError: expected Part, not str",
    "a.four": "the reader for .four (missing:read) failed: ModuleNotFoundError: No module named 'missing'",
    "a.five": "None",
    "org": "None",
    "a.txt": "[('# text', (0, 1))]",
}


def test_readers_of_other_packages(tmp_path: Path) -> None:
    for name, text in MODULES.items():
        (tmp_path / f"{name}.py").write_text(text, "utf-8")
    info = tmp_path / "some_readers-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: some-readers\nVersion: 1.0\n", "utf-8")
    (info / "entry_points.txt").write_text(ENTRY_POINTS, "utf-8")
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, *READ],
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert dict(zip(READ, run.stdout.splitlines(), strict=True)) == READ


def test_types_that_we_read_need_no_search_for_packages() -> None:
    probe = "import sys; from doiuri_cli.readers import reader_for; reader_for('a.py'); print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert not {"importlib.metadata", "doiuri_cli.readers._bibliography"} & {*run.stdout.split()}


def test_text_is_read_whole() -> None:
    read = reader_for("a.txt")
    assert read is not None
    assert [part.text for part in read(Source("a.txt", "text"))] == ["text"]
