"""Properties of all fixes, over texts made of DOIs in many forms, in every type of file."""

import html
import json
import re
import tempfile
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
import yaml
from docutils.core import publish_doctree
from docutils.nodes import Element
from doiuri import DOI
from hypothesis import assume, example, given
from hypothesis import strategies as st
from support.checks import assert_same, exactly
from support.cli.command import doiuri, fixed, fixed_files, names, remember

GIVEN: dict[str, Any] = json.loads(Path(__file__).with_name("forms.json").read_text("utf-8"))
FORMS: dict[str, list[str]] = GIVEN["forms"]
HEADS = st.sampled_from(GIVEN["heads"])


def mention(head: str, name: str, tail: str, *, is_encoded: bool) -> str:
    """Return a mention of a DOI, with its name as it is or as in a link."""
    if is_encoded:
        name = DOI(name).url.removeprefix("https://doi.org/")
    return head + name + tail


MENTIONS = st.builds(
    mention,
    HEADS,
    st.sampled_from(GIVEN["names"]),
    st.sampled_from(GIVEN["tails"]),
    is_encoded=st.booleans(),
)
PIECES = st.sampled_from(sorted(FORMS)).flatmap(
    lambda path: st.lists(
        st.builds(
            lambda form, text: form.format(text, text), st.sampled_from(FORMS[path]), MENTIONS
        ),
        min_size=1,
        max_size=4,
    ).map(lambda pieces: (path, "\n\n".join(pieces)))
)


def keys(path: str, text: str) -> list[str]:
    """Return the DOIs in a file."""
    return [DOI(name).key for name in names(path, text)]


@given(PIECES, st.sampled_from(["\n", "\r\n"]))
def test_safe_fixes_keep_the_dois_and_leave_nothing_to_a_second_run(
    file: tuple[str, str], line_end: str
) -> None:
    path, text = file
    text = text.replace("\n", line_end)

    once = fixed(path, text)

    assert keys(path, once) == keys(path, text)
    assert fixed(path, once) == once


def apply(path: str, text: str) -> tuple[str, int]:
    """Return a text after the safe fixes that ``check`` lists, and how many were applied."""
    words = "check", "--isolated", "--offline", "--lock=", "--quiet", "-", "--stdin-filename", path
    with tempfile.TemporaryDirectory() as folder:
        outputs = "-o", "json", "-o", f"sarif:{folder}/a.sarif"
        listed = doiuri(*words, *outputs, stdin=text.encode()).stdout
        log = json.loads(Path(folder, "a.sarif").read_text("utf-8"))

    changes = []
    results = log["runs"][0]["results"]
    for result, finding in zip(results, json.loads(listed), strict=True):
        if finding["fix"] and finding["fix"]["safe"]:
            (change,) = result["fixes"][0]["artifactChanges"]
            (replacement,) = change["replacements"]
            start = replacement["deletedRegion"]["charOffset"]
            end = start + replacement["deletedRegion"]["charLength"]
            changes.append((start, end, replacement["insertedContent"]["text"]))

    pieces: list[str] = []
    last = 0
    for start, end, new in sorted(changes):
        if start > last or not pieces:
            pieces += [text[last:start], new]
            last = end
    return "".join([*pieces, text[last:]]), len(pieces) // 2


# Two fixes that touch: the second one is applied in a second round
@example(("a.txt", "https://doi.org/https://doi.org/10.1000/a//../b"))
@given(PIECES)
def test_a_fix_changes_what_check_says_and_nothing_else(file: tuple[str, str]) -> None:
    path, text = file
    fixing = text
    run = doiuri("fix", "--isolated", "-", "--stdin-filename", path, stdin=text.encode())
    assume("a fix was left out" not in run.stderr)
    count = 0
    for _ in range(10):
        fixing, applied = apply(path, fixing)
        count += applied
        if not applied:
            break
    assert_same(f"{path}, {text!r} after its fixes", run.stdout, fixing)
    summary = f"Fixed {count} in {1 if count else 0} file"
    assert summary in run.stderr, f"{text!r}: {run.stderr!r} is not {summary!r}"


REGISTERED = {"10.1000/182", "10.1000/978-3", "10.1000/x"}


@given(PIECES)
def test_an_unsafe_fix_changes_an_unknown_name_to_a_registered_one(file: tuple[str, str]) -> None:
    path, text = file
    before = names(path, text)
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder, "cache")
        remember(cache, {name: name in REGISTERED for name in {*before, *REGISTERED}})
        after = names(path, fixed(path, text, "--unsafe-fixes", "--offline", "--cache", cache))
    wrong = [
        f"{old} became {new}"
        for old, new in zip(before, after, strict=True)
        if html.unescape(old) != html.unescape(new) and (new not in REGISTERED or old in REGISTERED)
    ]
    assert not wrong, "\n".join(wrong)


HOSTILE = st.builds(
    lambda head, pieces: f"{head}10.1000/{''.join(pieces)}",
    *(HEADS, st.lists(st.sampled_from(GIVEN["pieces"]), min_size=1, max_size=6)),
)
FIELDS: dict[str, str] = GIVEN["fields"]
QUOTED = {"a.cff", "a.yml", "refs.json", "a.md"}


def value_of(path: str, text: str) -> str:
    """Return the value of the field, as the format's own parser reads it."""
    if path == "refs.json":
        return str(json.loads(text)[0]["DOI"])
    if path in QUOTED:
        return str(yaml.safe_load(text.strip("-\n"))["doi"])
    before, after = FIELDS[path].format("\0").split("\0")
    return text.removeprefix(before).removesuffix(after)


def plain(value: str) -> str:
    """Return a value from its name on, without escapes."""
    name = value[value.index("10.1000") :].rstrip().replace("\\textless{}", "<")
    return re.sub(r"[\\{}$]", "", unquote(html.unescape(name)))


@example("a.md", "doi:10.1000/a%5Cn")
@example("a.ris", "https://doi.org/10.1000/j.\u200bcell.2020.01.001")
@example("a.ris", "https://doi.org/10.1000/x17:15/16&#60;1661::AID-SIM968&#62;3.0.CO;2-2")
@example("refs.json", "https://doi.org/10.1000/x<1661::AID-SIM968>3.0.CO;2-#")
@given(st.sampled_from(sorted(FIELDS)), HOSTILE)
def test_nothing_of_a_field_is_lost(path: str, value: str) -> None:
    """All that follows the head is in the field afterwards, escaped or not; of a link, a query may go."""
    assume("\x7f" not in value or path != "a.md")  # YAML has no such character
    written = json.dumps(value, ensure_ascii=False) if path in QUOTED else value
    text = FIELDS[path].format(written)
    better = fixed(path, text)
    if better == text:
        return
    before = plain(value)
    after = plain(value_of(path, better))
    dropped = before.removeprefix(after)
    is_link = "/" in value[: value.index("10.1000")]
    assert not dropped or (before != dropped and dropped[0] in "#?" and is_link)
    assert not dropped or not before.endswith(">3.0.CO;2-#")


ROWS = ["http://dx.doi.org/10.1000/182", "doi:doi:10.1000/183", "plain"]
STRUCTURES = GIVEN["structures"]


def shape(text: str) -> list[str]:
    """Return the names of all elements, among them those of errors."""
    settings = {"report_level": 1, "halt_level": 6, "warning_stream": False}
    return [
        node.tagname for node in publish_doctree(text, settings_overrides=settings).findall(Element)
    ]


@example([(form, ROWS[0]) for form in STRUCTURES])
@given(
    st.lists(st.tuples(st.sampled_from(STRUCTURES), st.sampled_from(ROWS)), min_size=1, max_size=4)
)
def test_restructuredtext_keeps_its_structure(blocks: list[tuple[str, str]]) -> None:
    """Tables, titles and references are the same for docutils, in a file and in a docstring."""
    text = "\n".join(form.format(row, row, "=" * len(row), "-" * len(row)) for form, row in blocks)
    expected = shape(text)
    shapes: dict[str, list[str]] = {}  # by the text: most files of a text get the same fixes
    for path, form in {"a.rst": "{}", "a.txt": "{}", "a.py": '"""\n{}"""\n'}.items():
        better = fixed(path, form.format(text)).replace('"""', "").strip("\n")
        if better not in shapes:
            shapes[better] = shape(better)
        assert_same(f"the elements of {path} with {better!r}", shapes[better], expected)


# A query or a fragment that links really have may go; none of these is one
KEPT: dict[str, Any] = GIVEN["kept"]


def kept(line: str) -> str:
    """Return the name in a line and what follows it, without escapes."""
    text = line[line.index("10.1") :]
    text = unquote(unquote(re.sub(r"\\(?=%)", "", text)))
    text = re.sub(r"[\\{}$\"]", "", text).replace("textless", "<").replace("textgreater", ">")
    return html.unescape(html.unescape(text))


def spelled(path: str, spelling: str) -> str:
    """Return a file with a third of all pairs of head and name, other ones in the next spelling."""
    before, form, after = KEPT["forms"][path]  # the start of a file, an entry in it, and its end
    escapes: dict[str, str] = KEPT["spellings"][spelling]
    first = ([*KEPT["forms"]].index(path) + [*KEPT["spellings"]].index(spelling)) % 3
    mentions = [*product(KEPT["heads"], KEPT["names"])][first::3]
    entries = []
    for number, (head, name) in enumerate(mentions):
        value = head + "".join(escapes.get(character, character) for character in name)
        if '"{}"' in form:
            value = json.dumps(value)[1:-1]
        entries.append(form.format(value, n=number))
    return f"{before}{''.join(entries)}{after}"


@pytest.mark.parametrize("path", KEPT["forms"])
def test_safe_fixes_keep_the_name_however_it_is_spelled(path: str) -> None:
    texts = [spelled(path, spelling) for spelling in KEPT["spellings"]]

    fixes = fixed_files((path, text) for text in texts)

    for text, better in zip(texts, fixes, strict=True):
        assert better != text or path == "a.txt", f"{path}: nothing is fixed in {text!r}"
        lines = exactly(text.count("\n") + 1, "lines", better.split("\n"))
        lost = [
            f"{new} instead of {old}"
            for old, new in zip(text.split("\n"), lines, strict=True)
            if old != new and kept(old) != kept(new)
        ]
        assert not lost, f"{path}: a name is lost: {lost}"
