"""Citations and entries: what authors write, and what they show."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain, product
from pathlib import Path
from typing import Any

import pytest
from doiuri import DOI, DOISyntaxError, Handle
from doiuri.citations import (
    Bibliography,
    CitationItem,
    Form,
    ReferenceStyle,
    Span,
    parse_citation,
    parse_locator,
    text_of,
)
from doiuri.works import Work
from doiuri_csl import Format, Locale, Run
from support.cases import table
from support.growth import is_linear
from support.references import NOTES

ODD = DOI("10.1000/456#<7>")
A, B, C, D = (DOI(f"10.1000/{letter}") for letter in "abcd")
IDS: Mapping[str, Handle | str] = {"knuth1984": "knuth1984", "kahn": A}


@table("citations", "written", "text, expected")
def test_what_an_author_writes(text: str, expected: list[list[Any]]) -> None:
    cites = parse_citation(text, "de", IDS)
    assert [fields_of(cite) for cite in cites] == expected


def fields_of(cite: CitationItem) -> list[Any]:
    """Return the fields of a cite in the order of the cases."""
    key = cite.key if isinstance(cite.key, str) else f"doi:{cite.key.name}"
    return [key, cite.prefix, cite.label, cite.locator, cite.suffix, cite.no_author, cite.typed]


NAMES = [
    "10.1000%2Fa",
    "doi:10.1000/a",
    "http://dx.doi.org/10.1000/a",
    "@10.1000/a",
    "@{10.1000/a}",
    "@kahn",
]
TAILS = ["", ",", " p. 3", ", S. 3–5, 7", ", chap. ii", ", urn:isbn:1, info: 2", ", vol. 2, and on"]


@pytest.mark.parametrize("separator", ["; ", ", ", ";\n "])
@pytest.mark.parametrize("name", [*NAMES, *(f"-{name}" for name in NAMES)])
def test_works_are_read_together_as_they_are_alone(name: str, separator: str) -> None:
    """However the second one is written, and whatever follows the first one."""
    second = parse_citation(f"{name}, p. 9", "de", IDS)
    assert [(cite.key, cite.locator, cite.no_author) for cite in second] == [
        (A, "9", name[0] == "-")
    ]
    for tail in TAILS:
        first = parse_citation(f"see -10.1000/b{tail}", "de", IDS)
        text = f"see -10.1000/b{tail}{separator}{name}, p. 9"
        assert parse_citation(text, "de", IDS) == (*first, *second), text


@pytest.mark.parametrize(
    ("text", "ids", "message"),
    [
        ("", IDS, "the text is empty"),
        ("10.1000/a; see", IDS, "'see' is not a DOI: expected \"10.\", a label such as"),
        ("\u200b10.1000/a", IDS, "; write doi:10.1000/a"),
        ("10.1000 p. 3", IDS, 'no "/" after the prefix'),
        ("@knuth1985, p. 3", IDS, "has the id 'knuth1985'; did you mean 'knuth1984'"),
        ("@knuth1984", None, "name them in the option works"),
    ],
)
def test_what_is_not_a_citation(
    text: str, ids: Mapping[str, Handle | str] | None, message: str
) -> None:
    with pytest.raises((DOISyntaxError, ValueError)) as error:
        parse_citation(text, "en", ids)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("name", "ids", "hint"),
    [
        ("khan2006", ["kahn2006", "kahn1996", "knuth2006"], "kahn2006"),
        ("kahn2007", ["kahn1996", "kahn2006"], "kahn2006"),
        ("Kahn:2006", ["doe2006", "kahn2006"], "kahn2006"),
        ("vaswani2017", ["vaswani2017attention"], "vaswani2017attention"),
        ("dobbe2018", ["noble2018", "dalby2018", "2018"], None),
        ("wu2018", ["li2018", "wuttke2018"], None),
        ("2018", ["2017"], None),
    ],
)
def test_ids_with_other_letters_are_not_what_was_meant(
    name: str, ids: list[str], hint: str | None
) -> None:
    with pytest.raises(ValueError, match="no file of works has the id") as error:
        parse_citation(f"@{name}", ids={id_: id_ for id_ in ids})

    _, _, meant = str(error.value).partition("; did you mean ")
    assert meant == (f"'{hint}'?" if hint else "")


@table("citations", "locators", "text, locale, expected")
def test_a_locator(text: str, locale: str, expected: list[str]) -> None:
    assert [*parse_locator(text, locale)] == expected


# Those whose words may mean others, too, such as "v.", and the others
AMBIGUOUS = "article-locator issue note number scene supplement title-locator verse version".split()  # noqa: SIM905
LOCATORS = (
    "act appendix book canon chapter column elocation equation figure folio line opus page"  # noqa: SIM905
    " paragraph part rule section sub-verbo table volume".split()
)
LANGUAGES = ["ar", "en-US", "de-AT", "fr", "ja", "hu", "pt-BR", "ru", "zh-TW"]


@pytest.mark.parametrize("locale", LANGUAGES)
@pytest.mark.parametrize("number", ["3", "3, 4"])
def test_a_locator_is_read_as_it_is_shown(number: str, locale: str) -> None:
    bibliography = Bibliography("k", {"k": work("k", "Li")}, ReferenceStyle.load("numeric"), locale)
    for label in (*LOCATORS, *AMBIGUOUS):
        parts = bibliography.citation([CitationItem("k", label=label, locator=number)])
        shown = text_of(parts)
        where = parse_locator(shown.removeprefix("[1").removesuffix("]"), locale)
        assert (where.locator, where.suffix) == (number, ""), shown
        assert where.label == label or label in AMBIGUOUS, shown


@pytest.mark.parametrize("locale", ["hu", "ja", "ko", "zh-CN", "zh-TW"])
def test_a_number_may_stand_before_its_term(locale: str) -> None:
    for label, form in product(LOCATORS, ("long", "short")):
        term = Locale.load(locale).term(label, form)
        for text in (f"12{term}", f" 12 {term}", f"{{12{term}}}"):
            where = parse_locator(text, locale)

            assert (where.locator, where.suffix) == ("12", ""), f"{text!r} in {locale}: {where}"


def work(key: Handle | str, *families: str, year: int | None = 2001, **csl: object) -> Work:
    issued = {} if year is None else {"issued": year}
    return Work(key, {"author": [{"family": family} for family in families], **issued, **csl})


LI: dict[Handle | str, Work] = {
    A: work(A, "Li", year=2014),
    B: work(B, "Li", year=2016, title="B"),
    C: work(C, "Li", year=2016, title="C"),
    D: work(D, "Kahn", "Wilensky", year=None),
    "three": work("three", "Łoś", "Kahn", "Li"),
    "more": work("more", "Łoś", "others", year=1999),
    "part": work(
        "part",
        title="Part 6<sup>1</sup> of a title that is longer than forty characters",
        container="J",
    ),
    "case": Work("case", {"title": "Does it?", "container-title": "J", "issued": 2020}),
}


def shown(text: str, style: str, form: Form, locale: str = "en-US") -> str:
    ids = {key: key for key in LI if isinstance(key, str)}
    bibliography = Bibliography([D, *LI], LI, ReferenceStyle.load(style), locale)
    return text_of(bibliography.citation(parse_citation(text, locale, ids), form))


@table("citations", "shown", "text, style, form, expected")
def test_what_a_citation_shows(text: str, style: str, form: Form, expected: str) -> None:
    assert shown(text, style, form) == expected


WITH_LOCATOR = """<style xmlns="http://purl.org/net/xbiblio/csl" class="in-text" version="1.0">
<info><title>T</title><id>i</id><updated>2026-01-01T00:00:00Z</updated></info>
<citation><layout prefix="(" suffix=")"><group delimiter=", "><names variable="author"/>
<group delimiter=" "><label variable="locator" form="short"/><text variable="locator"/></group>
</group></layout></citation>
<bibliography><layout><text variable="title"/></layout></bibliography></style>"""


@pytest.mark.parametrize("style", ["author-date", "own.csl"])
@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (", pp. 41 (no. 58)", ", pp. 41 (no. 58))"),
        (", {pp. 41 (no. 58)}", ", pp. 41 (no. 58))"),
        (", p. 41 (no. 58)", ", p. 41 (no. 58))"),
        (", {pp. iv, vi-xi} and on", ", pp. iv, vi–xi and on)"),
        (", {}, 99 years later", ", 99 years later)"),
    ],
)
def test_a_plural_and_braces_around_a_locator(
    written: str, expected: str, style: str, tmp_path: Path
) -> None:
    (tmp_path / "own.csl").write_text(WITH_LOCATOR)
    bibliography = Bibliography([D], LI, ReferenceStyle.load(style, tmp_path))

    cites = parse_citation(f"@{D.name}{written}")

    assert text_of(bibliography.citation(cites)).endswith(expected)


AUTHOR_DATE = """<citation {}="true"><layout prefix="(" suffix=")" delimiter="; "><group delimiter=" ">
<names variable="author"><name form="short"/></names><date variable="issued"><date-part name="year"/></date>
</group></layout></citation>"""


def test_letters_beyond_z_and_names_of_others(tmp_path: Path) -> None:
    collapse = (
        'collapse="year-suffix-ranged" year-suffix-delimiter="+" disambiguate-add-year-suffix'
    )
    (tmp_path / "own.csl").write_text(STYLE.format(AUTHOR_DATE.format(collapse) + BIBLIOGRAPHY))
    works = {str(n): work(str(n), "Li", title=f"{n:03}") for n in range(30)}
    works["o"] = Work(
        "o", {"author": [{"family": "Aalto"}, {"literal": "others"}], "issued": "1998"}
    )
    bibliography = Bibliography(works, works, ReferenceStyle.load("own.csl", tmp_path))
    assert [one.listed.year_suffix for one in bibliography.references][24:] == [
        "y",
        "z",
        "aa",
        "ab",
        "ac",
        "ad",
        "",
    ]
    shown = bibliography.citation(
        CitationItem(key) for key in ("0", "1", "2", "24", "25", "26", "o")
    )
    assert text_of(shown) == "(Li 2001a–c+y–aa; Aalto et al. 1998)"


def test_words_are_those_of_the_locale() -> None:
    assert (
        shown("10.1000/d, p. 3", "author-date", "t", "de") == "Kahn und Wilensky (o.\u00a0J., S. 3)"
    )
    with pytest.raises(
        ValueError, match=r"no locale 'tlh', only ar, cs-CZ, .*; for another one, give the path"
    ):
        Bibliography([], {}, ReferenceStyle.load(), "tlh")


@pytest.mark.parametrize("families", ["O'Neil OʼNeil O’Neil", "de_Ŕ de_R\u0301"])
def test_an_author_with_another_apostrophe_or_encoding_is_the_same(families: str) -> None:
    names = [family.replace("_", " ") for family in families.split()]
    works = {str(i): work(str(i), family, title=str(i)) for i, family in enumerate(names)}
    bibliography = Bibliography(works, works, ReferenceStyle.load())
    letters = [entry.listed.year_suffix for entry in bibliography.references]
    assert letters == ["a", "b", "c"][: len(names)]
    if names[0] == "O'Neil":
        parts = bibliography.citation(map(CitationItem, works))
        assert text_of(parts) == "(O’Neil, 2001a, 2001b, 2001c)"


def test_parts_lead_to_works_and_keep_superscripts() -> None:
    bibliography = Bibliography(LI, LI, ReferenceStyle.load())
    italic: frozenset[Format] = frozenset({"italic"})
    raised: frozenset[Format] = frozenset({"italic", "superscript"})
    [opening, title, closing] = bibliography.citation(
        [CitationItem("part", label="page", locator="2")]
    )
    assert (opening, closing) == (Span((Run("("),)), Span((Run(", p. 2)"),)))
    assert title.target == "part"
    assert title.runs[:2] == (Run("Part 6", italic), Run("1", raised))
    for style, key in (("author-date", "case"), ("numeric", D)):
        in_sentence = Bibliography(LI, LI, ReferenceStyle.load(style)).citation(
            [CitationItem(key)], "t"
        )
        assert {span.target for span in in_sentence} == {key}, "with the brackets"


COLLAPSING = """<style xmlns="http://purl.org/net/xbiblio/csl" version="1.0" class="in-text"><citation
 collapse="year"><layout prefix="(" suffix=")" delimiter="; "><names variable="author"/><date
 variable="issued" prefix=" "><date-part name="year"/></date></layout></citation><bibliography><layout><text
 variable="title"/></layout></bibliography></style>"""


@pytest.mark.parametrize("style", ["author-date", "numeric", "collapsing.csl"])
@pytest.mark.parametrize(
    "text", ["A, p. 12", "see A, p. 12 (sic) there", "A; B, p. 3", "B, A", "A"]
)
def test_no_link_has_one_of_two_brackets(text: str, style: str, tmp_path: Path) -> None:
    (tmp_path / "collapsing.csl").write_text(COLLAPSING)
    weber = {"type": "book", "author": [{"family": "Weber"}]}
    works = {
        key: Work(key, {**weber, "title": f"T{year}", "issued": {"date-parts": [[year]]}})
        for key, year in ((A, 1905), (B, 1910))
    }
    cites = parse_citation(text.replace("A", A.name).replace("B", B.name), "en")
    bibliography = Bibliography(list(works), works, ReferenceStyle.load(style, tmp_path))
    spans = bibliography.citation(cites, "t")
    linked = [text_of([span]) for span in spans if span.target is not None]
    for link in linked:
        assert [link.count("("), link.count("[")] == [link.count(")"), link.count("]")], linked
    assert linked[0].startswith("Weber"), linked


def authors(*names: tuple[str, str]) -> list[dict[str, str]]:
    """Return authors of CSL, each from a family name and a given name."""
    return [{"family": family, "given": given} for family, given in names]


@pytest.mark.parametrize("step", [1, -1])
def test_the_order_of_a_list(step: int) -> None:
    """Given names and later authors count; case, accents and punctuation do not; no date comes last."""
    people = [
        [("a-a", "C"), ("Bb", "")], [("Aa", "B.")], [("Áa", "C")], [("Aa", "C"), ("Bb", "D")], [("Æa", "")],
        [("Đo", "")], [("Łoś", "")], [("Lot", "")], [("O'Neil", "")], [("Oneill", "")], [("Øst", "")],
        [("Þor", "")],
    ]  # fmt: skip
    csl = [{"author": authors(*names), "issued": 2000} for names in people]
    csl += [{"title": title} for title in ("<i>Tu</i>", "<b>T</b>v", "U", "“U” x", "<sup>V</sup>")]
    csl += [
        *(
            {"author": [{"family": "Zz"}], "issued": [[1999, month]], "title": title}
            for month, title in ((7, "A"), (2, "B"))
        ),
        {"author": [{"family": "Zz"}]},
    ]
    works = [Work(str(number), item) for number, item in enumerate(csl)]
    order = works[::step]
    for style, expected in (("author-date", works), ("numeric", order)):
        by_key = {work.key: work for work in order}
        listed = Bibliography(by_key, by_key, ReferenceStyle.load(style)).references
        assert [entry.work for entry in listed] == expected


STYLE = """<style xmlns="http://purl.org/net/xbiblio/csl" class="in-text" version="1.0"><info><title>T</title>
<id>i</id><updated>2026-01-01T00:00:00Z</updated></info>{}</style>"""
CITATION = '<citation><layout><text variable="title"/></layout></citation>'
BIBLIOGRAPHY = '<bibliography><layout><text variable="title"/></layout></bibliography>'


@table("citations", "unusable styles", "name, content, message")
def test_a_style_that_cannot_be_used(
    name: str, content: str | None, message: str, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / name.replace("\0", "")).write_text(content)
    with pytest.raises(ValueError) as error:  # noqa: PT011
        ReferenceStyle.load(name, tmp_path)
    assert message in str(error.value)


PEOPLE = [{"family": "Zhou"}, {"family": "Aalto"}]
WORKS = {
    "z": Work("z", {"author": PEOPLE, "issued": 2001}),
    "n": Work("n", {"title": "A name", "issued": 1999}),
}


@pytest.mark.parametrize("called", ["a", "b"])
def test_a_macro_that_calls_itself_is_named(called: str, tmp_path: Path) -> None:
    macro = '<macro name="{}"><text macro="{}"/></macro>'
    text = '<layout><text macro="a"/></layout>'
    macros = macro.format("a", called) + macro.format("b", "a")
    areas = f"<citation>{text}</citation><bibliography>{text}</bibliography>"
    (tmp_path / "own.csl").write_text(STYLE.format(macros + areas))
    with pytest.raises(ValueError, match=r"own.csl:2: <text>: macro 'a' calls itself: a → "):
        ReferenceStyle.load("own.csl", tmp_path)


LAYOUT = """<citation collapse="citation-number" et-al-min="2"><sort><key variable="citation-number"/></sort>
<layout {}><group {} delimiter=", "><text variable="citation-number"/></group></layout></citation>"""


@pytest.mark.parametrize(
    ("layout", "group", "expected"),
    [
        ('prefix="(" suffix=")" delimiter=","', "", ("(1–3,5)", "Li (2)")),
        ('delimiter=", "', 'prefix="[" suffix="]"', ("[1]–[3], [5]", "Li [2]")),
        ('delimiter="," vertical-align="sup"', "", ("¹–³,⁵", "Li²")),
    ],
)
def test_a_style_of_the_author(
    layout: str, group: str, expected: tuple[str, str], tmp_path: Path
) -> None:
    (tmp_path / "own.csl").write_text(STYLE.format(LAYOUT.format(layout, group) + BIBLIOGRAPHY))
    style = ReferenceStyle.load("own.csl", tmp_path)
    assert style.numbered
    cites = [CitationItem(D), CitationItem(A), CitationItem(B), CitationItem("three")]
    bibliography = Bibliography([D, A, B, C, "three"], LI, style)
    found = bibliography.citation(cites), bibliography.citation([CitationItem(A)], "t")
    assert tuple(map(text_of, found)) == expected
    runs = chain.from_iterable(span.runs for span in found[0])
    assert all(("superscript" in run.formats) == ("sup" in layout) for run in runs)


def entry(
    csl: dict[str, object], style: str | ReferenceStyle = "author-date", locale: str = "en-US"
) -> tuple[Span, ...]:
    chosen = ReferenceStyle.load(style) if isinstance(style, str) else style
    key = ODD if csl.get("DOI") else "id"
    work = Work(key, csl)
    [alone] = Bibliography([key], {key: work}, chosen, locale).entries()
    return alone.spans


@table("citations", "entries", "csl, style, expected")
def test_an_entry(csl: dict[str, object], style: str, expected: str) -> None:
    assert text_of(entry(csl, style)) == expected


def test_formatting_is_data() -> None:
    title = "<i>A <em>b</em></i> H<sub>2</sub> <sup>1</sup> <b>c</b> <jats:sc>d</jats:sc>"
    spans = entry(
        {"title": title, "container-title": "J", "DOI": ODD.name, "issued": 2001}, "author-date"
    )
    runs = chain.from_iterable(span.runs for span in spans)
    assert {(run.text, *sorted(run.formats)) for run in runs if run.formats} == {
        ("A ", "italic"), ("2", "subscript"), ("1", "superscript"), ("c", "bold"), ("d", "small-caps"),
        ("J", "italic"),
    }  # fmt: skip
    assert [span for span in spans if span.target] == [Span((Run(ODD.url),), ODD)]


TITLE = '<text variable="title" suffix=". "/>'
DOI_OF_STYLE = '<text variable="DOI" prefix="https://doi.org/"/>'
URL_OF_STYLE = '<text variable="URL" prefix="At "/>'
EITHER = '<choose><if variable="{}">{}</if><else>{}</else></choose>'
SHOWN_ADDRESSES = {
    "nothing": "",
    "no address": TITLE,
    "the DOI": TITLE + DOI_OF_STYLE,
    "the URL": TITLE + URL_OF_STYLE,
    "both": TITLE + URL_OF_STYLE + DOI_OF_STYLE,
    "the DOI or else the URL": TITLE + EITHER.format("DOI", DOI_OF_STYLE, URL_OF_STYLE),
    "the URL or else the DOI": TITLE + EITHER.format("URL", URL_OF_STYLE, DOI_OF_STYLE),
    "the address first": URL_OF_STYLE + DOI_OF_STYLE + TITLE,
}
OWN_URL = "https://a.example/b"


@pytest.mark.parametrize("layout", SHOWN_ADDRESSES.values(), ids=SHOWN_ADDRESSES)
def test_in_every_style_an_entry_leads_to_the_address_of_its_work(
    layout: str, tmp_path: Path
) -> None:
    """To the DOI if it has one, or else to the URL; at the end if the style shows neither, and never twice."""
    bibliography = f"<bibliography><layout>{layout}</layout></bibliography>"
    (tmp_path / "own.csl").write_text(STYLE.format(f"{CITATION}{bibliography}"))
    style = ReferenceStyle.load("own.csl", tmp_path)
    for has_doi, has_url, has_title in product((True, False), repeat=3):
        item = {"id": "id"}
        item |= {"title": "T"} if has_title else {}
        item |= {"DOI": ODD.name} if has_doi else {}
        item |= {"URL": OWN_URL} if has_url else {}
        key = ODD if has_doi else "id"
        works = {key: Work.from_item(key, item)}

        [shown] = Bibliography([key], works, style).entries()

        targets = [span.target for span in shown.spans if span.target is not None]
        own_url = [OWN_URL] if has_url else []
        address = [ODD] if has_doi else own_url
        shows_url = URL_OF_STYLE in layout and has_url
        others = [OWN_URL] if has_doi and OWN_URL in targets and shows_url else []
        assert sorted(map(str, targets)) == sorted(map(str, [*address, *others])), f"of {item}"
        has_room = has_title and layout != ""
        assert ("T" in text_of(shown.spans)) is (has_room or (has_title and not address)), (
            f"of {item}"
        )


def test_a_citation_may_show_the_doi_and_tests_the_position(tmp_path: Path) -> None:
    """Layouts of notes have both; a position is that of a first citation."""
    (tmp_path / "note.csl").write_text(
        STYLE.format(
            """<citation><layout><choose><if position="ibid"><text value="ibid."/></if><else>
            <group delimiter=" "><text variable="title"/><text variable="DOI" prefix="DOI "/>
            <text variable="URL"/></group></else></choose></layout></citation>"""
            + BIBLIOGRAPHY
        ).replace("in-text", "note")
    )
    style = ReferenceStyle.load("note.csl", tmp_path)
    works: dict[DOI | str, Work] = {
        ODD: Work(ODD, {"title": "T"}),
        "w": Work("w", {"title": "U", "URL": "https://example.org/w"}),
    }
    bibliography = Bibliography(works, works, style)
    shown = [text_of(bibliography.citation([CitationItem(key)])) for key in works]
    assert shown == [f"T DOI {ODD.name}", "U https://example.org/w"]


NOTED: list[tuple[Form, list[CitationItem], str]] = [
    ("p", [CitationItem("li")], "Li Ants"),
    ("p", [CitationItem("li"), CitationItem("li")], "Ibid."),
    ("p", [CitationItem("li", label="page", locator="3")], "Ibid. 3"),
    ("t", [CitationItem("li", label="page", locator="3")], "Li (Ibid. 3)"),
    # without the locator of the cite before, it is not the same place
    ("p", [CitationItem("li")], "Li"),
    (
        "p",
        [CitationItem("kim"), CitationItem("li"), CitationItem("li", label="page", locator="3")],
        "Kim Bees; Li; ibid. 3",
    ),
    # the citation before has several cites
    ("p", [CitationItem("li")], "Li"),
    ("author", [CitationItem("kim")], "Kim"),
    # names alone are no citation
    ("p", [CitationItem("li")], "Ibid."),
    ("p", [CitationItem("unknown")], "@unknown"),
    ("p", [CitationItem("unknown")], "@unknown"),
    ("year", [CitationItem("kim")], "2001"),
    # further away than the style's near-note-distance; no note has a number
    ("p", [CitationItem("li", label="page", locator="4")], "Li above 4"),
]


def notes_style(folder: Path) -> ReferenceStyle:
    (folder / "notes.csl").write_text(NOTES)
    return ReferenceStyle.load("notes.csl", folder)


def test_a_citation_depends_on_those_before_it_on_the_page(tmp_path: Path) -> None:
    """CSL 1.0.2, Choose, "position"."""
    works = {"li": work("li", "Li", title="Ants"), "kim": work("kim", "Kim", title="Bees")}
    bibliography = Bibliography(works, works, notes_style(tmp_path))

    placed = bibliography.placed((form, cites) for form, cites, _ in NOTED)

    shown = []
    for (form, _, _), cites in zip(NOTED, placed, strict=True):
        shown.append(text_of(bibliography.citation(cites, form)))
    assert shown == [expected for _, _, expected in NOTED]


def test_a_citation_without_a_place_is_the_first(tmp_path: Path) -> None:
    works = {"li": work("li", "Li", title="Ants")}
    bibliography = Bibliography(works, works, notes_style(tmp_path))

    bibliography.placed([("p", [CitationItem("li")]), ("p", [CitationItem("li")])])

    assert text_of(bibliography.citation([CitationItem("li")])) == "Li Ants"


def test_a_doi_in_another_case_is_the_same_work(tmp_path: Path) -> None:
    works = {DOI("10.1000/a"): work(DOI("10.1000/a"), "Li", title="Ants")}
    bibliography = Bibliography(works, works, notes_style(tmp_path))

    _, again = bibliography.placed(
        [("p", [CitationItem(DOI("10.1000/a"))]), ("p", [CitationItem(DOI("10.1000/A"))])]
    )

    assert text_of(bibliography.citation(again)) == "Ibid."


def test_later_citations_have_fewer_names_if_the_style_wants(tmp_path: Path) -> None:
    """CSL 1.0.2, Et-al Abbreviation, "et-al-subsequent-min"; positions are not only for notes."""
    options = 'et-al-subsequent-min="2" et-al-subsequent-use-first="1"'
    citation = f'<citation {options}><layout><names variable="author"/></layout></citation>'
    (tmp_path / "own.csl").write_text(STYLE.format(citation + BIBLIOGRAPHY))
    works = {"k": work("k", "Li", "Kim")}
    bibliography = Bibliography(works, works, ReferenceStyle.load("own.csl", tmp_path))

    placed = bibliography.placed(
        [("p", [CitationItem("k")]), ("p", [CitationItem("k")]), ("t", [CitationItem("k")])]
    )

    first, second, third = placed
    assert text_of(bibliography.citation(first)) == "Li, Kim"
    assert text_of(bibliography.citation(second)) == "Li et al."
    assert text_of(bibliography.citation(third, "t")) == "Li et al."


def test_commas_after_a_name_take_linear_time() -> None:
    def read(times: int) -> None:
        with pytest.raises(ValueError, match="no file of works has the id"):
            parse_citation(f"@a{',' * times}x", ids=IDS)

    assert is_linear(read, 2_000, 64_000)
