"""What the README of doiuri-csl and its page in the manual promise: code and commands do what they say."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from pathlib import Path

import doiuri.citations
import pytest
from doiuri_csl import list_to_html
from doiuri_csl.__main__ import FORMATS, main
from support.manual.building import ROOT

README = (ROOT / "packages" / "doiuri-csl" / "README.md").read_text("utf-8")
PAGE = (ROOT / "docs" / "howto" / "csl.rst").read_text("utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^ *python -m doiuri_csl (.*)$", re.MULTILINE)


def block(language: str) -> str:
    """Return the README's block of code in a language."""
    [text] = [text for name, text in BLOCK.findall(README) if name == language]
    return str(text)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that the examples name; our own style prints what APA prints."""
    style = Path(doiuri.citations.__file__).with_name("author-date.csl")
    (tmp_path / "apa.csl").write_bytes(style.read_bytes())
    (tmp_path / "works.json").write_text(block("json"), "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_the_example_of_the_readme_prints_what_it_says() -> None:
    code = block("python")

    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(code, "README.md", "exec"), {})

    assert printed.getvalue() == block("text")
    assert len(code.rstrip().splitlines()) <= 11  # ten, and an empty one


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("command", COMMAND.findall(README) + COMMAND.findall(PAGE))
def test_the_commands_print_a_list(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(shlex.split(command)) == 0
    assert "Ants" in capsys.readouterr().out


def test_the_page_names_the_formats_and_the_classes() -> None:
    classes = set(
        re.findall(r"csl-[a-z-]+[a-z]", Path(list_to_html.__code__.co_filename).read_text("utf-8"))
    )

    assert [name for name in FORMATS if f"``{name}``" not in PAGE] == []
    assert [name for name in classes if f"``{name}``" not in PAGE] == []
