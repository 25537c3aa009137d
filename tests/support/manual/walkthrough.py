"""A page of the manual, followed word by word: its files are written, its commands run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

from doiuri_proxy import running

ROOT = Path(__file__).parents[3]
COLOURS = {"CI", "FORCE_COLOR"}  # variables that make Sphinx colour its output
BLOCK = re.compile(r"^\.\. code-block:: (\w+)\n(?: +:caption: (\S+)\n)?\n((?: {3}.*\n|\n)+)", re.MULTILINE)


def steps(page: str) -> Iterator[tuple[str, str, str]]:
    """The files to write, as ("file", name, text), and the commands to run, as ("run", command, output)."""
    for language, caption, block in BLOCK.findall(page):
        text = dedent(block).strip("\n") + "\n"
        if caption:
            yield "file", caption, text
        elif language == "console":
            for command, output in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE):
                yield "run", command, output


def follow(page: str, folder: Path, cache: str) -> list[tuple[str, str]]:
    """Write the files of a page into a folder, and run its commands there; the commands and their output."""
    done = []
    with running(ROOT / "examples" / "records.json") as proxy:
        environment = {name: value for name, value in os.environ.items() if name not in COLOURS} | {
            "DOIURI_RESOLVER": proxy.url,
            "DOIURI_CACHE": cache,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        }
        for kind, name, text in steps(page):
            if kind == "file":
                (folder / name).write_text(text, encoding="utf-8")
                continue
            run = subprocess.run(
                ["/bin/sh", "-c", f"exec 2>&1\n{name}"],
                cwd=folder,
                env=environment,
                capture_output=True,
                check=False,
            )
            done.append((name, run.stdout.decode().replace(str(folder), "/home/you/paper")))
    return done
