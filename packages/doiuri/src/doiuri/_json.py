"""Strict JSON (RFC 8259): input that readers may understand differently is refused."""

from __future__ import annotations

import json
import math
from functools import cache
from typing import Any, NoReturn


class Malformed(ValueError):  # noqa: N818 - named after what it reports
    """The text is not JSON, or the JSON does not have the promised structure."""


def load(source: str | bytes) -> Any:
    """Parse JSON.

    :param source: text, or UTF-8 with or without a byte order mark
    :raises Malformed: for invalid JSON, and also for NaN and infinities, an object that repeats a member,
        numbers out of range and nesting deeper than Python's recursion limit
    """
    try:
        if not isinstance(source, str):
            source = source.decode()
        return _decoder.decode(source.removeprefix("\ufeff"))
    except UnicodeDecodeError:
        raise Malformed("not JSON: not UTF-8") from None
    except RecursionError:
        raise Malformed("JSON nested too deeply") from None
    except Malformed:
        raise
    except ValueError as error:  # JSONDecodeError, or an integer of thousands of digits
        raise Malformed(f"not JSON: {error}") from None


def dump(value: object, *, indent: int | None = None, sort: bool = False) -> str:
    """Return JSON on one line, or indented; only lone surrogates, which UTF-8 cannot express, are escaped.

    :param sort: sort the members of objects by name
    :raises Malformed: for nesting deeper than Python's recursion limit
    """
    try:
        text = _encoder(indent, sort, ensure_ascii=False).encode(value)
    except RecursionError:
        raise Malformed("JSON nested too deeply") from None
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate: then all that is not ASCII is escaped
        return _encoder(indent, sort, ensure_ascii=True).encode(value)
    return text


@cache  # json.dumps creates an encoder for each call, which costs more than most answers take to write
def _encoder(indent: int | None, sort: bool, *, ensure_ascii: bool) -> json.JSONEncoder:
    """Return the encoder of these options, without white space unless it indents; it refuses NaN and infinity."""
    separators = None if indent else (",", ":")
    return json.JSONEncoder(
        ensure_ascii=ensure_ascii,
        allow_nan=False,
        indent=indent,
        separators=separators,
        sort_keys=sort,
    )


def read_object(value: object) -> dict[str, Any]:
    """Return the value if it is a JSON object; raises Malformed if not."""
    if not isinstance(value, dict):
        raise Malformed(f"the answer is {brief(value)}, expected an object")
    return value


def integer(value: object) -> int | None:
    """Return a JSON number as an int (``1.0`` is 1); None for any other number or value."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value % 1:
        return None
    return int(value)


def brief(value: object) -> str:
    """Return a short description of any JSON value for an error message.

    >>> brief("a"), brief([1, 2])
    ("'a'", 'of type list')
    """
    if isinstance(value, str | int | float | None):
        return f"{value!r:.60}"
    return f"of type {type(value).__name__}"


def printable(text: str) -> str:
    r"""Return text of a server for a message: what is not printable is escaped as in ``repr``.

    >>> print(printable("down\n\x1b[2J"))
    down\n\x1b[2J
    """
    if text.isprintable():
        return text
    return "".join(map(_printable_character, text))


def _printable_character(character: str) -> str:
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode()


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; raises Malformed if a member is repeated, of which other readers may take another one."""
    members = dict(pairs)
    if len(members) != len(pairs):
        raise Malformed("a JSON object repeats a member")
    return members


def _number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise Malformed(f"JSON number out of range: {text[:40]}")
    return number


def _refuse(constant: str) -> NoReturn:
    raise Malformed(f"{constant} is not JSON")


_decoder = json.JSONDecoder(object_pairs_hook=_members, parse_float=_number, parse_constant=_refuse)
