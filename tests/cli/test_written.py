"""What the text itself shows: texts with their findings, and the texts after the fixes."""

from __future__ import annotations

import contextlib
import functools
import html
import itertools
import json
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from doiuri import DOI, advise
from support.cases import DATA
from support.checks import assert_same
from support.cli.command import (
    codes,
    findings,
    findings_in_files,
    fixed,
    fixed_files,
    names,
    piece,
    places,
    places_in_files,
    remember,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.cli.command import File

GIVEN: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("written.json").read_text("utf-8")
)["cases"]
CASES: list[dict[str, Any]] = []
"""A case for each syntax, or for the type of a file."""
for given in GIVEN:
    for syntax in (given.get("syntax") or given["path"]).split():
        CASES.append(given | {"syntax": syntax})
# A file for each syntax
FILES = {"text": "a.txt", "markdown": "a.md", "rst": "a.rst", "html": "a.html", "xml": "a.xml"}
FILES |= {"tex": "a.tex", "bibtex": "a.bib", "asciidoc": "a.adoc"}
IN_FIELD = {
    "text": ("a.ris", "TY  - A\nDO  - {}\nER  - \n"),
    "bibtex": ("a.bib", "@misc{{k, doi = {{{}}}}}\n"),
}


# What programs write in any case: hosts, schemes and labels; not the names of roles and commands
HEADS = re.compile(
    r"""
    (?: https?:// | // )? (?: dx\. | www\. )? doi\.org
  | https?://
  | (?<![:{]) \b (?: urn: | info: )? (?: doi | hdl ) [:/] (?!`)
    """,
    re.VERBOSE,
)


def in_file(case: dict[str, Any]) -> tuple[str, str]:
    """Return a file that has the text in its syntax, and what is around the text."""
    if "path" in case:
        return case["path"], "{}"
    if case.get("field"):
        return IN_FIELD[case["syntax"]]
    around = "{}"
    if case["syntax"] == "bibtex" and not case["text"].startswith("@"):
        around = (
            "@misc{{k, {}}}" if case["text"].startswith("url") else "@misc{{k, note = {{{}}}}}\n"
        )
    return FILES[case["syntax"]], around


def told(text: str, found: list[dict[str, Any]]) -> list[list[str | None]]:
    """Return the code, the text and the DOI of each finding in a text."""
    return [[finding["code"], piece(text, finding), finding["doi"]] for finding in found]


def loud(case: dict[str, Any]) -> str:
    """Return the text of a case with what programs write in any case in capitals, and with tabs in BibTeX."""
    text = HEADS.sub(lambda head: head[0].upper(), case["text"])
    if case["syntax"] == "bibtex" and case.get("field"):
        return text.replace(" ", "\t")
    return text


def in_sentences(text: str) -> str:
    """Return sentences with a text in the places where prose has DOIs, seven times."""
    return f"(See {text}), {text}, {text}; '{text}': x.\n\nIs {text}, it is {text}!\nAnd {text}."


class Files(NamedTuple):
    """The files of a case."""

    plain: tuple[str, str]
    in_capitals: tuple[str, str]
    in_sentences: tuple[str, str] | None  # None if the text does not stand alone in a plain text
    safe: str  # the text after the safe fixes
    unsafe: str  # that after all fixes, if only the names in it are registered


def files_of(case: dict[str, Any]) -> Files:
    path, around = in_file(case)
    safe = around.format(case.get("fixed", case["text"]))
    return Files(
        plain=(path, around.format(case["text"])),
        in_capitals=(path, around.format(loud(case))),
        in_sentences=(path, in_sentences(case["text"]))
        if (path, around) == ("a.txt", "{}")
        else None,
        safe=safe,
        unsafe=around.format(case["unsafe"]) if "unsafe" in case else safe,
    )


def files_with(tex_escape: str) -> list[Files]:
    """Return the files of the cases with this setting."""
    return [files_of(case) for case in CASES if case.get("tex_escape", "any") == tex_escape]


@contextlib.contextmanager
def configured(tex_escape: str) -> Iterator[tuple[str, str]]:
    """Yield the options for a configuration file with this setting."""
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "doiuri.toml")
        config.write_text(f'tex-escape = "{tex_escape}"\n')
        yield "--config", str(config)


@functools.cache
def found_with(tex_escape: str) -> dict[File, list[dict[str, Any]]]:
    """Return the findings on all files of the cases with this setting, from one run."""
    all_files: dict[File, None] = {}
    for files in files_with(tex_escape):
        wanted = files.plain, files.in_capitals, files.in_sentences
        all_files |= dict.fromkeys(file for file in wanted if file is not None)
    with configured(tex_escape) as options:
        return dict(zip(all_files, findings_in_files(all_files, *options), strict=True))


@functools.cache
def safely_fixed_with(tex_escape: str) -> dict[File, str]:
    """Return the texts of the cases with this setting after safe fixes, from one run."""
    files = dict.fromkeys(files.plain for files in files_with(tex_escape))
    with configured(tex_escape) as options:
        return dict(zip(files, fixed_files(files, *options), strict=True))


class Group(NamedTuple):
    """Files for which one cache has the answers."""

    known: dict[str, bool]  # whether each name is registered
    files: dict[File, str]  # each with its text after all fixes


@functools.cache
def fixed_with(tex_escape: str) -> dict[File, str]:
    """Return the texts of the cases with this setting after all fixes.

    Only the names in what a case expects are registered, so that cases which contradict each other need runs of
    their own.
    """
    all_files = files_with(tex_escape)
    found = found_with(tex_escape)
    registered = places_in_files((files.plain[0], files.unsafe) for files in all_files)
    groups: list[Group] = []
    for files, mentioned in zip(all_files, registered, strict=True):
        wrong = [finding["doi"] for finding in found[files.plain] if finding["doi"]]
        known = dict.fromkeys(wrong, False) | {place["doi"]: True for place in mentioned}
        known = {name.upper(): known[name] for name in known if name.startswith("10.")}
        group = next((group for group in groups if agree(group.known, known)), Group({}, {}))
        if not group.files:
            groups.append(group)
        group.known.update(known)
        group.files.update(dict.fromkeys((files.plain, files.in_capitals), ""))

    after: dict[File, str] = {}
    for group in groups:
        with configured(tex_escape) as options:
            cache = Path(options[1]).with_name("cache.sqlite")
            remember(cache, group.known)
            unsafe = "--unsafe-fixes", "--offline", "--cache", cache
            texts = fixed_files(group.files, *options, *unsafe)
        after |= zip(group.files, texts, strict=True)
    return after


def agree(known: dict[str, bool], others: dict[str, bool]) -> bool:
    """Return whether no name is registered according to one and not according to the other."""
    return all(known[name] == others[name] for name in known.keys() & others.keys())


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['syntax']}: {case['text']}"[:70])
def test_a_text_gets_its_findings_and_its_fixes(case: dict[str, Any]) -> None:
    """The unsafe fixes are those that are applied if only the names in the last text are registered."""
    files = files_of(case)
    text = files.plain[1]
    tex_escape = case.get("tex_escape", "any")

    found = found_with(tex_escape)

    assert_same(f"the findings on {text!r}", told(text, found[files.plain]), case["told"])
    in_capitals = [(one["code"], one["doi"]) for one in found[files.in_capitals]]
    expected = [(code, doi) for code, _, doi in case["told"]]
    assert_same(f"the findings on {files.in_capitals[1]!r}", in_capitals, expected)
    if files.in_sentences is not None:
        sentences = files.in_sentences[1]
        found_there = told(sentences, found[files.in_sentences])
        assert_same(f"the findings on {sentences!r}", found_there, case["told"] * 7)
    if "says" in case:  # None: no suggestion, as it would only be a guess
        message = found[files.plain][0]["message"]
        is_said = message.endswith(case["says"]) if case["says"] else "did you mean" not in message
        assert is_said, f"{text!r} gets the message {message!r}, not {case['says']!r}"

    after = safely_fixed_with(tex_escape)[files.plain]
    assert_same(f"{text!r} after safe fixes", after, files.safe)
    fixed = fixed_with(tex_escape)
    assert_same(f"{text!r} after all fixes", fixed[files.plain], files.unsafe)
    words = fixed[files.in_capitals].lower().split()
    in_lower_case = files.unsafe.lower().split()
    assert_same(f"{files.in_capitals[1]!r} after all fixes", words, in_lower_case)


# Their suggestions drop text, or guess at what is lost
GUESSES = {"run-on", "lost-character", "placeholder", "dropped-query", "dropped-fragment"}
ADVICE = json.loads((DATA / "advice.json").read_text("utf-8"))["cases"]
BARE = {
    one["text"]: one["advice"] for one in ADVICE if re.fullmatch(r"10\.[!-\ud7ff]+", one["text"])
}


def test_a_field_gets_the_advice_on_its_name_and_the_fix_that_it_suggests(tmp_path: Path) -> None:
    """As ``advise`` gives it; all names in one file, and only those that are suggested are registered."""
    path = "a.ris"
    record = "TY  - A\nID  - {}\nDO  - {}\nER  - \n"
    text = "".join(map(record.format, range(len(BARE)), BARE))
    suggested = set(filter(None, itertools.chain.from_iterable(map(dict.values, BARE.values()))))
    known = dict.fromkeys(names(path, text), False) | {
        DOI.parse(one).name: True for one in suggested
    }
    remember(tmp_path / "cache", known)
    told: dict[str, dict[str, str | None]] = {text: {} for text in BARE}
    for one in findings(path, text, "--cache", tmp_path / "cache", "--ignore=not-found,duplicate"):
        meant = re.search(r"did you mean (.*)\?$", one["message"])
        told[[*BARE][int(one["entry"])]][one["code"]] = meant and meant[1]
    # a decoded name is usually meant, no field has entities, and a name that is registered is right
    expected = {written: dict(advice) for written, advice in BARE.items()}
    for written, advice in expected.items():
        advice.update({code: None for code in advice if code == "decoded-escape"})
        doi = DOI.parse(html.unescape(written))
        if "entity" in advice:
            advice.update({one.code: one.suggestion for one in advise(doi)} | {"entity": doi.name})
        if known[doi.name]:
            for on_name in advise(doi):
                del advice[on_name.code]
    assert told == expected
    after = fixed(path, text, "--unsafe-fixes", "--offline", "--cache", tmp_path / "cache")
    for written, name in zip(BARE, re.findall("DO  - (.*)", after), strict=True):
        better = [one for code, one in BARE[written].items() if one and code not in GUESSES]
        assert name in (better or [written]), written


BIBLIOGRAPHIES = {
    "BibTeX": (
        "a.bib",
        "@misc{{{key}, doi = {{{doi}}}, url = {{https://doi.org/{doi}}}, eprint = {{{doi}}}}}\n",
    ),
    "RIS": ("a.ris", "TY  - JOUR\nID  - {key}\nDO  - {doi}\nUR  - https://doi.org/{doi}\nER  - \n"),
    "RIS without keys": ("a.ris", "TY  - JOUR\nDO  - {doi}\nUR  - https://doi.org/{doi}\nER  - \n"),
    "CSL-JSON": (
        "a.json",
        '[{{"id": "{key}", "type": "book", "DOI": "{doi}", "URL": "https://doi.org/{doi}"}}]',
    ),
}


def bibliography(kind: str, *dois: str) -> tuple[str, str, list[str]]:
    """Return the name and the text of a file with an entry for each DOI, and their keys."""
    path, form = BIBLIOGRAPHIES[kind]
    prefix = "record " if kind == "RIS without keys" else "k"
    keys = [f"{prefix}{number}" for number, _ in enumerate(dois, 1)]
    entries = (form.format(key=key, doi=doi) for key, doi in zip(keys, dois, strict=True))
    return path, "".join(entries).replace("][", ",\n"), keys


@pytest.mark.parametrize("kind", BIBLIOGRAPHIES)
def test_entries_with_one_doi_are_told_once_whatever_its_case(kind: str) -> None:
    path, text, keys = bibliography(kind, "10.1000/A", "10.1000/183", "doi:10.1000/a", "10.1000/a")
    lines = {one["entry"]: one["line"] for one in reversed(places(path, text))}
    (finding,) = findings(path, text, "--select=duplicate")
    assert (finding["entry"], finding["line"]) == (keys[2], lines[keys[2]])
    others = " and ".join(f"{key} (line {lines[key]})" for key in (keys[0], keys[3]))
    assert finding["message"] == f"the same DOI as {others}"


@pytest.mark.parametrize("kind", BIBLIOGRAPHIES)
def test_one_wrong_doi_in_fields_of_an_entry_is_one_finding(kind: str, tmp_path: Path) -> None:
    path, text, keys = bibliography(kind, "10.1000/1", "10.1000/2.pdf")
    remember(tmp_path / "cache", {"10.1000/1": False, "10.1000/2.pdf": False})
    found = findings(path, text, "--cache", tmp_path / "cache")
    assert {one["code"] for one in found} == {"not-found"}
    entries = [one["entry"] for one in found]
    assert entries == [keys[0], *[keys[1]] * text.count("10.1000/2")], "each place is fixed"
    assert [one["fix"] is not None for one in found] == [entry == keys[1] for entry in entries]


@pytest.mark.parametrize(("length", "told"), [(900, ["raw-link"]), (1100, [])])
def test_the_rest_of_a_link_is_bounded(length: int, told: list[str]) -> None:
    assert codes("a.txt", f"https://doi.org/10.1000/1#{'1' * length}") == told
