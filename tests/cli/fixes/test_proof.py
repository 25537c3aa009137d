"""Readers of other packages, in a real process; and what a fix must not do is refused, whatever they do."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import pytest
from support.cli.command import doiuri_process, fixed, register, remember

if TYPE_CHECKING:
    from pathlib import Path

CODE = """
from doiuri_cli import Part, ReadError
def typ(source): yield Part(source.text[12:], start=12)
def one(source): raise ReadError("not my type")
def two(source): return [1 / 0]
def three(source): return ["text"]
def text(source): raise AssertionError
"""
FAILED = "doiuri: a.{0}: read as plain text: the reader for .{0} (others:{0}) failed: {1}"
READ = {
    "a.typ": "",
    "A.TYP": "",
    "a.one": "doiuri: a.one: read as plain text: not my type",
    "a.two": FAILED.format("two", "ZeroDivisionError: division by zero"),
    "a.three": FAILED.format("three", "TypeError: expected Part, not str"),
    "a.four": FAILED.format("four", "AttributeError: module 'others' has no attribute 'four'"),
    "a.five": "",
    "typ": "",
    "a.txt": "",
}


def test_a_reader_of_another_package_is_used_unless_it_fails_or_we_read_the_type(
    tmp_path: Path,
) -> None:
    register(
        tmp_path,
        "others",
        CODE,
        {f".{name}": name for name in ("typ", "one", "two", "three", "four")},
    )
    register(tmp_path, "more", CODE, {".txt": "text"})
    for name in READ:
        (tmp_path / name).write_text("10.1000/181 10.1000/1813")
    run = doiuri_process("find", "--isolated", *READ, cwd=tmp_path, PYTHONPATH=str(tmp_path))
    lines = []
    for name in READ:
        if name.lower() != "a.typ":  # its reader leaves out what is before
            lines.append(f"{name}:1:1: 10.1000/181")
        lines.append(f"{name}:1:13: 10.1000/1813")
    assert run.stdout.splitlines() == lines
    assert run.stderr.splitlines() == [line for line in READ.values() if line]


TEXT = "10.1000/183 and http://doi.org/10.1000/182."
READERS = """
from doiuri_cli import Part, ReadError
def good(source): yield Part(source.text)
def more(source): yield Part(source.text, encode=lambda text: f"10.1000/9 {text}")
def other(source): yield Part(source.text, encode=lambda text: text + "/10.5/x")
def latin(source): yield Part(source.text, encode=lambda text: "\\xa9 " + text)
def parts(source):
    yield Part(source.text)
    if "https" in source.text: yield Part("")
def field(source): yield Part(source.text, entry="https" if "https" in source.text else "")
def once(source):
    if "https" in source.text: raise ReadError("no more")
    yield Part(source.text)
def fails(source):
    if "https" in source.text: raise RuntimeError
    yield Part(source.text)
def late(source):
    yield Part(source.text)
    with open(source.path, "a") as file: file.write("saved meanwhile")
"""
LEFT_OUT = "a fix was left out: the fixed text"
REFUSED = {
    "good": "",
    "more": f"{LEFT_OUT} would mention other DOIs: 10.1000/9 instead of 10.1000/182",
    "other": f"{LEFT_OUT} would mention other DOIs",
    "latin": f"{LEFT_OUT} would be read in another encoding",
    "parts": f"{LEFT_OUT} has other parts",
    "field": f"{LEFT_OUT} has other parts",
    "once": f"{LEFT_OUT} could not be read: read as plain text: no more",
    "fails": f"{LEFT_OUT} could not be read: read as plain text: the reader for",
    "late": "not fixed: the file was changed in the meantime",
}


@pytest.fixture(scope="module")
def messages(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A folder with a file for each reader, after all were fixed, and what was said about each."""
    folder = tmp_path_factory.mktemp("proof")
    register(folder, "readers", READERS, {f".{name}": name for name in REFUSED})
    for name in REFUSED:
        (folder / f"a.{name}").write_text(TEXT)
    (folder / "a.latin").write_bytes(TEXT.replace("and ", "and \xc3").encode("latin-1"))
    run = doiuri_process("fix", "--isolated", ".", cwd=folder, PYTHONPATH=str(folder))
    return folder, dict(
        line.split(": ", 2)[1:] for line in run.stderr.splitlines() if line[:7] == "doiuri:"
    )


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_proved_is_refused_and_said(
    name: str, messages: tuple[Path, dict[str, str]]
) -> None:
    folder, said = messages
    assert said.get(f"a.{name}", "").startswith(REFUSED[name])
    content = (folder / f"a.{name}").read_bytes()
    assert (b"https" in content) == (name == "good")
    assert content.endswith(b"saved meanwhile") == (name == "late")


@pytest.mark.parametrize(("old", "new"), [*product([True, False, None], repeat=2)])
def test_a_name_is_changed_only_for_two_definite_answers(
    old: bool | None, new: bool | None, tmp_path: Path
) -> None:
    names = {"10.5555/978–3": old, "10.5555/978-3": new}
    remember(
        tmp_path / "cache",
        {name: is_found for name, is_found in names.items() if is_found is not None},
    )
    options = "--unsafe-fixes", "--offline", "--cache", tmp_path / "cache"
    expected = "10.5555/978-3" if (old, new) == (False, True) else "10.5555/978–3"
    assert fixed("a.txt", "10.5555/978–3", *options) == expected
    assert fixed("a.txt", "10.5555/978–3", "--cache", tmp_path / "cache") == "10.5555/978–3"


@pytest.mark.parametrize(
    ("path", "text", "kept"),
    [
        # in running text the doubled link ends before the full stop, as a whole value it has it
        ("a.bib", "@misc{{k,\n  url = {{{}}},\n  note = {{{}/10.1/3}}}}", "https://doi.org/https://doi.org/10.1/2."),
        # another value of YAML would begin
        ("a.yaml", "a: {{doi: 'x', b: {1}/10.1/1}}\ndoi: doi:{0}\n", "10.1/a%20b"),
    ],
    ids=["doubled", "YAML"],
)  # fmt: skip
def test_what_can_be_proved_is_fixed_beside_what_cannot(path: str, text: str, kept: str) -> None:
    assert fixed(path, text.format(kept, "http://doi.org")) == text.format(kept, "https://doi.org")
