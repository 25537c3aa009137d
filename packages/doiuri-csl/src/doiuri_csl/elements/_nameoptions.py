"""How names are written: the options of ``<name>``, ``<name-part>`` and ``<et-al>`` (CSL 1.0.2, Name)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from doiuri_csl._context import Position
from doiuri_csl.elements._appearance import Appearance, read_appearance

if TYPE_CHECKING:
    from doiuri_csl._context import Context
    from doiuri_csl._xml import Node

_COUNTS = (
    "et-al-min",
    "et-al-use-first",
    "et-al-subsequent-min",
    "et-al-subsequent-use-first",
)

_ALL_NAMES = "1000000"

# CSL 1.0.2, Inheritable Name Options
_INHERITED = (
    *_COUNTS,
    "and",
    "delimiter-precedes-et-al",
    "delimiter-precedes-last",
    "et-al-use-last",
    "initialize",
    "initialize-with",
    "name-as-sort-order",
    "sort-separator",
    "name-form",
    "name-delimiter",
    "names-delimiter",
    "demote-non-dropping-particle",
    "initialize-with-hyphen",
)


@dataclass(frozen=True)
class NameOptions:
    """How the names of one list are written."""

    form: str
    conjunction: str
    delimiter: str
    precedes_et_al: str
    precedes_last: str
    et_al_min: int
    et_al_use_first: int
    et_al_use_last: bool
    initialize: bool
    initialize_with: str | None
    hyphen: bool
    sort_order: str
    sort_separator: str
    demote: str

    @property
    def is_count(self) -> bool:
        """Whether only the number of names is shown."""
        return self.form == "count"

    def shortens(self, count: int) -> bool:
        """Return whether a list of so many names ends in "et al."."""
        return 0 < self.et_al_min <= count and self.et_al_use_first < count


@lru_cache(maxsize=512)
def _build_options(attributes: tuple[tuple[str, str], ...], is_subsequent: bool) -> NameOptions:
    """Return the options that attributes ask for; those that are missing have CSL's defaults.

    :param attributes: names and values; not a dictionary, which could not be a key of the cache
    :param is_subsequent: whether the cite is a later one of its item, for which "et al." has options of its own
    """
    get = dict(attributes).get
    et_al_min = get("et-al-min", "0")
    et_al_use_first = get("et-al-use-first", _ALL_NAMES)
    if is_subsequent:
        et_al_min = get("et-al-subsequent-min", et_al_min)
        et_al_use_first = get("et-al-subsequent-use-first", et_al_use_first)
    return NameOptions(
        form=get("name-form", "long"),
        conjunction=get("and", ""),
        delimiter=get("name-delimiter", ", "),
        precedes_et_al=get("delimiter-precedes-et-al", "contextual"),
        precedes_last=get("delimiter-precedes-last", "contextual"),
        et_al_min=int(et_al_min),
        et_al_use_first=int(et_al_use_first),
        et_al_use_last=get("et-al-use-last") == "true",
        initialize=get("initialize") != "false",
        initialize_with=get("initialize-with"),
        hyphen=get("initialize-with-hyphen") != "false",
        sort_order=get("name-as-sort-order", ""),
        sort_separator=get("sort-separator", ", "),
        demote=get("demote-non-dropping-particle", "display-and-sort"),
    )


def inherited_attributes(node: Node) -> dict[str, str]:
    """Return the name options that stand on ``<style>``, ``<citation>``, ``<bibliography>`` or ``<name>``.

    :raises CSLError: if a count is not a number
    """
    for key in _COUNTS:
        node.number(key)  # raises
    return {key: node.get(key) for key in _INHERITED if key in node}


def _name_attributes(node: Node) -> dict[str, str]:
    """Return the options of a ``<name>`` element, under the names by which they are inherited."""
    attributes = inherited_attributes(node)
    for key in ("form", "delimiter"):
        if key in node:
            attributes[f"name-{key}"] = node.get(key)
    return attributes


@dataclass
class NameStyle:
    """``<name>``, its ``<name-part>`` and ``<et-al>``: what a substitute takes over from its ``<names>``."""

    attributes: Mapping[str, str] = field(default_factory=dict)
    appearance: Appearance = field(default_factory=Appearance)
    family: Appearance = field(default_factory=Appearance)
    given: Appearance = field(default_factory=Appearance)
    et_al_term: str = "et-al"
    et_al_appearance: Appearance = field(default_factory=Appearance)

    @classmethod
    def read(cls, node: Node) -> NameStyle:
        """Return how a ``<names>`` element writes its names, from its children ``<name>`` and ``<et-al>``."""
        style = cls()
        name = node.child("name")
        if name is not None:
            style.attributes = _name_attributes(name)
            style.appearance = read_appearance(name)
            for part in name.children("name-part"):
                if part.get("name") == "family":
                    style.family = read_appearance(part)
                else:
                    style.given = read_appearance(part)
        et_al = node.child("et-al")
        if et_al is not None:
            style.et_al_term = et_al.get("term", "et-al")
            style.et_al_appearance = read_appearance(et_al)
        return style

    def options(self, context: Context) -> NameOptions:
        """Return the options in a context.

        Those of ``<name>`` win over those of the area and the style, and those of a sort key over all.
        """
        attributes = {**context.names, **self.attributes}
        # "names-min" and "names-use-first" of a ``<key>``, under the names of the options that they replace
        if context.sort_names is not None:
            attributes.update(context.sort_names)
        is_subsequent = context.cite.place.position is not Position.FIRST
        return _build_options(tuple(attributes.items()), is_subsequent)
