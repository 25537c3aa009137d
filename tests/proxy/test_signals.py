"""SIGHUP while the proxy starts."""

import json
import signal
import subprocess
import sys
from pathlib import Path

from support.command import READY, open_files
from support.http import ask
from support.proxy_records import link
from support.waiting import until


def test_a_hang_up_waits_until_the_proxy_has_started(tmp_path: Path) -> None:
    records = tmp_path / "r.jsonl"
    lines = (json.dumps(link(f"10.1000/{n}", "https://example.org/")) for n in range(4000))
    records.write_text("\n".join(lines))
    words = ["--port", "0", "--records", records]
    command = [sys.executable, "-m", "doiuri_proxy", *map(str, words)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            until(lambda: str(records) in open_files(process.pid, str(records)))
            process.send_signal(signal.SIGHUP)
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith(READY)
            assert ask(line.removeprefix(READY).strip(), "/10.1000/1").status == 302
        finally:
            process.terminate()
        assert process.wait(30) == 0
