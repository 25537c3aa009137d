"""Histories of the files that options name: after each step, a second build is that of a fresh project."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from hypothesis import strategies as st
from support.checks import assert_same

Outcome = TypeVar("Outcome")

_CSL = "http://purl.org/net/xbiblio/csl"
_LOCALE = (
    f'<locale xmlns="{_CSL}" version="1.0" xml:lang="eo"><terms><term name="and">{{0}}</term>'
    '<term name="page" form="short"><single>{1}</single><multiple>{1}</multiple></term>'
    '<term name="reference"><single>{2}</single><multiple>{2}</multiple></term></terms></locale>'
)
_STYLE = (
    f'<style xmlns="{_CSL}" class="in-text" version="1.0"><info><title>T</title><id>t</id>'
    '<updated>2026-01-01T00:00:00+00:00</updated></info><citation><layout prefix="{0}" delimiter=" / ">'
    '<names variable="author"><name form="short" and="text"/></names><text variable="locator" prefix=" "/>'
    '</layout></citation><bibliography><layout prefix="{0}"><names variable="author"><name and="text"/>'
    '</names><text variable="title" prefix=" "/></layout></bibliography></style>'
)
_DEPENDENT = (
    f'<style xmlns="{_CSL}" version="1.0"><info><title>D</title><id>d</id>'
    '<updated>2026-01-01T00:00:00+00:00</updated><link rel="independent-parent" href="https://s.example/parent"/>'
    "</info></style>"
)
_AUTHORS = [{"family": "Abel"}, {"family": "Kahn"}]


def _lock(*titles: str) -> str:
    works = {
        f"10.5555/{number}".upper(): {"type": "book", "author": _AUTHORS, "title": title}
        for number, title in enumerate(titles)
    }
    return json.dumps({"doiuri-lock": 1, "work": works})


FILES: dict[str, tuple[str, str]] = {
    "parent.csl": (_STYLE.format("*"), _STYLE.format("=")),
    "own.csl": (_DEPENDENT, _STYLE.format("+")),
    "locale.xml": (_LOCALE.format("kaj", "p.", "Listo"), _LOCALE.format("plus", "f.", "Fontoj")),
    "works.json": (
        json.dumps([{"id": "j", "title": "J", "author": _AUTHORS}]),
        json.dumps([{"id": "j", "title": "Jot", "author": _AUTHORS}, {"id": "more", "title": "M"}]),
    ),
    "works.bib": (
        "@book{b, author = {Bor and Zorn}, title = {B}, year = 2001}",
        "@book{b, author = {Bor and Zorn}, title = {Bee}, year = 2002, doi = {10.5555/1}}",
    ),
    "works.yaml": ("- id: y\n  title: Y\n", "- id: y\n  title: Yes\n  DOI: 10.5555/0\n"),
    "doi.lock.json": (_lock("Locked", "Too"), _lock("Changed")),
}
"""The files, each with two contents."""

OPTIONS: dict[str, object] = {
    "reference_style": "own",
    "csl_path": ".",
    "reference_locale": "locale.xml",
    "works": ["works.json", "works.bib", "works.yaml"],
    "lock": "doi.lock.json",
}
CITED = ("10.5555/0, p. 3", "10.5555/1", "@j, f. 4", "@b", "@y")
_FIRST, _SECOND, _OLDER, _GONE = "first", "second", "second, with an older time", "gone"

Step = tuple[str, str]
"""A file, and what happens to it."""


def each_in_turn(files: Mapping[str, object]) -> list[Step]:
    """Every file is replaced by an older one, deleted, and restored as it was at first."""
    return [(name, state) for name in files for state in (_OLDER, _GONE, _FIRST)]


def histories(files: Mapping[str, object]) -> st.SearchStrategy[list[Step]]:
    """Any steps."""
    states = st.sampled_from([_FIRST, _SECOND, _OLDER, _GONE])
    return st.lists(st.tuples(st.sampled_from([*files]), states), min_size=3, max_size=6)


def check(
    folder: Path,
    files: Mapping[str, Sequence[str]],
    history: list[Step],
    build: Callable[[Path], Outcome],
) -> list[Outcome]:
    """Build a project again after each step, and copies of it for the first time; return what was built.

    A copy has paths of its own, so nothing that the process remembers about files can make both alike.

    :param folder: the folder of ``kept``, the project
    :param build: builds the project in a folder, and returns what readers and authors see
    """
    kept = folder / "kept"
    state = dict.fromkeys(files, _FIRST)
    for name, contents in files.items():
        (kept / name).write_text(contents[0], "utf-8")
    fresh: dict[tuple[str, ...], Outcome] = {}
    for name, new in [(next(iter(files)), _FIRST), *history]:
        state[name] = new
        _set(kept / name, new, files[name])
        situation = tuple(
            one.partition(",")[0] for one in state.values()
        )  # a time is no difference
        if situation not in fresh:
            copy = folder / f"copy {len(fresh)}"
            copy.mkdir()
            for path in kept.iterdir():
                if path.is_file():
                    shutil.copy(path, copy)
            fresh[situation] = build(copy)
        promise = f"after {name} became {new!r} among {state}, as in a new project"
        assert_same(promise, build(kept), fresh[situation])
    return [*fresh.values()]


def _set(path: Path, state: str, contents: Sequence[str]) -> None:
    path.unlink(missing_ok=True)
    if state == _GONE:
        return
    path.write_text(contents[state != _FIRST], "utf-8")
    if state == _OLDER:
        os.utime(path, (1e9, 1e9))
