"""The manual lists every option, format and warning; ``tests/docs`` has the tests of the built pages."""

from __future__ import annotations

import re
from pathlib import Path

import click
from doiuri import advise
from doiuri_cli._main import COMMANDS, doiuri
from doiuri_cli.output import FORMATS

DOCS = Path(__file__).parents[2] / "docs"
PACKAGES = DOCS.parent / "packages"


def test_every_warning_is_listed() -> None:
    """Each subtype and each code of advice that the sources know is in warnings.rst."""
    known = set()
    for source in [
        *PACKAGES.glob("sphinx-doiuri/src/**/*.py"),
        PACKAGES / "doiuri" / "src" / "doiuri" / "_advice.py",
    ]:
        text = source.read_text("utf-8")
        known |= set(re.findall(r'(?:subtype=|_warn\(\s*\w+,\s*)"([a-z-]+)"', text))
        known |= set(re.findall(r'Advice\(\s*"([a-z-]+)"', text))
    assert len(known) > 15
    listed = (DOCS / "reference" / "warnings.rst").read_text("utf-8")
    assert [code for code in sorted(known) if f"{code}`" not in listed] == []
    assert {"syntax", "not-found", "lock-missing", *(one.code for one in advise("10.1000/978–3"))} <= known


def test_examples_of_citations_show_the_authors_of_the_work() -> None:
    """10.1000/182 is the DOI Handbook, which Kahn and Wilensky did not write."""
    for page in DOCS / "howto" / "markdown.rst", *PACKAGES.glob("*/README.md"):
        text = page.read_text("utf-8")
        assert not re.search(r"@?doi:(?:p:`)?10\.1000/182\]?`+ ?(?:gives|\||\n     -)[^|\n]*Kahn", text), page


def test_every_option_and_format_of_the_command_is_described() -> None:
    page = (DOCS / "reference" / "command.rst").read_text("utf-8")
    missing = [f"doiuri {name}" for name in COMMANDS if f"``doiuri {name}``" not in page]
    missing += [name for name in FORMATS if f"``{name}``" not in page]
    for name in COMMANDS:
        command = doiuri.get_command(click.Context(doiuri), name)
        assert command is not None
        options = [word for param in command.params for word in (*param.opts, *param.secondary_opts)]
        missing += [
            f"{name} {word}"
            for word in options
            if word.startswith("--") and not re.search(f"{word}\\b", page)
        ]
    assert missing == []
