"""After any history of edits and answers, a build shows, tells and locks what a first build would."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Container, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from support.checks import assert_same, differing_fields
from support.references import NOTES
from support.servers.metadata import STATES, changing_proxy
from support.servers.web import site
from support.sphinx_build import Build, build, write

TEXTS = {
    "nothing": "Text",
    "links": ":doi:`10.5555/a`, :doi:`10.5555/kept,`, :doi:`10.5555`\n\n:doi:`10.5555/b`",
    "dead": ":doi:`10.5555/dead`, :doi:`T <10.5555/DEAD>`\nhttps://doi.org/10.5555/dead",
    "mentions": "doi:10.5555/a, DOI: 10.5555/dead\n\n- doi:10.5555/dead, doi:10.bad\n- 10.5555/kept",
    "cites a": ":doi:p:`10.5555/a`",
    "cites b, a": ":doi:t:`10.5555/b, 10.5555/a, p. 3` :doi:p:`10.5555/dead`",
    "cites own": ":doi:p:`@own`",
    "lists": ":doi:p:`10.5555/b`, :doi:p:`10.5555/a`\n\n.. doi:bibliography::",
    "lists books": ":doi:p:`10.5555/b`, :doi:p:`@own`, :doi:p:`10.5555/a`\n\n"
    ".. doi:bibliography::\n   :filter: type=book",
    "lists all": ".. doi:bibliography::\n   :scope: project\n   :nocite: 10.5555/none",
    "title": "After :doi:t:`10.5555/a`\n------------------------\n\nText",
    "renamed": ":doi:p:`10.5555/a`",
    "refers": ":ref:`l-t1`",
    "refers to t1": ":doc:`t1`",
    "notes": ":doi:p:`10.5555/a`, x [#]_ :doi:t:`10.5555/b`.\n\n.. [#] :doi:p:`10.5555/b`",
    "hidden": ".. only:: latex\n\n   :doi:`10.5555/dead`, :doi:`10.5555/kept,`\n   :doi:p:`10.5555/b`",
}
TEXTS["on one page"] = "\n\n".join(TEXTS[name] for name in ("dead", "mentions", "lists"))
OPTIONS = {
    "doi_text": ("'name'", "'link'", "'{authors} ({year})'"),
    "doi_reference_style": ("'author-date'", "'numeric'", "'notes.csl'"),
    "doi_notes": ("None", "False"),
    "doi_citation": ("'author-year'", "'number'"),
    "language": ("'en'", "'de'"),
    "doi_details": ("False", "True"),
    "doi_link": ("'https://doi.org'", "'https://mirror.example'"),
    "doi_hardcoded_links": ("False", "True"),
    "doi_works": ("'works.json'", "['works.json', 'more.json']"),
    "doi_resolve": ("True", "False"),
    "doi_bare": ("True", "False"),
    "doi_bare_names": ("False", "True"),
}
# of all documents
REREADS = {
    "doi_text",
    "doi_link",
    "doi_hardcoded_links",
    "doi_works",
    "language",
    "doi_bare",
    "doi_bare_names",
}
RENEWS = {"doi_details", "doi_resolve"}  # all answers
FILES = {
    "index.rst": "T\n=\n\n.. toctree::\n   :glob:\n\n   s/t*\n",
    "notes.csl": NOTES,
    "works.json": '[{"id": "own", "type": "report", "title": "Own"}]',
    "more.json": '[{"DOI": "10.5555/B", "title": "Corrected"}]',
}
Told = dict[str, Counter[str]]


class Outcome(NamedTuple):
    """What authors and readers see of a build."""

    locked: bytes
    """The lock file after it."""
    told: Told
    pages: dict[str, list[str]]


_first_builds: dict[tuple[object, ...], Outcome] = {}
"""What first builds make of a project, by all that this depends on."""


@dataclass(frozen=True)
class Step:
    """What happens before a build, and how it is started."""

    texts: dict[str, str] = field(default_factory=dict)
    """Documents, those with a "t" in a folder, or "part", and the names of their texts; "" deletes one."""
    states: dict[str, str] = field(default_factory=dict)
    """DOIs and their new states, which the first build of the next day finds that is not offline."""
    options: dict[str, int] = field(default_factory=dict)
    """Options of conf.py, and the numbers of their values."""
    moves: bool = False
    """Whether another resolver is asked from now on."""
    offline: bool = False
    builder: str = "html"
    processes: str = "1"
    unlocks: bool = False
    """Whether the lock file is deleted."""


class Project:
    """A project that is built again after each step, and also for the first time."""

    def __init__(self, folder: Path, urls: list[str]) -> None:
        self._folder = folder
        self._urls = urls
        self._source = write(folder / "src", FILES)
        self._lock = self._source / "doi.lock.json"
        self.states = {"a": "by Kahn", "b": "by Kahn", "kept,": "registered"}
        self._options = {name: values[0] for name, values in OPTIONS.items()}
        self._texts: dict[str, str] = {}
        self._told: Told = {}
        self._steps = 0
        self._day = 0
        self._has_new_states = False

    def after(self, step: Step) -> None:
        """Do what a step says, build, and compare."""
        self._steps += 1
        for name, text in step.texts.items():
            self._write(name, text)
        self.states |= step.states
        self._has_new_states = self._has_new_states or bool(step.states)
        if self._has_new_states and not step.offline:
            self._day += 1
            self._has_new_states = False
        self._change_options(step)
        if step.moves:
            self._urls.reverse()
        if step.unlocks:
            self._lock.unlink()
        if step.moves or step.unlocks or step.builder == "doi-lock" or self._lock.exists():
            self._forget("lock|not-found")
        conf = "".join(f"{name} = {value}\n" for name, value in self._options.items())
        conf += 'html_theme = "basic"\nhtml_use_index = html_copy_source = False\n'
        write(self._source, {"conf.py": f'extensions = ["sphinx_doiuri"]\n{conf}'})
        with pytest.MonkeyPatch.context() as patch:
            self._build(step, patch)

    def _change_options(self, step: Step) -> None:
        """Set the options of a step, and expect the warnings again of what Sphinx then reads or looks up."""
        chosen = {
            name: OPTIONS[name][number % len(OPTIONS[name])]
            for name, number in step.options.items()
        }
        changed = {name for name, value in chosen.items() if value != self._options[name]}
        made_notes = self._makes_notes
        self._options |= chosen
        if changed & REREADS:
            self._forget("")
        elif made_notes != self._makes_notes:
            self._forget("", self._with_citations)
        elif changed & RENEWS:
            self._forget("not-found")

    def _write(self, name: str, text: str) -> None:
        if self._texts.get(name) == text:
            return  # Sphinx would read it again
        self._texts[name] = text
        self._told.pop(reader_of(name), None)

        path = self._source / path_of(name)
        path.parent.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)
        if name == "part":
            write(self._source, {"s/tp.rst": "P\n=\n\n.. include:: ../part.txt\n"})
        if text or name == "part":
            path.write_text(f"{head_of(name, text)}{TEXTS.get(text, '')}\n", "utf-8")

    @property
    def _makes_notes(self) -> bool:
        is_note = self._options["doi_reference_style"] == "'notes.csl'"
        return is_note and self._options["doi_notes"] == "None"

    @property
    def _with_citations(self) -> set[str]:
        """The documents with citations, which are read again if these become footnotes."""
        shown = {
            name: f"{head_of(name, text)}{TEXTS.get(text, '')}"
            for name, text in self._texts.items()
        }
        return {reader_of(name) for name, text in shown.items() if re.search(":doi:[pt]:", text)}

    def _forget(self, codes: str, names: Container[str] | None = None) -> None:
        """Expect the warnings with these codes again, in documents with these names, or in all."""
        for name, told in self._told.items():
            if names is not None and name not in names:
                continue
            forgotten = [line for line in told if re.search(rf"\[doi\.({codes})", line)]
            self._told[name] = told - Counter({line: told[line] for line in forgotten})

    def _build(self, step: Step, patch: pytest.MonkeyPatch) -> None:
        strftime = time.strftime
        day = time.gmtime(86_400 * self._day)
        patch.setattr(time, "strftime", lambda form, when=day: strftime(form, when))
        patch.setenv("DOIURI_RESOLVER", self._urls[0])
        patch.setenv("DOIURI_CACHE", str(self._folder / f"{self._day}.sqlite"))
        patch.setenv("DOIURI_OFFLINE", str(step.offline))
        kept = build(self._source, self._folder / "kept", step.builder, "-j", step.processes)
        told = told_in(kept)
        # Without a network a build may know more than a first one; linkcheck shows less
        if step.offline or step.builder == "linkcheck":
            for name, lines in told.items():
                self._told[name] = self._told.get(name, Counter()) + lines
            return

        outcome = Outcome(self._locked(), told, pages(kept))
        first = self._first_build(step, outcome)

        when = f"after step {self._steps} ({differing_fields(step)}), as in a first build"
        assert_same(f"the lock file {when}", outcome.locked, first.locked)
        self._compare_warnings(when, told, first.told)
        for name, page in first.pages.items():
            assert_same(f"{name} {when}", outcome.pages.get(name), page)

    def _first_build(self, step: Step, outcome: Outcome) -> Outcome:
        """Return what a first build of the project as it is now makes; that may be the build just done.

        :param outcome: what that build made.
        """
        old_lock = b"" if step.builder == "doi-lock" else outcome.locked
        texts = {name: text for name, text in self._texts.items() if text}
        parts = (texts, self.states, self._options)
        key = (step.builder, old_lock, *(tuple(sorted(part.items())) for part in parts))
        if key not in _first_builds and self._steps == 1 and step.processes == "1":
            _first_builds[key] = outcome
        if key not in _first_builds:
            if step.builder == "doi-lock":
                self._lock.unlink(missing_ok=True)
            fresh = build(self._source, self._folder / f"fresh {self._steps}", step.builder)
            _first_builds[key] = Outcome(self._locked(), told_in(fresh), pages(fresh))
        return _first_builds[key]

    def _compare_warnings(self, when: str, told: Told, expected: Told) -> None:
        """Check that a build gave the warnings of a fresh build that were not given before."""
        for name in {*expected, *told, *self._told}:
            before = self._told.get(name, Counter())
            now = expected.get(name, Counter())
            new = told.get(name, Counter())
            assert_same(f"the warnings of {name} {when}", new, now - before)
            # a DOI that exists again may be lost again
            dead_again = [line for line in before if "[doi.not-found" in line and line not in now]
            lasting = before - Counter({line: before[line] for line in dead_again})
            self._told[name] = lasting + new

    def _locked(self) -> bytes:
        return self._lock.read_bytes() if self._lock.exists() else b""


def reader_of(name: str) -> str:
    """The document that contains a file: ``tp`` includes "part"."""
    return "tp" if name == "part" else name


def path_of(name: str) -> str:
    if name == "part":
        return "part.txt"
    return f"s/{name}.rst" if name.startswith("t") else f"{name}.rst"


def head_of(name: str, text: str) -> str:
    """What precedes the text of a document: a label and its title."""
    if name == "part":
        return ""
    titles = {"title": "On :doi:t:`10.5555/b`", "renamed": text}
    title = titles.get(text, name)
    orphan = "" if name.startswith("t") else ":orphan:"
    return f"{orphan}\n\n.. _l-{name}:\n\n{title}\n{'=' * 30}\n\n"


def told_in(built: Build) -> Told:
    """The warnings of a build by document."""
    told: Told = {}
    for line in built.told:
        if "[doi." in line:
            name = line.partition(".")[0].removeprefix("s/")
            told.setdefault(reader_of(name), Counter())[line] += 1
    return told


def pages(built: Build) -> dict[str, list[str]]:
    """What is written; of web pages titles and bodies: Sphinx does not keep up what themes show around."""
    parts = re.compile(
        r"""
        <title> .*? </title>
        |   <div\ class="body" .*? <div\ class="clearer">
        |   ^ (?! < ) .*                                     # not a web page
        """,
        re.DOTALL | re.VERBOSE,
    )
    paths = [path for path in built.out.rglob("*.*") if path.suffix in {".html", ".tex", ".txt"}]
    return {
        str(path.relative_to(built.out)): parts.findall(path.read_text("utf-8")) for path in paths
    }


@contextmanager
def project() -> Iterator[Project]:
    proxy = changing_proxy(lambda: made.states)
    with TemporaryDirectory() as folder, site(proxy) as one, site(proxy) as other:
        made = Project(Path(folder), [one.url, other.url])
        yield made


ALL = {
    "t1": "title",
    "t2": "cites a",
    "t3": "lists all",
    "o1": "cites b, a",
    "o2": "dead",
    "o3": "lists",
}
MANY = {f"o{number}": "cites a" for number in range(3, 9)}
HISTORIES = {
    "a dead DOI is registered and dies again, and another resolver is asked": [
        Step(ALL), Step(states={"dead": "registered"}), Step(states={"dead": "dead"}),
        Step(moves=True), Step(),
    ],
    "works become known on the same day, in titles, too": [
        Step({**ALL, "t2": "refers", "t3": "refers to t1", "o1": "lists all", "o4": "links"}, offline=True),
        Step(), Step(), Step(states={"b": "by Abel"}),
    ],
    "works change and are retracted": [
        Step({**ALL, "o4": "lists books"}, {"b": "registered"}),
        Step(states={"a": "by Abel", "b": "by Kahn"}),
        Step(states={"b": "retracted"}), Step({"t2": "refers", "o1": "dead"}, {"a": "dead"}),
        Step(states={"b": "registered"}),
        Step({"o3": "cites b, a"}),
    ],
    "works in links and cards change": [
        Step({**ALL, "o4": "links"}, options={"doi_text": 2}), Step(states={"b": "by Abel"}),
        Step(options={"doi_text": 0, "doi_details": 1}), Step(states={"b": "by Kahn"}),
    ],
    "numbered lists gain and lose entries": [
        Step({"o1": "cites a", "o2": "lists books"}, options={"doi_citation": 1}), Step({"t2": "lists all"}),
        Step({"o2": "cites own", "t3": "cites b, a"}), Step({"o1": ""}),
    ],
    "documents are deleted and renamed, and an included file changes": [
        Step({**ALL, "t2": "refers to t1", "part": "dead"}), Step({"o1": "", "o2": "", "part": "links"}),
        Step({"t1": "cites b, a", "o4": "title", "part": "dead"}),
        Step({"t2": "cites a"}), Step({"t2": "renamed"}),
        Step({"t3": "nothing", "o6": "lists all"}),
    ],
    "two processes read and write": [
        Step({**ALL, "t2": "refers"}, processes="2"),
        Step({**MANY, "t1": "links", "t3": "dead", "o4": "mentions", "o9": "mentions"}, processes="2"),
    ],
    "another builder finds the changes first": [
        Step({**ALL, "t2": "refers", "t4": "refers to t1", "t5": "hidden"}),
        Step(states={"a": "by Abel"}, builder="text"), Step(),
        Step(states={"b": "retracted"}, builder="latex"), Step(),
    ],
    "linkcheck finds the changes first": [
        Step({**ALL, "o4": "links"}),
        Step({"o3": "links"}, {"dead": "registered", "a": "dead"}, builder="linkcheck"), Step(),
        Step(options={"doi_resolve": 1}), Step({"o3": "dead"}, builder="linkcheck"), Step(),
    ],
    "a lock file is written, out of date, and deleted": [
        Step(ALL, builder="doi-lock"), Step(), Step({"t2": "nothing", "o3": "", "o4": "links"}),
        Step({"o5": "mentions"}, builder="doi-lock"), Step({"o1": "mentions"}), Step(unlocks=True), Step(),
    ],
    "options change, one after the other": [
        Step({"t1": "title", "o1": "on one page"}),
        *(Step(options={name: 1}) for name in OPTIONS),
    ],
    "citations become notes, and text again": [
        Step({**ALL, "o4": "notes"}, options={"doi_reference_style": 2}),
        Step({"t2": "refers", "o3": "notes"}, states={"b": "by Abel"}),
        Step({**MANY, "o4": "nothing"}, options={"doi_notes": 1}, processes="2"), Step(options={"doi_notes": 0}),
        Step({"o4": "notes"}, builder="latex"), Step(options={"doi_reference_style": 1}),
    ],
}  # fmt: skip


@pytest.mark.parametrize("history", HISTORIES.values(), ids=HISTORIES)
def test_a_build_is_that_of_a_fresh_project(history: list[Step]) -> None:
    with project() as made:
        for step in history:
            made.after(step)


STEPS = st.builds(
    Step,
    texts=st.dictionaries(st.sampled_from([*ALL]), st.sampled_from([*TEXTS]), max_size=3)
    | st.just({"o1": ""}),
    states=st.dictionaries(
        st.sampled_from(["a", "b", "dead"]), st.sampled_from([*STATES]), max_size=2
    ),
    options=st.dictionaries(st.sampled_from([*OPTIONS]), st.integers(0, 2), max_size=1),
    moves=st.sampled_from([False, False, False, True]),
    offline=st.sampled_from([False, False, False, True]),
    builder=st.sampled_from(["html", "html", "html", "dirhtml", "text", "latex"]),
    processes=st.just("1"),
    unlocks=st.just(False),
)


EXAMPLES = 2 if settings().derandomize else 200


@settings(max_examples=EXAMPLES, phases=[Phase.generate])  # shrinking takes minutes
@given(st.lists(STEPS, min_size=3, max_size=5))
def test_any_history_ends_with_the_build_of_a_fresh_project(history: list[Step]) -> None:
    with project() as made:
        for step in [Step(ALL), *history]:
            made.after(step)
