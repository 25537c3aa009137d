"""Particles, suffixes, labels of works and variables in notes: each form that authors write."""

from __future__ import annotations

from typing import Any

from csl.grammar import shown
from csl.styles import style_of
from doiuri_csl import Cite, to_text
from support.checks import assert_same


def shown_of(layout: str, item: dict[str, Any], options: str = "") -> str:
    [text, _] = shown(
        style_of(layout, options), [{"id": "x", **item}], [[Cite("x")]], write=to_text
    )
    return text


# A family name as authors write it, and the same in the order of a list
FAMILY_NAMES = {
    "van Berg": "Berg, Ann van", "van der Berg": "Berg, Ann van der", "v. Berg": "Berg, Ann v.",
    "d' Arcy": "Arcy, Ann d’", "d'Arcy": "Arcy, Ann d’", "d’Arcy": "Arcy, Ann d’",
    "dell'Orto": "Orto, Ann dell’", "de' Medici": "Medici, Ann de’", "de’ Medici": "Medici, Ann de’",
    "'t Hooft": "Hooft, Ann ’t", "’t Hooft": "Hooft, Ann ’t", "à Kempis": "Kempis, Ann à",
    "ößen Berg": "Berg, Ann ößen", "è'Berg": "Berg, Ann è’", "è’Berg": "Berg, Ann è’",
    "al-Din": "Din, Ann al-", "el-Din": "Din, Ann el-", "al-hakim": "hakim, Ann al-",
    "el-hakim": "hakim, Ann el-", "al- Din": "Din, Ann al-", "ben-David": "David, Ann ben-",
    "é-David": "David, Ann é-", "ben-david": "ben-david, Ann", "ben-élan": "ben-élan, Ann",
    "Van Berg": "Van Berg, Ann", "Berg": "Berg, Ann", "D'Arcy": "D’Arcy, Ann", "Al-Din": "Al-Din, Ann",
    '"van Berg"': "van Berg, Ann",
}  # fmt: skip


def test_each_particle_at_the_start_of_a_family_name() -> None:
    layout = '<names variable="author"><name name-as-sort-order="all"/></names>'
    for family, expected in FAMILY_NAMES.items():
        text = shown_of(layout, {"author": [{"family": family, "given": "Ann"}]})
        assert_same(f"the family name {family!r}", text.replace("'", "’"), expected)


def _is_particle(words: str) -> bool:
    """Whether words at the end of a given name are particles, which sort before the given name."""
    style = (
        '<style xmlns="http://purl.org/net/xbiblio/csl" version="1.0"><citation><sort>'
        '<key variable="author"/></sort><layout delimiter=","><text variable="title"/></layout>'
        "</citation></style>"
    )
    people = {"yan": "Yan", "with": f"Zoe {words}"}
    items = [
        {"id": title, "title": title, "author": [{"family": "Berg", "given": given}]}
        for title, given in people.items()
    ]
    return shown(style, items, [[Cite("yan"), Cite("with")]])[0] == "with,yan"


PARTICLES = (
    "van", "van der", "de la", "d'", "d’", "dell'", "dell’", "à", "ä", "öß", "van’t", "van't", "van’è", "v2",
)  # fmt: skip
NO_PARTICLES = ("B", "B.", "Van", "2", "-", "É", "v.", "v-w", "van’T", "van’’t")


def test_each_particle_at_the_end_of_a_given_name() -> None:
    for words in PARTICLES:
        assert_same(f"{words!r} is a particle", _is_particle(words), True)
    for words in NO_PARTICLES:
        assert_same(f"{words!r} is no particle", _is_particle(words), False)


SUFFIXES = (
    "Jr",
    "Jr.",
    "Sr",
    "Sr.",
    "I",
    "II",
    "III",
    "IV",
    "V",
    "VI",
    "X",
    "XI",
    "Esq",
    "Esq.",
    "Esquire",
)
NO_SUFFIXES = ("Jra", "Srx", "Ivy", "Xaver", "Vera", "Ia", "PhD", "Max")


def test_each_suffix_after_a_given_name() -> None:
    layout = '<names variable="author"/>'
    for suffix in SUFFIXES:
        text = shown_of(layout, {"author": [{"family": "Doe", "given": f"Ann, {suffix}"}]})
        assert_same(f"{suffix!r} is a suffix", text, f"Ann Doe {suffix}")
    for words in NO_SUFFIXES:
        text = shown_of(layout, {"author": [{"family": "Doe", "given": f"Ann, {words}"}]})
        assert_same(f"{words!r} is no suffix", text, f"Ann, {words} Doe")


# Unicode Standard Annex 11: wide letters, and fullwidth ones
WITHOUT_SPACES = {"山田": "太郎", "ＡＢ": "ＣＤ", "김": "민준"}
WITH_SPACES = {"AB": "CD", "ｶﾞ": "ﾅ"}


def test_wide_and_fullwidth_names_have_the_family_first_without_a_space() -> None:
    for family, given in WITHOUT_SPACES.items():
        text = shown_of(
            '<names variable="author"/>', {"author": [{"family": family, "given": given}]}
        )
        assert_same(f"{family} and {given}", text, f"{family}{given}")
    for family, given in WITH_SPACES.items():
        text = shown_of(
            '<names variable="author"/>', {"author": [{"family": family, "given": given}]}
        )
        assert_same(f"{family} and {given}", text, f"{given} {family}")


LABELS_OF_WORKS = {
    ("Knuth",): "Knut84", ("Ka", "Winter"): "KaWi84", ("Abe", "Bec", "Cid"): "AbBeCi84",
    ("Abe", "Bec", "Cid", "Doe"): "ABCD84", ("Abe", "Bec", "Cid", "Doe", "Eco"): "ABCD84",
}  # fmt: skip


def test_the_label_of_a_work_by_its_number_of_authors() -> None:
    for families, expected in LABELS_OF_WORKS.items():
        author = [{"family": family} for family in families]
        item = {"author": author, "title": "Works", "issued": {"date-parts": [[1984]]}}
        text = shown_of('<text variable="citation-label"/>', item)
        assert_same(f"the label of {', '.join(families)}", text, expected)


def test_the_label_of_a_work_is_of_the_first_role_or_the_title() -> None:
    people = {
        role: [{"family": role.title()}] for role in ("guest", "translator", "editor", "author")
    }
    for role in ("author", "editor", "translator", "guest"):
        text = shown_of('<text variable="citation-label"/>', {**people, "title": "Works"})
        assert_same(f"the label by the {role}", text, role.title()[:4])
        del people[role]
    text = shown_of('<text variable="citation-label"/>', {"title": "Works"})
    assert_same("the label by the title", text, "Work")


def test_a_name_of_a_variable_in_a_note_has_letters_hyphens_and_underscores() -> None:
    for name in ("genre", "Genre", "container-title", "archive_location", "DOI"):
        variable = name if name == "DOI" else name.lower()
        for note in (
            f"{name}: here",
            f"Mine.\n{name} : here",
            f"{{:{name}:here}}",
            f"Mine {{:{name}: here}}",
        ):
            text = shown_of(f'<text variable="{variable}"/>', {"note": note})
            assert_same(f"the note {note!r}", text, "here")


RAW_DATES = {
    "2001-05-03": "2001/5/3", "2001-5-3": "2001/5/3", "2001-5": "2001/5", "987-05": "987AD/5",
    "-44-03-15": "44BC/3/15",
    "5/31/2001": "2001/5/31", "05/3/2001": "2001/5/3", "May 31, 2001": "2001/5/31", "3. May 2001": "2001/5/3",
    "May-June 2001": "2001/5–6", "May – June 2001": "2001/5–6", "2001-05/2001-06": "2001/5–6",
    "12026": "12026", "123456": "123456", "31 May 2001": "2001/5/31", "5/32/2001": "2001/5", "2001-25": "2001",
}  # fmt: skip
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September",
          "October", "November", "December")  # fmt: skip
for _number, _month in enumerate(MONTHS, 1):
    RAW_DATES[f"{_month} 2001"] = RAW_DATES[f"{_month[:3]}. 2001"] = f"2001/{_number}"
    RAW_DATES[f"{_month.upper()[:3]} 2001"] = f"2001/{_number}"
RAW_DATES |= {
    f"{season} 2001": f"2001/{season}" for season in ("Spring", "Summer", "Autumn", "Winter")
}


def test_each_way_to_write_a_date() -> None:
    layout = (
        '<date variable="issued" delimiter="/"><date-part name="year"/>'
        '<date-part name="month" form="numeric"/><date-part name="day"/></date>'
    )
    for raw, expected in RAW_DATES.items():
        text = shown_of(layout, {"issued": {"raw": raw}}).replace(" ", "")
        assert_same(f"the date {raw!r}", text, expected)
