"""A file that an option names is part of what is built: an incremental build notices each change of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from support.named_files import CITED, FILES, OPTIONS, Step, check, each_in_turn, histories
from support.sphinx_build import build, write

CONF = "".join(f"doi_{name} = {value!r}\n" for name, value in OPTIONS.items())
CITATIONS = "\n\n".join(f":doi:p:`{cited}`" for cited in CITED)
PROJECT = {
    "conf.py": f'extensions = ["sphinx_doiuri"]\nlanguage = "eo"\n{CONF}',
    "index.rst": f"T\n=\n\n.. toctree::\n\n   list\n   own\n   plain\n\n{CITATIONS}\n\n.. doi:bibliography::\n",
    "own.rst": "L\n=\n\n:doi:t:`10.5555/0` :doi:t:`10.5555/1`\n\n.. doi:bibliography::\n   :style: list.csl\n",
    "list.rst": "N\n=\n\n.. doi:bibliography::\n   :nocite: *\n",
    "plain.rst": "P\n=\n\nText\n",
}
NAMED = {**FILES, "list.csl": FILES["own.csl"]}
Built = tuple[int, dict[str, str]]


def built(folder: Path) -> Built:
    """Build in a folder; return the status, and the pages if there are any."""
    made = build(folder, folder / "out", "text")
    if made.status:
        return made.status, {}
    pages = {path.name: path.read_text("utf-8") for path in made.out.glob("*.txt")}
    return 0, {name: page.replace(str(folder), "") for name, page in pages.items()}


def check_history(folder: Path, history: list[Step]) -> list[Built]:
    write(folder / "kept", PROJECT)
    return check(folder, NAMED, history, built)


def test_each_file_in_turn(tmp_path: Path) -> None:
    outcomes = check_history(tmp_path, each_in_turn(NAMED))

    # The first build, one with each file changed, two without a file, and six that fail without one
    shown = {repr(outcome) for outcome in outcomes}
    assert len(shown) == 1 + len(NAMED) + 2 + 1, "a change that makes no difference proves nothing"


EXAMPLES = 2 if settings().derandomize else 50


@settings(max_examples=EXAMPLES, phases=[Phase.generate])  # shrinking takes minutes
@given(histories(NAMED))
def test_any_history(tmp_path_factory: pytest.TempPathFactory, history: list[Step]) -> None:
    check_history(tmp_path_factory.mktemp("site"), history)


def test_abbreviations_that_change_are_shown(tmp_path: Path) -> None:
    def listed(short: str) -> str:
        abbreviations = {"default": {"container-title": {"Journal of Ants": short}}}
        write(tmp_path, {"short.json": json.dumps(abbreviations)})
        built = build(tmp_path, tmp_path / "out")
        assert (built.warnings, built.status) == ("", 0)
        return built.text()

    style = FILES["parent.csl"][0].replace(
        '<text variable="title"', '<text variable="container-title" form="short"'
    )
    work = {"id": "a", "title": "A", "container-title": "Journal of Ants"}
    names = {"reference_style": "own.csl", "works": "works.json", "abbreviations": "short.json"}
    conf = "".join(f"doi_{name} = {value!r}\n" for name, value in names.items())
    page = "L\n=\n\n.. doi:bibliography::\n   :nocite: *\n"
    write(tmp_path, {"conf.py": f"extensions = ['sphinx_doiuri']\n{conf}", "index.rst": page})
    write(tmp_path, {"own.csl": style, "works.json": json.dumps([work])})

    assert "* J. Ants" in listed("J. Ants")
    assert "* JA" in listed("JA")


def test_a_list_whose_style_was_missing_is_there_when_it_is_found(tmp_path: Path) -> None:
    page = (
        "L\n=\n\n:doi:t:`10.5555/0` :doi:t:`10.5555/1`\n\n.. doi:bibliography::\n   :style: own\n"
    )
    conf = "extensions = ['sphinx_doiuri']\ndoi_csl_path = 'styles'\ndoi_lock = 'doi.lock.json'\n"
    lock = FILES["doi.lock.json"][0]
    write(tmp_path, {"conf.py": conf, "index.rst": page, "doi.lock.json": lock})
    missing = build(tmp_path, tmp_path / "out").warnings
    dependent, parent = (FILES[f"{name}.csl"][0] for name in ("own", "parent"))
    write(tmp_path, {"styles/hidden/own.csl": dependent})
    without_parent = build(tmp_path, tmp_path / "out").warnings
    write(tmp_path, {"styles/hidden/parent.csl": parent})

    found = build(tmp_path, tmp_path / "out")

    assert f"unknown style 'own': it is not in {tmp_path}/styles (no folder); write" in missing
    assert "own.csl:1: <link>: depends on parent.csl, which is not in " in without_parent
    assert (found.warnings, found.status) == ("", 0)
    assert "*Abel and Kahn Locked" in found.text()
