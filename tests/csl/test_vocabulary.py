"""The words of CSL 1.0.2, each of them: variables, types, locators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from csl.grammar import shown
from csl.styles import style_of
from doiuri_csl import Cite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# CSL 1.0.2, Appendix IV
DATES = "accessed available-date event-date issued original-date submitted"
NAMES = """
    author chair collection-editor compiler composer container-author contributor curator director
    editor editor-translator editorial-director executive-producer guest host illustrator interviewer
    narrator organizer original-author performer producer recipient reviewed-author script-writer
    series-creator translator
"""
TEXTS = """
    DOI ISBN ISSN PMCID PMID URL abstract annote archive archive-place archive_collection
    archive_location authority call-number chapter-number citation-key citation-label
    collection-number collection-title container-title container-title-short
    dimensions division edition event event-place event-title genre issue
    jurisdiction keyword language license medium note number number-of-pages number-of-volumes
    original-publisher original-publisher-place original-title page page-first part-number
    part-title printing-number publisher publisher-place references reviewed-genre reviewed-title
    scale section source status supplement-number title title-short version volume volume-title
"""
# CSL 1.0.2, Appendix III
TYPES = """
    article article-journal article-magazine article-newspaper bill book broadcast chapter classic
    collection dataset document entry entry-dictionary entry-encyclopedia event figure graphic
    hearing interview legal_case legislation manuscript map motion_picture musical_score pamphlet
    paper-conference patent performance periodical personal_communication post post-weblog
    regulation report review review-book software song speech standard thesis treaty webpage
"""
# CSL 1.0.2, Appendix II, and two that authors write
LOCATORS = """
    act appendix article-locator book canon chapter column elocation equation figure folio issue
    line note opus page paragraph part rule scene section sub-verbo supplement table timestamp
    title-locator verse version volume number surah
"""
WRONG = {"cannot be": "read"}


def problem_of(item: dict[str, Any], cite: Cite | None = None) -> str:
    """What a list says of an item that is cited."""
    xml = style_of('<text value="x"/>').replace(
        "</style>", '<bibliography><layout><text value="x"/></layout></bibliography></style>'
    )
    [_, entry, _] = shown(xml, [{"id": "x", **item}], [[cite or Cite("x")]])
    return entry.rpartition(" | ")[2]


def layout_shows(layout: str, item: dict[str, Any], cite: Cite | None = None) -> str:
    [text, _] = shown(style_of(layout), [{"id": "x", **item}], [[cite or Cite("x")]])
    return text


def check_each(
    promise: str, words: Iterable[str], actual: Callable[[str], str], expected: Callable[[str], str]
) -> None:
    """Fail with a promise and the words that break it, with what is there instead."""
    __tracebackhide__ = True
    broken = []
    for word in words:
        got = actual(word)
        if got != expected(word):
            broken.append(f"{word}: {got!r}, expected {expected(word)!r}")
    if broken:
        raise AssertionError(f"{promise}: {'; '.join(broken)}")


def test_each_date_variable_is_read_as_a_date() -> None:
    def actual(name: str) -> str:
        layout = (
            f'<date variable="{name}"><date-part name="year"/></date>'
            f'<choose><if variable="{name}"><text value=" is there"/></if></choose>'
        )
        return layout_shows(layout, {name: {"date-parts": [[2001]]}})

    check_each(
        "a date variable shows its year", DATES.split(), actual, lambda _name: "2001 is there"
    )


def test_each_name_variable_is_read_as_people() -> None:
    def actual(name: str) -> str:
        layout = (
            f'<names variable="{name}"/>'
            f'<choose><if variable="{name}"><text value=" is there"/></if></choose>'
        )
        return layout_shows(layout, {name: [{"family": "Doe", "given": "Ann"}]})

    check_each(
        "a name variable shows its people", NAMES.split(), actual, lambda _name: "Ann Doe is there"
    )


def test_each_variable_of_a_note_is_read_as_what_it_is() -> None:
    def names(name: str) -> str:
        return layout_shows(f'<names variable="{name}"/>', {"note": f"{name}: Doe || Ann"})

    def dates(name: str) -> str:
        layout = f'<date variable="{name}"><date-part name="year"/></date>'
        return layout_shows(layout, {"note": f"{name}: 2001-05"})

    check_each("a note has people", NAMES.split(), names, lambda _name: "Ann Doe")
    check_each("a note has dates", DATES.split(), dates, lambda _name: "2001")


def test_a_value_that_no_variable_can_have_is_a_problem_of_each() -> None:
    words = [*DATES.split(), *NAMES.split(), *TEXTS.split(), "type"]

    check_each(
        "a value that cannot be read is a problem",
        words,
        lambda name: problem_of({name: WRONG}),
        lambda name: f"{name}: cannot be read: {WRONG}",
    )


def test_a_value_of_a_variable_that_csl_does_not_have_is_no_problem() -> None:
    assert problem_of({"custom": WRONG, "authors": WRONG}) == ""


def test_each_type_is_known() -> None:
    check_each(
        "a type of CSL is no problem",
        TYPES.split(),
        lambda name: problem_of({"type": name}),
        lambda _name: "",
    )


def test_each_locator_is_known() -> None:
    check_each(
        "a label of CSL is no problem",
        LOCATORS.split(),
        lambda name: problem_of({}, Cite("x", "5", name)),
        lambda _name: "",
    )
