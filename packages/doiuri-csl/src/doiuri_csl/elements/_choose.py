"""``<choose>``: elements that depend on conditions (CSL 1.0.2, Choose)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from doiuri_csl._context import Context, Element, Position
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

    check: Callable[[str, Context], bool]
    values: list[str]

    def holds(self, context: Context) -> bool:
        """Return whether it holds for one of its values."""
        for value in self.values:  # noqa: SIM110 (twice as fast as any())
            if self.check(value, context):
                return True
        return False


def read_tests(node: Node) -> list[_Test]:
    """Return the tests of ``<if>``: one for each variable, but one for all the types or locators.

    ``<if variable="DOI URL" type="book chapter">`` has three.
    """
    tests = []
    for kind, text in node.attributes.items():
        values = text.split()
        check = _CHECKS.get(kind, _never)
        # Each variable is a test of its own, so that ``match`` can ask for all, any or none of them
        if kind in _EXCLUSIVE:
            tests.append(_Test(check, values))
        elif kind != "match":
            tests.extend(_Test(check, [value]) for value in values)
    return tests


@dataclass
class Condition:
    """``<if>``, ``<else-if>`` and ``<else>``."""

    tests: list[_Test]
    match: str
    elements: list[Content]

    def holds(self, context: Context) -> bool:
        """Return whether the tests hold together: all, any or none of them, as ``match`` says."""
        holding = (test.holds(context) for test in self.tests)
        if self.match == "all":
            return all(holding)
        if self.match == "any":
            return any(holding)
        return not any(holding)  # "none"


def _has_variable(name: str, context: Context) -> bool:
    return context.has(name)


def _is_of_type(name: str, context: Context) -> bool:
    return bool(context.item.get("type") == name)


def _is_numeric(name: str, context: Context) -> bool:
    return is_numeric(context.value(name))


def _is_uncertain(name: str, context: Context) -> bool:
    date = context.date(name)
    return date is not None and date.circa


def _has_locator(label: str, context: Context) -> bool:
    return bool(context.cite.locator) and locator_term(context.cite.label) == label


def _is_ambiguous(_value: str, context: Context) -> bool:
    """Return whether the next of the style's tests for ``disambiguate`` is true here."""
    context.progress.conditions_tested += 1
    return context.progress.conditions_tested <= context.cited_item.listed.conditions


def _is_in_position(value: str, context: Context) -> bool:
    """Return whether a cite is in a position, such as "subsequent" or "near-note"; an entry is in none."""
    if context.area != "citation":
        return False
    if value == "near-note":
        return context.cite.place.is_near_note
    return context.cite.place.position in _POSITIONS.get(value, ())


def _never(_value: str, _context: Context) -> bool:
    """Return False, as a test that CSL does not have."""
    return False


_CHECKS: dict[str, Callable[[str, Context], bool]] = {
    "variable": _has_variable,
    "type": _is_of_type,
    "is-numeric": _is_numeric,
    "is-uncertain-date": _is_uncertain,
    "locator": _has_locator,
    "position": _is_in_position,
    "disambiguate": _is_ambiguous,
}


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
    """Yield the elements; in place of each ``<choose>``, those that it chooses, as if they stood there themselves.

    So they take the delimiters of the group around it, and in ``<substitute>`` each is a substitute of its own.
    """
    for element in elements:
        if isinstance(element, Choose):
            yield from rendering_elements(element.chosen(context), context)
        else:
            yield element


Content: TypeAlias = Element | Choose
"""What stands in a layout, a group or a macro."""
