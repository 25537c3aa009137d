"""Properties of all fixes, over texts made of DOIs in many forms, in every type of file."""

import html
import json
import re
import tempfile
from pathlib import Path
from urllib.parse import unquote

import yaml
from docutils.core import publish_doctree
from docutils.nodes import Element
from doiuri import DOI
from hypothesis import assume, example, given
from hypothesis import strategies as st
from support.cli.command import doiuri, fixed, names, remember

NAMES = st.sampled_from(
    [
        "10.1000/182",
        "10.1000/a_b",
        "10.1002/(SICI)1522-2594(199911)42:5<952::AID-MRM16>3.0.CO;2-S",
        "10.26321/Á.GUTIÉRREZ",
        "10.1000/abc/../d",
        "10.1000/x.pdf",
        "10.1000/a&b",
        "10.1000/978–3",
        "10.5281/zenodo.1",
        "10.1000/182/abstract",
    ]
)
HEADS = st.sampled_from(
    [
        "",
        "doi:",
        "DOI ",
        "doi: ",
        "https://doi.org/",
        "http://doi.org/",
        "http://dx.doi.org/",
        "dx.doi.org/",
        "https://www.doi.org/",
        "https://doi.org/https://doi.org/",
        "doi:doi:",
        "doi:https://doi.org/",
        "https://doi.org/doi:",
        "http://dx.doi.org/https://doi.org/",
        "https://doi.org/api/handles/",
        "https://example.org/article/",
    ]
)
TAILS = st.sampled_from(["", ".", ",", "?", "#page=3", "#789", "?locatt=a", ")", "\\_", "&lt;", "%", " (a)"])
MENTIONS = st.builds(
    lambda head, name, encoded, tail: head + (DOI(name).url[16:] if encoded else name) + tail,
    HEADS,
    NAMES,
    st.booleans(),
    TAILS,
)
FORMS = {
    "a.txt": ["{}", "<{}>", '"{}"'],
    "a.md": [
        "{}",
        "[x]({})",
        "[{}](https://doi.org/10.1000/182)",
        "<{}>",
        "[x]: {}",
        "`{}`",
        "<a href='{}'>x</a>",
    ],
    "a.rst": ["{}", "`x <{}>`_", ".. _x: {}", ":doi:`{}`", "``{}``"],
    "a.html": ['<a href="{}">{}</a>', "<p>{}</p>", "<a href='{}'>x</a>"],
    "a.tex": ["{}", "\\href{{{}}}{{x}}", "\\doi{{{}}}", "\\url{{{}}}"],
    "a.bib": ["@a{{k,\n  doi = {{{}}},\n  url = {{{}}}\n}}", '@a{{k, doi = "{}"}}', "@a{{k, note = {{{}}}}}"],
    "a.py": ["# {}", "def f():\n    '''See {}.'''"],
}
FILES = st.sampled_from(sorted(FORMS)).flatmap(
    lambda path: st.tuples(
        st.just(path),
        st.lists(
            st.builds(lambda form, text: form.format(text, text), st.sampled_from(FORMS[path]), MENTIONS),
            min_size=1,
            max_size=4,
        ),
        st.sampled_from(["\n\n", "\r\n\r\n"]),
    )
)


def keys(path: str, text: str) -> list[str]:
    """Return the DOIs in a file; entities are those that fixes replace in fields."""
    return [DOI(html.unescape(name)).key for name in names(path, text)]


@given(FILES)
def test_safe_fixes_keep_the_dois_and_leave_nothing_to_a_second_run(file: tuple[str, list[str], str]) -> None:
    path, pieces, line_end = file
    text = line_end.join(pieces).replace("\r\n", "\n").replace("\n", line_end[: len(line_end) // 2])
    once = fixed(path, text)
    assert keys(path, once) == keys(path, text)
    assert fixed(path, once) == once


def apply(path: str, text: str) -> tuple[str, bool]:
    """Return a text after the safe fixes that ``check`` lists, and whether there are any."""
    words = "check", "--isolated", "--offline", "--lock=", "-q", "-", "--stdin-filename", path
    sarif, listed = (doiuri(*words, "-o", name, stdin=text.encode()).stdout for name in ("sarif", "json"))
    results = json.loads(sarif)["runs"][0]["results"]
    spans = []
    for result, finding in zip(results, json.loads(listed), strict=True):
        if finding["fix"] and finding["fix"]["safe"]:
            ((change,),) = (one["replacements"] for one in result["fixes"][0]["artifactChanges"])
            start, length = (change["deletedRegion"][name] for name in ("charOffset", "charLength"))
            spans.append((start, start + length, change["insertedContent"]["text"]))
    last = -1
    pieces, place = [], 0
    for start, end, new in sorted(spans):
        if start > last:
            pieces += [text[place:start], new]
            place = last = end
    return "".join([*pieces, text[place:]]), bool(pieces)


@given(FILES)
def test_a_fix_changes_what_check_says_and_nothing_else(file: tuple[str, list[str], str]) -> None:
    path, pieces, _ = file
    text = fixing = "\n\n".join(pieces)
    run = doiuri("fix", "--isolated", "-", "--stdin-filename", path, stdin=text.encode())
    assume("a fix was left out" not in run.stderr)
    for _ in range(10):
        fixing, is_changed = apply(path, fixing)
        if not is_changed:
            break
    assert run.stdout == fixing


REGISTERED = {"10.1000/182", "10.1000/978-3", "10.1000/x"}


@given(FILES)
def test_an_unsafe_fix_changes_an_unknown_name_to_a_registered_one(file: tuple[str, list[str], str]) -> None:
    path, pieces, _ = file
    text = "\n\n".join(pieces)
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
    assert not wrong, wrong


PIECES = [
    "\u200b",
    "\u00ad",
    "\u2060",
    "\x7f",
    "&#60;",
    "&lt;",
    "&amp;",
    "<",
    ">",
    "#",
    "?",
    "#p",
    "?x=1",
    "%",
]
PIECES += ["%23", "%2525", "\\_", "\\", "\\/", "'" * 3, '"', "{b}", "$<$", "\\textless{}", "_", ":", " ", ";"]
PIECES += ["a", "1", ".", "/", ">3.0.CO;2-#"]
HOSTILE = st.builds(
    lambda head, pieces: f"{head}10.1000/{''.join(pieces)}",
    HEADS,
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=6),
)
FIELDS = {
    "a.bib": "@misc{{k,\n  doi = {{{}}}\n}}\n",
    "a.ris": "TY  - JOUR\nDO  - {}\nER  - \n",
    "a.cff": "doi: {}\n",
    "a.yml": "doi: {}\n",
    "refs.json": '[{{"id": "k", "type": "book", "DOI": {}}}]',
    "a.md": "---\ndoi: {}\n---\n",
}
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
    before, after = plain(value), plain(value_of(path, better))
    dropped = before.removeprefix(after)
    is_link = "/" in value[: value.index("10.1000")]
    assert not dropped or (before != dropped and dropped[0] in "#?" and is_link)
    assert not dropped or not before.endswith(">3.0.CO;2-#")


ROWS = ["http://dx.doi.org/10.1000/182", "doi:doi:10.1000/183", "plain"]
STRUCTURES = [
    "{0}\n\n{1}\n{2}\n",
    "{2}\n{1}\n{2}\n",
    "+-{3}-+\n| {0} |\n+-{3}-+\n",
    "{2}  ====\n{0}  a\n\n{0}  b\n{2}  ====\n",
    "{2}  ====\n{0}  a\n{2}  ====\n{0}  a\n\n{0}  b\n{2}  ====\n",
    "`{0}`_\n\n.. _`{0}`: x.html\n",
    "An _`{0}` target, then `{0}`_, {0} and _`a {0}`.\n",
    "`a dx.doi.org/10.1000/1`_\n\n.. _a dx.doi.org/10.1000/1: x.html\n",
    "{0}\n  A definition of {0}.\n",
]


def shape(text: str) -> list[str]:
    """Return the names of all elements, among them those of errors."""
    settings = {"report_level": 1, "halt_level": 6, "warning_stream": False}
    return [node.tagname for node in publish_doctree(text, settings_overrides=settings).findall(Element)]


@example([(form, ROWS[0]) for form in STRUCTURES])
@given(st.lists(st.tuples(st.sampled_from(STRUCTURES), st.sampled_from(ROWS)), min_size=1, max_size=4))
def test_restructuredtext_keeps_its_structure(blocks: list[tuple[str, str]]) -> None:
    """Tables, titles and references are the same for docutils, in a file and in a docstring."""
    text = "\n".join(form.format(row, row, "=" * len(row), "-" * len(row)) for form, row in blocks)
    for path, form in {"a.rst": "{}", "a.py": '"""\n{}"""\n'}.items():
        better = fixed(path, form.format(text))
        assert shape(better.replace('"""', "")) == shape(text)
