"""The terms of each language, as CSL 1.0.2 asks for them."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import pytest
from support.checks import only

FOLDER = Path(__file__).parents[2] / "packages/doiuri-csl/src/doiuri_csl/locales"
CSL = "{http://purl.org/net/xbiblio/csl}"
XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"

LANGUAGES = """
    ar cs-CZ da-DK de-DE el-GR en-GB en-US es-ES fi-FI fr-FR hu-HU it-IT ja-JP ko-KR nb-NO nl-NL
    pl-PL pt-BR pt-PT ro-RO ru-RU sv-SE tr-TR uk-UA zh-CN zh-TW
"""

# CSL 1.0.2, appendix II (locators) and IV (names and numbers), with "editortranslator" of styles
# that are older.
LOCATORS = """
    act appendix article-locator book canon chapter column elocation equation figure folio issue
    line note opus page paragraph part rule scene section sub-verbo supplement table timestamp
    title-locator verse version volume
"""
NAMES = """
    author chair collection-editor compiler composer container-author contributor curator director
    editor editor-translator editorial-director editortranslator executive-producer guest host
    illustrator interviewer narrator organizer original-author performer producer recipient
    reviewed-author script-writer series-creator translator
"""
NUMBERS = """
    chapter-number citation-number collection-number edition first-reference-note-number issue
    number number-of-pages number-of-volumes page page-first part printing section supplement
    version volume
"""

# Forms that English has and these languages have no word for.
WORDLESS = {
    "hu-HU": {("at", "long")},
    "ja-JP": {("in", "long")},
    "ru-RU": {
        ("by", "long"),
        ("container-author", "verb"),
        ("original-author", "verb"),
        ("reviewed-author", "verb"),
    },
    "uk-UA": {("original-author", "verb")},
}
OTHER_SCRIPTS = ["ar", "el-GR", "ja-JP", "ko-KR", "ru-RU", "uk-UA", "zh-CN", "zh-TW"]
LATIN_WORDS_THERE = {"TV", "Web", "p", "podcast", "pp"}
SAME_MARK_ON_BOTH_SIDES = {"fi-FI", "sv-SE"}


class Term(NamedTuple):
    name: str
    form: str
    gender_form: str
    match: str
    texts: tuple[str, ...]

    @property
    def is_ordinal(self) -> bool:
        return self.name.startswith(("ordinal", "long-ordinal"))


class Language:
    def __init__(self, name: str) -> None:
        self.name = name
        self.source = (FOLDER / f"locales-{name}.xml").read_text("utf-8")
        self.root = ElementTree.fromstring(self.source)
        self.terms = list(self._terms())

    def _terms(self) -> Iterator[Term]:
        for element in self.root.iter(f"{CSL}term"):
            yield Term(
                element.attrib["name"],
                element.get("form", "long"),
                element.get("gender-form", ""),
                element.get("match", ""),
                tuple(part.text or "" for part in list(element) or [element]),
            )

    def texts(self) -> Iterator[tuple[str, str]]:
        """Yield the name of a term and each of its texts."""
        for term in self.terms:
            for text in term.texts:
                yield term.name, text

    def text(self, name: str, gender_form: str = "") -> str:
        """Return the long form of a term that has no plural."""
        for term in self.terms:
            if (term.name, term.form, term.gender_form) == (name, "long", gender_form):
                return term.texts[0]
        raise LookupError(name)

    def forms(self) -> list[tuple[str, str]]:
        """Return name and form of all terms but ordinals, in the order of the file."""
        return [(term.name, term.form) for term in self.terms if not term.is_ordinal]

    def empty_forms(self) -> set[tuple[str, str]]:
        return {
            (term.name, term.form)
            for term in self.terms
            if not term.is_ordinal and not all(term.texts)
        }

    def suffix(self, number: int, gender: str = "") -> str:
        """Return what follows a number (CSL 1.0.2, "Ordinal Suffixes")."""
        ordinals = [term for term in self.terms if term.name.startswith("ordinal")]
        most_exact = max(term.name for term in ordinals if _fits(term, number))
        exact = {term.gender_form: term for term in ordinals if term.name == most_exact}
        plain = {term.gender_form: term for term in ordinals if term.name == "ordinal"}

        for terms in (exact, plain):
            for wanted in (gender, ""):
                if wanted in terms:
                    return terms[wanted].texts[0]
        raise LookupError(number)


def _fits(term: Term, number: int) -> bool:
    """Whether an ordinal term is for this number."""
    if term.name == "ordinal":
        return True

    value = int(term.name[-2:])
    default = "last-two-digits"
    if value < 10:
        default = "last-digit"
    modulus = {"last-digit": 10, "last-two-digits": 100, "whole-number": 10**9}
    return number % modulus[term.match or default] == value


@cache
def read(name: str) -> Language:
    return Language(name)


ENGLISH = "en-US"


def in_each_language(promise: Callable[[Language], None]) -> Callable[[], None]:
    """Make a test of what a file has to keep; it names each language that does not."""

    def test() -> None:
        __tracebackhide__ = True
        broken = []
        for name in LANGUAGES.split():
            try:
                promise(read(name))
            except (AssertionError, LookupError, ValueError) as error:
                broken.append(f"{name}: {error!s:.500}")
        if broken:
            pytest.fail("\n".join(broken), pytrace=False)

    test.__doc__ = promise.__doc__
    return test


def test_all_languages_are_there_and_no_others() -> None:
    files = sorted(path.name for path in FOLDER.glob("*"))

    assert files == [f"locales-{name}.xml" for name in LANGUAGES.split()]


@in_each_language
def test_file_is_a_csl_locale_of_its_language(language: Language) -> None:
    assert language.root.tag == f"{CSL}locale"
    assert language.root.get("version") == "1.0"
    assert language.root.get(XML_LANG) == language.name


@in_each_language
def test_file_has_no_document_type(language: Language) -> None:
    assert "<!DOCTYPE" not in language.source


@in_each_language
def test_text_is_composed_unicode(language: Language) -> None:
    assert unicodedata.is_normalized("NFC", language.source)


@in_each_language
def test_each_term_and_form_of_english(language: Language) -> None:
    english = read(ENGLISH)
    assert set(english.forms()) - set(language.forms()) == set()


@in_each_language
def test_terms_in_the_order_of_english(language: Language) -> None:
    english = read(ENGLISH)
    order = list(dict.fromkeys(name for name, _ in language.forms()))

    assert order == list(dict.fromkeys(name for name, _ in english.forms()))


def test_english_has_each_locator_role_and_number() -> None:
    names = {name for name, form in read(ENGLISH).forms() if form == "long"}

    missing = {*f"{LOCATORS} {NAMES} {NUMBERS}".split()} - names
    assert missing == set()


@in_each_language
def test_no_term_twice(language: Language) -> None:
    keys = Counter((term.name, term.form, term.gender_form) for term in language.terms)

    assert [key for key, count in keys.items() if count > 1] == []


@in_each_language
def test_no_form_is_empty_that_english_has(language: Language) -> None:
    english = read(ENGLISH)
    empty = language.empty_forms() - english.empty_forms()

    assert empty == WORDLESS.get(language.name, set())


@in_each_language
def test_terms_have_no_stray_space(language: Language) -> None:
    spaced_by_intent = {"ad", "bc", "bce", "ce", "open-quote", "close-quote", "colon", "semicolon"}

    stray = [
        (name, text)
        for name, text in language.texts()
        if text != text.strip() and not text.endswith(": ") and name not in spaced_by_intent
    ]

    assert stray == []


@in_each_language
def test_plural_differs_from_singular(language: Language) -> None:
    pairs = [term for term in language.terms if len(term.texts) > 1]

    assert all(len(term.texts) == 2 for term in pairs)
    assert [term for term in pairs if term.texts[0] == term.texts[1]] == []


@pytest.mark.parametrize("name", OTHER_SCRIPTS)
def test_no_english_is_left_in_other_scripts(name: str) -> None:
    texts = " ".join(text for _, text in read(name).texts())

    latin_words = set(re.findall("[A-Za-z]+", texts))

    assert latin_words <= LATIN_WORDS_THERE


@in_each_language
def test_no_english_verb_is_left(language: Language) -> None:
    by = [text for _, text in language.texts() if text.endswith(" by")]

    assert language.name.startswith("en-") or by == []


@in_each_language
def test_date_has_day_month_and_year(language: Language) -> None:
    parts = {
        date.get("form"): sorted(part.attrib["name"] for part in date)
        for date in language.root.iter(f"{CSL}date")
    }

    whole = ["day", "month", "year"]
    assert parts == {"numeric": whole, "text": whole}


@in_each_language
def test_numeric_date_has_a_number_for_the_month(language: Language) -> None:
    months = language.root.findall(f"{CSL}date[@form='numeric']/*[@name='month']")

    assert ["numeric" in month.attrib["form"] for month in months] == [True]


@in_each_language
def test_options_of_the_language_are_said(language: Language) -> None:
    options = only("style-options", language.root.findall(f"{CSL}style-options"))

    assert sorted(options.attrib) == ["limit-day-ordinals-to-day-1", "punctuation-in-quote"]
    assert set(options.attrib.values()) <= {"true", "false"}


@in_each_language
def test_quotation_marks_come_in_pairs(language: Language) -> None:
    outer = (language.text("open-quote"), language.text("close-quote"))
    inner = (language.text("open-inner-quote"), language.text("close-inner-quote"))

    assert outer != inner
    for opening, closing in (outer, inner):
        same = opening.strip() == closing.strip()
        assert same == (language.name in SAME_MARK_ON_BOTH_SIDES), (opening, closing)
        assert "'" not in opening + closing
        assert '"' not in opening + closing


@in_each_language
def test_twelve_months_with_names_of_their_own(language: Language) -> None:
    for form in ("long", "short"):
        months = {
            term.texts[0]
            for term in language.terms
            if term.name.startswith("month-") and term.form == form
        }

        assert len(months) == 12, f"{len(months)} names in the form {form}"


@in_each_language
def test_suffix_for_numbers_without_gender(language: Language) -> None:
    plain = [term for term in language.terms if term.name == "ordinal"]

    assert "" in {term.gender_form for term in plain}


@in_each_language
def test_ten_long_ordinals(language: Language) -> None:
    ordinals = [language.text(f"long-ordinal-{number:02}") for number in range(1, 11)]

    assert len(set(ordinals)) == 10


@in_each_language
def test_only_nouns_that_have_a_number_or_are_months_have_a_gender(language: Language) -> None:
    gendered = {term.attrib["name"] for term in language.root.iterfind(f".//{CSL}term[@gender]")}

    months = {f"month-{number:02}" for number in range(1, 13)}
    assert gendered <= {*NUMBERS.split(), *months}


@in_each_language
def test_gender_of_a_noun_is_known_where_ordinals_have_one(language: Language) -> None:
    gendered_ordinals = {term.gender_form for term in language.terms if term.is_ordinal} - {""}
    edition = language.root.find(f"{CSL}terms/{CSL}term[@name='edition']")

    assert edition is not None
    if gendered_ordinals and language.name not in {"ru-RU", "uk-UA"}:  # neuter there
        assert edition.get("gender") == "feminine"
    else:
        assert edition.get("gender") in {None, "feminine"}


@pytest.mark.parametrize(
    ("name", "gender", "numbers"),
    [
        ("en-US", "", "1st 2nd 3rd 4th 10th 11th 12th 13th 21st 22nd 101st 111th 113th"),
        ("de-DE", "feminine", "1. 2. 11."),
        ("fr-FR", "feminine", "1ʳᵉ 2ᵉ 21ᵉ 101ᵉ"),
        ("fr-FR", "masculine", "1ᵉʳ 2ᵉ 31ᵉ"),
        ("es-ES", "feminine", "1.ª 2.ª"),
        ("es-ES", "masculine", "1.º 2.º"),
        ("pt-PT", "feminine", "1.ª 2.ª"),
        ("it-IT", "feminine", "1ª 2ª"),
        ("nl-NL", "", "1ste 2de 7de 8ste 9de 10de 11de 18de 19de 20ste 22ste 101ste 102de"),
        ("sv-SE", "", "1:a 2:a 3:e 11:e 12:e 21:a 22:a"),
        ("ro-RO", "", "1 2-lea 11-lea"),
        ("ru-RU", "feminine", "1-я 2-я"),
        ("el-GR", "feminine", "1η 2η"),
        ("ja-JP", "", "1番目 2番目"),
        ("zh-CN", "", "1 2"),
    ],
)
def test_suffixes_of_numbers(name: str, gender: str, numbers: str) -> None:
    language = read(name)

    for shown in numbers.split():
        digits = "".join(letter for letter in shown if "0" <= letter <= "9")
        assert digits + language.suffix(int(digits), gender) == shown
