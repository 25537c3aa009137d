"""The programs beyond Python that the tests in ``tests/system`` need."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import pytest

# Chromium tries to reach its makers' hosts unless it is told not to.
CHROMIUM = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *(
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--hide-scrollbars",
    ),
]
ENGINES = ("pdflatex", "xelatex", "lualatex")
LATEX = ("-interaction=nonstopmode", "-halt-on-error")
VERSION = {"caddy": "version", "dot": "-V"}
SECONDS = 300


def needs(*programs: str) -> str:
    """Return the path of the first of these programs that can do its job.

    If none can, the test is skipped; if the environment variable ``CI`` is set, it fails.
    """
    found = [program for program in programs if not problem(program)]
    if found:
        return str(shutil.which(found[0]))
    message = f"NOT TESTED: {'; '.join(map(problem, programs))}"
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)


@cache
def problem(program: str) -> str:
    """Return why a program cannot do its job; empty if it can."""
    if shutil.which(program) is None:
        return f"{program} is not installed"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        words = [program, *_job(program, Path(folder))]
        try:
            done = subprocess.run(
                words, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"{program} does not work: {error}"
    return (
        f"{program} does not work: {(done.stdout + done.stderr)[-600:]}" if done.returncode else ""
    )


def _job(program: str, folder: Path) -> list[str]:
    """Return the arguments of a trial; LaTeX has to compile a page of Sphinx."""
    if program in ENGINES:
        from support.sphinx_build import build, write

        conf = f"latex_engine = '{program}'\nlatex_documents = [('index', 'x.tex', 'x', 'x', 'manual')]\n"
        made = build(
            write(folder / "src", {"conf.py": conf, "index.rst": "T\n=\n"}), folder, "latex"
        )
        shutil.copytree(made.out, folder, dirs_exist_ok=True)
        return [*LATEX, "x.tex"]
    if program == "chromium":
        return [*CHROMIUM, f"--user-data-dir={folder}", "--dump-dom", "data:text/html,<p>x"]
    return [VERSION.get(program, "--version")]
