"""The manual: its examples are true, and it builds without a network and without a warning."""

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest
from doiuri import advise

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted([*DOCS.glob("*.rst"), *DOCS.glob("*.md")])
PACKAGES = DOCS.parent / "packages"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples(page: Path) -> None:
    results = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert results.failed == 0


def test_the_pages_have_examples() -> None:
    assert sum(page.read_text("utf-8").count(">>> ") for page in PAGES) > 15


def test_every_warning_is_listed() -> None:
    """Each subtype and each code of advice that the sources know is in warnings.rst."""
    known = set()
    for source in [
        *PACKAGES.glob("sphinx-doiuri/src/**/*.py"),
        PACKAGES / "doiuri" / "src" / "doiuri" / "_advice.py",
    ]:
        text = source.read_text("utf-8")
        known |= set(re.findall(r'subtype="([a-z-]+)"', text))
        known |= set(re.findall(r'Advice\(\s*"([a-z-]+)"', text))
    listed = (DOCS / "warnings.rst").read_text("utf-8")
    assert len(known) > 15
    assert [code for code in sorted(known) if f"{code}``" not in listed] == []
    assert {advice.code for advice in advise("10.1000/978–3")} <= known


def test_every_option_is_listed() -> None:
    source = (PACKAGES / "sphinx-doiuri/src/sphinx_doiuri/_config.py").read_text("utf-8")
    listed = (DOCS / "options.rst").read_text("utf-8") + (DOCS / "sphinx.rst").read_text("utf-8")
    names = re.findall(r'^    "doi_(\w+)":', source, re.MULTILINE)
    assert len(names) > 10
    assert [name for name in names if f"``{name}``" not in listed and f"doi_{name}" not in listed] == []


@pytest.mark.newest
def test_it_builds(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sphinx", "-W", "-n", "-q", "-D", "html_theme=alabaster", "-b", "html"]
    build = subprocess.run(
        [*command, "-d", str(tmp_path / "trees"), str(DOCS), str(tmp_path / "html")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (build.returncode, build.stderr) == (0, "")
    page = (tmp_path / "html" / "index.html").read_text("utf-8")
    assert 'href="https://doi.org/10.1000/182"' in page
    assert 'href="https://doi.org/10.1002/(SICI)1522-2594(199911)42:5%3C952::AID-MRM16%3E3.0.CO;2-S"' in page
