"""JSON as RFC 8259 has it, and nothing more: what other readers could understand differently is refused."""

from __future__ import annotations

import json
import math
from functools import partial
from typing import Any, NoReturn

JSON = Any
"""What ``json.loads`` may return: typeshed has no better name for it."""


MAX_DEPTH = 100
"""Lists and objects within each other: records have four."""

_TOO_DEEP = f"JSON nested too deeply: at most {MAX_DEPTH} levels are read"


class Malformed(ValueError):  # noqa: N818 - what it is, not that it is an error
    """Text that is not JSON, or JSON of another shape than promised."""


def load(source: str | bytes) -> JSON:
    """Read JSON; raises Malformed for what is none.

    That includes NaN, a member named twice, and numbers or nesting beyond reason.
    """
    try:
        text = source.removeprefix("\ufeff") if isinstance(source, str) else source.decode("utf-8-sig")
        value = _decoder.decode(text)
    except UnicodeDecodeError:
        raise Malformed("not JSON: not UTF-8") from None
    except RecursionError:
        raise Malformed(_TOO_DEEP) from None
    except Malformed:
        raise
    except ValueError as error:  # JSONDecodeError, or an integer of thousands of digits
        raise Malformed(f"not JSON: {error}") from None
    if text.count("[") + text.count("{") > MAX_DEPTH:
        _check_depth(value)
    return value


def _check_depth(value: JSON) -> None:
    """Refuse what could be read, but not written again, for the writer's stack has less room."""
    level = [value]
    for _ in range(MAX_DEPTH):
        inner = (
            one.values() if isinstance(one, dict) else one for one in level if isinstance(one, dict | list)
        )
        level = [one for members in inner for one in members]
        if not level:
            return
    raise Malformed(_TOO_DEEP)


def dump(value: object, *, indent: int | None = None) -> str:
    """Return JSON on one line, or indented; only lone surrogates, which UTF-8 cannot express, are escaped."""
    write = partial(
        json.dumps, value, indent=indent, separators=None if indent else (",", ":"), allow_nan=False
    )
    text: str = write(ensure_ascii=False)
    return text if _encodable(text) else write()


def integer(value: JSON) -> int | None:
    """The integer that a JSON number is (``1.0`` is one, ``true`` and ``"1"`` are none), else None."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value % 1:
        return None
    return int(value)


def shown(value: JSON) -> str:
    """A value for an error message: short, whatever it is."""
    return (
        f"{value!r:.60}" if isinstance(value, str | int | float | None) else f"of type {type(value).__name__}"
    )


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _members(pairs: list[tuple[str, JSON]]) -> dict[str, JSON]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise Malformed("a JSON object names a member twice")
    return members


def _number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise Malformed(f"JSON number out of range: {text[:40]}")
    return number


def _refuse(constant: str) -> NoReturn:
    raise Malformed(f"{constant} is not JSON")


_decoder = json.JSONDecoder(object_pairs_hook=_members, parse_float=_number, parse_constant=_refuse)
