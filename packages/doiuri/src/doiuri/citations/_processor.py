"""The CSL processor citeproc-py, with elements of our own where it departs from the specification of CSL.

The classes of the elements are looked up in a style's own parser; nothing in citeproc-py is changed.
Import this module only where the extra ``citations`` is required.
"""

from __future__ import annotations

import re
from functools import lru_cache, partial
from io import BytesIO
from typing import TYPE_CHECKING, Any

import citeproc
from citeproc import model
from citeproc.source import Reference as Source
from citeproc.source import VariableError
from citeproc.source.json import CiteProcJSON
from lxml import etree

from doiuri.citations._locale import check_locale
from doiuri.citations._parts import marked

if TYPE_CHECKING:
    from doiuri.citations._style import Style

_NEVER_SHOWN = frozenset(("key", "type", "language"))
_INITIAL = re.compile(r"\b(\w)\.?(?=\s|$)")
_NUMBERS = re.compile(r"[a-z]*\d+[a-z]*(?:\s*[-–,&]\s*[a-z]*\d+[a-z]*)*", re.IGNORECASE)
_SMALL = frozenset(
    "a about above across after against along among an and around as at before behind below beneath beside"  # noqa: SIM905
    " between but by d de down during except for from in inside into like near nor of off on onto or out over"
    " per so since than the through throughout till to toward towards under until up upon versus via vs v with"
    " within without yet".split()
)
_MARKS = "\ue000-\ue01f"
_WORD = re.compile(rf"(?<![^\s\-\u2013/(“\"‘{_MARKS}])[^\W\d_][^\s\-\u2013/{_MARKS}]*")


class Item(citeproc.CitationItem):
    """A work in a citation or a list, and what is noted while it is rendered."""

    def __init__(
        self, source: Source, number: str, locator: citeproc.Locator | None = None, **options: bool
    ) -> None:
        super().__init__(source["key"], **({} if locator is None else {"locator": locator}))
        self.update(options, source=_Noting(source), shown_number=number, author="", letter_shown=False)

    @property
    def reference(self) -> _Noting:
        return self["source"]

    @property
    def number(self) -> str:
        return self["shown_number"]


class _Noting(Source):
    """The variables of a work; notes which of them are read."""

    def __init__(self, source: Source) -> None:
        dict.update(self, source)
        self.__dict__["read"] = set()

    def __getitem__(self, name: str) -> Any:
        value = super().__getitem__(name)
        self.__dict__["read"].add(name)
        return value

    def __getattr__(self, name: str) -> Any:
        return self[name]


class Processor:
    """Renders works in a style and a language."""

    def __init__(self, style: Style, locale: str) -> None:
        csl = citeproc.CitationStylesStyle(BytesIO(style.prepared), check_locale(locale), validate=False)
        csl.parser.set_element_class_lookup(_lookup())
        citeproc.CitationStylesBibliography(csl, {}, _Formatter)  # sets the formatter
        # lxml drops an element's attributes with the last reference to it
        self._style, self._citation, self._bibliography = csl, csl.root.citation, csl.root.bibliography
        self._layouts = self._citation.layout, self._bibliography.layout
        self._citation.cites = []

    def entry(self, item: Item) -> str:
        """Return an entry of a list."""
        return "".join(map(str, self._style.render_bibliography([item])))

    def cite(self, item: Item) -> str:
        """Return a work in a citation, without what encloses the citation."""
        layout = self._layouts[0]
        layout.repressed = {}
        return str(layout.render_children(item) or "")

    def sort_text(self, item: Item, macro: str, **options: str) -> str:
        """Return the text of a macro that is a key to sort by."""
        layout = self._layouts[1]
        layout.repressed = {}
        options = {"name-as-sort-order": "all", **options}
        return str(layout.get_macro(macro).render(item, context=layout, sort_options=options) or "")


@lru_cache(maxsize=16)
def processor(style: Style, locale: str) -> Processor:
    """Return the processor of a style and a language."""
    return Processor(style, locale)


def read_item(item: dict[str, Any]) -> Source:
    """Return a work in CSL-JSON as citeproc-py has it."""
    (source,) = CiteProcJSON([{"id": "work", **item}]).values()
    if "event" in item:  # "event-title" is unknown to citeproc-py, which warns
        source["event_title"] = source["event"]
    return source


class Substitute(model.Substitute):
    """What is shown in place of a variable is not shown again (CSL 1.0.2, Substitute)."""

    def render(self, item: Item, context: Any = None, **kwargs: Any) -> Any:
        for child in self:
            inherits = isinstance(child, model.Names) and child.name is None
            names = {"names_context": self.getparent()} if inherits else {}
            read = item.reference.__dict__["read"]
            read.clear()
            try:
                text = child.render(item, context=context, **names, **kwargs)
            except VariableError:
                continue
            if text:
                for name in read - _NEVER_SHOWN:
                    item.reference.pop(name, None)
                return text
        return None


class Names(model.Names):
    """Notes the first names, or what stands in their place; leaves them out if only the rest is wanted."""

    def render(self, item: Item, context: Any = None, **kwargs: Any) -> Any:
        if item["author"] or kwargs.get("sort_options") or isinstance(self.getparent(), model.Substitute):
            return super().render(item, context=context, **kwargs)
        text = super().render(item, context=context, **kwargs)
        if text and not item["author"]:
            item["author"] = str(text)
            if item.get("no_author"):
                raise VariableError
        return text


class Name(model.Name):
    """Initials also where ``initialize`` is inherited; "and" for "&" in a sentence."""

    def process(
        self, item: Item, variable: str, context: Any = None, sort_options: Any = None, **kwargs: Any
    ) -> Any:
        if item.get("in_sentence") and self.get_option("and", context) == "symbol":
            sort_options = {"and": "text", **(sort_options or {})}
        return super().process(item, variable, context=context, sort_options=sort_options, **kwargs)

    def initialize(self, given: str, mark: str, context: Any) -> str:
        around = (self, *(self if context is None else context).iterancestors())
        if next(filter(None, (element.get("initialize") for element in around)), "true") == "false":
            return _INITIAL.sub(lambda initial: initial[1] + mark.rstrip(), given)
        return str(super().initialize(given, mark, context))


class _Numbered:
    """Shortens only ranges whose ends are equally long."""

    def _format_last_page(self, first: str, last: str) -> Any:
        return last if len(first) != len(last) else super()._format_last_page(first, last)  # type: ignore[misc]


class _Cased:
    """Title case as citeproc-js has it: hyphens, and the stop words of CSL 1.0.2."""

    def case(self, text: Any, language: str | None = "en") -> Any:
        if self.get("text-case") == "title" and language == "en":  # type: ignore[attr-defined]
            return model.String(_WORD.sub(partial(_titled, str(text)), str(text)))
        return super().case(model.String(str(text)), language)  # type: ignore[misc]


class Text(_Cased, _Numbered, model.Text):
    """Text."""


class Label(_Cased, model.Label):
    """A label."""


class Number(_Numbered, model.Number):
    """A number."""


class Date(model.Date):
    """The delimiter of a localized date, and the letter after the year if the style does not show it."""

    def join(self, strings: Any, default_delimiter: str = "") -> Any:
        if self.get("form") and not self.is_locale_date():
            default_delimiter = self.get_date(self.get("form")).get("delimiter", "")
        return super().join(strings, default_delimiter)

    def render(self, item: Item, *args: Any, **kwargs: Any) -> Any:
        text = super().render(item, *args, **kwargs)
        letter = item.reference.get("implicit_letter")
        if text and letter and not item["letter_shown"] and self.get("variable") == "issued":
            item["letter_shown"] = True
            return re.sub(r"\d{4}", rf"\g<0>{letter}", str(text), count=1)
        return text


class _Condition:
    """Also tests ``disambiguate``, ranges of numbers, and locators."""

    def render(self, item: Item, *args: Any, **kwargs: Any) -> Any:
        if self.get("disambiguate") == "true":  # type: ignore[attr-defined]
            raise model.ConditionFailed
        return super().render(item, *args, **kwargs)  # type: ignore[misc]

    def _is_numeric(self, item: Item) -> list[bool]:
        found = []
        for variable in self.get("is-numeric").split():  # type: ignore[attr-defined]
            has_locator = variable == "locator" and item.has_locator
            value = item.locator.identifier if has_locator else item.reference.get(variable.replace("-", "_"), "")
            found.append(bool(_NUMBERS.fullmatch(str(value))))
        return found


class If(_Condition, model.If):
    """A condition."""


class Else_If(_Condition, model.Else_If):  # noqa: N801 (citeproc-py's names are those of the elements)
    """Another condition."""


@lru_cache(maxsize=1)
def _lookup() -> etree.ElementNamespaceClassLookup:
    lookup = etree.ElementNamespaceClassLookup()
    namespace = lookup.get_namespace(model.CitationStylesElement.nsmap["cs"])
    namespace[None] = model.CitationStylesElement
    own = (Substitute, Names, Name, Text, Label, Number, Date, If, Else_If)
    for element in (*model.CitationStylesElement.__subclasses__(), *own):
        namespace[element.__name__.replace("_", "-").lower()] = element
    return lookup


def _titled(text: str, match: re.Match[str]) -> str:
    word, before = match[0], text[: match.start()].rstrip("“\"‘( ")
    before = re.sub(rf"[{_MARKS}]+$", "", before).rstrip()
    if not word.islower():
        return word
    if word.strip(".,;:)") in _SMALL and before and before[-1] not in ":?!.—" and match.end() < len(text):
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
