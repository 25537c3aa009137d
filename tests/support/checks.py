"""Comparisons that say in one line what was promised, and what is there instead."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any, TypeVar

T = TypeVar("T")
AROUND = 60
"""How many characters of a text are shown before and after its first difference."""


def only(noun: str, values: Iterable[T]) -> T:
    """Return the one value; fail, and show the values, if there is none or another."""
    return exactly(1, noun, values)[0]


def exactly(count: int, noun: str, values: Iterable[T]) -> list[T]:
    """Return the values; fail, and show them, unless there are ``count``."""
    __tracebackhide__ = True
    found = [*values]
    if len(found) != count:
        raise AssertionError(f"{noun}: expected {count}, got {len(found)}: {found}")
    return found


def assert_same(promise: str, actual: object, expected: object) -> None:
    """Fail with a promise and the first difference, unless two values are equal."""
    __tracebackhide__ = True
    if actual != expected:
        raise AssertionError(f"{promise}: {difference(actual, expected)}")


def difference(actual: object, expected: object) -> str:
    """Return in one line where two values differ first, and how."""
    match actual, expected:
        case (str(), str()) | (bytes(), bytes()):
            return _difference_of_texts(actual, expected)
        case Counter(), Counter():
            return f"too much {dict(actual - expected)}, missing {dict(expected - actual)}"
        case Mapping(), Mapping():
            return _difference_of_mappings(actual, expected)
        case [*_], [*_]:
            return _difference_of_lists(actual, expected)
    return f"{actual!r}, expected {expected!r}"


def _difference_of_texts(actual: Any, expected: Any) -> str:
    length = min(len(actual), len(expected))
    place = next((at for at in range(length) if actual[at] != expected[at]), length)
    part = slice(max(place - AROUND, 0), place + AROUND)
    newline = b"\n" if isinstance(actual, bytes) else "\n"
    line = actual[:place].count(newline) + 1
    return f"line {line} has {actual[part]!r}, expected {expected[part]!r}"


def _difference_of_mappings(actual: Mapping[Any, object], expected: Mapping[Any, object]) -> str:
    if actual.keys() != expected.keys():
        missing = [key for key in expected if key not in actual]
        return f"too much {[key for key in actual if key not in expected]}, missing {missing}"
    key = next(key for key in expected if actual[key] != expected[key])
    return f"{key}: {difference(actual[key], expected[key])}"


def _difference_of_lists(actual: Sequence[object], expected: Sequence[object]) -> str:
    pairs = zip(actual, expected, strict=False)
    for index, (value, other) in enumerate(pairs):
        if value != other:
            return f"[{index}]: {difference(value, other)}"
    length = min(len(actual), len(expected))
    return f"too much {[*actual[length:]]}, missing {[*expected[length:]]}"


def differing_fields(value: Any) -> str:
    """Return a dataclass as text, without the fields that have their defaults."""
    parts = []
    for field in fields(value):
        default = field.default if field.default_factory is MISSING else field.default_factory()
        if getattr(value, field.name) != default:
            parts.append(f"{field.name}={getattr(value, field.name)!r}")
    return ", ".join(parts) or "no change"


def repeated(values: Iterable[T]) -> list[T]:
    """Return the values that are there more than once."""
    return [value for value, times in Counter(values).items() if times > 1]


def assert_times(count: int, piece: T, text: str | Sequence[T]) -> None:
    """Fail, and show the places, unless a text or a list has a piece so many times."""
    __tracebackhide__ = True
    times = text.count(piece)  # type: ignore[arg-type]
    if times == count:
        return
    places: object = text
    if isinstance(text, str):
        around = rf".{{0,{AROUND}}}{re.escape(str(piece))}.{{0,{AROUND}}}"
        places = re.findall(around, text) or text
    raise AssertionError(f"{piece!r}: expected {count} times, got {times}: {places!r}")


def assert_in_order(text: str, *pieces: str) -> None:
    """Fail unless the first places of these pieces in a text are in their order."""
    __tracebackhide__ = True
    positions = [text.find(piece) for piece in pieces]
    if -1 in positions:
        raise AssertionError(f"{pieces[positions.index(-1)]!r} is not in {text!r}")
    if positions != sorted(positions):
        raise AssertionError(f"{pieces} are at {positions}, not in this order, in {text!r}")
