"""Proofs: what a fix must not do is refused, whatever the reader of another package does."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import pytest
from support.cli.command import doiuri_process, fixed, remember

if TYPE_CHECKING:
    from pathlib import Path

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
REFUSED = {
    "good": "",
    "more": "a fix was left out: the fixed text would mention other DOIs: 10.1000/9 instead of 10.1000/182",
    "other": "a fix was left out: the fixed text would mention other DOIs",
    "latin": "a fix was left out: the fixed text would be read in another encoding",
    "parts": "a fix was left out: the fixed text has other parts",
    "field": "a fix was left out: the fixed text has other parts",
    "once": "a fix was left out: the fixed text could not be read: read as plain text: no more",
    "fails": "a fix was left out: the fixed text could not be read: read as plain text: the reader for",
    "late": "not fixed: the file was changed in the meantime",
}


@pytest.fixture(scope="module")
def messages(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A folder with a file for each reader, after all were fixed, and what was said about each."""
    folder = tmp_path_factory.mktemp("proof")
    (folder / "readers.py").write_text(READERS)
    (folder / "readers-1.0.dist-info").mkdir()
    lines = "".join(f".{name} = readers:{name}\n" for name in REFUSED)
    (folder / "readers-1.0.dist-info" / "entry_points.txt").write_text(f"[doiuri.readers]\n{lines}")
    for name in REFUSED:
        (folder / f"a.{name}").write_text(TEXT)
    (folder / "a.latin").write_bytes(TEXT.replace("and ", "and \xc3").encode("latin-1"))
    run = doiuri_process("fix", "--isolated", ".", cwd=folder, PYTHONPATH=str(folder))
    said = dict(line.split(": ", 2)[1:] for line in run.stderr.splitlines() if line.startswith("doiuri: "))
    return folder, said


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_proved_is_refused_and_said(name: str, messages: tuple[Path, dict[str, str]]) -> None:
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
    remember(tmp_path / "cache", {name: is_found for name, is_found in names.items() if is_found is not None})
    options = "--unsafe-fixes", "--offline", "--cache", tmp_path / "cache"
    expected = "10.5555/978-3" if (old, new) == (False, True) else "10.5555/978–3"
    assert fixed("a.txt", "10.5555/978–3", *options) == expected
    assert fixed("a.txt", "10.5555/978–3", "--cache", tmp_path / "cache") == "10.5555/978–3"


@pytest.mark.parametrize(
    ("path", "text", "better"),
    [
        (  # in running text the doubled link ends before the full stop, as a whole value it has it
            "a.bib",
            "@misc{k,\n  url = {https://doi.org/https://doi.org/10.1000/182.},\n  note = {http://doi.org/10.1/3}}",
            "@misc{k,\n  url = {https://doi.org/https://doi.org/10.1000/182.},\n  note = {https://doi.org/10.1/3}}",
        ),
        (  # another value of YAML would begin
            "a.yaml",
            "a: {doi: 'x', b: http://doi.org/10.1/1}\nb: http://doi.org/10.1000/1\ndoi: doi:10.1/a%20b\n",
            "a: {doi: 'x', b: https://doi.org/10.1/1}\nb: https://doi.org/10.1000/1\ndoi: doi:10.1/a%20b\n",
        ),
    ],
    ids=["doubled", "YAML"],
)  # fmt: skip
def test_what_can_be_proved_is_fixed_beside_what_cannot(path: str, text: str, better: str) -> None:
    assert fixed(path, text) == better
