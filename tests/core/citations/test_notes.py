"""Styles of notes: where the mark of a note stands, and how citations begin and end."""

from __future__ import annotations

from pathlib import Path

import pytest
from doiuri.citations import (
    Around,
    Bibliography,
    CitationItem,
    Form,
    ReferenceStyle,
    move_mark,
    text_of,
)
from doiuri.works import Work
from support.references import NOTES

MARKS = {
    # the source with "@" in the place of the citation, and with "^" in that of the mark
    "words @, then": "words,^ then",
    "words @. Then": "words.^ Then",
    "words @; then": "words;^ then",
    "words @: then": "words:^ then",
    "words @? Then": "words?^ Then",
    "words @": "words^",
    "words\n@ then": "words^ then",
    "words\u00a0@ then": "words^ then",
    "words@ then": "words^ then",
    "@ Then": "^ Then",
    "(words @). Then": "(words).^ Then",
    "[words @], then": "[words],^ then",
    '"words @." Then': '"words."^ Then',
    "“words @.” Then": "“words.”^ Then",
    "«mots @», puis": "«mots»,^ puis",
    "words @... Then": "words...^ Then",
    "words @… Then": "words…^ Then",
    "说@。然后": "说。^然后",
    # before dashes, slashes, "'s" and what opens
    "words @ — then": "words^ — then",
    "words @—then": "words^—then",
    "words @/then": "words^/then",
    "Kahn @'s words": "Kahn^'s words",
    "Kahn @’s words": "Kahn^’s words",
    'words @"then"': 'words^"then"',
    "words @ (then)": "words^ (then)",
    "mot @\u00a0; puis": "mot^\u00a0; puis",
    "see (@). Then": "see (^). Then",
    # one stop is enough
    "words etc. @. Then": "words etc.^ Then",
    "words etc. @, then": "words etc.,^ then",
    "Really? @. Then": "Really?^ Then",
    "words etc. @... Then": "words etc....^ Then",
}
INTO_QUOTES = {
    '"words" @. Then': ('"words."^ Then', '"words".^ Then'),
    "“words” @, then": ("“words,”^ then", "“words”,^ then"),
    "“words” @; then": ("“words”;^ then",) * 2,
    "“Why?” @. Then": ("“Why?”^ Then", "“Why?”.^ Then"),
}


def marked(source: str, *, stops_in_quotes: bool = False) -> str:
    before, after = source.split("@")
    return "^".join(move_mark(before, after, stops_in_quotes=stops_in_quotes))


@pytest.mark.parametrize(("source", "expected"), MARKS.items())
@pytest.mark.parametrize("stops_in_quotes", [False, True])
def test_the_mark_stands_after_the_punctuation(
    source: str, expected: str, stops_in_quotes: bool
) -> None:
    assert marked(source, stops_in_quotes=stops_in_quotes) == expected


@pytest.mark.parametrize(("source", "expected"), INTO_QUOTES.items())
def test_stops_and_commas_move_into_quotation_marks_if_the_language_wants(
    source: str, expected: tuple[str, str]
) -> None:
    """CSL 1.0.2, Locale Options, "punctuation-in-quote"."""
    assert marked(source, stops_in_quotes=True) == expected[0]
    assert marked(source) == expected[1]


STYLE = NOTES.replace('<layout delimiter="; ">', '<layout delimiter="; " suffix=".">')
NO_LIST = f"{STYLE[: STYLE.index('<bibliography>')]}</style>"
WORKS = {
    "li": Work("li", {"title": "Ants", "author": [{"family": "Li"}]}),
    "etc": Work("etc", {"title": "Bees etc.", "author": [{"family": "Kim"}]}),
    "bare": Work("bare", {"author": [{"family": "Cho"}]}),
}


def load(folder: Path, style: str) -> ReferenceStyle:
    (folder / "notes.csl").write_text(style, "utf-8")
    return ReferenceStyle.load("notes.csl", folder)


@pytest.fixture(params=[STYLE, NOTES], ids=["with a stop", "without a stop"])
def bibliography(tmp_path: Path, request: pytest.FixtureRequest) -> Bibliography:
    return Bibliography(WORKS, WORKS, load(tmp_path, request.param))


TEXTS_OF_NOTES: list[tuple[list[CitationItem], str]] = [
    ([CitationItem("li")], "Li Ants."),
    ([CitationItem("li", label="page", locator="5")], "Li Ants 5."),
    ([CitationItem("etc")], "Kim Bees etc."),
    ([CitationItem("li", prefix="see"), CitationItem("etc")], "See Li Ants; Kim Bees etc."),
    ([CitationItem("li", prefix="élan")], "Élan Li Ants."),
    ([CitationItem("li", suffix=", and others etc.")], "Li Ants, and others etc."),
    ([CitationItem("li", suffix=", really?")], "Li Ants, really?"),
    ([CitationItem("li", suffix=" (“really”)")], "Li Ants (“really”)."),
    ([CitationItem("li", no_author=True)], "Ants."),
    # without its author, it would be empty
    ([CitationItem("bare", no_author=True)], "Cho."),
    ([CitationItem("unknown")], "@unknown."),
]


@pytest.mark.parametrize(("cites", "expected"), TEXTS_OF_NOTES, ids=str)
def test_a_note_begins_and_ends_as_a_sentence(
    cites: list[CitationItem], expected: str, bibliography: Bibliography
) -> None:
    assert text_of(bibliography.note(cites)) == expected


SEE, IN, END = "See ", "in a word ", ". Then"
AMONG_WORDS: list[tuple[Form, str, str, str, str]] = [
    # form, the text before and after, in the text, in a note of the author's
    ("p", "", "", "Ibid. 7.", "Ibid. 7."),
    ("p", "", END, "Ibid. 7", "Ibid. 7"),
    ("p", "", " Then", "Ibid. 7.", "Ibid. 7."),
    ("p", "Words. ", " Then", "Ibid. 7.", "Ibid. 7."),
    ("p", SEE, END, "ibid. 7", "ibid. 7"),
    ("p", SEE, ", then", "ibid. 7", "ibid. 7"),
    ("p", "siehe ", " Wörter", "ibid. 7", "ibid. 7"),
    ("p", "(", ").", "ibid. 7", "ibid. 7"),
    ("t", "", END, "Li (Ibid. 7)", "Li, ibid. 7"),
    ("t", "", "", "Li (Ibid. 7)", "Li, ibid. 7."),
    ("author", SEE, END, "Li, p. 7", "Li, p. 7"),
    ("year", SEE, ", then", "n.d., p. 7", "n.d., p. 7"),
]


@pytest.mark.parametrize(("form", "before", "after", "in_text", "in_note"), AMONG_WORDS)
def test_a_citation_among_words_has_no_second_stop(
    form: Form, before: str, after: str, in_text: str, in_note: str, tmp_path: Path
) -> None:
    bibliography = Bibliography(WORKS, WORKS, load(tmp_path, STYLE))
    _, [cite] = bibliography.placed(
        [("p", [CitationItem("li")]), ("p", [CitationItem("li", label="page", locator="7")])],
        [1, 2],
    )
    for expected, is_note in ((in_text, False), (in_note, True)):
        around = Around(before, after, in_note=is_note)
        shown = text_of(bibliography.citation([cite], form, around=around))
        assert shown == expected, f"wrong stop in {before}[{shown}]{after}"


def test_an_abbreviation_of_the_language_keeps_its_stop(tmp_path: Path) -> None:
    bibliography = Bibliography(WORKS, WORKS, load(tmp_path, STYLE))
    around = Around("In ", " Kim said.")
    assert text_of(bibliography.citation([CitationItem("li")], "year", around=around)) == "n.d."


def test_an_abbreviation_of_the_author_keeps_its_stop(tmp_path: Path) -> None:
    bibliography = Bibliography(WORKS, WORKS, load(tmp_path, STYLE))
    cite = CitationItem("li", suffix=" etc.")

    def shown(after: str) -> str:
        return text_of(bibliography.citation([cite], around=Around("See ", after)))

    assert shown(", then") == "Li Ants etc."
    assert shown(". Then") == "Li Ants etc"


@pytest.mark.parametrize("is_quoted", [False, True])
def test_an_abbreviation_of_a_title_keeps_its_stop(is_quoted: bool, tmp_path: Path) -> None:
    title = '<text variable="title" font-style="italic"/>'
    style = STYLE.replace(title, '<text variable="title" quotes="true"/>') if is_quoted else STYLE
    bibliography = Bibliography(WORKS, WORKS, load(tmp_path, style))

    def shown(after: str) -> str:
        return text_of(bibliography.citation([CitationItem("etc")], around=Around("See ", after)))

    assert shown(", then") == ("Kim “Bees etc.”" if is_quoted else "Kim Bees etc.")
    # the author's stop counts, but not for a word in quotation marks
    assert shown(". Then") == ("Kim “Bees etc.”" if is_quoted else "Kim Bees etc")


def test_works_in_a_sentence_of_a_note(tmp_path: Path) -> None:
    bibliography = Bibliography(WORKS, WORKS, load(tmp_path, STYLE))
    cites = [
        CitationItem("li", prefix="see"),
        CitationItem("unknown"),
        CitationItem("etc", label="page", locator="3"),
    ]
    shown = bibliography.citation(cites, "t", around=Around("And ", ". Then", in_note=True))
    assert text_of(shown) == "see Li, Ants; @unknown; Kim, Bees etc. 3"


def test_numbers_of_notes(tmp_path: Path) -> None:
    """CSL 1.0.2, Standard Variables, "first-reference-note-number"."""
    bibliography = Bibliography(WORKS, WORKS, load(tmp_path, STYLE))
    citations: list[tuple[Form, list[CitationItem]]] = [
        ("p", [CitationItem("etc")]),
        ("p", [CitationItem("li")]),
        ("p", [CitationItem("bare")]),
        ("author", [CitationItem("etc")]),
        ("p", [CitationItem("etc")]),
    ]

    placed = bibliography.placed(citations, [2, 5, 6, 0, 9])
    assert text_of(bibliography.note(placed[-1])) == "Kim above n. 2."

    placed = bibliography.placed(citations * 2)
    assert text_of(bibliography.note(placed[-1])) == "Kim above."


def test_a_style_of_notes_needs_no_list(tmp_path: Path) -> None:
    bibliography = Bibliography([*WORKS], WORKS, load(tmp_path, NO_LIST))
    assert text_of(bibliography.note([CitationItem("li")])) == "Li Ants."
    assert bibliography.entries() == bibliography.waiting() == []
    assert not bibliography.has_entries

    with pytest.raises(ValueError, match=r"notes\.csl: a CSL style without a bibliography"):
        load(tmp_path, NO_LIST.replace('class="note"', 'class="in-text"'))
