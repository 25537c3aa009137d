"""The manual: its examples are true, its reference is complete, and it builds offline without a warning."""

from __future__ import annotations

import doctest
import importlib
import inspect
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from doiuri import DOI, Handle, find
from doiuri_cli.rules import RULES
from doiuri_proxy import running
from sphinx.util.inventory import InventoryFile
from support.cli.command import doiuri
from support.manual.building import ROOT
from support.manual.public import listed_names

DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.rglob("*.rst"), *DOCS.rglob("*.md")])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples(page: Path) -> None:
    results = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert results.failed == 0


def test_the_lock_file_knows_every_doi_of_the_manual_and_the_readmes() -> None:
    readmes = [str(path) for path in ROOT.glob("packages/*/README.md")]
    words = "check", "--offline", "--exclude=docs/pictures/"
    run = doiuri(*words, "docs", "README.md", *readmes, cwd=ROOT)
    assert (run.returncode, run.stdout) == (0, "")
    assert re.fullmatch(r"Checked (\d+) DOIs: \1 known\.\nNo findings\.\n", run.stderr), run.stderr


NOT_REGISTERED = {
    "10.1177/5555555555555555",  # shown as missing
    "10.1371/journal.pone.013187",  # shown as missing
    "10.1007/978-3-319-12345-6_7",  # shows how a name is read
    "10.1007/978-3-319-12345-6\\_7",
    "10.48550/arXiv",  # the beginning of names
}


def test_the_example_records_have_every_doi_that_a_page_shows_as_registered() -> None:
    """Else a reader who follows the manual with the proxy that it recommends sees them struck out."""
    records = json.loads((ROOT / "examples" / "records.json").read_text("utf-8"))["records"]
    known = tuple(Handle.from_name(record["handle"]).key for record in records)
    below_known = tuple(f"{key}/" for key in known)  # a name and a path
    locked = json.loads((ROOT / "doi.lock.json").read_text("utf-8"))
    shown = {DOI.from_name(key) for key in locked["exists"]}
    for page in [*PAGES, *ROOT.glob("*.md"), *ROOT.glob("packages/*/README.md")]:
        shown |= dois_of(page)
    shown -= {DOI.from_name(name) for name in NOT_REGISTERED}

    unknown = [doi for doi in sorted(shown) if doi.key not in known]

    assert [doi.name for doi in unknown if not doi.key.startswith(below_known)] == []


def dois_of(page: Path) -> set[DOI]:
    """The DOIs on a page, but for those with the prefixes of examples, 10.1000 and 10.5555."""
    dois: set[DOI] = set()
    for line in page.read_text("utf-8").splitlines():  # in code, a name ends with its line
        dois |= {match.doi for match in find(line)}
    return {doi for doi in dois if doi.prefix not in {"10.1000", "10.5555"}}


def test_pages_say_which_calls_take_the_option_follow() -> None:
    """``session.get(…, follow="target")`` is a TypeError in each client."""
    pages = {
        page: page.read_text("utf-8")
        for page in [*PAGES, ROOT / "README.md", *ROOT.glob("packages/*/README.md")]
    }
    first = {page: text.partition('follow="target"') for page, text in pages.items()}
    taking = re.compile(r"\b(install|mount|urlopen|Client)\([^()]*$")
    assert [
        page for page, (before, found, _) in first.items() if found and not taking.search(before)
    ] == []


def test_it_builds(manual: Path) -> None:
    page = (manual / "index.html").read_text("utf-8")
    assert 'href="https://doi.org/10.1000/182"' in page
    assert "/10.1002/(SICI)1521-3951(199911)216:1%3C135::AID-PSSB135%3E3.0.CO;2-%23" in page


def test_links_to_source_files_lead_to_pages(manual: Path) -> None:
    page = (manual / "tutorial" / "index.html").read_text("utf-8")
    links = re.findall(r'class="reference external" href="(\.\./[^"]+)"', page)
    assert "../howto/ci.html" in links
    assert [link for link in links if not (manual / "tutorial" / link).is_file()] == []


def test_every_code_has_a_section(manual: Path) -> None:
    page = (manual / "reference" / "codes.html").read_text("utf-8")
    assert [code for code in RULES if f'<span id="code-{code}"></span>' not in page] == []
    assert page.count("10.1000/978\u20133") == 1


def test_it_does_not_print_the_environment(manual: Path) -> None:
    """A default value of os.environ would be shown as environ({...}), with the secrets of the machine."""
    pages = [path for path in manual.rglob("*") if path.suffix in {".html", ".js", ".txt"}]
    assert len(pages) > 20
    assert [path.name for path in pages if "environ({" in path.read_text("utf-8")] == []


def test_the_reference_shows_no_docstring_of_another_library(manual: Path) -> None:
    """Such as httpx's, in Markdown, below signatures of fifty lines."""
    text = "".join(
        path.read_text("utf-8") for path in sorted((manual / "reference" / "api").glob("*.html"))
    )
    assert 'id="httpx_doiuri.Client.send"' in text
    foreign = ("typing.", "][0]", "Override in subclasses", "Alias for field", "&lt;function")
    assert [words for words in foreign if words in text] == []


def described(manual: Path) -> set[str]:
    """The names that the reference describes."""
    with (manual / "objects.inv").open("rb") as file:
        inventory = InventoryFile.load(file, "", lambda _base, name: name)
    names: set[str] = set()
    for role in inventory:
        if role.startswith("py:"):
            names |= inventory[role].keys()
    return names


def public_members(module: str) -> set[str]:
    """The public names of a module, and the public attributes of its classes."""
    names = set()
    for name in importlib.import_module(module).__all__:
        value = getattr(importlib.import_module(module), name)
        if name == "__version__" or is_from_another_module(value, module):
            continue
        names.add(f"{module}.{name}")
        if inspect.isclass(value):
            names |= {f"{module}.{name}.{member}" for member in members_of(value)}
    return names


def is_from_another_module(value: object, module: str) -> bool:
    """Whether a class is also public in another module, which describes it."""
    return inspect.isclass(value) and value.__module__ != module


def members_of(cls: type) -> set[str]:
    """The public attributes of a class that it has from our classes."""
    members: set[str] = set()
    for base in cls.__mro__:
        if base.__module__.partition(".")[0].endswith(OURS):
            members |= {member for member in vars(base) if not member.startswith("_")}
    return members


OURS = ("doiuri", "doiuri_cli", "doiuri_proxy")


def test_every_public_name_is_in_the_reference(manual: Path) -> None:
    public: set[str] = set()
    for module in listed_names():
        public |= public_members(module)

    assert public - described(manual) == set()


COLOURS = {"CI", "FORCE_COLOR"}  # variables that make Sphinx colour its output
BLOCK = re.compile(
    r"^\.\. code-block:: (\w+)\n"
    r"(?: +:caption: (\S+)\n)?"
    r"\n"
    r"((?: {3}.*\n|\n)+)",
    re.MULTILINE,
)


def steps(page: str) -> Iterator[tuple[str, str, str]]:
    """The files to write, as ("file", name, text), and the commands to run, as ("run", command, output)."""
    for language, caption, block in BLOCK.findall(page):
        text = dedent(block).strip("\n") + "\n"
        if caption:
            yield "file", caption, text
        elif language == "console":
            for command, output in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE):
                yield "run", command, output


def followed(name: str, tmp_path: Path) -> Path:
    """The folder after all steps of a page of the manual, whose commands print what it says."""
    folder = tmp_path / "paper"
    folder.mkdir()
    done = []
    expected = []
    with running(ROOT / "examples" / "records.json") as proxy:
        environment = {name: value for name, value in os.environ.items() if name not in COLOURS} | {
            "DOIURI_RESOLVER": proxy.url,
            "DOIURI_CACHE": str(tmp_path / "cache.sqlite"),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        }
        options: dict[str, Any] = {
            "cwd": folder,
            "env": environment,
            "capture_output": True,
            "text": True,
        }
        for kind, step, text in steps((DOCS / name).read_text("utf-8")):
            if kind == "file":
                (folder / step).write_text(text, "utf-8")
                continue
            run = subprocess.run(["/bin/sh", "-c", f"exec 2>&1\n{step}"], **options, check=False)
            done.append((step, run.stdout.replace(str(folder), "/home/you/paper")))
            expected.append((step, text))
    assert done == expected
    assert len(done) > 3
    return folder


def test_the_tutorial_works_as_written(tmp_path: Path) -> None:
    folder = followed("tutorial/index.rst", tmp_path)
    page = (folder / "_build" / "html" / "index.html").read_text(encoding="utf-8")
    assert "Bak et al. (1987)" in page
    assert "Lorenz, 1963" in page
    assert 'href="https://doi.org/10.1038/nphys1170"' in page


def test_the_tutorial_says_where_its_packages_and_records_come_from() -> None:
    page = (ROOT / "docs" / "tutorial" / "index.rst").read_text(encoding="utf-8")
    shell = re.findall(r"^( *)\.\. code-block:: sh\n\n((?:\1   .*\n)+)", page, re.MULTILINE)
    commands = dedent("".join(block for _, block in shell))
    named = re.findall(r"(?<!\S)\.\./doiuri/\S*", commands)

    assert commands.splitlines()[:3] == [
        "git clone https://github.com/doiuri/doiuri",
        "mkdir paper",
        "cd paper",
    ]
    assert named[-1] == "../doiuri/examples/records.json"
    assert [word for word in named if not (ROOT / word.removeprefix("../doiuri/")).exists()] == []


def test_the_links_of_the_tutorial_work_on_github() -> None:
    source = ROOT / "docs" / "tutorial" / "index.rst"
    page = source.read_text(encoding="utf-8")
    targets = re.findall(r"<(\.\./[^>]+)>`_", page)
    assert ":doc:" not in page  # GitHub shows it as plain text
    assert len(targets) > 5
    assert [target for target in targets if not (source.parent / target).is_file()] == []


def test_migrating_works_as_written(tmp_path: Path) -> None:
    folder = followed("howto/migrating.rst", tmp_path)
    assert "(https://doi.org/10.1000/456%23789)" in (folder / "methods.md").read_text(
        encoding="utf-8"
    )
    page = (folder / "_build" / "html" / "index.html").read_text(encoding="utf-8")
    assert "Deterministic nonperiodic flow" in page
    assert 'href="https://doi.org/10.1175/1520-0469(1963)020%3C0130:DNF%3E2.0.CO;2"' in page


GLOSSARY = (DOCS / "reference" / "glossary.rst").read_text("utf-8")
CONCEPT = re.compile(r"^   (?P<term>\S.*)\n(?P<sentence>(?: {6}.*\n)+)", re.MULTILINE)


def test_the_glossary_has_few_concepts_with_a_sentence_each() -> None:
    concepts = {match["term"]: match["sentence"] for match in CONCEPT.finditer(GLOSSARY)}
    assert 40 <= len(concepts) <= 45
    ends = {term: len(re.findall(r"\.(?=\s|$)", text)) for term, text in concepts.items()}
    assert [term for term, number in ends.items() if number != 1] == []


def test_every_public_class_stands_for_one_concept() -> None:
    concepts = tomllib.loads((ROOT / "tests" / "docs" / "concepts.toml").read_text("utf-8"))
    named = list(chain.from_iterable(concepts.values()))
    classes = set()
    for module in map(importlib.import_module, listed_names()):
        classes |= {name for name in module.__all__ if inspect.isclass(getattr(module, name))}

    assert sorted(named) == sorted(classes)
    assert concepts.keys() - {match["term"] for match in CONCEPT.finditer(GLOSSARY)} == set()
