"""What the text itself shows: texts with their findings, and the texts after the fixes."""

from __future__ import annotations

import html
import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest
from doiuri import DOI, advise
from support.cases import DATA
from support.cli.command import codes, findings, fixed, names, piece, places, remember

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


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['syntax']}: {case['text']}"[:70])
def test_a_text_gets_its_findings_and_its_fixes(case: dict[str, Any], tmp_path: Path) -> None:
    """The unsafe fixes are those that are applied if only the names in the last text are registered."""
    path, around = in_file(case)
    text = around.format(case["text"])
    text_in_capitals = around.format(loud(case))
    safe = around.format(case.get("fixed", case["text"]))
    unsafe = around.format(case["unsafe"]) if "unsafe" in case else safe
    config = tmp_path / "doiuri.toml"
    config.write_text(f'tex-escape = "{case.get("tex_escape", "any")}"\n')

    found = findings(path, text, "--config", config)

    assert told(text, found) == case["told"]
    if text_in_capitals != text:
        found_in_capitals = findings(path, text_in_capitals, "--config", config)
        assert [(finding["code"], finding["doi"]) for finding in found_in_capitals] == [
            (code, doi) for code, _, doi in case["told"]
        ]
    if "says" in case:  # None: no suggestion, as it would only be a guess
        message = found[0]["message"]
        assert message.endswith(case["says"]) if case["says"] else "did you mean" not in message
    if (path, around) == ("a.txt", "{}"):
        sentences = (
            f"(See {text}), {text}, {text}; '{text}': x.\n\nIs {text}, it is {text}!\nAnd {text}."
        )
        assert told(sentences, findings(path, sentences)) == case["told"] * 7

    cache = tmp_path / "cache.sqlite"
    wrong = [finding["doi"] for finding in found if finding["doi"]]
    known = dict.fromkeys(wrong, False) | dict.fromkeys(names(path, unsafe), True)
    remember(cache, {name: exists for name, exists in known.items() if name.startswith("10.")})
    options = "--config", config, "--unsafe-fixes", "--offline", "--cache", cache

    if case["told"]:  # without a finding, there is less that safe fixes might change
        assert fixed(path, text, "--config", config) == safe
    assert fixed(path, text, *options) == unsafe
    if text_in_capitals != text:
        assert fixed(path, text_in_capitals, *options).lower().split() == unsafe.lower().split()


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
