"""Publish with docutils in this process, and with Pelican in another."""

import os
import subprocess
import sys
from pathlib import Path
from unittest import mock

import docutils_doiuri
from docutils.core import publish_cmdline, publish_parts
from docutils.parsers.rst import roles
from docutils.writers.html5_polyglot import Writer

OFF = {"doi_resolve": False, "report_level": 5}


def body(text: str, **settings: object) -> str:
    """The body of the page; nothing is looked up or reported unless the settings say so."""
    parts = publish_parts(text, writer=Writer(), settings_overrides={**OFF, **settings})
    return str(parts["body"])


def command(*arguments: str) -> str:
    """The page that docutils' command makes with our parser; the command itself is tested once."""
    with mock.patch.dict(vars(roles)["_roles"]):  # of the process, so also Sphinx'
        page = publish_cmdline(parser=docutils_doiuri.Parser(), writer=Writer(), argv=[*arguments])
    return page if isinstance(page, str) else page.decode()


def pelican(folder: Path) -> str:
    """Publish a site to ``out`` in a process, whose loggers Pelican takes over; what it says, on one line."""
    words = [sys.executable, "-m", "pelican", "content", "-s", "pelicanconf.py", "-o", "out"]
    wide = {**os.environ, "COLUMNS": "300"}
    done = subprocess.run(
        words, cwd=folder, env=wide, capture_output=True, text=True, timeout=300, check=True
    )
    return " ".join((done.stdout + done.stderr).split())
