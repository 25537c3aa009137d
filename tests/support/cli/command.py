"""The command ``doiuri``, run in this process or as a process."""

from __future__ import annotations

import contextlib
import gc
import io
import os
import subprocess
import sys
import warnings
from pathlib import Path
from unittest import mock

from doiuri.resolver import _process
from doiuri_cli._main import main
from doiuri_cli.readers import configure

COMMAND = [sys.executable, "-m", "doiuri_cli"]


def doiuri(
    *arguments: object, cwd: str | Path = os.curdir, stdin: bytes = b"", **environ: str
) -> subprocess.CompletedProcess[str]:
    """Run the command in this process, as a new one would; return its exit code and what it wrote."""
    words = [*map(str, arguments)]
    streams = [io.TextIOWrapper(io.BytesIO(content), "utf-8", newline="") for content in (stdin, b"", b"")]
    _process._after_fork()  # a new process knows no servers
    _process._stores.clear()
    threshold = gc.get_threshold()
    with (
        contextlib.chdir(cwd),
        mock.patch.dict(os.environ, environ),
        mock.patch.multiple(sys, stdin=streams[0], stdout=streams[1], stderr=streams[2]),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("default")
        try:
            main(words)
        except SystemExit as end:
            code = end.code or 0
        finally:
            gc.set_threshold(*threshold)
            configure(())
    said = []
    for stream in streams[1:]:
        stream.flush()
        assert isinstance(stream.buffer, io.BytesIO)
        said.append(stream.buffer.getvalue().decode(errors="surrogateescape"))
    assert isinstance(code, int)
    return subprocess.CompletedProcess(words, code, *said)


def doiuri_process(
    *arguments: object, cwd: str | Path = os.curdir, stdin: bytes = b"", **environ: str
) -> subprocess.CompletedProcess[str]:
    """Run the command as a process; return its exit code and what it wrote."""
    words = [*COMMAND, *map(str, arguments)]
    run = subprocess.run(
        words,
        cwd=cwd,
        input=stdin,
        capture_output=True,
        env={**os.environ, **environ},
        timeout=300,
        check=False,
    )
    decoded = (stream.decode(errors="surrogateescape") for stream in (run.stdout, run.stderr))
    return subprocess.CompletedProcess(words, run.returncode, *decoded)
