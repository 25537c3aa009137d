"""Two forms of one value show the same, and values sort in the order of what they mean."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
from csl.grammar import shown
from csl.styles import style_of
from doiuri_csl import Cite
from support.checks import assert_same

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September",
          "October", "November", "December")  # fmt: skip
SEASONS = ("Spring", "Summer", "Autumn", "Winter")

DATES = """
<date variable="issued" form="numeric"/>
<date variable="issued" prefix=" | "><date-part name="day" suffix=" "/><date-part name="month" suffix=" "/>
  <date-part name="year"/></date>
<choose><if is-uncertain-date="issued"><text value=" circa"/></if></choose>
<choose><if variable="issued"><text value=" dated"/></if></choose>
"""


def shown_of(layout: str, item: dict[str, Any], options: str = "") -> str:
    """What a style shows of one work, which is cited on page 5."""
    item = {"id": "x", **item}
    return shown(style_of(layout, options), [item], [[Cite("x", locator="5")]])[0]


def _days(chance: random.Random) -> list[Any]:
    """One day in all forms; the first is the one of CSL-JSON."""
    year, month, day = chance.randint(1000, 2100), chance.randint(1, 12), chance.randint(1, 31)
    name = MONTHS[month - 1]
    words = [f"{day} {name} {year}", f"{name} {day}, {year}", f"{name[:3]}. {day}, {year}"]
    words += [f"{year} {name.lower()} {day}", f"{day} {name.upper()[:3]} {year}"]
    numbers = [f"{month}/{day}/{year}", f"{month:02}/{day:02}/{year}", f"{year}-{month}-{day}"]
    return [
        {"date-parts": [[year, month, day]]},
        {"date-parts": [[str(year), f"{month:02}", f"{day:02}"]]},
        {"date-parts": [[float(year), float(month), float(day)]]},
        f"{year}-{month:02}-{day:02}",
        *({"raw": text} for text in (*words, *numbers)),
        *words,
    ]


def _months(chance: random.Random) -> list[Any]:
    year, month = chance.randint(100, 2100), chance.randint(1, 12)
    return [
        {"date-parts": [[year, month]]},
        {"date-parts": [[year, month, 0]]},
        {"date-parts": [[str(year), str(month), ""]]},
        f"{year}-{month:02}",
        f"{MONTHS[month - 1]} {year}",
        {"raw": f"{MONTHS[month - 1][:3]} {year}"},
    ]


def _years(chance: random.Random) -> list[Any]:
    year = chance.choice((-300, -44, 79, 476, 1999, 2001))
    return [
        {"date-parts": [[year]]},
        {"date-parts": [[str(year)]]},
        {"date-parts": [[float(year), 0, None]]},
        year,
        str(year),
        {"raw": f" {year} "},
    ]


def _seasons(chance: random.Random) -> list[Any]:
    year, season = chance.randint(1000, 2100), chance.randint(1, 4)
    name = SEASONS[season - 1]
    of_year = {"date-parts": [[year]]}
    return [
        {**of_year, "season": season},
        {**of_year, "season": str(season)},
        {**of_year, "season": name},
        {**of_year, "season": name.lower()},
        {"date-parts": [[year, 12 + season]]},
        {"date-parts": [[year, 20 + season]]},
        {"raw": f"{name} {year}"},
        f"{name.lower()}, {year}",
    ]


def _ranges(chance: random.Random) -> list[Any]:
    year, month = chance.randint(1000, 2100), chance.randint(1, 6)
    later_year, later_month = year + chance.randint(0, 1), month + chance.randint(1, 6)
    return [
        {"date-parts": [[year, month], [later_year, later_month]]},
        {"date-parts": [[str(year), str(month)], [str(later_year), str(later_month)]]},
        f"{year}-{month:02}/{later_year}-{later_month:02}",
        {"raw": f"{MONTHS[month - 1]} {year} – {MONTHS[later_month - 1]} {later_year}"},
        f"{MONTHS[month - 1]} {year}-{MONTHS[later_month - 1]} {later_year}",
    ]


def _ranges_of_years(chance: random.Random) -> list[Any]:
    year = chance.randint(1000, 2000)
    later = year + chance.randint(1, 100)
    return [
        {"date-parts": [[year], [later]]},
        f"{year}/{later}",
        f"{year}-{later}",
        {"raw": f"{year}–{later}"},
    ]


KINDS_OF_DATES = [_days, _months, _years, _seasons, _ranges, _ranges_of_years]


@pytest.mark.parametrize("forms_of", KINDS_OF_DATES)
def test_a_date_shows_the_same_in_each_of_its_forms(
    forms_of: Callable[[random.Random], list[Any]],
) -> None:
    """A date that is text may also stand in the note."""
    chance = random.Random(1)
    for _ in range(5):
        forms = forms_of(chance)
        expected = shown_of(DATES, {"issued": forms[0]})

        assert expected.endswith(" dated")
        for form in forms:
            text = form.get("raw") if isinstance(form, dict) else str(form)
            items = [{"issued": form}]
            if text:
                notes = (f"issued: {text}", f"Mine.\nissued: {text}\nToo.", f"{{:issued: {text}}}")
                items += [{"note": note, "issued": "1850"} for note in notes]
            for item in items:
                assert shown_of(DATES, item) == expected, f"{item}, as {forms[0]}"


@pytest.mark.parametrize(
    ("values", "is_uncertain"),
    [((True, 1, "1", "true"), True), ((False, 0, "0", "", "false"), False)],
)
def test_a_flag_is_a_boolean_a_number_or_a_text(
    values: tuple[object, ...], is_uncertain: bool
) -> None:
    for value in values:
        text = shown_of(DATES, {"issued": {"date-parts": [[2001]], "circa": value}})

        assert (" circa" in text) is is_uncertain, f"circa: {value!r}"


NAMES = """
<names variable="author"><name name-as-sort-order="all"/></names>
<names variable="author" prefix=" | "/>
<names variable="author" prefix=" | "><name form="short"/></names>
<names variable="author" prefix=" | "><name initialize-with="."/></names>
"""
SAME_NAMES: list[list[Any]] = [
    [[{"literal": "The Institute"}], "The Institute", ["The Institute"], {"name": "The Institute"},
     [{"given": "The Institute"}]],
    [[{"family": "Doe", "given": "Ann"}], {"family": "Doe", "given": " Ann "}],
    [[{"family": "King", "given": "Martin", "suffix": "Jr."}], [{"family": "King", "given": "Martin, Jr."}]],
    [[{"family": "Beethoven", "given": "Ludwig", "dropping-particle": "van"}],
     [{"family": "Beethoven", "given": "Ludwig van"}]],
]  # fmt: skip
for _particle, _family in [
    ("van der", "Berg"),
    ("d’", "Arcy"),
    ("l’", "Estrange"),
    ("al-", "Din"),
    ("de la", "Mar"),
]:
    _glue = "" if _particle[-1] in "’-" else " "
    _forms: list[Any] = [[{"family": _family, "given": "Jo", "non-dropping-particle": _particle}]]
    for _apostrophe in "’'":
        _particle = _particle.replace("’", _apostrophe)
        _forms.append([{"family": _family, "given": "Jo", "non-dropping-particle": _particle}])
        _forms.append([{"family": f"{_particle}{_glue}{_family}", "given": "Jo"}])
    SAME_NAMES.append(_forms)


@pytest.mark.parametrize("forms", SAME_NAMES, ids=lambda forms: str(forms[0]))
def test_a_name_shows_the_same_in_each_of_its_forms(forms: list[Any]) -> None:
    for form in forms:
        assert shown_of(NAMES, {"author": form}) == shown_of(NAMES, {"author": forms[0]}), form


def test_the_people_of_a_note_are_those_of_the_variable() -> None:
    people = [
        {"family": "Doe", "given": "Ann"},
        {"family": "van der Berg", "given": "Jo"},
        {"literal": "Us"},
    ]
    lines = ["author: Doe || Ann", "author: van der Berg||Jo", "author: Us"]

    assert shown_of(NAMES, {"note": "\n".join(lines)}) == shown_of(NAMES, {"author": people})


TEXTS = """
<text variable="volume"/><number variable="volume" form="ordinal" prefix=" "/>
<text variable="title" prefix=" "/><text variable="container-title" form="short" prefix=" "/>
<choose><if is-numeric="volume"><text value=" numeric"/></if></choose>
"""
SAME_TEXTS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"volume": "2"}, {"volume": 2}),
    ({"volume": "2"}, {"volume": 2.0}),
    ({"volume": "2"}, {"volume": ["2"]}),
    ({"volume": "2"}, {"note": "volume: 2"}),
    ({"volume": "2"}, {"note": "Volume : 2"}),
    ({"volume": "2"}, {"note": "{:volume:2}"}),
    ({"volume": "2"}, {"volume": "2", "note": "volume: 3"}),
    ({"title": "Ants"}, {"title": ["Ants"]}),
    ({"title": "Ants & “Bees”"}, {"title": 'Ants & "Bees"'}),
    ({"title": "Ann’s"}, {"title": "Ann's"}),
    ({"container-title": "Long", "container-title-short": "L."},
     {"container-title": "Long", "journalAbbreviation": "L."}),
]  # fmt: skip


@pytest.mark.parametrize(("item", "same"), SAME_TEXTS, ids=str)
def test_a_text_shows_the_same_in_each_of_its_forms(
    item: dict[str, Any], same: dict[str, Any]
) -> None:
    assert shown_of(TEXTS, same) == shown_of(TEXTS, item)


FORMATS = ("", "expanded", "minimal", "minimal-two", "chicago-15", "chicago-16", "chicago")
PAGES = """
<text variable="page"/><number variable="page" prefix=" "/><label variable="page" prefix=" "/>
<text variable="page-first" prefix=" "/>
"""


@pytest.mark.parametrize("page_format", FORMATS)
def test_the_dash_of_a_range_does_not_matter(page_format: str) -> None:
    options = f'page-range-format="{page_format}"' if page_format else ""
    chance = random.Random(1)
    for _ in range(20):
        first = chance.randint(1, 2000)
        last = first + chance.choice((1, 7, 90, 900))
        letter = chance.choice(("", "", "e", "S"))
        expected = shown_of(PAGES, {"page": f"{letter}{first}–{letter}{last}"}, options)
        for dash in ("-", "--", " - ", " -- ", " – "):
            page = f"{letter}{first}{dash}{letter}{last}"
            assert shown_of(PAGES, {"page": page}, options) == expected, (
                f"{page} in {page_format!r}"
            )
        if page_format == "chicago":
            same = options.replace("chicago", "chicago-15")
            assert shown_of(PAGES, {"page": page}, same) == expected, f"{page} in chicago-15"


def test_the_spaces_around_an_ampersand_between_pages_do_not_matter() -> None:
    for page in ("1&3", "1 & 3", "1& 3"):
        assert shown_of('<text variable="page"/>', {"page": page}) == "1 &amp; 3", page


def test_an_id_is_a_number_or_a_text() -> None:
    xml = style_of('<names variable="author"/>')
    cites = [[Cite("7", author_only=True)], [Cite("7")]]

    assert shown(xml, [{"id": 7}], cites) == shown(xml, [{"id": "7"}], cites)


def _sorted_style(key: str, macro: str, layout: str) -> str:
    return f"""<style xmlns="http://purl.org/net/xbiblio/csl"><macro name="m">{macro}</macro>
        <citation><sort><key {key}/></sort>{layout}</citation></style>"""


def _in_order(things: list[dict[str, Any]], key: str, macro: str = "") -> list[str]:
    """The titles of works in the order of a list that is sorted by a key."""
    layout = '<layout delimiter=","><text variable="title"/></layout>'
    xml = _sorted_style(key, macro, layout)
    items = [{"id": str(number), **thing} for number, thing in enumerate(things)]
    [text, _] = shown(xml, items, [[Cite(item["id"]) for item in items]])
    return text.split(",")


def _moments(chance: random.Random) -> Iterator[tuple[int, ...]]:
    years = (-12000, -300, -200, -44, -1, 1, 79, 476, 999, 1000, 1999, 2001, 12026)
    for _ in range(60):
        year, month, day = chance.choice(years), chance.choice((2, 11)), chance.choice((3, 12))
        yield (year, month, day)[: chance.randint(1, 3)]


DATE_KEYS = {
    "a variable": ('variable="issued"', "", 3),
    "a macro": ('macro="m"', '<date variable="issued" form="text"/>', 3),
    "a macro of months": ('macro="m"', '<date variable="issued" form="text" date-parts="year-month"/>', 2),
    "a macro of years": ('macro="m"', '<date variable="issued"><date-part name="year" form="short"/></date>', 1),
}  # fmt: skip


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize(("key", "macro", "parts"), DATE_KEYS.values(), ids=DATE_KEYS)
def test_dates_sort_in_the_order_of_time(
    key: str, macro: str, parts: int, descending: bool
) -> None:
    """A date before Christ comes before one after, a year before its months, and no date after all."""
    moments = list(_moments(random.Random(1)))
    works: list[dict[str, Any]] = [
        {
            "title": f"{'-'.join(map(str, moment[:parts]))}#{number}",
            "issued": {"date-parts": [moment]},
        }
        for number, moment in enumerate(moments)
    ]
    for work in works:
        work["issued"]["date-parts"][0] = list(work["issued"]["date-parts"][0])
    works.insert(0, {"title": "none"})

    titles = _in_order(works, f'{key} sort="{"descending" if descending else "ascending"}"', macro)

    order = sorted(
        range(len(moments)), key=lambda index: moments[index][:parts], reverse=descending
    )
    assert titles == [*(works[index + 1]["title"] for index in order), "none"]


def test_a_season_sorts_between_the_months_around_it() -> None:
    """A winter is that at the end of its year."""
    titles = ("February", "Spring", "May", "Summer", "August", "Autumn", "November", "Winter")
    works = [{"title": title, "issued": {"raw": f"{title} 2001"}} for title in titles]

    assert _in_order(works[::-1], 'variable="issued"') == list(titles)


# As the Default Unicode Collation Element Table has them, or as English lists of references do
SORTS_AS = {
    "ø": "o", "đ": "d", "ð": "d", "ł": "l", "æ": "ae", "œ": "oe", "ı": "i",
    "þ": "th", "ħ": "h", "ŧ": "t", "ŋ": "n", "ß": "ss", "é": "e", "ü": "u",
}  # fmt: skip


def _sorted(titles: list[str]) -> list[str]:
    return _in_order([{"title": title} for title in titles], 'variable="title"')


def test_letters_sort_beside_those_that_they_are_written_with() -> None:
    for letter, base in SORTS_AS.items():
        for shape in (letter, "ẞ" if letter == "ß" else letter.upper()):
            in_order = [f"{base}a", f"{shape}b", f"{base}c"]

            assert_same(f"{shape!r} sorts as {base!r}", _sorted(in_order[::-1]), in_order)


@pytest.mark.parametrize("dash", "-–—/")
def test_a_dash_sorts_as_a_space(dash: str) -> None:
    assert_same(f"by {dash!r}", _sorted(["Bab", f"Ba{dash}z"]), [f"Ba{dash}z", "Bab"])


@pytest.mark.parametrize("apostrophe", "'’")
def test_a_particle_with_an_apostrophe_sorts_before_letters(apostrophe: str) -> None:
    """As a part of a name does; the apostrophe after a capital does not count."""
    words = [f"d{apostrophe}Arcy", "Dam", "Okafor", f"O{apostrophe}Neill"]
    expected = [word.replace("'", "’") for word in words]

    assert_same("titles", _sorted(words[::-1]), expected)
    typed = [{"title": word, "author": [{"family": word}]} for word in words[::-1]]
    in_order = [title.replace("'", "’") for title in _in_order(typed, 'variable="author"')]
    assert_same("names", in_order, expected)


@pytest.mark.parametrize("titles", [["Ants", "ants"], ["ants", "ANTS"], ["Émile", "émile"]])
def test_works_that_differ_in_case_alone_keep_their_order(titles: list[str]) -> None:
    for order in (titles, titles[::-1]):
        works = [{"title": title} for title in order]

        assert _in_order(works, 'variable="title"') == order, order


@pytest.mark.parametrize("use_last", ["true", "false"])
def test_a_key_counts_the_last_name_if_it_says_so(use_last: str) -> None:
    """CSL 1.0.2, Sorting, names-use-last."""
    works = [{"title": last, "author": ["A", "B", last]} for last in ("D", "E", "C")]
    key = f'macro="m" names-min="3" names-use-first="1" names-use-last="{use_last}"'

    order = _in_order(works, key, '<names variable="author"/>')

    assert order == (["C", "D", "E"] if use_last == "true" else ["D", "E", "C"]), use_last


NAME_PARTS = ("family", "given", "suffix", "dropping-particle", "non-dropping-particle", "literal")


@pytest.mark.parametrize("part", NAME_PARTS)
@pytest.mark.parametrize("key", ["variable", "macro"])
def test_people_who_differ_in_one_part_of_their_names_sort_by_it(part: str, key: str) -> None:
    """Such as father and son, or members of one family."""
    name = {} if part == "literal" else {"family": "Doe", "given": "Ann"}
    works = [{"title": text, "author": [{**name, part: text}]} for text in ("Cc", "Aa", "Bb")]
    attribute = 'variable="author"' if key == "variable" else 'macro="m"'

    order = _in_order(works, attribute, '<names variable="author"/>')

    assert order == ["Aa", "Bb", "Cc"], f"by {part}: {order}"


NUMBER_KEYS = {
    "a variable": ('variable="volume"', ""),
    "a macro": ('macro="m"', '<number variable="volume" form="roman"/>'),
    "a count of names": ('macro="m"', '<names variable="author"><name form="count"/></names>'),
}


@pytest.mark.parametrize(("key", "macro"), NUMBER_KEYS.values(), ids=NUMBER_KEYS)
def test_numbers_sort_by_their_value(key: str, macro: str) -> None:
    numbers = random.Random(1).sample(range(1, 1300), 12)
    works = [
        {"title": str(number), "volume": number, "author": ["Doe"] * number} for number in numbers
    ]

    assert _in_order(works, key, macro) == [str(number) for number in sorted(numbers)]


def test_numbers_of_works_sort_by_their_value() -> None:
    """The eleventh work is cited after the second."""
    number = '<text variable="citation-number"/>'
    layout = f'<layout delimiter=",">{number}</layout>'
    items = [{"id": str(number)} for number in range(1, 120)]
    cites = [Cite(item["id"]) for item in items]

    for key in ('variable="citation-number"', 'macro="m"'):
        texts = shown(
            _sorted_style(key, number, layout), items, [[cite] for cite in cites] + [cites[::-1]]
        )
        assert texts[len(cites)] == ",".join(map(str, range(1, 120))), key
