"""What a document shows of its cites: all that an author wrote, names at each bound, positions, links."""

from __future__ import annotations

import random
import re
import unicodedata
from itertools import product
from typing import Any

import pytest
from csl.grammar import POSITIONS, Chance, element, shown
from csl.styles import style_of
from doiuri_csl import Cite, Locale, Processor, Run, Style, to_text
from support.checks import assert_same

COLLAPSE = ("", "citation-number", "year", "year-suffix", "year-suffix-ranged")
PREFIXES = ("see {}", "({}", "{}:", "“{}” in", ", {}", "[{}", "{} (")
SUFFIXES = (" {}", ", {}", "{})", ": “{}”", "; {},", "[{}]", "{}.")
LABELS = ("page", "chapter", "sub verbo", "sub-verbo", "figure", "note")
ENGLISH = Locale.load("en-US")


def _letters(text: str) -> str:
    """What is left of a text without the marks and spaces that may merge with others."""
    return re.sub(r"[\s.,:;]", "", text)


def _with_notes(chance: random.Random, number: int, ident: str) -> Cite:
    """A cite with a word of the author's own wherever there may be one."""
    chance_of = chance.random
    author_only = chance_of() < 0.1
    return Cite(
        ident,
        locator="" if author_only else chance.choice(("", f"7{number}", f"7{number}-8{number}", f"no{number}")),
        label=chance.choice(LABELS),
        prefix=chance.choice(PREFIXES).format(f"P{number}P") if chance_of() < 0.5 else "",
        suffix=chance.choice(SUFFIXES).format(f"S{number}S") if chance_of() < 0.5 else "",
        author_only=author_only,
        suppress_author=not author_only and chance_of() < 0.2,
        plural=chance_of() < 0.3,
    )  # fmt: skip


def _check_kept(text: str, cite: Cite, where: str) -> None:
    plural = cite.plural or "-" in cite.locator
    label = ENGLISH.term(cite.label.replace(" ", "-"), "short", plural=plural)
    locator = f"{label} {cite.locator.replace('-', '–')}" if cite.locator else ""
    for kind, part in (("prefix", cite.prefix), ("locator", locator), ("suffix", cite.suffix)):
        assert _letters(part) in _letters(text), f"{kind} {part!r} is not in {text!r}: {where}"


@pytest.mark.parametrize("class_", ["in-text", "note"])
@pytest.mark.parametrize("collapse", COLLAPSE)
def test_nothing_that_an_author_wrote_in_a_cite_is_lost(collapse: str, class_: str) -> None:
    """Whatever the style does with cites: collapse, group, sort, shorten and tell apart."""
    chance = Chance(len(collapse))
    for _ in range(4):
        style, items = chance.style(), chance.items()
        style.set("class", class_)
        [citation] = style.iter("citation")
        citation.attrib.pop("collapse", "")
        if collapse:
            citation.set("collapse", collapse)
        [layout] = citation.iter("layout")
        if collapse == "citation-number":
            layout[0].insert(0, element("text", variable="citation-number"))
        for label in layout.iter("label"):
            label.set("suffix", " ")
        number = 100
        citations = []
        for _ in range(8):
            cites = []
            for item in chance.random.sample(items, 4):
                number += 1
                cites.append(_with_notes(chance.random, number, item["id"]))
            citations.append(cites)

        texts = shown(style, items, citations, write=to_text)

        for text, cites in zip(texts, citations, strict=False):
            for cite in cites:
                _check_kept(text, cite, f"{citation.attrib}, {class_}")


@pytest.mark.parametrize("collapse", COLLAPSE[1:])
def test_a_cite_with_words_of_its_own_is_shown_whole_in_a_collapsed_group(collapse: str) -> None:
    """Each of five works keeps its year or number if it has a prefix, a suffix or a locator."""
    variable = "citation-number" if collapse == "citation-number" else "locator"
    year = '<date variable="issued"><date-part name="year"/></date>'
    if collapse == "citation-number":
        year = '<text variable="citation-number"/>'
    xml = f"""<style xmlns="http://purl.org/net/xbiblio/csl">
        <citation collapse="{collapse}" disambiguate-add-year-suffix="true" cite-group-delimiter=",">
        <layout delimiter=";"><group delimiter=" "><names variable="author"/>{year}
        <text variable="locator"/></group></layout></citation></style>"""
    xml = xml.replace('<names variable="author"/>', "") if variable == "citation-number" else xml
    items = [
        {"id": str(number), "author": ["Doe"], "issued": {"date-parts": [[2001]]}}
        for number in range(5)
    ]
    own_words = [Cite("", prefix="P"), Cite("", suffix="S"), Cite("", locator="77")]
    for index, words in product(range(5), own_words):
        cites = [Cite(str(number)) for number in range(5)]
        cites[index] = words._replace(id=str(index))

        text = shown(xml, items, [cites], write=to_text)[0]

        own = f"2001{'abcde'[index]}" if variable == "locator" else str(index + 1)
        assert own in text, f"{own} of {words} is not in {text!r}"
        # What the author wrote stands beside it
        beside = f"P {own}" if words.prefix else f"{own} {words.locator}{words.suffix}"
        assert beside in text.replace("P Doe", "P"), f"{beside!r} is not in {text!r}"
        assert f"–{beside}" not in text, f"{beside!r} ends a range in {text!r}"


@pytest.mark.parametrize("between_letters", [None, "+"])
@pytest.mark.parametrize("in_group", [None, "/"])
def test_letters_have_the_delimiter_of_their_group_unless_they_have_their_own(
    in_group: str | None, between_letters: str | None
) -> None:
    """CSL 1.0.2, Cite Collapsing: by default, that of the layout, or of groups."""
    delimiters = {"cite-group-delimiter": in_group, "year-suffix-delimiter": between_letters}
    given = [f'{name}="{text}"' for name, text in delimiters.items() if text is not None]
    options = f'collapse="year-suffix" disambiguate-add-year-suffix="true" {" ".join(given)}'
    year = '<date variable="issued"><date-part name="year"/></date>'
    xml = style_of(f'<group delimiter=" "><names variable="author"/>{year}</group>')
    xml = xml.replace("<citation>", f"<citation {options}>")
    xml = xml.replace("<layout>", '<layout delimiter="|">')
    items: list[dict[str, Any]] = [
        {"id": str(number), "author": ["Doe"], "issued": {"date-parts": [[year_of_work]]}}
        for number, year_of_work in enumerate((2001, 2001, 2002))
    ]

    text = shown(xml, items, [[Cite(item["id"]) for item in items]], write=to_text)[0]

    letters = between_letters or in_group or "|"
    expected = f"Doe 2001a{letters}b{in_group or ', '}2002"
    assert_same(f"{options}", text, expected)


@pytest.mark.parametrize("count", [2, 3, 26, 27, 29, 53])
def test_letters_that_follow_one_another_are_one_range(count: int) -> None:
    """However many works an author has in a year: after z come aa and ab, after az ba."""
    year = '<date variable="issued"><date-part name="year"/></date>'
    options = 'collapse="year-suffix-ranged" disambiguate-add-year-suffix="true"'
    xml = style_of(f'<group delimiter=" "><names variable="author"/>{year}</group>')
    xml = xml.replace("<citation>", f"<citation {options}>")
    issued = {"date-parts": [[2001]]}
    items: list[dict[str, Any]] = [
        {"id": str(number), "author": ["Doe"], "issued": issued} for number in range(count)
    ]

    text = shown(xml, items, [[Cite(item["id"]) for item in items]], write=to_text)[0]

    last = {2: "b", 3: "c", 26: "z", 27: "aa", 29: "ac", 53: "ba"}[count]
    expected = f"Doe 2001a–{last}" if count > 2 else "Doe 2001ab"
    assert text.replace("; ", "").replace(", ", "") == expected, text


def test_the_delimiter_stands_between_cites_unless_the_author_wrote_a_mark_there() -> None:
    xml = style_of('<text variable="title"/>').replace("<layout>", '<layout delimiter=" | ">')
    items = [{"id": "a", "title": "A"}, {"id": "b", "title": "B"}]
    suffixes = ("", "x", "x)", "x.", "x,", "x;", "x:")
    prefixes = ("", "see", "(", "[", "“", "-", ", so", ". So", "; so", ": so")
    for suffix, prefix in product(suffixes, prefixes):
        cites = [Cite("a", suffix=suffix), Cite("b", prefix=prefix)]

        text = shown(xml, items, [cites])[0]

        is_marked = suffix.endswith((",", ";", ":")) or prefix.startswith((",", ".", ";", ":"))
        assert ("|" in text) is not is_marked, f"{text!r}: suffix {suffix!r}, prefix {prefix!r}"


def _people(count: int) -> list[dict[str, str]]:
    return [{"family": letter} for letter in "ABCDEFG"[:count]]


def _expected_names(count: int, least: int, first: int, *, last: bool, rule: str) -> str:
    """CSL 1.0.2, Name and Et-al, in the short form with "and"; without a rule, it is "contextual"."""
    letters = list("ABCDEFG"[:count])
    if least and count >= least and first < count:
        kept = letters[:first]
        if last:
            between = ", " if first == count - 1 else ", … "
            return ", ".join(kept) + between + letters[-1]
        comma = {"": len(kept) > 1, "always": True, "never": False}[rule]
        return f"{', '.join(kept)}{',' if comma else ''} et al."
    if count < 2:
        return "".join(letters)
    comma = {"": count > 2, "always": True, "never": False}[rule]
    return f"{', '.join(letters[:-1])}{',' if comma else ''} and {letters[-1]}"


@pytest.mark.parametrize("rule", ["", "always", "never"])
def test_names_shorten_at_their_bounds(rule: str) -> None:
    """One author fewer than et-al-min, as many and one more; later cites by options of their own."""
    items: list[dict[str, Any]] = [
        {"id": str(count), "author": _people(count)} for count in range(1, 7)
    ]
    cites = [Cite(item["id"]) for item in items]
    precedes = ""
    if rule:
        precedes = f'delimiter-precedes-et-al="{rule}" delimiter-precedes-last="{rule}"'

    for least, first, last in product((0, 1, 3, 5), (1, 2, 4), (False, True)):
        for later_least, later_first in ((None, None), (2, 1), (None, 2), (4, None)):
            options = {
                "min": least, "use-first": first,
                "subsequent-min": later_least, "subsequent-use-first": later_first,
            }  # fmt: skip
            attributes = [f'et-al-{key}="{value}"' for key, value in options.items() if value]
            name = f'<name form="short" and="text" {precedes} {" ".join(attributes)}'
            layout = (
                f'<names variable="author">{name} et-al-use-last="{str(last).lower()}"/></names>'
            )
            xml = style_of(layout).replace("<layout>", '<layout delimiter=" / ">')

            texts = shown(xml, items, [cites, cites])

            bounds = ((least, first), (later_least or least, later_first or first))
            for text, (minimum, use_first) in zip(texts, bounds, strict=False):
                expected = [
                    _expected_names(count, minimum, use_first, last=last, rule=rule)
                    for count in range(1, 7)
                ]
                assert text == " / ".join(expected), layout


ORDERS = ("", "first", "all")


@pytest.mark.parametrize("order", ORDERS)
def test_a_delimiter_after_an_inverted_name_follows_the_last_name_that_is_shown(order: str) -> None:
    """CSL 1.0.2, Name, "after-inverted-name": "Doe, A., et al." but "Doe, A., B. Roe et al."."""
    rules = (
        'delimiter-precedes-et-al="after-inverted-name"',
        'delimiter-precedes-last="after-inverted-name"',
    )
    for count, shown_count in product((2, 3, 4), (1, 2, 3, 4)):
        people = [{"family": letter, "given": letter.lower()} for letter in "ABCDEFG"[:count]]
        options = f'et-al-min="{shown_count + 1}" et-al-use-first="{shown_count}" name-as-sort-order="{order}"'
        name = f'<name and="text" {" ".join(rules)} {options}/>'
        xml = style_of(f'<names variable="author">{name}</names>')

        text = shown(xml, [{"id": "x", "author": people}], [[Cite("x")]])[0]

        is_inverted = [
            order == "all" or (order == "first" and index == 0) for index in range(count)
        ]
        names = [
            f"{person['family']}, {person['given']}"
            if inverted
            else f"{person['given']} {person['family']}"
            for person, inverted in zip(people, is_inverted, strict=True)
        ]
        first = min(shown_count, count)
        if first < count:
            comma = "," if is_inverted[first - 1] else ""
            expected = f"{', '.join(names[:first])}{comma} et al."
        else:
            comma = "," if is_inverted[count - 2] else ""
            expected = f"{', '.join(names[:-1])}{comma} and {names[-1]}"
        assert_same(f"{first} of {count} names, sort order {order!r}", text, expected)


@pytest.mark.parametrize("order", ORDERS)
def test_a_suffix_has_a_period_unless_initials_have_none(order: str) -> None:
    """As citeproc-js has it; a suffix without a period stays, and so do given names in full."""
    person = {"family": "King", "given": "Martin Luther"}
    for mark, suffix in product((None, "", " ", ".", ". ", "-"), ("Jr.", "III", "Esq.")):
        option = "" if mark is None else f'initialize-with="{mark}"'
        name = f'<name {option} name-as-sort-order="{order}"/>'
        xml = style_of(f'<names variable="author">{name}</names>')

        text = shown(xml, [{"id": "x", "author": [{**person, "suffix": suffix}]}], [[Cite("x")]])[0]

        has_period = mark is None or "." in mark
        expected = suffix if has_period else suffix.rstrip(".")
        assert text.endswith(f" {expected}"), (
            f"{text!r} does not end in {expected!r}: mark {mark!r}"
        )


@pytest.mark.parametrize("demote", ["never", "sort-only", "display-and-sort"])
@pytest.mark.parametrize("order", [*ORDERS, "static", "East Asian"])
def test_no_part_of_a_long_name_is_lost(order: str, demote: str) -> None:
    family = "李" if order == "East Asian" else "Berg"
    person = {"family": family, "given": "Ann", "suffix": "Jr.", "dropping-particle": "von",
              "non-dropping-particle": "van", "static-ordering": order == "static"}  # fmt: skip
    name_order = order if order in ORDERS else ""
    name = f'<names variable="author"><name name-as-sort-order="{name_order}"/></names>'
    xml = style_of(name, f'demote-non-dropping-particle="{demote}"')

    text = shown(xml, [{"id": "x", "author": [person]}], [[Cite("x")]])[0]

    lost = [part for part in person.values() if isinstance(part, str) and part not in text]
    assert not lost, f"{text!r} lacks {lost}"


INITIALS = {
    "Ann": "A.", "Ann Mary": "A.M.", "ann": "ann", "MJ": "M.", "JRR": "J.", "LJubica": "Lj.", "Ljubica": "L.",
    "A.": "A.", "A. M.": "A.M.", "A.M.": "A.M.", "Chr.": "Chr.", "Jean-Paul": "J.-P.", "Guo-ping": "G.",
    "Ann de": "A. de", "Ann de la Marie": "A. de la M.", "Élan": "É.", "Ya": "Y.", "3rd": "3rd",
}  # fmt: skip


@pytest.mark.parametrize("given", INITIALS)
def test_given_names_as_initials(given: str) -> None:
    xml = style_of('<names variable="author"><name initialize-with="."/></names>')
    item = {"id": "x", "author": [{"family": "Doe", "given": given, "dropping-particle": "von"}]}

    text = shown(xml, [item], [[Cite("x")]])[0]

    assert text.removesuffix(" von Doe") == INITIALS[given], f"{given!r} is {text!r}"


SUFFIXES_IN_NAMES = ("Jr", "Jr.", "Sr", "Sr.", "II", "III", "IV", "X", "Esq", "Esq.", "! PhD")


@pytest.mark.parametrize("suffix", SUFFIXES_IN_NAMES)
def test_a_suffix_after_a_given_name_is_one_of_its_own(suffix: str) -> None:
    """After ",!" anything is a suffix, and a comma stands before it (citeproc-js, Names)."""
    name = '<name name-as-sort-order="{}" initialize-with="."/>'
    in_given = {"family": "Doe", "given": f"Ann,{suffix}"}
    of_its_own = {"family": "Doe", "given": "Ann", "suffix": suffix.removeprefix("! ")}
    of_its_own |= {"comma-suffix": suffix.startswith("!")}  # type: ignore[dict-item]
    for order in ORDERS:
        xml = style_of(f'<names variable="author">{name.format(order)}</names>')

        texts = [
            shown(xml, [{"id": "x", "author": [person]}], [[Cite("x")]])[0]
            for person in (in_given, of_its_own)
        ]

        assert_same(f"{suffix!r} in the given name, order {order!r}", texts[0], texts[1])


GLUED = ("al-", "el\u2010", "d'", "l’")
APART = ("van", "de'", "de’", "dell’", "von der")


@pytest.mark.parametrize("particle", [*GLUED, *APART])
@pytest.mark.parametrize("kind", ["non-dropping-particle", "dropping-particle"])
def test_a_particle_stands_apart_unless_it_ends_in_a_hyphen_or_is_a_letter_with_an_apostrophe(
    particle: str, kind: str
) -> None:
    xml = style_of('<names variable="author"/>')
    item = {"id": "x", "author": [{"family": "Din", "given": "Ann", kind: particle}]}

    text = shown(xml, [item], [[Cite("x")]])[0].replace("'", "’")

    space = " " if particle in APART else ""
    expected = f"Ann {particle}{space}Din".replace("'", "’")
    assert_same(f"{kind} {particle!r}", text, expected)


def _list_of_two(layout: str, substitute: str) -> str:
    """The second entry of a list of two works of one author."""
    xml = (
        '<style xmlns="http://purl.org/net/xbiblio/csl" version="1.0"><citation><layout/></citation>'
        f'<bibliography subsequent-author-substitute="{substitute}"><layout>{layout}</layout>'
        "</bibliography></style>"
    )
    people = [{"family": "Doe"}]
    items = [
        {"id": str(n), "author": people, "title": f"T{n}", "issued": 2001, "volume": n}
        for n in (1, 2)
    ]
    entry = shown(xml, items, [[Cite("1")], [Cite("2")]])[-2]
    return entry.split(" | ")[1]


BEFORE_NAMES = {
    '<text variable="citation-number"/>': True, '<text variable="citation-label"/>': True,
    '<text value="*"/>': True, '<text variable="title"/>': False, '<text variable="volume"/>': False,
    '<date variable="issued"><date-part name="year"/></date>': False,
}  # fmt: skip


@pytest.mark.parametrize("before", BEFORE_NAMES)
def test_names_after_a_number_or_a_label_are_replaced_and_others_stay(before: str) -> None:
    """As in citeproc-js and pandoc."""
    entry = _list_of_two(f'{before}<names variable="author" prefix=" "/>', "———")

    is_replaced = "———" in entry
    assert is_replaced is BEFORE_NAMES[before], f"{before}: {entry!r}"
    assert entry.endswith(" ———" if is_replaced else " Doe"), entry


@pytest.mark.parametrize("delimiter", [". ", ", ", ": ", "; ", " "])
def test_of_names_that_are_left_out_their_delimiter_goes_too(delimiter: str) -> None:
    names = '<names variable="author"/><text variable="title"/>'

    entry = _list_of_two(f'<group delimiter="{delimiter}">{names}</group>', "")

    assert entry == "T2", f"after {delimiter!r}: {entry!r}"


@pytest.mark.parametrize("depth", range(5))
def test_as_many_names_as_tell_two_works_apart(depth: int) -> None:
    """Works that share the first names show one name more, whatever et-al-use-first says."""
    shared = _people(depth)
    works = [
        {"id": "x", "author": [*shared, {"family": "X"}, {"family": "Q"}, {"family": "R"}]},
        {"id": "y", "author": [*shared, {"family": "Y"}, {"family": "Q"}, {"family": "R"}]},
    ]
    options = 'et-al-min="2" et-al-use-first="1" disambiguate-add-names="true"'
    xml = style_of('<names variable="author"><name delimiter-precedes-et-al="never"/></names>')
    xml = xml.replace("<citation>", f"<citation {options}>")

    texts = shown(xml, works, [[Cite("x")], [Cite("y")]])

    for text, letter in zip(texts, "XY", strict=False):
        assert text == f"{', '.join([*'ABCDE'[:depth], letter])} et al."


@pytest.mark.parametrize("use_last", ["true", "false"])
def test_a_given_name_tells_works_apart_wherever_its_name_is_shown(use_last: str) -> None:
    """Also the last name after an ellipsis; names that "et al." stands for tell nothing apart."""
    name = f'<name form="short" et-al-min="3" et-al-use-first="1" et-al-use-last="{use_last}"/>'
    options = 'disambiguate-add-givenname="true" givenname-disambiguation-rule="by-cite"'
    xml = style_of(f'<names variable="author">{name}</names>')
    xml = xml.replace("<citation>", f"<citation {options}>")
    for count in (1, 2, 3, 4):
        for differing in range(count):
            works: list[dict[str, Any]] = []
            for key in ("Ann", "Max"):
                people = [{"family": letter, "given": "Ann"} for letter in "ABCD"[:count]]
                people[differing]["given"] = key
                works.append({"id": key, "author": people})

            texts = shown(xml, works, [[Cite("Ann")], [Cite("Max")]])

            is_last_shown = use_last == "true" or count < 3
            is_shown = differing == 0 or (is_last_shown and differing == count - 1)
            where = f"name {differing + 1} of {count}: {texts[:2]}"
            assert (texts[0] != texts[1]) is is_shown, where


BOUNDS_OF_NUMBERS = {
    ("number", "roman"): {"1": "i", "4": "iv", "3999": "mmmcmxcix", "4000": "4000", "0": "0"},
    ("number", "long-ordinal"): {"1": "first", "10": "tenth", "11": "11th", "0": "0th"},
    ("number", "ordinal"): {"1": "1st", "3": "3rd", "4": "4th", "10": "10th", "11": "11th", "13": "13th",
                            "14": "14th", "21": "21st", "100": "100th", "101": "101st", "111": "111th"},
    ("label", "short"): {"0": "vol.", "1": "vol.", "2": "vols."},
}  # fmt: skip


@pytest.mark.parametrize(("tag", "form"), BOUNDS_OF_NUMBERS)
def test_numbers_at_the_bounds_of_their_forms(tag: str, form: str) -> None:
    layout = f'<{tag} variable="number-of-volumes" form="{form}"/>'
    for value, expected in BOUNDS_OF_NUMBERS[tag, form].items():
        text = shown(style_of(layout), [{"id": "x", "number-of-volumes": value}], [[Cite("x")]])[0]

        assert text == expected, value


SEVERAL = ("{}, {}", "{} & {}", "{}-{}", "{}–{}", "{} and {}", "{} et {}", "{} und {}")
ONE = ("{} of {}", "{}.{}", "{}/{}")


@pytest.mark.parametrize("variable", ["volume", "locator"])
def test_a_label_is_plural_if_numbers_are_several(variable: str) -> None:
    """Also the label in the value: "fols. 3–5" but "fol. 3"."""
    layout = f'<label variable="{variable}" form="short" suffix=" "/><text variable="{variable}"/>'
    for form, is_plural in [*((form, True) for form in SEVERAL), *((form, False) for form in ONE)]:
        value = form.format(3, 5)
        item = {"id": "x", "volume": value}

        text = shown(style_of(layout), [item], [[Cite("x", value, "volume")]])[0]

        expected = "vols. " if is_plural else "vol. "
        assert text.startswith(expected), f"{value!r} is {text!r}, expected {expected!r}"


@pytest.mark.parametrize("form", ["{}", *SEVERAL[:4]])
def test_a_label_in_a_value_is_plural_if_its_numbers_are_several(form: str) -> None:
    item = {"id": "x", "volume": f"1, fol. {form.format(186, 188)}"}
    layout = '<number variable="volume" prefix="vol. "/>'

    text = shown(style_of(layout), [item], [[Cite("x")]])[0]

    expected = "vol. 1, fol. " if form == "{}" else "vol. 1, fols. "
    assert text.startswith(expected), f"{item['volume']!r} is {text!r}, expected {expected!r}"


def test_an_ordinal_for_the_whole_number_fits_no_greater_one() -> None:
    """CSL 1.0.2, Ordinal Suffixes."""
    terms = '<term name="ordinal">.</term><term name="ordinal-{}" match="{}">!</term>'
    layout = '<number variable="edition" form="ordinal"/>'
    for name, match, marked in (
        ("00", "whole-number", {0}), ("01", "whole-number", {1}), ("10", "whole-number", {10}),
        ("01", "last-digit", {1, 11, 101, 111}), ("10", "last-two-digits", {10, 110}),
        ("01", "last-two-digits", {1, 101}),
    ):  # fmt: skip
        more = f"<locale><terms>{terms.format(name, match)}</terms></locale>"
        for number in (0, 1, 2, 9, 10, 11, 100, 101, 110, 111):
            item = {"id": "x", "edition": str(number)}
            text = shown(style_of(layout, more=more), [item], [[Cite("x")]])[0]
            assert text == f"{number}{'!' if number in marked else '.'}", (name, match)


def test_a_year_has_an_era_up_to_999() -> None:
    year = '<date variable="issued"><date-part name="year"/></date>'
    for number, expected in {-1: "1BC", 1: "1AD", 999: "999AD", 1000: "1000", 9999: "9999"}.items():
        item = {"id": "x", "issued": {"date-parts": [[number]]}}
        assert shown(style_of(year), [item], [[Cite("x")]])[0].replace(" ", "") == expected, number


@pytest.mark.parametrize("between", ["-", "--", "–", ", ", "; ", " & ", "&"])
def test_the_first_page_is_what_stands_before_any_other(between: str) -> None:
    item = {"id": "x", "page": f"e101{between}e107"}

    text = shown(style_of('<text variable="page-first"/>'), [item], [[Cite("x")]])[0]

    assert text == "e101", f"of the pages {item['page']!r}, {text!r} is the first"


@pytest.mark.parametrize("between", [", ", "; ", " & ", ","])
@pytest.mark.parametrize("first", ["101-107", "XI-XII", "xi-12", "12a-15b"])
def test_each_range_of_several_has_a_dash(first: str, between: str) -> None:
    xml = style_of('<text variable="page"/>', 'page-range-format="expanded"')

    text = shown(
        xml, [{"id": "x", "page": f"{first}{between}201-203"}], [[Cite("x")]], write=to_text
    )

    expected = f"{first}{between.rstrip()} 201-203".replace("-", "–").replace("  ", " ")
    assert_same(f"{first!r}{between!r}", text[0], expected)


SHORTENED = ("page", "folio")


@pytest.mark.parametrize("label", [*SHORTENED, "chapter", "section", "line", "note"])
def test_only_pages_and_folios_are_shortened(label: str) -> None:
    xml = style_of('<text variable="locator"/>', 'page-range-format="minimal"')

    text = shown(xml, [{"id": "x"}], [[Cite("x", "101-107", label)]])[0]

    assert text == ("101–7" if label in SHORTENED else "101–107"), f"{label}: {text!r}"


@pytest.mark.parametrize("variable", ["issue", "volume", "edition", "page"])
@pytest.mark.parametrize("tag", ["text", "number"])
def test_the_hyphen_of_a_range_of_numbers_becomes_a_dash(tag: str, variable: str) -> None:
    for value, expected in {"1-2": "1–2", "1–2": "1–2", "Suppl-A": "Suppl-A"}.items():
        xml = style_of(f'<{tag} variable="{variable}"/>')

        text = shown(xml, [{"id": "x", variable: value}], [[Cite("x")]])[0]

        assert text == expected, f"{variable} {value!r} is {text!r}"


def test_a_date_in_words_looks_like_the_year() -> None:
    year = '<date-part name="year" prefix="(" suffix=")" font-style="italic"/>'
    xml = style_of(f'<date variable="issued"><date-part name="month" prefix="m"/>{year}</date>')

    text = shown(xml, [{"id": "x", "issued": {"literal": "in press"}}], [[Cite("x")]])[0]

    assert text == "(<i>in press</i>)"


@pytest.mark.parametrize("plural", ["", "contextual", "always", "never"])
@pytest.mark.parametrize("is_first", [False, True])
def test_the_label_of_names_stands_where_and_in_the_number_that_the_style_says(
    plural: str, is_first: bool
) -> None:
    label = f'<label form="short" plural="{plural}" prefix="[" suffix="]"/>'
    if not plural:
        label = label.replace('plural=""', "")
    parts = [label, "<name/>"] if is_first else ["<name/>", label]
    xml = style_of(f'<names variable="editor">{"".join(parts)}</names>')
    for count in (1, 2):
        people = [{"family": letter} for letter in "AB"[:count]]

        text = shown(xml, [{"id": "x", "editor": people}], [[Cite("x")]])[0]

        is_plural = count > 1 if plural in {"", "contextual"} else plural == "always"
        term, names = f"[ed{'s' * is_plural}.]", ", ".join("AB"[:count])
        expected = f"{term}{names}" if is_first else f"{names}{term}"
        assert_same(f"{label}, {count} editors", text, expected)


@pytest.mark.parametrize("language", ["en", "EN", "en-GB", "En_US", "de", "DE-en", "eng"])
def test_a_title_in_english_has_title_case(language: str) -> None:
    xml = style_of('<text variable="title" text-case="title"/>')

    text = shown(xml, [{"id": "x", "title": "on bees", "language": language}], [[Cite("x")]])[0]

    is_english = language.lower().startswith("en")
    assert text == ("On Bees" if is_english else "on bees"), f"{language}: {text!r}"


@pytest.mark.parametrize("language", ["tr", "az", "tr-TR", "az-Latn", "en"])
def test_capitals_of_i_are_those_of_the_language(language: str) -> None:
    for case, expected in {"uppercase": "İIİ", "capitalize-first": "İıi"}.items():
        xml = style_of(f'<text variable="title" text-case="{case}"/>')

        text = shown(xml, [{"id": "x", "title": "iıi", "language": language}], [[Cite("x")]])[0]

        if language == "en":
            expected = expected.replace("İ", "I")  # noqa: PLW2901
        assert text == expected, f"{case} in {language}: {text!r}"


@pytest.mark.parametrize("delimiter", ["–", "/", " to "])
@pytest.mark.parametrize("is_localized", [False, True])
def test_only_its_delimiter_stands_between_the_ends_of_a_range(
    delimiter: str, is_localized: bool
) -> None:
    """CSL 1.0.2, Date Ranges: whoever sets the parts, prefix and suffix stand around the whole."""
    names = ("year", "month", "day")
    affixed = "".join(f'<date-part name="{name}" prefix="(" suffix=")"/>' for name in names)
    own = "".join(f'<date-part name="{name}" range-delimiter="{delimiter}"/>' for name in names)
    more = f'<locale><date form="text" delimiter=" ">{affixed}</date></locale>'
    layout = f'<date variable="issued" form="text">{own}</date>'
    if not is_localized:
        layout = f'<date variable="issued" delimiter=" ">{own}</date>'.replace(
            "range-delimiter", 'prefix="(" suffix=")" range-delimiter'
        )
    ends = {
        ((2001,), (2003,)): "(2001~2003)",
        ((2001, 5), (2001, 6)): "(2001) (May~June)",
        ((2001, 5, 3), (2001, 5, 4)): "(2001) (May) (3~4)",
        ((2001, 5, 3), (2001, 6, 4)): "(2001) (May) (3~June) (4)",
        ((2001, 5), (2003, 6)): "(2001) (May~2003) (June)",
    }
    for parts, expected in ends.items():
        item = {"id": "x", "issued": {"date-parts": [list(moment) for moment in parts]}}

        text = shown(style_of(layout, more=more), [item], [[Cite("x")]])[0]

        assert_same(f"the range {parts}", text, expected.replace("~", delimiter))


def test_pages_after_a_hundred_and_nine_keep_two_digits() -> None:
    """CSL 1.0.2, Appendix V: chicago-15."""
    ranges = {"99-108": "99–108", "100-104": "100–104", "101-108": "101–8", "109-118": "109–18",
              "110-118": "110–18", "199-200": "199–200", "200-208": "200–208"}  # fmt: skip
    xml = style_of('<text variable="page"/>', 'page-range-format="chicago-15"')
    for pages, expected in ranges.items():
        assert shown(xml, [{"id": "x", "page": pages}], [[Cite("x")]])[0] == expected, pages


def test_only_the_first_day_is_an_ordinal_if_the_locale_says_so() -> None:
    """CSL 1.0.2, Locale Options, limit-day-ordinals-to-day-1."""
    day = '<date variable="issued"><date-part name="day" form="ordinal"/></date>'
    for setting, expected in (("true", "1st 2 3 31"), ("false", "1st 2nd 3rd 31st")):
        more = f'<locale><style-options limit-day-ordinals-to-day-1="{setting}"/></locale>'
        for text in expected.split():
            number = int(text.rstrip("stndr"))
            item = {"id": "x", "issued": {"date-parts": [[2001, 5, number]]}}
            shown_day = shown(style_of(day, more=more), [item], [[Cite("x")]])[0]
            assert shown_day == text, f"day {number}, {setting}"


def test_an_ordinal_has_the_gender_of_what_it_counts() -> None:
    """CSL 1.0.2, Gender-specific Ordinals; a day has that of its month."""
    suffixes = "".join(
        f'<term name="ordinal" gender-form="{gender}">{gender[0]}</term>'
        for gender in ("feminine", "masculine")
    )
    nouns = '<term name="edition" gender="feminine">e</term><term name="month-05" gender="masculine">May</term>'
    more = f'<locale><terms>{suffixes}<term name="ordinal">n</term>{nouns}</terms></locale>'
    layout = """<number variable="edition" form="ordinal"/><number variable="volume" form="ordinal" prefix=" "/>
        <date variable="issued" prefix=" "><date-part name="day" form="ordinal"/></date>"""
    item = {"id": "x", "edition": "1", "volume": "1", "issued": {"date-parts": [[2001, 5, 1]]}}

    assert shown(style_of(layout, more=more), [item], [[Cite("x")]])[0] == "1f 1n 1m"


def _model(citations: list[list[Cite]], notes: list[int], distance: int) -> list[list[set[str]]]:
    """The positions of all cites, from the words of CSL 1.0.2, Choose, "position"."""
    placed: list[list[set[str]]] = []
    for index, cites in enumerate(citations):
        sets = []
        for number, cite in enumerate(cites):
            earlier = [
                (note, other) for note, group in zip(notes[:index], citations[:index], strict=True)
                for other in group if other.id == cite.id
            ]  # fmt: skip
            earlier += [(notes[index], other) for other in cites[:number] if other.id == cite.id]
            if not earlier:
                sets.append({"first"})
                continue
            positions = {"subsequent"}
            if 0 < notes[index] <= earlier[-1][0] + distance:
                positions.add("near-note")
            before: Cite | None = None
            if number:
                before = cites[number - 1]
            elif index and len(citations[index - 1]) == 1:
                before = citations[index - 1][0]
            if before is not None and before.id == cite.id:
                same = (before.locator, before.label) == (cite.locator, cite.label)
                if same:
                    positions.add("ibid")
                elif cite.locator:
                    positions |= {"ibid", "ibid-with-locator"}
            sets.append(positions)
        placed.append(sets)
    return placed


SHOW_POSITIONS = "<group delimiter=' '>{}</group>".format(
    "".join(
        f'<choose><if position="{position}"><text value="{position}"/></if></choose>'
        for position in POSITIONS
    )
    + "<choose><if locator='page'><text value='located'/></if></choose>"
)


@pytest.mark.parametrize("class_", ["in-text", "note"])
@pytest.mark.parametrize("distance", [0, 1, 3, 5])
def test_positions_are_those_of_the_specification(distance: int, class_: str) -> None:
    """In a document of three works; near-note-distance is 5 unless the style says so. In a list none holds."""
    chance = random.Random(distance)
    xml = style_of(SHOW_POSITIONS, f'class="{class_}"').replace(
        "<layout>", '<layout delimiter="; ">'
    )
    if distance != 5:
        xml = xml.replace("<citation>", f'<citation near-note-distance="{distance}">')
    entry = f"<bibliography><layout><text variable='id'/>{SHOW_POSITIONS}</layout></bibliography>"
    xml = xml.replace("</style>", f"{entry}</style>")
    items = [{"id": key} for key in "abcdefgh"]
    citations = []
    for _ in range(60):
        count = chance.choice((1, 1, 1, 2, 3))
        ids = "ab" if chance.random() < 0.5 else "abcdefgh"
        locators = ("", "", "5", "6")
        citations.append([
            Cite(chance.choice(ids), chance.choice(locators), chance.choice(("page", "chapter")))
            for _ in range(count)
        ])  # fmt: skip
    notes = list(range(1, 61)) if class_ == "note" else [0] * 60

    texts = shown(xml, items, citations)

    model = _model(citations, notes, distance)
    for number, (cites, sets) in enumerate(zip(citations, model, strict=True)):
        expected = []
        for cite, positions in zip(cites, sets, strict=True):
            located = ["located"] if cite.locator and cite.label == "page" else []
            words = [position for position in POSITIONS if position in positions] + located
            expected.append(" ".join(words))
        assert texts[number] == "; ".join(expected), (
            f"note {number + 1}: {citations[: number + 1][-4:]}"
        )
    assert [text for text in texts[60:-1] if any(word in text for word in POSITIONS)] == []


LATER = {
    "add-year-suffix": '<names variable="author"><name form="short"/></names> <date variable="issued">'
    '<date-part name="year"/></date>',
    "add-givenname": '<names variable="author"><name form="short" initialize-with="."/></names>',
    "add-names": '<names variable="author"><name form="short" et-al-min="2" et-al-use-first="1"/></names>',
}


@pytest.mark.parametrize("method", LATER)
def test_later_notes_of_different_works_differ(method: str) -> None:
    """First notes show all of a work; later ones are short, and told apart by what the style allows."""
    layout = (
        f'<choose><if position="subsequent">{LATER[method]}</if>'
        '<else><text variable="title"/></else></choose>'
    )
    xml = style_of(layout, 'class="note"').replace(
        "<citation>", f'<citation disambiguate-{method}="true">'
    )
    authors: dict[str, list[list[Any]]] = {
        "add-year-suffix": [["Doe"], ["Doe"], ["Roe"]],
        "add-givenname": [[{"family": "Doe", "given": given}] for given in ("Ann", "Adam", "Max")],
        "add-names": [["Doe", "Roe"], ["Doe", "Poe"], ["Doe", "Li"]],
    }
    items: list[dict[str, Any]] = [
        {
            "id": str(number),
            "title": f"T{number}",
            "author": people,
            "issued": {"date-parts": [[2001]]},
        }
        for number, people in enumerate(authors[method])
    ]
    citations = [[Cite(item["id"])] for item in [*items, *items]]

    texts = shown(xml, items, citations)[:6]

    assert len({*texts}) == 6, f"two works look the same: {texts}"


def test_what_tells_cites_apart_does_not_change_entries_or_other_dates() -> None:
    """Names are added in citations only; a day of access tells no works apart, and has no letter of its own."""
    people = [[{"family": "Doe", "given": given}] for given in ("Ann", "Max", "Max")]
    items: list[dict[str, Any]] = [
        {"id": str(number), "author": authors, "issued": {"date-parts": [[2001]]},
         "accessed": {"date-parts": [[2010 + number]]}}
        for number, authors in enumerate(people)
    ]  # fmt: skip
    dates = "".join(
        f'<date variable="{name}" prefix=" "><date-part name="year"/></date>'
        for name in ("accessed", "issued")
    )
    names = '<names variable="author"><name form="short" initialize-with="."/></names>'
    layout = f"<layout>{names}{dates}</layout>"
    citations = [[Cite(item["id"])] for item in items]

    def texts(options: str) -> list[str]:
        xml = style_of("").replace("<citation><layout>", f"<citation {options}>{layout}<layout>")
        return shown(
            xml.replace("</style>", f"<bibliography>{layout}</bibliography></style>"),
            items,
            citations,
        )

    given = 'disambiguate-add-givenname="true" givenname-disambiguation-rule="{}"'
    plain = texts("")
    for rule in ("by-cite", "all-names", "primary-name"):
        assert texts(given.format(rule))[3:] == plain[3:], f"entries by the rule {rule}"
    letters = texts('disambiguate-add-year-suffix="true"')[:3]
    assert letters == ["Doe 2010 2001a", "Doe 2011 2001b", "Doe 2012 2001c"]


TELLING_APART = {
    "nothing": "",
    "names": 'disambiguate-add-names="true"',
    "given names in a cite": 'disambiguate-add-givenname="true"',
    "given names in all": 'disambiguate-add-givenname="true" givenname-disambiguation-rule="all-names"',
    "letters": 'disambiguate-add-year-suffix="true"',
    "all": 'disambiguate-add-names="true" disambiguate-add-givenname="true" disambiguate-add-year-suffix="true"',
}


@pytest.mark.parametrize("form", ["short", "long"])
def test_what_tells_cites_apart_does_not_change_their_order(form: str) -> None:
    """By short names and then the year, Doe 2001 comes before Doe 2003, whether it is Zoe Doe's or not."""
    chance = random.Random(1)
    people = [
        {"family": family, "given": given} for family in ("Doe", "Roe") for given in ("Ann", "Zoe")
    ]
    names = (
        f'<names variable="author"><name form="{form}" et-al-min="2" et-al-use-first="1"'
        ' initialize-with="."/></names>'
    )
    year = '<date variable="issued"><date-part name="year"/></date>'
    more = f'<macro name="who">{names}</macro>'
    sort = '<sort><key macro="who"/><key variable="issued"/></sort>'
    for _ in range(12):
        works: list[tuple[list[dict[str, str]], int]] = [
            (chance.sample(people, chance.choice((1, 2, 3))), chance.randint(2001, 2004))
            for _ in range(6)
        ]
        items: list[dict[str, Any]] = [
            {"id": str(number), "author": authors, "issued": {"date-parts": [[in_year]]}}
            for number, (authors, in_year) in enumerate(works)
        ]
        cites = [Cite(item["id"]) for item in items]

        def key(
            cite: Cite, works: list[tuple[list[dict[str, str]], int]] = works
        ) -> tuple[str, str, int]:
            authors, in_year = works[int(cite.id)]
            given = authors[0]["given"] if form == "long" else ""
            return authors[0]["family"], given, in_year

        for method, options in TELLING_APART.items():
            xml = style_of(f"{names}{year}", more=more).replace(
                "<citation>", f"<citation {options}>{sort}"
            )
            processor = Processor(Style.parse(xml), items)
            processor.set_citations([cites])

            in_order = [cite.id for cite in processor.sort(cites)]

            expected = [cite.id for cite in sorted(cites, key=key)]
            assert_same(f"order of {works} with {method} added", in_order, expected)


SUBSTITUTES = {
    "editors": '<names variable="editor"/>',
    "editors who are translators": '<names variable="editor translator"/>',
    "translators who are editors": '<names variable="translator editor"/>',
    "a macro": '<text macro="m"/>',
    "a group": '<group delimiter=", "><text variable="title"/><number variable="volume"/></group>',
    "a title": '<text variable="title"/>',
    "a date": '<date variable="issued"><date-part name="year"/></date>',
    "names with substitutes": (
        '<names variable="composer"><name/><substitute><text variable="title"/></substitute></names>'
    ),
}


@pytest.mark.parametrize("substitute", SUBSTITUTES.values(), ids=SUBSTITUTES)
def test_what_stands_for_missing_names_is_not_shown_again(substitute: str) -> None:
    """CSL 1.0.2, Substitute. What does not stand for them is shown where the style has it."""
    translator = "Poe" if "translator" in substitute else "Moe"
    item = {"id": "x", "title": "Ants", "volume": "7", "issued": {"date-parts": [[2001]]},
            "editor": ["Poe"], "translator": [translator]}  # fmt: skip
    rest = """<names variable="editor"/><names variable="translator"/>
        <text variable="title"/><number variable="volume"/><text variable="volume"/>
        <date variable="issued"><date-part name="year"/></date>"""
    names = f'<names variable="author"><name/><label/><substitute>{substitute}</substitute></names>'
    more = '<macro name="m"><number variable="volume"/><text variable="title" prefix=" "/></macro>'

    def show(layout: str) -> str:
        xml = style_of(f'<group delimiter=" | ">{layout}</group>', more=more)
        return shown(xml, [item], [[Cite("x")]])[0]

    first, *others = show(names + rest).split(" | ")
    usual = show(rest).split(" | ")

    assert_same("the substitute", first, show(names))
    of_first = [word for word in ("Poe", "Ants", "7", "2001") if word in first]
    expected = [part for part in usual if not any(word in part for word in of_first)]
    assert of_first, f"no value is in {first!r}"
    assert_same(f"what follows {first!r}", others, expected)


DOI_ADDRESS = "https://doi.org/10.1000/182"
PMCID_ADDRESS = "https://www.ncbi.nlm.nih.gov/pmc/articles/PMC17"
ADDRESSES = [
    ("URL", "https://example.org/a", "https://example.org/a"),
    ("DOI", "10.1000/182", DOI_ADDRESS),
    ("DOI", DOI_ADDRESS, DOI_ADDRESS),
    ("PMID", "17", "https://www.ncbi.nlm.nih.gov/pubmed/17"),
    ("PMCID", "PMC17", PMCID_ADDRESS),
    ("PMCID", PMCID_ADDRESS, PMCID_ADDRESS),
]
APPEARANCES = (
    "",
    'text-case="lowercase"',
    'font-style="italic"',
    'quotes="true"',
    'display="block"',
)


@pytest.mark.parametrize(("variable", "value", "address"), ADDRESSES)
def test_the_text_of_a_link_is_its_own_address(variable: str, value: str, address: str) -> None:
    """CSL 1.0.2, Appendix VI: what stands around an identifier is no part of the link."""
    item = {"id": "x", variable: value}
    prefixes, suffixes = ("", "Available at "), (".", " (link)")
    for prefix, suffix, appearance in product(prefixes, suffixes, APPEARANCES):
        attributes = f'prefix="{prefix}" suffix="{suffix}" {appearance}'
        layout = f'<text value="before "/><text variable="{variable}" {attributes}/>'
        processor = Processor(Style.parse(style_of(layout)), [item])
        processor.set_citations([[Cite("x")]])

        runs = processor.citation(0)

        linked = [run for run in runs if run.link]
        text = to_text(linked).strip("“”.").lower()
        assert text == value.lower(), f"{layout}: {to_text(linked)!r} is linked"
        assert {run.link for run in linked} == {address}, layout
        assert prefix.strip() in to_text(_not_linked(runs)), layout


def _not_linked(runs: tuple[Run, ...]) -> list[Run]:
    return [run for run in runs if not run.link]


@pytest.mark.parametrize("setting", ["true", "false"])
def test_only_full_stops_and_commas_move_into_quotation_marks(setting: str) -> None:
    """CSL 1.0.2, Locale Options, punctuation-in-quote. A mark that the title has already is not doubled."""
    more = f'<locale><style-options punctuation-in-quote="{setting}"/></locale>'
    for mark in ".,;:?!":
        for layout in (
            f'<text variable="title" quotes="true" suffix="{mark} x"/>',
            f'<group delimiter="{mark} "><text variable="title" quotes="true"/><text value="x"/></group>',
            f'<text variable="title" quotes="true"/><text value="x" prefix="{mark} "/>',
        ):
            xml = style_of(layout, more=more)
            moves = setting == "true" and mark not in ";:"
            item = {"id": "x", "title": "Bees"}
            text = shown(xml, [item], [[Cite("x")]])[0]
            assert text == (f"“Bees{mark}” x" if moves else f"“Bees”{mark} x"), layout

            doubled = shown(xml, [{**item, "title": f"Bees{mark}"}], [[Cite("x")]])[0]
            assert doubled == f"“Bees{mark}” x", layout


@pytest.mark.parametrize("tag", ["en-US", "de-DE", "cs-CZ", "da-DK", "ko-KR", "nl-NL", "pt-BR"])
def test_marks_that_were_typed_take_their_turn_inside_of_those_of_the_style(tag: str) -> None:
    locale = Locale.load(tag)
    names = ("open-quote", "open-inner-quote", "close-inner-quote", "close-quote")
    opening, inner, inner_end, end = map(locale.term, names)
    xml = style_of('<text variable="title" quotes="true"/>')
    for title in (f"On {opening}Bees{end}", 'On "Bees"'):
        text = shown(xml, [{"id": "x", "title": title}], [[Cite("x")]], locale)[0]

        assert_same(f"{title} in {tag}", text, f"{opening}On {inner}Bees{inner_end}{end}")


def test_superscript_characters_are_those_of_a_raised_text() -> None:
    """In Latin, mathematics and Japanese annotations; those of Georgian, for one, are letters of their own."""
    xml = style_of('<text variable="title"/>')
    raised = {}
    for code in [*range(0x10FC), *range(0x10FD, 0x2200), *range(0x3190, 0x31A0)]:
        kind, *codes = unicodedata.decomposition(chr(code)).split() or [""]
        if kind == "<super>":
            raised[chr(code)] = "".join(chr(int(part, 16)) for part in codes)
    assert len(raised) > 100
    characters = sorted(raised)
    for start in range(0, len(characters), 40):
        batch = characters[start : start + 40]
        title = "|".join(f"x{character}y" for character in batch)

        text = shown(xml, [{"id": "x", "title": title}], [[Cite("x")]])[0]

        expected = [f"x<sup>{raised[character]}</sup>y" for character in batch]
        assert_same("raised characters", text.split("|"), expected)


@pytest.mark.parametrize("seed", range(4))
def test_each_citation_is_a_note_unless_all_of_it_stands_in_the_sentence(seed: int) -> None:
    chance = random.Random(seed)
    citations = [
        [Cite(ident, author_only=chance.random() < 0.4) for ident in chance.choices("abc", k=2)]
        for _ in range(8)
    ]
    notes: list[int] = []
    for cites in citations:
        is_note = any(not cite.author_only for cite in cites)
        notes.append((notes[-1] if notes else 0) + is_note)
    style = Style.parse(style_of("", 'class="note"'))

    assert style.place(citations) == style.place(citations, notes), f"{notes} of {citations}"


SMALL_CAPITALS = (
    "<sc>{}</sc>",
    '<span style="font-variant: small-caps;">{}</span>',
    '<span style="font-variant:small-caps">{}</span>',
)


@pytest.mark.parametrize("form", SMALL_CAPITALS)
def test_small_capitals_of_the_data_are_shown_in_each_of_their_forms(form: str) -> None:
    item = {"id": "x", "title": f"On {form.format('bees')}"}

    text = shown(style_of('<text variable="title"/>'), [item], [[Cite("x")]])[0]

    assert text == 'On <span style="font-variant: small-caps">bees</span>', form


def test_formats_and_affixes_of_a_name_stand_around_each_name() -> None:
    name = '<name prefix="[" suffix="]" font-style="italic" and="text"/>'
    xml = style_of(f'<names variable="author">{name}</names>')

    text = shown(xml, [{"id": "x", "author": ["A", "B"]}], [[Cite("x")]])[0]

    assert text == "[<i>A</i>] and [<i>B</i>]"


@pytest.mark.parametrize("term", [None, "et-al", "and others"])
def test_the_term_after_the_names_is_the_one_that_the_style_names(term: str | None) -> None:
    et_al = "" if term is None else f'<et-al term="{term}"/>'
    xml = style_of(
        f'<names variable="author"><name et-al-min="2" et-al-use-first="1"/>{et_al}</names>'
    )

    text = shown(xml, [{"id": "x", "author": ["A", "B"]}], [[Cite("x")]])[0]

    assert text == ("A and others" if term == "and others" else "A et al."), term


@pytest.mark.parametrize("rule", ["all-names", "primary-name"])
@pytest.mark.parametrize("allowed", ["", "-with-initials"])
def test_rules_for_given_names_say_whose_are_shown_and_how_much(rule: str, allowed: str) -> None:
    """CSL 1.0.2, Disambiguation: Ann and Amy Doe share their initial, Max does not."""
    options = f'disambiguate-add-givenname="true" givenname-disambiguation-rule="{rule}{allowed}"'
    names = '<names variable="author"><name form="short" initialize-with="."/></names>'
    xml = style_of(names).replace("<citation>", f"<citation {options}>")
    doe = {given: {"family": "Doe", "given": given} for given in ("Ann", "Amy", "Max")}
    roe = {"family": "Roe", "given": "Zoe"}

    def cites(*authors: list[dict[str, str]]) -> list[str]:
        items: list[dict[str, Any]] = [
            {"id": str(number), "author": people} for number, people in enumerate(authors)
        ]
        return shown(xml, items, [[Cite(item["id"])] for item in items])[: len(items)]

    ann, amy = ("Ann Doe", "Amy Doe") if not allowed else ("A. Doe", "A. Doe")
    if allowed:
        assert cites([doe["Ann"]], [doe["Amy"]]) == ["Doe", "Doe"]
    assert cites([doe["Ann"]], [doe["Amy"]], [doe["Max"]]) == [ann, amy, "M. Doe"]
    second = cites([doe["Ann"]], [roe, doe["Max"]])
    are_compared = rule == "all-names"
    assert second == (["A. Doe", "Roe, M. Doe"] if are_compared else ["Doe", "Roe, Doe"]), second


@pytest.mark.parametrize("first_min", [None, 2, 4])
def test_later_cites_differ_if_the_style_shortens_only_those(first_min: int | None) -> None:
    first = "" if first_min is None else f'et-al-min="{first_min}"'
    later = 'et-al-use-first="1" et-al-subsequent-min="2" et-al-subsequent-use-first="1"'
    xml = style_of('<names variable="author"/>')
    xml = xml.replace("<citation>", f'<citation disambiguate-add-names="true" {first} {later}>')
    items = [{"id": last, "author": ["A", last, "C"]} for last in "XY"]
    cites = [[Cite(last)] for last in "XYXY"]

    texts = shown(xml, items, cites)[:4]

    assert texts[2] != texts[3], f"{texts} with {first} {later}"


SPACES = (" ", "\u00a0", "\u202f", "\u2009")


@pytest.mark.parametrize("before", SPACES)
@pytest.mark.parametrize("after", SPACES)
def test_of_two_spaces_the_first_one_stays(before: str, after: str) -> None:
    xml = style_of(f'<text value="A{before}"/><text variable="title" prefix="{after}"/>')

    text = shown(xml, [{"id": "x", "title": "B"}], [[Cite("x")]])[0]

    assert text == f"A{before}B", f"{before!a} before {after!a}: {text!a}"


@pytest.mark.parametrize("scheme", ["https://doi.org/", "http://dx.doi.org/"])
@pytest.mark.parametrize("words", ["", "At ", "http://a.example or "])
def test_an_address_before_a_doi_belongs_to_its_link(words: str, scheme: str) -> None:
    """CSL 1.0.2, Appendix VI; words before it do not, wherever the style has them."""
    doi = '<text variable="DOI" prefix="{}"/>'
    for layout in (doi.format(words + scheme), f'<text value="{words}"/>{doi.format(scheme)}'):
        text = shown(style_of(layout), [{"id": "x", "DOI": "10.1000/182"}], [[Cite("x")]])[0]

        link = f'<a href="https://doi.org/10.1000/182">{scheme}10.1000/182</a>'
        assert_same(layout, text, f"{words}{link}")


@pytest.mark.parametrize("match", ["all", "any", "none"])
@pytest.mark.parametrize("label", ["page", "chapter", "figure"])
@pytest.mark.parametrize("type_", ["book", "map", "bill"])
def test_of_several_types_or_locators_any_one_does(match: str, label: str, type_: str) -> None:
    """A work has one type, and a locator one label."""
    tests = {
        'type="book map"': [type_ in {"book", "map"}],
        'locator="page chapter"': [label in {"page", "chapter"}],
        'type="book map" locator="page chapter"': [type_ in {"book", "map"}, label in {"page", "chapter"}],
    }  # fmt: skip
    for test, results in tests.items():
        yes_or_no = '<text value="yes"/></if><else><text value="no"/></else>'
        xml = style_of(f'<choose><if {test} match="{match}">{yes_or_no}</choose>')

        text = shown(xml, [{"id": "x", "type": type_}], [[Cite("x", "5", label)]])[0]

        holds = {"all": all(results), "any": any(results), "none": not any(results)}[match]
        assert text == ("yes" if holds else "no"), f"{test} match={match!r}: {type_}, {label}"


@pytest.mark.parametrize("empty", ["", "\n", "\n    ", "<single></single><multiple></multiple>"])
def test_an_empty_term_shows_nothing_however_its_tags_are_indented(empty: str) -> None:
    more = f'<locale><terms><term name="in">{empty}</term></terms></locale>'
    layout = '<group delimiter="|"><text term="in"/><text variable="title"/></group>'

    text = shown(style_of(layout, more=more), [{"id": "x", "title": "T"}], [[Cite("x")]])[0]

    assert text == "T", f"the term {empty!r} shows {text!r}"


def test_of_two_marks_the_stronger_one_stays() -> None:
    """A question is one, whatever the style ends it with, and a mark is not doubled."""
    for first, second in product(".:;,?!", repeat=2):
        layout = f'<text variable="title" suffix="{second}"/>'
        text = shown(style_of(layout), [{"id": "x", "title": f"Bees{first}"}], [[Cite("x")]])[0]

        marks = text.removeprefix("Bees")
        if first == second:
            assert marks == first, f"{first} and {second}"
        for strong in "?!":
            assert (strong in marks) is (strong in (first, second)), f"{first} and {second}"
        if first in "?!" and second in ".:":
            assert marks == first, f"{first} and {second}"
