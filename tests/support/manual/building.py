"""The manual as HTML."""

from __future__ import annotations

import fcntl
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def built_manual() -> Path:
    """The folder of the manual, brought up to date as by ``nox -s docs``; a warning is an error."""
    folder = ROOT / "build" / "docs"
    folder.mkdir(parents=True, exist_ok=True)
    options = ["-W", "-n", "-q", "-b", "html"]
    command = [sys.executable, "-m", "sphinx", *options, str(ROOT / "docs"), str(folder)]
    with (ROOT / "build" / "docs.lock").open("w") as lock:  # other workers of pytest
        fcntl.flock(lock, fcntl.LOCK_EX)
        build = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (build.returncode, build.stderr) == (0, "")
    return folder
