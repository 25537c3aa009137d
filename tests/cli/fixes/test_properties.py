"""Properties of all fixes, over texts made of DOIs in many forms, in every type of file."""

import html
import json
import re
from urllib.parse import unquote

import yaml
from docutils.core import publish_doctree
from docutils.nodes import Element
from doiuri import DOI
from doiuri_cli._config import Config
from doiuri_cli._examine import examine
from doiuri_cli._fixes import FixPolicy, apply, compatible, mend
from doiuri_cli.files import Source
from hypothesis import assume, example, given
from hypothesis import strategies as st

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
CONFIG = Config()


def names(source: Source) -> list[str]:
    """Return the names in a file; entities in fields are those that fixes replace."""
    places = examine(source, CONFIG).places
    return [html.unescape(str(one.at.doi)) if one.field else str(one.at.doi) for one in places]


@given(FILES)
def test_safe_fixes(file: tuple[str, list[str], str]) -> None:
    """Safe fixes keep the DOIs and their order, and nothing is left for a second run."""
    path, pieces, line_end = file
    source = Source(
        path, line_end.join(pieces).replace("\r\n", "\n").replace("\n", line_end[: len(line_end) // 2])
    )
    mended = mend(source, CONFIG, None, FixPolicy())
    assert mended.report.problem is None
    assert mended.after is not None
    assert names(mended.after) == names(source)
    again = mend(mended.after, CONFIG, None, FixPolicy())
    assert again.after is not None
    assert again.after.text == mended.after.text
    assert again.applied == 0


@given(FILES)
def test_each_fix_touches_only_its_span(file: tuple[str, list[str], str]) -> None:
    path, pieces, _ = file
    source = Source(path, "\n\n".join(pieces))
    fixes = compatible(one.fix for one in examine(source, CONFIG).findings if one.fix is not None)
    text = apply(source.text, fixes)
    for first, second in zip([None, *fixes], [*fixes, None], strict=True):
        kept = source.text[first.end if first else 0 : second.start if second else None]
        assert text.startswith(kept)
        text = text[len(kept) + (len(second.replacement) if second else 0) :]
    assert text == ""


@given(FILES)
def test_unsafe_fixes_are_proved_too(file: tuple[str, list[str], str]) -> None:
    """If the registry knows every suggested name and no other, the fixes can still be proved."""
    path, pieces, _ = file
    source = Source(path, "\n\n".join(pieces))
    wanted = {one.fix.name for one in examine(source, CONFIG).findings if one.fix and one.fix.name}
    policy = FixPolicy(
        lambda asked: {DOI(name).key: "found" if name in wanted else "not-found" for name in asked}
    )
    mended = mend(source, CONFIG, None, policy)
    assert mended.report.problem is None


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
    source = Source(path, FIELDS[path].format(written))
    mended = mend(source, CONFIG, None, FixPolicy())
    if mended.after is None or not mended.applied:
        return
    before, after = plain(value), plain(value_of(path, mended.after.text))
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
        mended = mend(Source(path, form.format(text)), CONFIG, None, FixPolicy())
        assert mended.after is not None
        assert shape(mended.after.text.replace('"""', "")) == shape(text)
