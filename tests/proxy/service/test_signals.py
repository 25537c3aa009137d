"""Signals that arrive while the proxy starts."""

import contextlib
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.command import READY
from support.http import ask
from support.proxy_records import link

pytestmark = pytest.mark.once


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGUSR1])
@pytest.mark.parametrize("workers", [1, 2])
def test_signals_wait_until_the_proxy_has_started(
    tmp_path: Path, workers: int, number: signal.Signals
) -> None:
    records, log = tmp_path / "r.jsonl", tmp_path / "access.log"
    lines = (json.dumps(link(f"10.1000/{n}", "https://example.org/")) for n in range(4000))
    records.write_text("\n".join(lines))
    words = ["--port", "0", "--records", records, "--workers", workers, "--access-log", log]
    command = [sys.executable, "-m", "doiuri_proxy", *map(str, words)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            wait_until_open(process, records)
            process.send_signal(number)
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith(READY)
            assert ask(line.removeprefix(READY).strip(), "/10.1000/1").status == 302
        finally:
            process.terminate()
        assert process.wait(30) == 0


def wait_until_open(process: subprocess.Popen[str], file: Path) -> None:
    """Wait until the process has the file open."""
    deadline = time.monotonic() + 60
    is_open = False
    while not is_open:
        assert time.monotonic() < deadline
        time.sleep(0.005)
        for number in Path(f"/proc/{process.pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):  # closed meanwhile
                is_open = is_open or number.readlink() == file
