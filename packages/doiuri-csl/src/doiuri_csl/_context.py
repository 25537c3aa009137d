"""What a rendering knows: the style's settings, the terms, the item, the cite that it stands in."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, IntEnum
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, Protocol

from doiuri_csl.data._dates import DateValue
from doiuri_csl.data._items import DATES, NAMES, SHORT_FORMS, Item
from doiuri_csl.text._textcase import Language

if TYPE_CHECKING:
    from collections.abc import Mapping

    from doiuri_csl._locale import Terms
    from doiuri_csl.data._people import Person
    from doiuri_csl.text._pieces import RenderedElement


class Position(Enum):
    """Where a cite stands among those of its item (CSL 1.0.2, Choose, "position")."""

    FIRST = "first"
    SUBSEQUENT = "subsequent"
    IBID = "ibid"
    IBID_WITH_LOCATOR = "ibid-with-locator"


class TextOrigin(Enum):
    """Where a text comes from, which decides on the language for its case."""

    ITEM = "the item"
    STYLE = "a term, or text of the style"
    PART = "a label, or a part of a name or date"


class Place(NamedTuple):
    """The place of a cite among those of its item; ``Style.place`` finds it out."""

    position: Position = Position.FIRST
    """Whether the item was cited before, and how."""

    is_near_note: bool = False
    """Whether the item was cited in one of the notes before, as many as the style says."""

    first_note: int = 0
    """The number of the earlier note that first cites the item; 0 if there is none."""


class Cite(NamedTuple):
    """One reference in a citation."""

    id: str
    """The id of the item."""

    locator: str = ""
    """Where in the item, such as "12–14"."""

    label: str = "page"
    """What the locator counts, such as "page" or "chapter" (CSL 1.0.2, Locators)."""

    prefix: str = ""
    """What stands before it, such as "see"; it may have tags, such as ``<i>``."""

    suffix: str = ""
    """What stands after it."""

    author_only: bool = False
    """Whether only the names are shown, for a sentence. See ``Processor.citation``."""

    suppress_author: bool = False
    """Whether the names are left out."""

    place: Place = Place()
    """Where it stands in the document; by default, it is the first of its item."""

    plural: bool = False
    """Whether the term of the label is plural, even if the locator seems to be a single one."""


class ListedItem(NamedTuple):
    """An item in a list of references: its number, and what its entry says to tell it from others."""

    id: str
    """The id of the item."""

    number: int = 0
    """Its number, from 1; 0 if it is shown without its number."""

    year_suffix: str = ""
    """The letter after the year; "" if it needs none."""

    conditions: int = 0
    """How many of the style's tests for ``disambiguate`` are true."""


class GivenName(IntEnum):
    """How much of a given name disambiguation asks for (CSL 1.0.2, Disambiguation)."""

    AS_STYLED = 0
    INITIALS = 1
    """Initials, or the whole name if the style has no initials."""

    FULL = 2


@dataclass
class NamesShown:
    """How much of an item's names its cites show to be unlike others (CSL 1.0.2, Disambiguation)."""

    count: int = 0
    """How many names, if the style would show fewer."""

    given_names: dict[tuple[str, int], GivenName] = field(default_factory=dict)
    """How much of given names, by the variable and the index in its list."""


@dataclass
class CitedItem:
    """An item that the document cites, and what tells it from others in the list and in citations."""

    item: Item
    listed: ListedItem
    names_shown: NamesShown = field(default_factory=NamesShown)
    citation_label: str = ""

    is_known: bool = True
    """Whether there is such an item; otherwise only its id is shown."""

    @property
    def id(self) -> str:
        """The id of the item."""
        return self.listed.id

    @cached_property
    def people(self) -> list[Person]:
        """Everybody whom the item names, whatever they did."""
        lists = [value for value in self.item.values() if isinstance(value, list)]
        return list(chain.from_iterable(lists))


class StyleOptions(NamedTuple):
    """The options of a style that its elements depend on."""

    page_range_format: str
    areas_with_year_suffix: frozenset[str]
    """The areas that show the year suffix where they want it, so that dates do not add it."""


class Element(Protocol):
    """A rendering element."""

    def render(self, context: Context) -> RenderedElement:
        """Return what the element shows of the context's item."""


class NamesElement(Protocol):
    """``<names>``, as its substitutes see it."""

    def render_others(self, variables: list[str], context: Context) -> RenderedElement:
        """Return the names of other variables in the form of this element."""


class ComparedNames(Protocol):
    """A list of names in a cite, as disambiguation sees it: names are compared as values."""

    variable: str
    people: list[Person]

    @property
    def initial_mark(self) -> str | None:
        """What follows initials; None if the style has no initials."""

    @property
    def is_demoted(self) -> bool:
        """Whether particles are no part of family names (``demote-non-dropping-particle``)."""

    def added_by(self, wanted: int) -> object:
        """Return what the list shows with so many names, and not with one fewer; None if it shows the same."""

    def changed_by(self, index: int, given_name: GivenName, wanted: int) -> object:
        """Return the name with an index if it shows so much of its given name, None if that changes nothing."""


@dataclass
class Progress:
    """What one rendering has done so far: all that changes while it goes on."""

    rendered: list[str] = field(default_factory=list)
    """The variables that were shown, in order."""

    substituted: set[str] = field(default_factory=set)
    """The variables that stand for names, so that they are not shown again."""

    substituting: NamesElement | None = None
    """The ``<names>`` in whose ``<substitute>`` the rendering is; None outside of one."""

    substitution_start: int = 0
    """How many variables were shown before that."""

    has_names: bool = False
    """Whether names were shown: the first names of a cite are its author."""

    has_year_suffix: bool = False
    """Whether the letter of a year was shown, which a cite has once."""

    has_number: bool = False
    """Whether the number of the item was asked for, which changes when others are added."""

    conditions_tested: int = 0
    """How many tests for ``disambiguate`` came up."""

    name_lists: list[ComparedNames] = field(default_factory=list)
    """The lists of names that were shown."""

    def is_substituted(self, variable: str) -> bool:
        """Return whether a variable is not to be shown: it stands for names, or was shown in this substitution."""
        if variable in self.substituted:
            return True
        return (
            self.substituting is not None and variable in self.rendered[self.substitution_start :]
        )


# The variables that are not in an item's data
_OF_CITES = (
    "locator",
    "citation-number",
    "first-reference-note-number",
    "year-suffix",
    "citation-label",
)


@dataclass
class Context:
    """The surroundings of one rendering of one item, which do not change, and its progress."""

    style_options: StyleOptions
    terms: Terms
    cited_item: CitedItem
    cite: Cite
    area: str
    names: Mapping[str, str]
    """The options of names that the area has."""

    sort_names: Mapping[str, str] | None = None
    """The options of names that a sort key has; None outside of sorting."""

    suppress_author: bool = False

    in_sentence: bool = False
    """Whether names are part of a sentence, in which "&" is not a word."""

    given_names: Mapping[str, GivenName] = field(default_factory=dict)
    """How much of the given name each person needs in the whole document, by ``Person.key``."""

    only_first_names: bool = False
    """Whether disambiguation is for the first name of a list alone."""

    progress: Progress = field(default_factory=Progress)

    @property
    def item(self) -> Item:
        """The item."""
        return self.cited_item.item

    @property
    def is_sorting(self) -> bool:
        """Whether the text is a sort key."""
        return self.sort_names is not None

    def language(self, origin: TextOrigin) -> Language:
        """Return the language that decides on the case of a text: that of the item, or that of the locale."""
        tag = self.terms.lang
        if origin is TextOrigin.ITEM:
            tag = str(self.item.get("language") or tag)
        # CSL 1.0.2, Non-English Items: only English has title case. But citeproc-js and pandoc have it
        # for labels and parts of any language, which styles in French rely on: "Éditeurs".
        is_english = tag.lower().startswith("en")
        return Language(tag, has_title_case=is_english or origin is TextOrigin.PART)

    def variable(self, name: str) -> str:
        """Return the value of an ordinary variable; "" if it has none or a substitution used it."""
        if self.progress.is_substituted(name):
            return ""
        return self.value(name)

    def value(self, name: str) -> str:
        """Return the value of an ordinary variable, even if a substitution used it; "" if it has none."""
        if name in _OF_CITES:
            return self._value_in_document(name)
        value = self.item.get(name)
        return value if isinstance(value, str) else self._other_form(name)

    def _value_in_document(self, name: str) -> str:
        """Return the value of a variable that depends on the document, such as "citation-number", as text."""
        listed = self.cited_item.listed
        if name == "locator":
            return self.cite.locator
        if name == "citation-number":
            self.progress.has_number = True
            return str(listed.number or "")
        if name == "first-reference-note-number":
            return str(self.cite.place.first_note or "")
        if name == "year-suffix":
            return listed.year_suffix
        return self.cited_item.citation_label + listed.year_suffix  # "Knut84a"

    def _other_form(self, name: str) -> str:
        """Return the value that a variable has under another name: "page-first" as a part of "page".

        Short forms have older names, "shortTitle" and "journalAbbreviation". "" if there is no value.
        """
        if name in ("title-short", "container-title-short"):
            older_name = SHORT_FORMS[name.removesuffix("-short")]
            return str(self.item.get(older_name, ""))
        if name == "page-first":
            return _first_page(self.item.get("page", ""))
        return ""

    def short_variable(self, name: str) -> str:
        """Return the short form of a variable, or the long form if it has none."""
        if self.progress.is_substituted(name):
            return ""
        for candidate in (f"{name}-short", SHORT_FORMS.get(name, ""), name):
            value = self.variable(candidate) if candidate else ""
            if value:
                return value
        return ""

    def has(self, name: str) -> bool:
        """Return whether a variable of any kind has a value."""
        if name in NAMES or name in DATES:
            return name in self.item
        return self.value(name) != ""

    def date(self, name: str) -> DateValue | None:
        """Return the value of a date variable, or None if it has none."""
        value = self.item.get(name)
        return value if isinstance(value, DateValue) else None


def _first_page(pages: str) -> str:
    """Return the first of the pages: "101" of "101–107, 110"."""
    for separator in ("-", "–", ",", ";", "&"):
        pages = pages.partition(separator)[0]
    return pages.strip()
