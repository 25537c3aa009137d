"""Shell completion: click's own, as the manual describes it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = Path(sys.executable).with_name("doiuri")


def completed(shell: str, words: str, count: int) -> list[str]:
    """What the command proposes for the last word."""
    variables = {"_DOIURI_COMPLETE": f"{shell}_complete", "COMP_WORDS": words, "COMP_CWORD": str(count)}
    run = subprocess.run([COMMAND], env=os.environ | variables, capture_output=True, text=True, check=True)
    return run.stdout.split()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_one_command_prints_the_script(shell: str) -> None:
    if shell == "bash" and not shutil.which("bash"):
        pytest.skip("click asks bash for its version")
    environment = os.environ | {"_DOIURI_COMPLETE": f"{shell}_source"}
    run = subprocess.run([COMMAND], env=environment, capture_output=True, text=True, check=True)
    assert f"_DOIURI_COMPLETE={shell}_complete" in run.stdout


def test_commands_and_codes_are_completed() -> None:
    assert "plain,rule" in completed("bash", "doiuri ru", 1)
    assert completed("bash", "doiuri rule not-", 2) == ["plain,not-found", "plain,not-https"]
