"""The CSL processor citeproc-py, with elements of our own where it departs from the specification of CSL.

The classes of the elements are looked up in a style's own parser; nothing in citeproc-py is changed.
Import this module only where the extra ``citations`` is required.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from functools import lru_cache, partial
from io import BytesIO
from itertools import groupby
from typing import TYPE_CHECKING, Any

import citeproc
from citeproc import model
from citeproc.source import Date as SingleDate
from citeproc.source import LiteralDate, VariableError
from citeproc.source import Name as Person
from citeproc.source import Reference as Source
from lxml import etree

from doiuri.citations._parts import LINK, MARKS, SPACE, from_rich, link_of, marked, particle_of
from doiuri.citations._style import NAMESPACE, check_locale
from doiuri.works._csl import NAMES, NUMBERS, OTHER_DATES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri.citations._parts import Reference
    from doiuri.citations._style import Area, Style
    from doiuri.works._work import Work

_NEVER_SHOWN = frozenset(("key", "type", "language", "year_suffix"))
_GIVEN = re.compile("\ue023([^\ue024]*)\ue024")  # in a literal name
_EAST_ASIAN = re.compile("[\u3040-\u9fff\uac00-\ud7a3]")
_INITIAL = re.compile(r"(?<![^\s.])(\w)(?:\.\s*|\s+|$)(?=(\w(?:\W|$))?)")
_NUMBERS = re.compile(r"[a-z]*\d+[a-z]*(?:\s*[-–,&]\s*[a-z]*\d+[a-z]*)*", re.IGNORECASE)
_SMALL = frozenset(
    "a about above across after against along among an and around as at before behind below beneath beside"  # noqa: SIM905
    " besides between beyond but by d de despite down during except for from in inside into like near nor of"
    " off on onto or out over per so since than the through throughout till to toward towards under until up"
    " upon versus via vs v with within without yet".split()
)
_WORD = re.compile(rf"(?<![^\s\-\u2013/(“\"‘{MARKS}])[^\W\d_][^\s\-\u2013/{MARKS}]*")
_AFTER_HYPHEN = re.compile(r"(?<=-)[^\W\d_]")
_RANGE = re.compile(r"(?<=\w)\s*[-\u2010-\u2015]+\s*(?=\w)")
_SHORT_RANGE = re.compile(r"(?<!\S)(\d+)-(\d+)(?![^\s,])")
_DIGITS = re.compile(r"\d+")
_DATES = ("issued", *OTHER_DATES)
_OTHER_FORMS = {
    "symbol": "short",
    "verb-short": "verb",
}  # of a term; None, the long one, for any other


class Item(citeproc.CitationItem):
    """A work in a citation or a list, and what is noted while it is rendered."""

    def __init__(self, reference: Reference, style: Style, **options: Any) -> None:
        super().__init__("work")
        demotes = "sort" in options and style.options.get("demote-non-dropping-particle") != "never"
        self["source"] = _Noting(_values(reference.work, reference.letter, style, demotes))
        self["implicit_letter"] = "" if style.names_letters else reference.letter
        self.update(options, is_ambiguous=reference.is_ambiguous)

    @property
    def reference(self) -> _Noting:
        source: _Noting = self["source"]
        return source

    @property
    def number(self) -> str:
        return str(self.get("number", ""))


@lru_cache(maxsize=1024)
def _values(work: Work, letter: str, style: Style, demotes: bool) -> dict[str, Any]:
    """Return the variables of a work as citeproc-py can read them: it escapes nothing."""
    csl = work.csl
    texts = {name: from_rich(value) for name, value in csl.items() if isinstance(value, str)}
    for name in ("volume", "issue"):
        if name in texts:
            texts[name] = _RANGE.sub("–", texts[name])
    if "page" in texts:  # citeproc-py reads only hyphens, and does not complete "123-9"
        texts["page"] = _RANGE.sub("-", texts["page"])
        if "page-range-format" in style.options:
            texts["page"] = _SHORT_RANGE.sub(_completed, texts["page"])
    if style.is_shipped and texts.get("publisher", "").casefold() == work.container.casefold():
        texts.pop("publisher", None)  # bioRxiv is both
    if "event-title" in texts:
        texts["event"] = texts["event-title"]  # of CSL 1.0.1
    texts["year-suffix"] = letter
    texts.pop("URL", None)
    if link_of(work):
        texts["URL" if work.doi is None else "DOI"] = LINK
    values: dict[str, Any] = {name: model.String(text) for name, text in texts.items() if text}
    values |= {
        name: [Person(**_name(one, demotes)) for one in csl[name]] for name in NAMES if name in csl
    }
    for name in _DATES:
        if name in csl:
            date = dict(zip(("year", "month", "day"), csl[name]["date-parts"][0], strict=False))
            values[name] = SingleDate(**date)
            if date["year"] < 1000:  # after which citeproc-py writes "AD"
                values[name] = LiteralDate(str(date["year"]))
                values[name].update(date)
    return {name.replace("-", "_"): value for name, value in values.items()}


def _name(name: dict[str, str], demotes: bool) -> dict[str, str]:
    """Return a name whose initials citeproc-py can make: it expects one lower-case word between others.

    :param demotes: whether the family name begins after its particles
    """
    given, family = name.get("given", ""), name.get("family", "")
    if given and given.upper() == given.lower():  # a script without case has no initials
        separator = "" if _EAST_ASIAN.search(family) else ", "
        return {"literal": from_rich(f"{family}\ue023{separator}{given}\ue024")}
    name = {part: from_rich(text) for part, text in name.items()}
    if particle := particle_of(name.get("family", "")):
        name["non-dropping-particle"] = "" if demotes else particle
        name["family"] = name["family"].removeprefix(particle).lstrip()
    if given:
        capitals = _AFTER_HYPHEN.sub(lambda letter: letter[0].upper(), given)
        if given.islower():
            capitals = " ".join(word[:1].upper() + word[1:] for word in capitals.split())
        words = [
            (low, [*run]) for low, run in groupby(capitals.split(), lambda word: word[0].islower())
        ]
        if words[-1][0]:
            name["dropping-particle"] = " ".join(words.pop()[1])
        name["given"] = " ".join((SPACE if low else " ").join(run) for low, run in words)
    return name


def _completed(pages: re.Match[str]) -> str:
    first, last = pages.groups()
    return f"{first}-{first[: max(0, len(first) - len(last))]}{last}"


class _Noting(Source):
    """The variables of a work; notes which of them are read, and which are missing."""

    def __init__(self, values: dict[str, Any]) -> None:
        dict.update(self, values)
        self.__dict__["read"], self.__dict__["missing"] = set[str](), set[str]()

    def __contains__(self, name: object) -> bool:
        return bool(super().__contains__(str(name).replace("-", "_")))

    def get(self, name: str, default: Any = None) -> Any:
        return super().get(name.replace("-", "_"), default)

    def __getitem__(self, name: str) -> Any:
        name = name.replace("-", "_")
        notes = self.__dict__["read" if name in self else "missing"]
        if name not in _NEVER_SHOWN:
            notes.add(name)
        return super().__getitem__(name)


class Substitute(model.Substitute):
    """What is shown in place of a variable is not shown again (CSL 1.0.2, Substitute)."""

    def render(self, item: Item, context: Any = None, **kwargs: Any) -> Any:
        for child in self:
            notes, outer = item.reference.__dict__, item.get("names")
            notes["read"] = set()
            item["names"] = outer if outer is not None else self.getparent()
            try:
                text = child.render(item, context=context, **kwargs)
            except VariableError:
                continue
            finally:
                item["names"] = outer
            if text:
                for name in notes["read"]:
                    item.reference.pop(name, None)
                return text
        return None


class Names(model.Names):
    """Notes the first names, or what stands in their place; leaves them out if only the rest is wanted.

    Names without a form in a substitute have that of the names that they stand for, also in macros.
    """

    def render(self, item: Item, context: Any = None, **kwargs: Any) -> Any:
        within = item.get("names") is not None
        if self.name is None and within:
            kwargs["names_context"] = item["names"]
        elif self.name is None:
            self.insert(
                0, self.makeelement(f"{NAMESPACE}name")
            )  # citeproc-py would insert one of its own
        text = super().render(item, context=context, **kwargs)
        if text and not item.get("author") and not within:
            item["author"] = str(text)
            if item.get("no_author"):
                raise VariableError
        return text


class Name(model.Name):
    """Initials also where ``initialize`` is inherited; "and" for "&" in a sentence; "et al." for "others"."""

    def process(
        self,
        item: Item,
        variable: str,
        context: Any = None,
        sort_options: Any = None,
        **kwargs: Any,
    ) -> Any:
        if item.get("sort") is not None:
            sort_options = item.get("sort")
        elif item.get("in_sentence") and self.get_option("and", context) == "symbol":
            sort_options = {"and": "text"}
        names = item.reference.get(variable, [])
        if len(names) > 1 and names[-1].get("literal") == "others":
            least, first = (
                self.get_option(f"et-al-{name}", context, sort_options)
                for name in ("min", "use-first")
            )
            shown = min(first if least and len(names) >= least else len(names), len(names) - 1)
            sort_options = {
                **(sort_options or {}),
                "et-al-min": len(names),
                "et-al-use-first": shown,
            }
            sort_options["et-al-use-last"] = "false"
        text = super().process(item, variable, context=context, sort_options=sort_options, **kwargs)
        if "\ue023" in str(text):
            is_short = self.get_option("form", context, sort_options) == "short"
            text = model.String(_GIVEN.sub("" if is_short else r"\1", str(text)))
        return item.pop("repeated", "") or text

    def initialize(self, given: str, mark: str, context: Any) -> str:
        around = (self, *(self if context is None else context).iterancestors())
        if next(filter(None, (element.get("initialize") for element in around)), "true") == "false":
            following = f"{mark.rstrip()} "
            return _INITIAL.sub(lambda one: one[1] + (mark if one[2] else following), given).strip()
        text = str(super().initialize(given, mark, context))
        return re.sub(r"^[. ]+| \.(?!\w)", "", text)  # beside words without capitals


class _Numbered:
    """Shortens only ranges whose ends are equally long."""

    def _format_last_page(self, first: str, last: str) -> Any:
        return last if len(first) != len(last) else super()._format_last_page(first, last)  # type: ignore[misc]


class _Cased:
    """Title case with hyphens and the stop words of CSL 1.0.2; "arXiv" keeps its first letter."""

    def case(self, text: Any, language: str | None = "en") -> Any:
        first = str(text).split(maxsplit=1)[:1]
        if self.get("text-case") == "capitalize-first" and first and not first[0].islower():  # type: ignore[attr-defined]
            return text
        if self.get("text-case") == "title" and language == "en":  # type: ignore[attr-defined]
            return model.String(_WORD.sub(partial(_titled, str(text)), str(text)))
        return super().case(model.String(str(text)), language)  # type: ignore[misc]


class _Termed:
    """A term that lacks a form has another one (CSL 1.0.2, Terms)."""

    def get_term(self, name: str, form: str | None = None, **kwargs: Any) -> Any:
        term = super().get_term(name, form, **kwargs)  # type: ignore[misc]
        return (
            self.get_term(name, _OTHER_FORMS.get(form), **kwargs) if term is None and form else term
        )


class Text(_Cased, _Numbered, _Termed, model.Text):
    """Text; what macros call is remembered, for it takes citeproc-py long to find out."""

    def process(self, item: Item, *args: Any, **kwargs: Any) -> Any:
        if self.get("term") == "no date":  # it stands for a variable
            item.reference.__dict__["read"].add("no_date")
        return super().process(item, *args, **kwargs)

    get_macro = lru_cache(maxsize=4096)(model.Text.get_macro)
    calls_variable = lru_cache(maxsize=4096)(model.Text.calls_variable)


class Macro(model.Macro):
    """Like a group, shows nothing if all variables that it calls are missing."""

    def render(self, item: Item, *args: Any, **kwargs: Any) -> Any:
        notes = item.reference.__dict__
        read, missing = notes["read"], notes["missing"]
        notes["read"], notes["missing"] = set(), set()
        try:
            text = super().render(item, *args, **kwargs)
            return None if notes["missing"] and not notes["read"] else text
        finally:
            notes["read"], notes["missing"] = read | notes["read"], missing | notes["missing"]


class Label(_Cased, _Termed, model.Label):
    """A label; there is none for a variable that the work does not have."""

    def process(self, item: Item, variable: str | None = None, *args: Any, **kwargs: Any) -> Any:
        own = self.get("variable")
        if variable is None and own != "locator":
            value = item.reference[own]  # raises VariableError
            if own.startswith("number-of"):
                kwargs["plural"] = str(value) != "1"
        # Labels do not sort
        return (
            None
            if item.get("sort") is not None
            else super().process(item, variable, *args, **kwargs)
        )


class Name_Part(_Cased, model.Name_Part):  # noqa: N801 (citeproc-py's names are those of the elements)
    """A part of a name, which may be missing."""

    def case(self, text: Any, language: str | None = "en") -> Any:
        return super().case(text, language) if text else text


class Date(model.Date):
    """The delimiter of a localized date, and the letter after the year if the style does not show it."""

    def join(self, strings: Any, default_delimiter: str = "") -> Any:
        if self.get("form") and not self.is_locale_date():
            default_delimiter = self.get_date(self.get("form")).get("delimiter", "")
        return super().join(strings, default_delimiter)

    def render(self, item: Item, *args: Any, **kwargs: Any) -> Any:
        if item.get("sort") is not None:
            return self._sortable(item.reference[self.get("variable")])
        text = super().render(item, *args, **kwargs)
        letter = item["implicit_letter"]
        if text and letter and self.get("variable") == "issued":
            item["implicit_letter"] = ""
            return re.sub(r"\d{4}", rf"\g<0>{letter}", str(text), count=1)
        return text

    def _sortable(self, date: Any) -> str:
        """Return the parts of a date that are shown, as they sort (CSL 1.0.2, Sorting)."""
        shown = (
            self.get("date-parts")
            or "-".join(part.get("name") for part in self)
            or "year-month-day"
        )
        return "".join(
            f"{date.get(part, 0):04}" for part in ("year", "month", "day") if part in shown
        )


class _Condition:
    """Also tests ``disambiguate``, ranges of numbers, and locators."""

    def render(self, item: Item, *args: Any, **kwargs: Any) -> Any:
        if self.get("disambiguate") == "true" and not item["is_ambiguous"]:  # type: ignore[attr-defined]
            raise model.ConditionFailed
        return super().render(item, *args, **kwargs)  # type: ignore[misc]

    def _is_numeric(self, item: Item) -> list[bool]:
        found = []
        for variable in self.get("is-numeric").split():  # type: ignore[attr-defined]
            has_locator = variable == "locator" and item.has_locator
            value = item.locator.identifier if has_locator else item.reference.get(variable, "")
            found.append(bool(_NUMBERS.fullmatch(str(value))))
        return found


@lru_cache(maxsize=1)
def _lookup() -> etree.ElementNamespaceClassLookup:
    lookup = etree.ElementNamespaceClassLookup()
    namespace = lookup.get_namespace(model.CitationStylesElement.nsmap["cs"])
    namespace[None] = model.CitationStylesElement
    mixed = ((_Cased, _Numbered, model.Number), (_Condition, model.If), (_Condition, model.Else_If))
    own: list[Any] = [Substitute, Names, Name, Name_Part, Text, Macro, Label, Date]
    own.extend(type(bases[-1].__name__, bases, {}) for bases in mixed)
    for element in (*model.CitationStylesElement.__subclasses__(), *own):
        namespace[element.__name__.replace("_", "-").lower()] = element
    return lookup


def _titled(text: str, match: re.Match[str]) -> str:
    word, before = match[0], text[: match.start()].rstrip('“"‘( ')
    before = re.sub(rf"[{MARKS}]+$", "", before).rstrip()
    if not word.islower():
        return word
    if (
        word.strip('.,;:)”’"') in _SMALL
        and before
        and before[-1] not in ":?!.—"
        and match.end() < len(text)
    ):
        return word
    return word[0].upper() + word[1:]


class _Formatter:
    """What citeproc-py calls for formatted text: puts marks around it."""

    preformat = Light = Underline = str
    Italic = Oblique = partial(marked, "emphasis")
    Bold = partial(marked, "strong")
    Subscript = partial(marked, "subscript")
    Superscript = partial(marked, "superscript")
    SmallCaps = partial(marked, "small-caps")


@lru_cache(maxsize=16)
def _layouts(style: Style, locale: str) -> dict[str, Any]:
    csl = citeproc.CitationStylesStyle(BytesIO(style.xml), check_locale(locale), validate=False)
    csl.parser.set_element_class_lookup(_lookup())
    citeproc.CitationStylesBibliography(csl, {}, _Formatter)  # sets the formatter
    # First: lxml drops the attributes of elements that nothing refers to
    elements = [*csl.root.iter()]
    csl.root.citation.cites = []
    layouts = {"citation": csl.root.citation.layout, "bibliography": csl.root.bibliography.layout}
    for layout in layouts.values():
        layout.repressed = {}
    return {**layouts, "kept": elements}


@contextmanager
def _layout(reference: Reference, style: Style, locale: str, area: Area) -> Iterator[Any]:
    """Yield what renders an item; errors say what cannot be formatted."""
    try:
        yield _layouts(style, locale)[area]
    except (
        AttributeError,
        LookupError,
        RuntimeError,
        TypeError,
        ValueError,
        VariableError,
    ) as error:
        # the depth at which Python stops varies, and so does its message
        reason = "a macro calls itself" if isinstance(error, RecursionError) else repr(error)
        raise ValueError(
            f"{style.name}: citeproc-py cannot format {reference.key} in this style ({reason})"
        ) from error


def entry(reference: Reference, style: Style, locale: str, repeated: str = "") -> str:
    """Return the entry of a work, with marks.

    :param repeated: what stands for the first names
    """
    with _layout(reference, style, locale, "bibliography") as layout:
        item = Item(reference, style, repeated=repeated)
        return str(layout.format(layout.wrap(layout.render_children(item))) or "")


@lru_cache(maxsize=4096)
def cited(
    reference: Reference,
    locator: tuple[str, str],
    style: Style,
    locale: str,
    *,
    no_author: bool = False,
    in_sentence: bool = False,
) -> tuple[str, str]:
    """Return a work as a citation has it: the author, or what stands for it, and all of it, with marks.

    :param locator: CSL's name for its kind, and the locator; both "" if there is none
    :param no_author: whether the names are left out
    :param in_sentence: whether "&" between names is "and"
    """
    with _layout(reference, style, locale, "citation") as layout:
        item = Item(
            reference, style, number=reference.number, no_author=no_author, in_sentence=in_sentence
        )
        if locator[1]:
            item["locator"] = citeproc.Locator(*locator)
        text = str(layout.render_children(item) or "")
        return item.get("author", ""), text


@lru_cache(maxsize=4096)
def sort_texts(reference: Reference, style: Style, locale: str, area: Area) -> tuple[str, ...]:
    """Return what the keys of a list or a citation show of a work, with marks (CSL 1.0.2, Sorting)."""
    with _layout(reference, style, locale, area) as layout:
        keys = layout.getparent().findall(f"{NAMESPACE}sort/{NAMESPACE}key")
        return tuple(_sort_text(reference, style, layout, key) for key in keys)


def _sort_text(reference: Reference, style: Style, layout: Any, key: Any) -> str:
    variable = key.get("variable")
    if variable == "citation-number":
        return f"{reference.number:09}"
    if variable and not len(key):
        kind = "names" if variable in NAMES else "date" if variable in _DATES else "text"
        etree.SubElement(key, f"{NAMESPACE}{kind}", variable=variable)
    options = {name.replace("names", "et-al"): value for name, value in key.items()}
    item = Item(reference, style, sort={"name-as-sort-order": "all", **options})
    try:
        text = str(
            (key[0] if variable else layout.get_macro(key.get("macro"))).render(
                item, context=layout
            )
            or ""
        )
    except VariableError:
        return ""
    text = text.replace(str(layout.get_single_term(name="et-al")), "")
    return _DIGITS.sub(lambda digits: digits[0].zfill(9), text) if variable in NUMBERS else text
