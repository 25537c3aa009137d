"""Shell completion: click's own, as the manual describes it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.cli.command import doiuri

COMMAND = Path(sys.executable).with_name("doiuri")


@pytest.mark.parametrize("shell", ["zsh", "fish"])  # for bash, click asks it for its version
def test_one_command_prints_the_script(shell: str) -> None:
    run = doiuri(_DOIURI_COMPLETE=f"{shell}_source")
    assert f"_DOIURI_COMPLETE={shell}_complete" in run.stdout


def completed(words: str, count: int) -> dict[str, str]:
    """The variables with which a shell asks for proposals for the last word."""
    return {"_DOIURI_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(count)}


def test_codes_are_completed() -> None:
    run = doiuri(stdin=b"", **completed("doiuri rule not-", 2))
    assert run.stdout.split() == ["plain,not-found", "plain,not-https"]


def test_the_installed_command_completes_commands() -> None:
    environment = os.environ | completed("doiuri ru", 1)
    run = subprocess.run([COMMAND], env=environment, capture_output=True, text=True, check=True)
    assert run.stdout == "plain,rule\n"
