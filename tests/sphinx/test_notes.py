"""Styles of notes: citations become footnotes, in one numbering with those of the author."""

from __future__ import annotations

import json
import re
from itertools import permutations, product
from pathlib import Path

import pytest
from support.checks import assert_same, assert_times, exactly, only
from support.references import NOTES, RAISED
from support.sphinx_build import Build, build, text_in, write

CONF = """\
extensions = ["sphinx_doiuri", "myst_parser", "sphinx.ext.todo", "sphinx.ext.ifconfig"]
project, version, copyright, author = "Book", "1", "us", "us"
doi_works, doi_resolve, doi_lock = "works.json", False, None
doi_reference_style = "notes.csl"
todo_include_todos, myst_footnote_transition = True, False
suppress_warnings = ["image.not_readable"]
"""
STYLE = NOTES.replace('delimiter="; ">', 'delimiter="; " suffix=".">', 1).replace(
    ' font-style="italic"', ""
)
WORKS = [
    {"id": "a", "type": "book", "title": "Ants", "author": [{"family": "Li"}]},
    {"id": "b", "type": "book", "title": "Bees", "author": [{"family": "Kim"}]},
]
FILES = {"conf.py": CONF, "notes.csl": STYLE, "works.json": json.dumps(WORKS)}
A, B = ":doi:p:`@a`", ":doi:p:`@b`"


def made(folder: Path, builder: str, text: str, *options: str, **files: str) -> Build:
    """Build a project with a page that has this text; it gives no warning."""
    source = write(folder / "src", {**FILES, "index.rst": f"T\n=\n\n{text}\n", **files})
    result = build(source, folder, builder, "-n", *options)
    assert result.warnings == ""
    return result


def lines(result: Build, name: str = "index.txt") -> list[str]:
    """The paragraphs of a page in plain text after its title, each as one line."""
    return [" ".join(paragraph.split()) for paragraph in result.text(name).split("\n\n")][1:]


SENTENCES = {
    # what readers see of a sentence, and of its notes
    f"One {A}, then.": ["One,[1] then.", "[1] Li Ants."],
    f"One {A}. {B}.": ["One.[1] [2]", "[1] Li Ants.", "[2] Kim Bees."],
    f'One "word {A}." Then.': ['One "word."[1] Then.', "[1] Li Ants."],
    f'One "word" {A}, then.': ['One "word,"[1] then.', "[1] Li Ants."],
    f"One *word* {A}. Then.": ["One *word*.[1] Then.", "[1] Li Ants."],
    f"One *etc.* {A}. Then.": ["One *etc.*[1] Then.", "[1] Li Ants."],
    f"One *word* {A} *then*.": ["One *word*[1] *then*.", "[1] Li Ants."],
    f"One {A} — then {B}/later.": ["One[1] — then[2]/later.", "[1] Li Ants.", "[2] Kim Bees."],
    f"Li {A}'s words.": ["Li[1]'s words.", "[1] Li Ants."],
    f"One {A} :doi:p:`see @b; @a, p. 3`, then.": [
        "One,[1] then.",
        "[1] Li Ants; see Kim Bees; Li 3.",
    ],
    ":doi:p:`see @a, etc.`": ["[1]", "[1] See Li Ants, etc."],
    "As :doi:t:`@a, p. 5`, says.": ["As Li,[1] says.", "[1] Ants 5."],
    "As :doi:t:`see @a; @b` :doi:p:`@b, p. 3` say.": [
        "As see Li; Kim[1] say.",
        "[1] Ants; Bees; ibid. 3.",
    ],
    f"See ({A}).": ["See ([1]).", "[1] Li Ants."],
    "In :doi:year:`@a` :doi:author:`@b` said.": ["In n.d. Kim said."],
}
IN_NOTES = {
    # only reStructuredText has these; the numbers are those of the marks
    f"One [#]_ {A} [#b]_ {B}.\n\n.. [#] See :doi:p:`@a`.\n.. [#b] On :doi:t:`@b, p. 2`, ok {A}": [
        "One [1] [2] [3].[4]",
        "[1] See Li Ants.",
        "[2] Ibid.",
        "[3] On Kim, Bees 2, ok Li.",
        "[4] Kim.",
    ],
    f"One {A} [#]_ [#]_ {B} [#]_.\n\n.. [#] X\n.. [#] Y\n.. [#] Z\n\nEnd {A}.": [
        "One[1] [2] [3] [4] [5].",
        *("[1] Li Ants.", "[2] X", "[3] Y", "[4] Kim Bees.", "[5] Z", "[6] Li above n. 1."),
        "End.[6]",
    ],
    f"One [1]_ {A} [#]_.\n\n.. [1] X\n.. [#] Y": [
        "One [1] [2] [3].",
        *("[1] X", "[2] Li Ants.", "[3] Y"),
    ],
    f".. function:: f()\n   :no-index-entry:\n\n   One [#]_\n\n   .. [#] X\n\nTwo {A}.": [
        "f()",
        *("One [1]", "[1] X", "Two.[2]", "[2] Li Ants."),
    ],
    f".. tip::\n\n   One [#]_\n\n   .. [#] X\n\nTwo {A}.": [
        *("Tip:", "One [1]", "[1] X", "Two.[2]", "[2] Li Ants."),
    ],
    # a note of the author's that this build leaves out takes no other with it
    f"One {A}.\n\n.. only:: latex\n\n   S\n   --\n\n   Two [#]_\n\n   .. [#] X": [
        *("One.[1]", "[1] Li Ants."),
    ],
    # the number of the first note of a work
    f"{A} x {B} x {B} x {B} x {A}": [
        "[1] x[2] x[3] x[4] x[5]",
        *("[1] Li Ants.", "[2] Kim Bees.", "[3] Ibid.", "[4] Ibid.", "[5] Li above n. 1."),
    ],
}


def test_sentences(tmp_path: Path) -> None:
    shown = {f"r{number}": case for number, case in enumerate((SENTENCES | IN_NOTES).items())}
    files = {f"{name}.rst": f":orphan:\n\nT\n=\n\n{text}\n" for name, (text, _) in shown.items()}
    for number, (text, expected) in enumerate(SENTENCES.items()):
        myst = re.sub(r":doi:(\w+):", r"{doi:\1}", text)
        shown[f"m{number}"] = (myst, expected)
        files[f"m{number}.md"] = f"---\norphan: true\n---\n# T\n\n{myst}\n"
    result = made(tmp_path, "text", "", "-D", "smartquotes=0", **files)
    for name, (text, expected) in shown.items():
        found = lines(result, f"{name}.txt")
        assert found == expected, f"{text!r} is shown as {found}"


# A citation, and notes of the author: in turn, with a name, and without a mark
PARTS = {
    A: "",
    "[#]_": ".. [#] Turn",
    "[#name]_": ".. [#name] Name",
    "": ".. [#] Without",
}


def test_the_notes_of_a_page_have_consecutive_numbers_in_the_order_of_their_marks(
    tmp_path: Path,
) -> None:
    orders = [[*order] for order in permutations(PARTS)]
    files = {}
    for number, order in enumerate(orders):
        marks = " x ".join(filter(None, order))
        of_author = "\n".join(filter(None, map(PARTS.__getitem__, order)))
        files[f"p{number}.rst"] = f":orphan:\n\nT\n=\n\n{marks}\n\n{of_author}\n"

    quiet = "-D", "suppress_warnings=ref.footnote"
    result = made(tmp_path, "text", "", *quiet, **files)

    for number, order in enumerate(orders):
        text, *notes = lines(result, f"p{number}.txt")
        assert re.findall(r"\[(\d)\]", text) == ["1", "2", "3"], f"the marks of {order}: {text}"
        labels = [note.partition("]")[0] for note in notes]
        assert labels == ["[1", "[2", "[3", "[4"], f"the notes of {order}: {notes}"


def test_what_an_author_writes_in_a_citation_is_there_once(tmp_path: Path) -> None:
    """In the text or in the note, and not in both."""
    cited: dict[str, str] = {}
    for prefix, locator, suffix in product(("", "Prefix "), ("", ", p. 5"), ("", ", suffix")):
        for form, next_cite in product("pt", ("", " :doi:p:`@b, p. 7`")):
            cited[f":doi:{form}:`{prefix}@a{locator}{suffix}`{next_cite}"] = f"p{len(cited)}"
    files = {f"{name}.rst": f":orphan:\n\nT\n=\n\n{text} x\n" for text, name in cited.items()}

    result = made(tmp_path, "text", "", **files)

    for text, name in cited.items():
        shown = " ".join(lines(result, f"{name}.txt"))
        for written in ("Prefix", "5", "suffix", "7"):
            assert shown.count(written) == text.count(written), f"{text} is shown as {shown}"


PLACES = f"""\
T {A}
====================

.. contents::

.. toctree::

   other

.. _heading:

Heading {A}
--------------------

.. rubric:: Rubric {A}

.. todo:: Todo {B}, ok.

.. only:: latex

   Hidden {A}.

.. ifconfig:: builder == "text"

   Shown in text {A}.

.. admonition:: Admonition {A}.

   {B}

.. figure:: x.png

   Caption {A}.

.. list-table:: Table {A}
   :header-rows: 1

   * - H {A}
   * - Cell {B}.

Term {A}
   Definition {B}.

:field: Field {A}.

End.
"""
OTHER = f"Other\n=====\n\n:doc:`index` :ref:`heading` {B}.\n"
SITE = {"index.rst": PLACES, "other.rst": OTHER}
COUNT = 13
"""The third of them is in LaTeX only, the fourth in text."""


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the site, whose documents are read once for all builders."""
    return tmp_path_factory.mktemp("places")


def test_places_in_text(places: Path) -> None:
    result = made(places, "text", "", **SITE)
    contents, _, heading, rubric, todo, *others = lines(result)[2:]
    assert (contents, heading) == ("* Heading", "Heading[2] ==========")
    assert (rubric, todo) == ("-[ Rubric Li above n. 1. ]-", "Todo: Todo Kim Bees, ok.")
    assert "Shown in text.[4]" in others
    assert "Hidden" not in result.text("index.txt")
    notes = [line for line in others if re.match(r"\[\d", line)]
    assert [note.partition("]")[0] for note in notes] == [
        f"[{number}" for number in range(1, COUNT + 1) if number != 3
    ]
    assert lines(result, "other.txt") == ["T Heading.[1]", "[1] Kim Bees."]


HTML = {
    "html": "index.html",
    "dirhtml": "index.html",
    "singlehtml": "index.html",
    "epub": "index.xhtml",
}


@pytest.mark.parametrize("builder", HTML)
def test_places_on_pages(builder: str, places: Path) -> None:
    page = made(places, builder, "", **SITE).text(HTML[builder])
    marks = re.findall(r'<a class="footnote-reference[^>]*href="#([^"]*)" id="([^"]*)"', page)
    notes = dict(re.findall(r'<aside[^>]*id="(doi-note[^"]*)"[^>]*>(.*?)</aside>', page, re.DOTALL))
    of_other = builder == "singlehtml"
    assert len(marks) == len(notes) == COUNT - 2 + of_other
    for note, mark in marks:
        assert f'href="#{mark}"' in notes[note], f"the note of {mark} does not lead back"
        assert re.search(r"](Li|Kim|Ibid)[\w .]*\.$", "".join(text_in(notes[note]).split("\n")))


OTHERS = {
    # the notes of both documents, without those that are hidden
    "latex": ("book.tex", r"\\begin\{footnote(?:text)?\}\[\d+\]", COUNT),
    "man": ("book.1", r"^\.IP \[\d+\]", COUNT - 1),
    # Sphinx writes none in titles of documents and admonitions
    "texinfo": ("book.texi", r"@footnote\{", COUNT - 3),
    "xml": ("index.xml", r"<footnote ", COUNT - 2),
}


@pytest.mark.parametrize("builder", OTHERS)
def test_places_in_other_formats(builder: str, places: Path) -> None:
    name, pattern, count = OTHERS[builder]
    text = made(places, builder, "", **SITE).text(name)
    exactly(count, "matches", re.findall(pattern, text, re.MULTILINE))
    if builder == "latex":
        # upright, whatever the font around the mark
        assert_times(count, "\\sphinxAtStartFootnote\n\\normalfont{}", text)


def test_urls_in_latex_make_no_footnotes_in_notes(tmp_path: Path) -> None:
    text = "As :doi:t:`10.1000/182, p. 5` says :doi:p:`@web`. `Words <https://example.org/w>`_"
    works = [
        {"id": "1", "DOI": "10.1000/182", "title": "Ants", "author": [{"family": "Li"}]},
        {"id": "web", "title": "Web", "URL": "https://example.org/web"},
    ]
    page = made(
        tmp_path,
        "latex",
        text,
        "-D",
        "latex_show_urls=footnote",
        **{"works.json": json.dumps(works)},
    ).text("book.tex")
    exactly(3, "footnotes", re.findall(r"\\begin\{footnote", page))
    for url in ("https://doi.org/10.1000/182", "https://example.org/web"):
        assert f"\\sphinxhref{{{url}}}" in page, f"{url} is no link"


def test_messages_for_translators_have_no_notes(tmp_path: Path) -> None:
    messages = made(tmp_path, "gettext", f"One {A}, then.").text("index.pot")
    assert re.findall('msgid "(.+)"', messages) == ["T", "One :doi:p:`@a`, then."]


def test_footnotes_of_myst(tmp_path: Path) -> None:
    page = "# T\n\nOne[^x] {doi:p}`@a`, two[^y].\n\n[^y]: On {doi:p}`@a`.\n\n[^x]: X {doi:t}`@b`\n"
    files = {"page.md": f"---\norphan: true\n---\n{page}"}
    shown = lines(made(tmp_path, "text", "", **files), "page.txt")
    assert shown == ["One[1],[2] two[3].", "[1] X Kim, Bees.", "[2] Li Ants.", "[3] On ibid."]


LISTED = f"{A} :doi:t:`@b`\n\n.. doi:bibliography::\n"
OPTIONS = {
    # as they are written, in the text, where no second stop follows
    "doi_notes = False": f"See {A}, {B}. See :doi:t:`@a, p. 3`.",
    "doi_reference_style = 'in-text.csl'": f"See {A}, {B}. See :doi:t:`@a, p. 3`.",
}


@pytest.mark.parametrize("conf", OPTIONS)
def test_without_notes(conf: str, tmp_path: Path) -> None:
    files = {
        "conf.py": f"{CONF}{conf}\n",
        "in-text.csl": STYLE.replace('class="note"', 'class="in-text"'),
    }
    shown = only("line", lines(made(tmp_path, "text", OPTIONS[conf], **files)))
    if "notes" in conf:
        assert shown == "See Li Ants, Kim Bees. See Li (3)."
    assert "[1]" not in shown


def test_the_style_of_the_project_decides_about_notes(tmp_path: Path) -> None:
    page = f"{LISTED}   :style: %s\n"
    files = {"in-text.csl": STYLE.replace('class="note"', 'class="in-text"')}
    result = made(tmp_path, "text", page % "numeric", **files)
    assert lines(result)[:3] == ["[1] Kim[2]", "1. Li, *Ants*.", "2. Kim, *Bees*."]
    assert lines(result)[3:] == ["[1] [1].", "[2] [2]."]

    files["conf.py"] = CONF.replace("notes.csl", "in-text.csl")
    result = made(tmp_path, "text", page % "notes.csl", **files)
    assert lines(result)[0] == "Li Ants Kim (Bees)"


def test_a_style_of_notes_without_a_list(tmp_path: Path) -> None:
    style = f"{STYLE[: STYLE.index('<bibliography>')]}</style>"
    result = made(tmp_path, "text", LISTED, **{"notes.csl": style})
    assert lines(result) == ["[1] Kim[2]", "[1] Li Ants.", "[2] Bees."]


def test_an_entry_leads_back_to_each_note(tmp_path: Path) -> None:
    page = made(tmp_path, "html", LISTED).text()
    back = re.findall(r'<span class="doi-back">(.*?)</span>', page, re.DOTALL)
    assert [text_in(links).strip() for links in back] == ["↑", "↑"]


def test_a_name_looks_as_in_its_note(tmp_path: Path) -> None:
    """CSL 1.0.2, Et-al Abbreviation, "et-al-subsequent-min"."""
    style = STYLE.replace("<citation ", '<citation et-al-subsequent-min="2" ')
    works = [{"id": "a", "title": "T", "author": [{"family": "Li"}, {"family": "Kim"}]}]
    result = made(
        tmp_path,
        "text",
        ":doi:t:`@a` and :doi:t:`@a`",
        **{"notes.csl": style, "works.json": json.dumps(works)},
    )
    assert lines(result)[0] == "Li, Kim[1] and Li et al.[2]"


def test_a_mark_in_another_document_shows_the_citation(tmp_path: Path) -> None:
    """Other extensions take nodes from documents that they have read, and insert them elsewhere."""
    conf = f"{CONF}extensions.append('support.keeping')\n"
    text = f"One {A}.\n\n.. insert:: resolved\n\n.. insert:: early\n\n.. toctree::\n\n   kept\n"
    kept = f"K\n=\n\n.. admonition:: K\n\n   Kept :doi:t:`@b` {B}.\n"
    for builder in ("text", "latex"):
        result = made(tmp_path, builder, text, **{"conf.py": conf, "kept.rst": kept})
        assert " ".join(result.text(RESULTS[builder]).split()).count("Kept") >= 2
    shown = " ".join(build(tmp_path / "src", tmp_path, "text").text("index.txt").split())
    assert shown.count("Kept Kim. (Bees; Kim Bees)") == 2, shown


RESULTS = {"text": "index.txt", "latex": "book.tex"}
NUMBERS = {
    f"A noise {A}. Then": "A noise.¹ Then",
    f'A "noise" {A}, then': 'A "noise,"¹ then',
    f"A {A} :doi:p:`@b; @a` noise [#]_\n\n.. [#] See {B}.": "A¹,² noise [1]",
    f"A {B}. {A} Then": "A.¹ ² Then",
    f"A {A} [#]_\n\n.. [#] X": "A¹ [1]",
    f"Li {A}'s *noise* {B}.": "Li¹'s *noise*.²",
    ":doi:t:`@b`, too": "Kim¹, too",
    # a work that is not known is a mark, too
    "A :doi:p:`10.1000/182`. Then": "A.^(doi:10.1000/182) Then",
}


def test_raised_numbers_stand_after_the_punctuation(tmp_path: Path) -> None:
    files = {
        f"s{number}.rst": f":orphan:\n\nT\n=\n\n{text}\n" for number, text in enumerate(NUMBERS)
    }
    result = made(tmp_path, "text", "", "-D", "smartquotes=0", **files, **{"notes.csl": RAISED})
    for number, (text, expected) in enumerate(NUMBERS.items()):
        found = lines(result, f"s{number}.txt")
        assert found[0] == expected, f"{text!r} is shown as {found[0]!r}"


STOPS_OUTSIDE = '<locale><style-options punctuation-in-quote="false"/></locale>'
OTHER_STOPS = STYLE.replace("<citation", f"{STOPS_OUTSIDE}<citation", 1)
HISTORY = [
    # the class of the style, its text, the option, and works
    {"notes.csl": STYLE},
    {"notes.csl": STYLE.replace('class="note"', 'class="in-text"')},
    {"notes.csl": RAISED},
    {"notes.csl": STYLE},
    {"conf.py": f"{CONF}doi_notes = 'no'\n"},
    {"conf.py": f"{CONF}doi_reference_style = 'author-date'\n"},
    {"conf.py": CONF},
    {"conf.py": f"{CONF}language = 'de'\n"},
    {"conf.py": CONF},
    {"notes.csl": OTHER_STOPS},
    {"notes.csl": OTHER_STOPS.replace('class="note"', 'class="in-text"')},
    {"works.json": json.dumps(WORKS).replace("Ants", "Wasps")},
    {
        "conf.py": CONF,
        "index.rst": f'T\n=\n\n{B}, {A} "x" {B}.\n\n.. toctree::\n\n   other\n',
    },
]


def test_any_change_ends_with_the_pages_of_a_fresh_project(tmp_path: Path) -> None:
    files = {
        **FILES,
        "index.rst": f"T\n=\n\n{A}, x\n\n.. toctree::\n\n   other\n",
        "other.rst": f'Title {A}\n====================\n\n"Text" {A}. [#]_\n\n.. [#] {A}\n',
    }
    fresh: dict[tuple[tuple[str, str], ...], Build] = {}
    for number, changed in enumerate(HISTORY):
        files |= changed
        source = write(tmp_path / "src", files)
        content = tuple(files.items())
        if content not in fresh:
            fresh[content] = build(source, tmp_path / f"fresh {number}", "text")

        kept = build(source, tmp_path / "kept", "text")

        when = f"after step {number}, as in a first build"
        assert_same(f"the warnings {when}", kept.warnings, "")
        assert_same(f"the pages {when}", kept.bytes(), fresh[content].bytes())
