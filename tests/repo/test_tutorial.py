"""The tutorial, followed word by word: its files are written, its commands run, and its output compared."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest
from doiuri_proxy import running

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tutorial" / "index.rst").read_text(encoding="utf-8")
BLOCK = re.compile(r"^\.\. code-block:: (\w+)\n(?: +:caption: (\S+)\n)?\n((?: {3}.*\n|\n)+)", re.MULTILINE)
FOLDER = "/home/you/paper"


def steps() -> Iterator[tuple[str, str, str]]:
    """The files to write, as ("file", name, text), and the commands to run, as ("run", command, output)."""
    for language, caption, block in BLOCK.findall(PAGE):
        text = dedent(block).strip("\n") + "\n"
        if caption:
            yield "file", caption, text
        elif language == "console":
            for command, output in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE):
                yield "run", command, output


@pytest.mark.newest
def test_the_tutorial_works_as_written(tmp_path: Path) -> None:
    folder = tmp_path / "paper"
    folder.mkdir()
    done = []
    with running(ROOT / "examples" / "records.json") as proxy:
        environment = os.environ | {
            "DOIURI_RESOLVER": proxy.url,
            "DOIURI_CACHE": str(tmp_path / "cache.sqlite"),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        }
        for kind, name, text in steps():
            if kind == "file":
                (folder / name).write_text(text, encoding="utf-8")
                continue
            run = subprocess.run(
                ["/bin/sh", "-c", name],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                encoding="utf-8",
                cwd=folder,
                env=environment,
                check=False,
            )
            assert run.stdout.replace(str(folder), FOLDER) == text, name
            done.append(name)
    assert len(done) == 7
    page = (folder / "_build" / "html" / "index.html").read_text(encoding="utf-8")
    assert "Bak et al. (1987)" in page
    assert "Lorenz, 1963" in page
    assert 'href="https://doi.org/10.1038/nphys1170"' in page
