"""The readers find DOIs at their exact places, in files and in the texts of files.json."""

from __future__ import annotations

import ast
import functools
import itertools
import json
from pathlib import Path
from textwrap import indent
from typing import Any, NamedTuple

import pytest
from support.checks import assert_same
from support.cli.command import (
    doiuri,
    findings,
    findings_in_files,
    names,
    piece,
    places,
    places_in_files,
)

CASES = Path(__file__).parents[1] / "cases"
EXPECTED: dict[str, list[dict[str, Any]]] = {}
"""The mentions in each file, by its path."""
for folder in sorted(CASES.iterdir()):
    for file, case_of_file in json.loads((folder / "expected.json").read_text("utf-8")).items():
        EXPECTED[f"{folder.name}/{file}"] = case_of_file["mentions"]
LATIN_1 = ("text/latin1-crlf.txt", "python/latin.py")


def text_of(name: str) -> str:
    encoding = "latin-1" if name in LATIN_1 else "utf-8"
    return (CASES / name).read_bytes().decode(encoding)


def _place(mention: dict[str, Any]) -> tuple[int, int, int]:
    return mention.get("cell") or 0, mention["line"], mention["column"]


def test_every_file_is_a_case() -> None:
    files = {f"{file.parent.name}/{file.name}" for file in CASES.glob("*/*")}
    assert {name for name in files if not name.endswith("/expected.json")} == {*EXPECTED}


@pytest.mark.parametrize("name", EXPECTED)
def test_each_doi_is_found_and_what_is_none_is_told_at_its_place(name: str) -> None:
    text = text_of(name)
    content = (CASES / name).read_bytes()
    valid = sorted((mention for mention in EXPECTED[name] if mention["doi"]), key=_place)
    invalid = [mention for mention in EXPECTED[name] if not mention["doi"]]

    found = places(name, content)
    told = findings(name, content, "--select=syntax,short-doi")

    assert len(found) == len(valid)
    for mention, expected in zip(found, valid, strict=True):
        mention["text"] = piece(text, mention) if mention["cell"] is None else None
        assert mention.items() >= expected.items()
    assert [*map(_place, told)] == [*map(_place, invalid)]


@pytest.mark.parametrize(
    ("end", "encoding"), [("\r\n", "utf-8-sig"), ("\n", "utf-16"), ("\r\n", "utf-32")]
)
@pytest.mark.parametrize("name", EXPECTED)
def test_line_ends_and_encoding_do_not_change_what_is_found(
    name: str, end: str, encoding: str
) -> None:
    text = text_of(name).replace("\r\n", "\n").removeprefix("\ufeff")

    usual = places(name, text.encode("utf-8-sig"))
    other = places(name, text.replace("\n", end).encode(encoding))

    for place in usual + other:
        place["text"] = place["text"].split()
    assert usual == other


MARGINS_MATTER = ("json", ".ris", ".ipynb", ".cff", "methods.md", "latin.py")


@pytest.mark.parametrize("name", [name for name in EXPECTED if not name.endswith(MARGINS_MATTER)])
def test_the_same_is_found_in_a_deeper_block(name: str) -> None:
    text = text_of(name)
    deeper = indent(text.replace("\r\n", "\n"), "   ", lambda line: True)

    usual = places(name, text.encode())
    moved = places(name, f"- x:\n\n{deeper}".encode())

    assert len(moved) == len(usual)
    for place, expected in zip(moved, usual, strict=True):
        assert (place["doi"], place["entry"]) == (expected["doi"], expected["entry"])
        assert (place["line"], place["column"]) == (expected["line"] + 2, expected["column"] + 3)


GIVEN = json.loads(Path(__file__).with_name("files.json").read_text("utf-8"))
ABOUT = [(case["about"], case["text"]) for case in GIVEN["cases"]]


def with_entry(doi: str | list[str]) -> list[str | None]:
    """Return a DOI with the key of its entry, or with None."""
    return [doi, None] if isinstance(doi, str) else [*doi]


class Reading(NamedTuple):
    """What is read in the file of a case."""

    found: list[list[str | None]]  # the DOIs, each with its entry
    invalid: list[str]  # the pieces that are no DOIs
    codes: list[str]


@functools.cache
def readings(end: str) -> list[Reading]:
    """Return what is read in each file of ``GIVEN`` with this line end; each command runs once."""
    files = []
    for case in GIVEN["cases"]:
        text = case["text"].replace("\r\n", "\n").replace("\n", end)
        files.append((case["path"], text))
    in_files = zip(
        files,
        places_in_files(files),
        findings_in_files(files, "--select=syntax"),
        findings_in_files(files),
        strict=True,
    )
    return [
        Reading(
            [[place["doi"], place["entry"]] for place in found],
            [piece(text, one) for one in invalid],
            [one["code"] for one in told],
        )
        for (_, text), found, invalid, told in in_files
    ]


@pytest.mark.parametrize(
    "number", range(len(GIVEN["cases"])), ids=[f"{about}: {text}"[:70] for about, text in ABOUT]
)
def test_dois_are_found_and_what_stands_in_the_place_of_one_is_told(number: int) -> None:
    """What is no DOI is told where one is meant, and nowhere else."""
    case = GIVEN["cases"][number]
    reading = readings("\n")[number]

    if "found" in case:
        expected = [with_entry(dois) for dois in case["found"]]
        assert_same(f"{case['path']} mentions", reading.found, expected)
    if "invalid" in case:
        assert_same(f"{case['path']} has as no DOIs", reading.invalid, case["invalid"])
    if "codes" in case:
        assert_same(f"{case['path']} gets the codes", reading.codes, case["codes"])


def test_line_ends_of_windows_change_nothing_of_what_is_read() -> None:
    usual = dict(zip(ABOUT, readings("\n"), strict=True))
    windows = dict(zip(ABOUT, readings("\r\n"), strict=True))

    # A piece on several lines has their ends
    for reading in windows.values():
        reading.invalid[:] = [text.replace("\r\n", "\n") for text in reading.invalid]
    assert_same("with CR LF at the ends of lines", windows, usual)


def test_the_same_is_found_in_a_file_whether_it_is_named_or_in_a_folder(tmp_path: Path) -> None:
    paths = []
    for number, case in enumerate(GIVEN["cases"]):
        path = tmp_path / str(number) / case["path"]
        path.parent.mkdir(parents=True)
        path.write_bytes(case["text"].encode())
        paths.append(path.relative_to(tmp_path))

    named = doiuri("find", "--isolated", "-o", "jsonl", *paths, cwd=tmp_path)
    walked = doiuri("find", "--isolated", "-o", "jsonl", ".", cwd=tmp_path)

    assert sorted(walked.stdout.splitlines()) == sorted(named.stdout.splitlines())


NO_DOI = (
    "N/A",
    "n/a",
    "#N/A",
    "NA",
    "nan",
    "-",
    "—",
    "unknown",
    "not available",
    "no DOI available",
)
VALUES: dict[str, str | None] = {
    **dict.fromkeys(NO_DOI, ""),
    **dict.fromkeys(("string", "The DOI of the paper", "smith2010", "P356")),
    **dict.fromkeys(("10.", "1000/182", "doi:1000", "DOI:1000"), "syntax"),
    "10/d8dn": "short-doi",
    "10.1000/182": "",
    "10.1000/182.": "trailing-punctuation",
}


FIELDS: list[list[str]] = GIVEN["loose"] + GIVEN["fields"]


@pytest.mark.parametrize(("path", "form"), FIELDS)
def test_a_field_is_told_at_its_place_unless_doi_may_mean_something_else(
    path: str, form: str
) -> None:
    expected: dict[str, list[tuple[str, str]]] = {}
    for text, code in VALUES.items():
        told = code
        if told is None:
            told = "" if [path, form] in GIVEN["loose"] else "syntax"
        if text in NO_DOI and "@misc" in form:
            told = "syntax"  # styles of BibTeX make a link of it
        expected[text] = [(told, text)] if told else []
    files = [(path, form.format(text)) for text in VALUES]
    contents = [content for _, content in files]

    found = zip(VALUES, contents, findings_in_files(files), strict=True)
    read = zip(VALUES, contents, places_in_files(files), strict=True)

    told_of = {
        text: [(one["code"], piece(content, one)) for one in told] for text, content, told in found
    }
    assert_same(f"in {form}, the findings on a value", told_of, expected)
    read_of = {text: [piece(content, one) for one in places] for text, content, places in read}
    dois = {text: [text] if text.startswith(("10/", "10.1")) else [] for text in VALUES}
    assert_same(f"in {form}, the DOIs of a value", read_of, dois)


DOCUMENTING = [
    *("{}", "x = 1; {}", "{}; x = 1", "{}  # x", "x = [\nclass A:\r\n    {}\r\n", "f.__doc__ = {}"),
    *(
        "def f(a=(1, [2])):\n\t{}",
        "x = '# (['\n{}",
        "x = (\nasync def f() -> x: {}",
        "x = (\ndef f(): {}",
    ),
    *("# '\n{}", "('''[(\n''')\n{}", '!ls "(\n%%bash\ndef f():\n  {}', "x = '\\''\n\n{}\ny"),
]
OTHERS = [
    *("x = {}", "({})", "f(\n{}\n)", "[{}]", "x = {{\n'a':\n{}\n}}", "x = \\\n{}", "x = \\\r\n{}"),
    *("return {}", "{}.strip()", "{} \\\n    'x'", "{} % x", "'a' {}", "{}[0]", "a, {}"),
]
STRING = r"10.1000/\x41\101\u00e9\U0001F600\N{DIGIT ONE} 10.1000/a\[]b It\'s (10.1000/\"#)".replace(
    "[]", "\n"
)


def literals(*prefixes: str) -> list[str]:
    """Return literals of ``STRING`` with each prefix, in all kinds of quotation marks."""
    quotes = ("'", '"', "'''", '"""')
    pairs = itertools.product(prefixes, quotes)
    return [f"{prefix}{marks}{STRING}{marks}" for prefix, marks in pairs]


STRINGS = literals("", "r", "R", "u", "U")
NO_STRINGS = literals("b", "f", "rB", "Fr")


@pytest.mark.parametrize("form", DOCUMENTING + OTHERS)
def test_strings_that_document_something_are_read_as_python_reads_them(form: str) -> None:
    """Bytes and formatted strings document nothing."""
    values = dict.fromkeys([*STRINGS, *NO_STRINGS], "")
    if form in DOCUMENTING:
        values |= {string: ast.literal_eval(string) for string in STRINGS}

    found = places_in_files(("a.py", form.format(string)) for string in values)

    read = {
        string: [one["doi"] for one in places] for string, places in zip(values, found, strict=True)
    }
    expected = {string: names_in_rst(value) for string, value in values.items()}
    assert_same(f"in {form}, the DOIs of a string", read, expected)


@functools.cache
def names_in_rst(text: str) -> list[str]:
    return names("a.rst", text)


ENCODINGS = {
    "# vim: set fileencoding=cp1252 :": "cp1252",
    **dict.fromkeys(("# coding: utf-8", "# coding: none", "x = 1\n# coding: cp1252"), "utf-8"),
    **dict.fromkeys(("# coding: ascii", "# coding: rot13"), "utf-8"),
    f"# coding: punycode\n# {'abc' * 300_000}": "utf-8",  # decoding it takes quadratic time: minutes
}


@pytest.mark.parametrize("head", ENCODINGS, ids=lambda head: head[:35])
def test_the_encoding_that_a_comment_names_is_that_of_what_is_read_and_written(
    head: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.py"
    content = f"#!/bin/sh\n{head}\n# http://doi.org/10.1000/€"
    path.write_bytes(content.encode(ENCODINGS[head]))

    assert "/€" in doiuri("find", path).stdout
    assert doiuri("fix", "--isolated", path).stderr == "Fixed 1 in 1 file; 0 left.\n"
    assert path.read_bytes() == content.replace("http", "https").encode(ENCODINGS[head])
