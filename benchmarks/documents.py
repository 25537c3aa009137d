"""Count the requests that a large document takes, beside Sphinx's own linkcheck.

    python benchmarks/documents.py

Prints a Markdown table: 209 DOIs on two pages, one of them not registered. Answers take 30 ms, doiuri sends
10 requests a second. Nothing is cached. Seconds are the wall clock of the whole process, the best of three.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from pathlib import Path
from urllib.parse import unquote

DELAY = 0.03
DEAD = "10.5555/dead"
NAMES = [f"10.5555/journal.{number:04}" for number in range(209)]
NAMES[100] = DEAD
PAGES = {"index": NAMES[:150], "other": NAMES[150:]}
# a server on this machine has no limit by default
LIMIT = "from doiuri.resolver import _settings\n_settings.is_loopback = lambda host: False\n"


class Registry(BaseHTTPRequestHandler):
    """Answers as doi.org does, after a delay."""

    count = 0

    def do_GET(self) -> None:
        type(self).count += 1
        time.sleep(DELAY)
        status = 404 if unquote(self.path).endswith(DEAD) else 200
        if self.path.startswith("/doiRA/"):
            names = unquote(self.path.removeprefix("/doiRA/")).split(",")
            answer: object = [registration(name) for name in names]
        else:
            name = unquote(self.path.removeprefix("/api/handles/"))
            code = 100 if status == 404 else 1
            answer = {"responseCode": code, "handle": name, "values": []}
        content = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json;charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    do_HEAD = do_GET  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Log nothing."""


def registration(name: str) -> dict[str, str]:
    if name == DEAD:
        return {"DOI": name, "status": "DOI does not exist"}
    return {"DOI": name, "RA": "x"}


def write(folder: Path, url: str) -> None:
    """Write the same document for each host."""
    links = f"extensions = ['sphinx.ext.extlinks']\nextlinks = {{'doi': ('{url}/%s', 'doi:%s')}}\n"
    files = {
        "limit/sitecustomize.py": LIMIT,
        "ours/conf.py": "extensions = ['sphinx_doiuri']\n",
        "theirs/conf.py": links,
        "doiuri.toml": "rate = 10\n",
        "mkdocs.yml": "site_name: Documents\nplugins: [doiuri]\n",
    }
    for page, names in PAGES.items():
        text = "\n\n".join(f":doi:`{name}`" for name in names)
        rst = f":orphan:\n\nPage\n====\n\n{text}\n"
        files |= {f"ours/{page}.rst": rst, f"theirs/{page}.rst": rst}
        files[f"docs/{page}.md"] = "\n\n".join(f"doi:{name}" for name in names)
    files["all.rst"] = "\n\n".join(f":doi:`{name}`" for name in NAMES)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")


def seconds(folder: Path, command: Sequence[str], **environment: str) -> float:
    """Return the wall clock of a command; some fail because a DOI is not registered."""
    ours = {"DOIURI_CACHE": ":memory:", "PYTHONPATH": str(folder / "limit"), **environment}
    begun = time.perf_counter()
    run = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=folder,
        env={**os.environ, **ours},
        capture_output=True,
        check=False,
    )
    took = time.perf_counter() - begun
    if run.returncode > 1:
        sys.exit(f"{' '.join(command)} failed:\n{run.stderr.decode()}")
    return took


def main() -> None:
    parser = ["--parser=docutils_doiuri", "--doi-budget=60"]
    peer = f"linkcheck of Sphinx {version('sphinx')}, with extlinks"
    commands = {
        peer: ["sphinx", "-b", "linkcheck", "theirs", "1"],
        "Sphinx": ["sphinx", "-b", "html", "ours", "2"],
        "linkcheck": ["sphinx", "-b", "linkcheck", "ours", "3"],
        "docutils": ["docutils", *parser, "all.rst", "all.html"],
        "MkDocs": ["mkdocs", "build", "-q"],
        "doiuri check": ["doiuri_cli", "check", "docs"],
    }
    server = ThreadingHTTPServer(("127.0.0.1", 0), Registry)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    print("| 209 DOIs, one not registered | requests | s | goal |\n| --- | ---: | ---: | --- |")
    for what, command in commands.items():
        times = []
        requests = []
        for _ in range(3):
            with tempfile.TemporaryDirectory() as folder:
                write(Path(folder), url)
                Registry.count = 0
                times.append(seconds(Path(folder), command, DOIURI_RESOLVER=url))
                requests.append(Registry.count)
        goal = "" if what == peer else "≤ 4, ≤ 2 s"
        print(f"| {what} | {max(requests)} | {min(times):.1f} | {goal} |", flush=True)


if __name__ == "__main__":
    main()
