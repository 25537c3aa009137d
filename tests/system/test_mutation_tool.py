"""The tool behind ``nox -s mutants``, on a project with one module and one test."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

TOOL = Path(__file__).parents[1] / "mutation"
MODULE = """\
from __future__ import annotations

SEEN: list[int | float] = []


def opposite(number: int | float) -> int | float:
    SEEN.append(number)
    return -number
"""
TEST = """\
from numbers_doiuri._sign import opposite


def test_it() -> None:
    assert opposite(3) == -3
"""


def test_survivors_are_shown_and_the_checkout_stays(tmp_path: Path) -> None:
    shutil.copytree(TOOL, tmp_path / "tests" / "mutation")
    module = tmp_path / "packages" / "numbers-doiuri" / "src" / "numbers_doiuri" / "_sign.py"
    test = tmp_path / "tests" / "numbers" / "plain" / "test_sign.py"
    for path, text in ((module, MODULE), (test, TEST)):
        path.parent.mkdir(parents=True)
        path.write_text(text)
    tool = str(tmp_path / "tests" / "mutation" / "run.py")
    result = subprocess.run(
        [sys.executable, tool, str(module.parent), "--seed", "1"],
        env=os.environ | {"PYTHONPATH": str(tmp_path / "tests")},
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    lines = result.stdout.splitlines()
    assert lines[-1] == "1 killed, 1 survived, 0 timeout; score 50%", result
    assert "-    SEEN.append(number)" in lines
    assert module.read_text() == MODULE
