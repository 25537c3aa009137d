"""Styles of notes: citations become footnotes of the extension ``footnotes``, in one numbering."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path
from typing import Any

import pytest
from support.checks import assert_same, assert_times, exactly, only, repeated
from support.references import NOTES, RAISED

from .conftest import MakeSite, Page, Render, Rendered

STYLE = NOTES.replace('delimiter="; ">', 'delimiter="; " suffix=".">', 1)
WORKS = [
    {"id": "li", "type": "book", "title": "Ants", "author": [{"family": "Li"}]},
    {"id": "kim", "type": "book", "title": "Bees", "author": [{"family": "Kim"}]},
]
TEXT_OF_BACKLINK = "\xa0↩"


@pytest.fixture
def options(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "notes.csl").write_text(STYLE, "utf-8")
    (tmp_path / "works.json").write_text(json.dumps(WORKS), "utf-8")
    return {
        "reference_style": str(tmp_path / "notes.csl"),
        "works": str(tmp_path / "works.json"),
    }


def shown(html: str) -> list[str]:
    """What readers see of a page: its paragraphs with the marks, and the notes."""
    page = re.sub(r"<sup[^>]*><a[^>]*>(.*?)</a></sup>", r"[\1]", html)
    before, _, after = page.partition('<div class="footnote">')
    listed = before.partition('<div class="doi-references"')[0]
    lines = re.findall(r"<(?:p|h\d)\b[^>]*>(.*?)</(?:p|h\d)>", listed, re.DOTALL)
    notes = re.findall(r"<li[^>]*>(.*?)</li>", after.partition("</ol>")[0], re.DOTALL)
    numbered = [f"[{number}] {note.strip()}" for number, note in enumerate(notes, 1)]
    return [" ".join(Page(line).text.split("↩")[0].split()) for line in [*lines, *numbered]]


SENTENCES = {
    # a page, and what readers see of it and of its notes
    "One [@li], then.": ["One,[1] then.", "[1] Li Ants."],
    "One [@li, p. 5]. Then": ["One.[1] Then", "[1] Li Ants 5."],
    "One [@li] [see @kim; @li, p. 3], then.": ["One,[1] then.", "[1] Li Ants; see Kim Bees; Li 3."],
    'One "word [@li]." Then.': ['One "word."[1] Then.', "[1] Li Ants."],
    'One "word" [@li], then.': ['One "word,"[1] then.', "[1] Li Ants."],
    "One *word* [@li]. Then.": ["One word.[1] Then.", "[1] Li Ants."],
    "One *etc.* [@li]. Then.": ["One etc.[1] Then.", "[1] Li Ants."],
    "One [@li] — then [@kim]/later.": ["One[1] — then[2]/later.", "[1] Li Ants.", "[2] Kim Bees."],
    "Li [@li]'s words.": ["Li[1]'s words.", "[1] Li Ants."],
    "One [@li]. [@kim].": ["One.[1] [2]", "[1] Li Ants.", "[2] Kim Bees."],
    r"One [@li]\*, then.": ["One[1]*, then.", "[1] Li Ants."],
    "[see @li, etc.]": ["[1]", "[1] See Li Ants, etc."],
    "As @li [p. 5], says.": ["As Li,[1] says.", "[1] Ants 5."],
    "As @li [@kim] says.": ["As Li[1] says.", "[1] Ants; Kim Bees."],
    "One [@li] @kim says.": ["One[1] Kim[2] says.", "[1] Li Ants.", "[2] Bees."],
    "See ([@li]).": ["See ([1]).", "[1] Li Ants."],
    "*One [@li].*": ["One.[1]", "[1] Li Ants."],
    "# One [@li]": ["One[1]", "[1] Li Ants."],
    "- One [@li]\n- Two [@kim]": ["[1] Li Ants.", "[2] Kim Bees."],
    "One [@li][^x].\n\n[^x]: X": ["One[1] [2].", "[1] Li Ants.", "[2] X"],
    # with those of the author, by the order of the marks
    "One[^x] [@li], two[^y] [@kim].\n\n[^y]: On @kim [p. 2], ok [@li].\n[^x]: See [@li].": [
        "One[1],[2] two[3].[4]",
        "[1] See Li Ants.",
        "[2] Ibid.",
        "[3] On Kim, Bees 2, ok Li.",
        "[4] Kim.",
    ],
    "One [@li] two[^x] [@kim] three[^x].\n\n[^x]: X": [
        *("One[1] two[2] [3] three[2].", "[1] Li Ants.", "[2] X", "[3] Kim Bees."),
    ],
    # a note of the author with a name such as ours have
    "One [@li] two[^doi-1].\n\n[^doi-1]: X": ["One[1] two[2].", "[1] Li Ants.", "[2] X"],
    # the number of the first note of a work
    "[@li] a [@kim] b [@kim] c [@kim] d [@li]": [
        "[1] a[2] b[3] c[4] d[5]",
        *("[1] Li Ants.", "[2] Kim Bees.", "[3] Ibid.", "[4] Ibid.", "[5] Li above n. 1."),
    ],
}


def convert(render: Render, source: str, *extensions: str, **options: Any) -> Rendered:
    configs = {"footnotes": {"BACKLINK_TEXT": "↩"}}
    rendered = render(source, "footnotes", *extensions, configs=configs, **options)
    ids = re.findall(r'\sid="([^"]*)"', rendered.html)
    assert repeated(ids) == [], f"an id stands twice in {source!r}"
    for target in re.findall(r'href="#([^"]*)"', rendered.html):
        assert target in ids, f"{source!r} has a link to {target}, which is not there"
    numbers = [*re.findall(r'title="Jump back to footnote (\d+) in the text"', rendered.html)]
    notes = [*re.findall(r'<li id="fn:.*?</li>', rendered.html, re.DOTALL)]
    expected = [
        str(number)
        for number, note in enumerate(notes, 1)
        for _ in range(note.count("footnote-backref"))
    ]
    assert_same(f"the numbers in the links back of {source!r}", numbers, expected)
    return rendered


@pytest.mark.parametrize(("source", "expected"), SENTENCES.items(), ids=ascii)
def test_sentences(
    source: str, expected: list[str], render: Render, options: dict[str, str]
) -> None:
    rendered = convert(render, source, **options)
    assert shown(rendered.html)[-len(expected) :] == expected
    assert rendered.problems == []


PANDOC = {
    # each difference from pandoc 3.9, which 300 generated sentences in four styles show: a sentence, what pandoc
    # shows of it, and what we show
    "Li [@li]'s words": ("Li'[1]s words", ["Li[1]'s words", "[1] Li Ants."]),
    "Words [@li]/more": ("Words/[1]more", ["Words[1]/more", "[1] Li Ants."]),
    "One [@li] [@kim] row": ("One[1] [2] row", ["One[1] row", "[1] Li Ants; Kim Bees."]),
    "And etc. [@li]. More": ("And etc..[1] More", ["And etc.[1] More", "[1] Li Ants."]),
    'It is "so [@li]" here': ('It is "so[1]" here', ['It is "so"[1] here', "[1] Li Ants."]),
    "(See @li)! More": ("(See Li[1])! More", ["(See Li)![1] More", "[1] Ants."]),
    "So @li... More": ("So Li[1]... More", ["So Li...[1] More", "[1] Ants."]),
    "So.[^x]\n\n[^x]: See [@li].": ("See (Li Ants).", ["So.[1]", "[1] See Li Ants."]),
    "[@li] a [@kim] b [@kim] c [@kim] d @li e": (
        "[5] Above n. 1.",
        [
            "[1] a[2] b[3] c[4] d Li[5] e",
            *("[1] Li Ants.", "[2] Kim Bees.", "[3] Ibid.", "[4] Ibid.", "[5] above n. 1."),
        ],
    ),
}


@pytest.mark.parametrize(("source", "case"), PANDOC.items(), ids=ascii)
def test_differences_from_pandoc(
    source: str, case: tuple[str, list[str]], render: Render, options: dict[str, str]
) -> None:
    of_pandoc, expected = case
    found = shown(convert(render, source, **options).html)
    assert found == expected, f"{source!r} is shown as {found}; pandoc shows {of_pandoc}"


def test_typographic_quotes(render: Render, options: dict[str, str]) -> None:
    html = convert(render, '"One" [@li], "two [@kim]." Then', "smarty", **options).html
    assert shown(html)[0] == "“One,”[1] “two.”[2] Then"


def test_notes_are_those_of_the_extension(render: Render, options: dict[str, str]) -> None:
    """Its options count, and themes and scripts find what they know."""
    configs = {
        "footnotes": {"BACKLINK_TITLE": "Zu {}", "SUPERSCRIPT_TEXT": "({})", "UNIQUE_IDS": True}
    }
    source = "A [@li] b.\n\n///Footnotes Go Here///\n\nEnd\n"
    html = render(source, "footnotes", configs=configs, **options).html
    assert re.sub(r"\s*<div class=\"doi-references.*", "", html, flags=re.DOTALL) == (
        '<p>A<sup id="fnref:2-doi-1"><a class="footnote-ref" href="#fn:2-doi-1">(1)</a></sup> b.</p>\n'
        '<div class="footnote">\n<hr />\n<ol>\n<li id="fn:2-doi-1">\n'
        '<p><span class="doi-citation"><a href="#ref-li" id="cite-li" role="doc-biblioref">'
        'Li <em>Ants</em></a>.</span>&#160;<a class="footnote-backref" href="#fnref:2-doi-1" '
        'title="Zu 1">&#8617;</a></p>\n</li>\n</ol>\n</div>\n<p>End</p>'
    )


def test_the_table_of_contents_shows_a_heading_without_its_mark(
    render: Render, options: dict[str, str]
) -> None:
    html = convert(render, "[TOC]\n\n# On ants [@li]\n\n# By @kim", "toc", **options).html
    assert '<a href="#on-ants">On ants</a>' in html
    assert ">By Kim</a>" in html


def test_an_entry_leads_back_to_each_note(render: Render, options: dict[str, str]) -> None:
    html = convert(render, "One [@li]. As @kim says", **options).html
    assert_times(2, 'class="doi-backref"', html)


def test_without_notes_no_stop_is_doubled(render: Render, options: dict[str, str]) -> None:
    source = "See [@li], [@kim]. [@li, p. 7] And @li [p. 8].[^x]\n\n[^x]: ([@li])."
    rendered = convert(render, source, notes=False, **options)
    assert shown(rendered.html) == [
        "See Li Ants, Kim Bees. Li 7. And Li (Ibid. 8).[1]",
        "[1] (Li).",
    ]


def test_without_the_extension_citations_stay_in_the_text(
    render: Render, options: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="doiuri")
    rendered = render("See [@li], [@kim].", **options)
    assert shown(rendered.html) == ["See Li Ants, Kim Bees."]
    assert rendered.problems == []
    message = only("message", caplog.messages)
    assert message.startswith("citations stay in the text; for the footnotes of the style, load")

    caplog.clear()
    problem = only("problem", render("See [@li], [@kim].", notes=True, **options).told)
    assert problem == f"notes: {message}"
    assert caplog.messages == []


def test_a_style_of_notes_needs_no_list(render: Render, options: dict[str, str]) -> None:
    path = Path(options["reference_style"])
    path.write_text(f"{STYLE[: STYLE.index('<bibliography>')]}</style>", "utf-8")
    html = convert(render, "One [@li].", **options).html
    assert shown(html) == ["One.[1]", "[1] Li Ants."]
    assert "doi-references" not in html


@pytest.mark.parametrize("bibliography", ["", "references.md"])
def test_a_site(bibliography: str, site: MakeSite, options: dict[str, str]) -> None:
    made = site(
        {
            "index.md": "# One\n\nA [@li] b [@kim].[^x]\n\n[^x]: See [@li].",
            "two.md": "# Two\n\nAs @li says",
        }
    )
    plugin = {"resolve": False, "bibliography": bibliography, **options}
    made.build(plugins=[{"doiuri": plugin}], markdown_extensions=["footnotes"])
    assert made.messages() == []
    index = re.sub(r".*?<h1", "<h1", made.source("index.html"), count=1, flags=re.DOTALL)
    assert shown(index)[1] == "A[1] b.[2] [3]"
    assert [line for line in shown(index) if line.startswith("[")] == [
        *("[1] Li Ants.", "[2] Kim Bees.", "[3] See Li."),
    ]
    listed = made.source("references/index.html" if bibliography else "index.html")
    exactly(2, "entries", re.findall('<li [^>]*id="ref-', listed))

    made.build(plugins=[{"doiuri": {**plugin, "notes": None}}])
    assert made.messages() == []
    said = [message for message in made.messages(logging.INFO) if "footnotes" in message]
    exactly(1, "messages", said)
    made.build(plugins=[{"doiuri": {**plugin, "notes": True}}])
    problem = only("problem", made.messages())
    assert "load the extension" in problem


NUMBERS = {
    "A noise [@li]. Then": "A noise.¹ Then",
    "A noise [@li], then": "A noise,¹ then",
    'A "noise" [@li]. Then': 'A "noise."¹ Then',
    "A [@li] [@kim; @li] noise": "A¹,² noise",
    "A [@kim]. [@li] Then": "A.¹ ² Then",
    "A [@li] @kim says": "A¹ Kim² says",
    "A noise@li, then @kim say": "A noiseLi¹, then Kim² say",
    "Li [@li]'s *noise* [@kim].": "Li¹'s noise.²",
    "See ([@li]).": "See (¹).",
}


@pytest.mark.parametrize(("source", "expected"), NUMBERS.items(), ids=ascii)
def test_raised_numbers_stand_after_the_punctuation(
    source: str, expected: str, render: Render, tmp_path: Path, options: dict[str, str]
) -> None:
    Path(options["reference_style"]).write_text(RAISED, "utf-8")
    html = render(source.replace("noise@", "noise @"), **options).html
    digits = {"1": "¹", "2": "²"}
    page = re.sub(r"<sup>(\d)</sup>", lambda raised: digits[raised[1]], html)
    found = Page(page.partition("<div")[0]).text.strip().replace("\xa0", " ")
    assert found == expected.replace("noiseLi", "noise Li"), f"{source!r} is shown as {found!r}"


CONTENTS = {
    # a heading, its id, and what a table of contents shows of it
    "One [@li]": ("one", "One"),
    "One [@li], two": ("one-two", "One, two"),
    "As @kim says": ("as-kim-says", "As Kim says"),
    "A & `b<c>` [see @li; @doi:10.1000/182]": ("a-bc", "A &amp; b&lt;c&gt;"),
}


@pytest.mark.parametrize(("heading", "expected"), CONTENTS.items())
def test_tables_of_contents_have_no_raised_numbers(
    heading: str, expected: tuple[str, str], render: Render, options: dict[str, str]
) -> None:
    Path(options["reference_style"]).write_text(RAISED, "utf-8")
    html = render(f"[TOC]\n\n## {heading}", "toc", **options).html
    shown = only("line", re.findall(r'<li><a href="#(.*?)">(.*?)</a>', html.partition("</div>")[0]))
    assert shown == expected
    assert "data-toc" not in render(f"## {heading}", **options).html
