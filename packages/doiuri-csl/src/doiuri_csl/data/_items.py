"""Items: CSL-JSON with the variables that stand in its note, each value of the type that its variable has."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

from doiuri_csl.data._dates import DateValue, read_date, wrong_parts
from doiuri_csl.data._people import Person, read_person

Item: TypeAlias = dict[str, Any]

# CSL 1.0.2, Appendix IV
DATES = frozenset(
    {"accessed", "available-date", "event-date", "issued", "original-date", "submitted"}
)
NAMES = frozenset(
    """
    author chair collection-editor compiler composer container-author contributor curator director
    editor editor-translator editorial-director executive-producer guest host illustrator interviewer
    narrator organizer original-author performer producer recipient reviewed-author script-writer
    series-creator translator
    """.split()  # noqa: SIM905 (a list that is read as a list)
)
TEXTS = frozenset(
    """
    DOI ISBN ISSN PMCID PMID URL abstract annote archive archive-place archive_collection
    archive_location authority call-number chapter-number citation-key citation-label
    collection-number collection-title container-title container-title-short dimensions division
    edition event event-place event-title genre issue jurisdiction keyword language license medium
    note number number-of-pages number-of-volumes original-publisher original-publisher-place
    original-title page page-first part-number part-title printing-number publisher
    publisher-place references reviewed-genre reviewed-title scale section source status
    supplement-number title title-short type version volume volume-title
    """.split()  # noqa: SIM905 (the same)
)

# CSL 1.0.2, Appendix III
TYPES = frozenset(
    """
    article article-journal article-magazine article-newspaper bill book broadcast chapter classic
    collection dataset document entry entry-dictionary entry-encyclopedia event figure graphic hearing
    interview legal_case legislation manuscript map motion_picture musical_score pamphlet
    paper-conference patent performance periodical personal_communication post post-weblog regulation
    report review review-book software song speech standard thesis treaty webpage
    """.split()  # noqa: SIM905 (the same)
)

# CSL 1.0.2, Locators; "number" and "surah" are not in it, but authors write them
LOCATORS = frozenset(
    """
    act appendix article-locator book canon chapter column elocation equation figure folio issue line
    note number opus page paragraph part rule scene section sub-verbo supplement surah table timestamp
    title-locator verse version volume
    """.split()  # noqa: SIM905 (the same)
)

# Older names of variables, which data still have
SHORT_FORMS = {"title": "shortTitle", "container-title": "journalAbbreviation"}

# No abstract or list of notes is longer; a title of 5 MB would take a style half a minute.
LONGEST = 100_000

_VARIABLE_LINE = re.compile(
    r"^ [^\S\n]* ([A-Za-z][A-Za-z_-]*) [^\S\n]* : [^\S\n]* (\S.*) $ \n?", re.MULTILINE | re.VERBOSE
)
_IN_BRACES = re.compile(r"\{:([A-Za-z_-]{1,40}):([^{}]*)\}")
_LETTERS_OF_NAMES = {1: 4, 2: 2, 3: 2}
_MOST_NAMES_IN_LABEL = 4


class ReadItem(NamedTuple):
    """An item, and what could not be read of it."""

    item: Item
    problems: list[str]


def read_item(given: Mapping[str, Any]) -> ReadItem:
    """Return an item whose values have the types of their variables: names, dates or text.

    Values that cannot be read are left out, and named as problems: "author: cannot be read: 5".
    """
    item: Item = {}
    problems: list[str] = []
    for key, value in given.items():
        checked = _value(str(key), value)
        if checked is not None and _is_too_long(checked):
            problems.append(f"{key}: has more than {LONGEST:,} characters: {_shortened(value)}")
        elif checked is not None:
            item[str(key)] = checked
        # A value that is empty, or of a variable that CSL does not have, is missed by nobody
        elif value and str(key) in (NAMES | DATES | TEXTS):
            problems.append(f"{key}: cannot be read: {_shortened(value)}")
        if key in DATES and isinstance(value, Mapping):
            problems += [f"{key}: {problem}" for problem in wrong_parts(value)]

    item = _with_note(item)
    kind = item.get("type", "")
    if kind and kind not in TYPES:
        problems.append(f"type: CSL has no type {_shortened(kind)}")
    return ReadItem(item, problems)


def _is_too_long(value: str | DateValue | list[Person]) -> bool:
    """Return whether a value has text that would take long to format."""
    if isinstance(value, str):
        return len(value) > LONGEST
    if isinstance(value, DateValue):
        return len(value.literal) > LONGEST
    return any(len(part) > LONGEST for person in value for part in person.parts)


def _shortened(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


def _value(key: str, value: object) -> Any:
    """Return the value of a variable, or None if it cannot be read: people, a date, or text."""
    if key in NAMES:
        return _names(value)
    if key in DATES:
        return _date(value)
    if isinstance(value, list) and value and isinstance(value[0], str):
        # Crossref gives titles and ISSNs as lists.
        value = value[0]
    if isinstance(value, str):
        return value
    # The volume 5.0 is "5"; True is an int in Python, but no number of a work
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return None


def _names(value: object) -> list[Person] | None:
    """Return the people of a list, of a single name, or of a text; None if there is nobody."""
    if isinstance(value, str | Mapping):
        value = [value]
    if not isinstance(value, list):
        return None
    names = []
    for name in value:
        if isinstance(name, Mapping):
            person = read_person(name)
            if any(person.parts):
                names.append(person)
        elif isinstance(name, str) and name.strip():
            names.append(Person(literal=name))
    return names or None


def _date(value: object) -> DateValue | None:
    """Return the date of an object, of a text such as "2001-05", or of a year; None if it says nothing."""
    if isinstance(value, str):
        value = {"raw": value}
    if isinstance(value, int) and not isinstance(value, bool):
        value = {"date-parts": [[value]]}
    return read_date(value) if isinstance(value, Mapping) else None


def _with_note(item: Item) -> Item:
    """Return an item with the variables in its note, where Zotero's users write them.

    A variable is a line, ``genre: Preprint``, or stands in braces, ``{:genre: Preprint}``. The rest stays the
    note. Dates and the type win over those of the item; other variables are only added.
    """
    note = item.get("note", "")
    if ":" not in note:  # as most notes: it has no variables
        return item
    lines = "\n".join(note.splitlines())
    variables = [*_VARIABLE_LINE.findall(lines), *_IN_BRACES.findall(lines)]
    item["note"] = _IN_BRACES.sub("", _VARIABLE_LINE.sub("", lines)).strip()
    for key, value in _values_in_note(variables).items():
        overrides = key in DATES or key == "type"
        if overrides or key not in item:
            item[key] = value
    return item


def _values_in_note(variables: list[tuple[str, str]]) -> Item:
    """Return the values of variables in a note, of the types that these have: several authors are one list."""
    values: Item = {}
    for name, text in variables:
        key = name.lower()
        value = text.strip()
        if key in NAMES:
            values.setdefault(key, []).append(_person_in_note(value))
        elif key in DATES:
            values[key] = read_date({"raw": value})
        elif name.isupper():  # "DOI"
            values[name] = value
        else:
            values[key] = value
    return values


def _person_in_note(value: str) -> Person:
    """Return the person of "Doe || Ann", or of a whole name such as "World Health Organization"."""
    family, _, given = value.partition("||")
    if given:
        return read_person({"family": family.strip(), "given": given.strip()})
    return read_person({"literal": value})


def citation_label(item: Item) -> str:
    """Return the label of an item: what the data say, or letters of names or the title, and the year.

    "Knut84" for one author, "KaWi06" for two.
    """
    if item.get("citation-label"):
        return str(item["citation-label"])
    # Four letters of a single name, two of each of two or three, and one of each of the first four
    people = _creators(item)
    letters = _LETTERS_OF_NAMES.get(len(people), 1)
    label = ""
    for person in people[:_MOST_NAMES_IN_LABEL]:
        label += (person.family or person.literal)[:letters]
    if not people:
        label = item.get("title", "")[: _LETTERS_OF_NAMES[1]].strip()
    return label + _year(item)[-2:]


def _creators(item: Item) -> list[Person]:
    """Return the people of the first role that an item has, authors before all others."""
    for role in ("author", "editor", "translator", *item):
        if role in NAMES and item.get(role):
            people: list[Person] = item[role]
            return people
    return []


def _year(item: Item) -> str:
    """Return the year in which an item was issued; "" if the data do not say."""
    date: DateValue | None = item.get("issued")
    if date is None or date.start is None:
        return ""
    return str(date.start.year)
