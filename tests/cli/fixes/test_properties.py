"""Properties of all fixes, over texts made of DOIs in many forms, in every type of file."""

import html
import json

from doiuri import DOI
from doiuri_cli._config import Config
from doiuri_cli._examine import examine, read_mentions
from doiuri_cli._fixes import FixPolicy, apply, compatible, mend
from doiuri_cli.files import Source
from hypothesis import given
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
    mentions, _ = read_mentions(source)
    return [html.unescape(one.doi.name) if one.doi and one.part.field else str(one.doi) for one in mentions]


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


@given(st.lists(MENTIONS, min_size=1, max_size=4))
def test_fields_of_csl_json(values: list[str]) -> None:
    text = json.dumps(
        [{"id": f"k{n}", "type": "book", "DOI": value} for n, value in enumerate(values)], indent=1
    )
    source = Source("references.json", text)
    mended = mend(source, CONFIG, None, FixPolicy())
    assert mended.report.problem is None
    assert mended.after is not None
    json.loads(mended.after.text)
    assert mend(mended.after, CONFIG, None, FixPolicy()).applied == 0
