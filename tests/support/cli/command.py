"""The command ``doiuri``, run as a process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def doiuri(
    *arguments: object, cwd: Path, stdin: bytes | None = None, **environ: str
) -> subprocess.CompletedProcess[str]:
    """Run the command and return its exit code and what it wrote."""
    words = [sys.executable, "-m", "doiuri_cli", *map(str, arguments)]
    run = subprocess.run(
        words,
        cwd=cwd,
        input=stdin or b"",
        capture_output=True,
        env={**os.environ, **environ},
        timeout=120,
        check=False,
    )
    decoded = (stream.decode(errors="surrogateescape") for stream in (run.stdout, run.stderr))
    return subprocess.CompletedProcess(words, run.returncode, *decoded)
