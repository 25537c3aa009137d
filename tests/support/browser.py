"""A real browser's view of a page: Debian's Chromium, without a window."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
import tempfile
from html.parser import HTMLParser
from pathlib import Path
from typing import cast

import pytest

# Chromium tries to reach its makers' hosts unless it is told not to.
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
]
SECONDS = 300

_REPORT = """<script>
const textContent = JSON.stringify([...document.querySelectorAll("a[href]")].map(a => a.href));
document.body.replaceChildren(Object.assign(document.createElement("pre"), {id: "hrefs", textContent}));
</script>"""
_NODE = "console.log(JSON.stringify(JSON.parse(process.argv[1]).map(u => { try { return new URL(u).href } \
catch { return u } })))"


def command(name: str) -> str:
    """The path of a program that a test needs; without it the test is skipped, and in CI it fails."""
    path = shutil.which(name)
    if path is None:
        message = f"NOT TESTED: this needs {name}, which is not installed"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return path


def chromium(*arguments: str) -> str:
    """Run Chromium with a new profile, and return what it prints."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        run = subprocess.run(
            [command("chromium"), *FLAGS, f"--user-data-dir={profile}", *arguments],
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=SECONDS,
            check=True,
        )
    return run.stdout


def dump_dom(page: Path, *arguments: str) -> str:
    """The document as HTML, after its scripts have run."""
    return chromium(*arguments, "--virtual-time-budget=2000", "--dump-dom", page.as_uri())


def screenshot(page: Path, picture: Path, *arguments: str, width: int = 1200, height: int = 900) -> None:
    """Save a screenshot (PNG) of the page."""
    chromium(*arguments, f"--window-size={width},{height}", f"--screenshot={picture}", page.as_uri())


def hrefs(source: str) -> list[str]:
    """The links of an HTML text in their order, each as the browser's URL parser understands it.

    Where there is no browser but Node.js, its URL parser, which follows the same standard, is asked.
    """
    if shutil.which("chromium") is None and shutil.which("node") is not None:
        return _by_node(source)
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        page.write_text(f"{source}\n{_REPORT}", encoding="utf-8")
        found = re.search(r'<pre id="hrefs">(.*?)</pre>', dump_dom(page), re.DOTALL)
    assert found, "the browser did not report its links"
    return cast("list[str]", json.loads(html.unescape(found[1])))


def _by_node(source: str) -> list[str]:
    class Links(HTMLParser):
        found: list[str]

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            self.found += [value or "" for name, value in attrs if tag == "a" and name == "href"]

    parser = Links()
    parser.found = []
    parser.feed(source)
    run = subprocess.run(
        [command("node"), "-e", _NODE, json.dumps(parser.found)], capture_output=True, text=True, check=True
    )
    return cast("list[str]", json.loads(run.stdout))
