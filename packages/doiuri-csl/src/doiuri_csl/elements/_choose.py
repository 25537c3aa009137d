"""``<choose>``: elements that depend on conditions (CSL 1.0.2, Choose)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from doiuri_csl._context import Context, Element, Position
from doiuri_csl.data._dates import read_date
from doiuri_csl.elements._labels import locator_term
from doiuri_csl.elements._numbers import is_numeric

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from doiuri_csl._xml import Node

# An item has one type, a locator one label: of several values in one test any one does,
# whatever ``match`` says.
_EXCLUSIVE = ("type", "locator")

# "ibid" is also true for "ibid-with-locator", "subsequent" for both
_POSITIONS = {
    "first": (Position.FIRST,),
    "subsequent": (Position.SUBSEQUENT, Position.IBID, Position.IBID_WITH_LOCATOR),
    "ibid": (Position.IBID, Position.IBID_WITH_LOCATOR),
    "ibid-with-locator": (Position.IBID_WITH_LOCATOR,),
}


@dataclass
class _Test:
    """One test of a condition: of one variable, or whether a thing is one of several, as a type."""

    kind: str
    values: list[str]

    def holds(self, context: Context) -> bool:
        """Return whether it holds for one of its values."""
        return any(_holds(self.kind, value, context) for value in self.values)


def read_tests(node: Node) -> list[_Test]:
    """Return the tests of ``<if>``: one for each variable, but one for all the types or locators."""
    tests = []
    for kind, text in node.attributes.items():
        values = text.split()
        if kind in _EXCLUSIVE:
            tests.append(_Test(kind, values))
        elif kind != "match":
            tests.extend(_Test(kind, [value]) for value in values)
    return tests


@dataclass
class Condition:
    """``<if>``, ``<else-if>`` and ``<else>``."""

    tests: list[_Test]
    match: str
    elements: list[Content]

    def holds(self, context: Context) -> bool:
        """Return whether the tests hold together."""
        outcomes = (test.holds(context) for test in self.tests)
        if self.match == "any":
            return any(outcomes)
        if self.match == "none":
            return not any(outcomes)
        return all(outcomes)


def _holds(kind: str, value: str, context: Context) -> bool:
    """Return whether a test of a condition holds for a value."""
    if kind == "variable":
        return context.has(value)
    if kind == "type":
        return context.item.get("type") == value
    if kind == "is-numeric":
        return is_numeric(context.value(value))
    if kind == "is-uncertain-date":
        date = read_date(context.item.get(value))
        return date is not None and date.circa
    if kind == "locator":
        return bool(context.cite.locator) and locator_term(context.cite.label) == value
    if kind == "position":
        return _is_in_position(value, context)
    if kind == "disambiguate":
        context.progress.conditions_tested += 1
        return context.progress.conditions_tested <= context.entry.listed.conditions
    return False


def _is_in_position(value: str, context: Context) -> bool:
    if context.area != "citation":
        return False
    if value == "near-note":
        return context.cite.place.is_near_note
    return context.cite.place.position in _POSITIONS.get(value, ())


@dataclass
class Choose:
    """``<choose>``: the elements of the first condition that holds."""

    conditions: list[Condition]

    def chosen(self, context: Context) -> list[Content]:
        """Return the elements to render here."""
        for condition in self.conditions:
            if condition.holds(context):
                return condition.elements
        return []


def rendering_elements(elements: Iterable[Content], context: Context) -> Iterator[Element]:
    """Yield elements; in place of ``<choose>``, which renders nothing itself, what it chooses.

    So what stands in it takes the delimiters of the group around it, and each element of it
    is a substitute of its own.
    """
    for element in elements:
        if isinstance(element, Choose):
            yield from rendering_elements(element.chosen(context), context)
        else:
            yield element


Content: TypeAlias = Element | Choose
"""What stands in a layout, a group or a macro."""
