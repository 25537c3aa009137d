"""CSL-JSON: the items of a file, each with its line."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from doiuri_csl._errors import CSLError

if TYPE_CHECKING:
    from collections.abc import Iterator

_VALUE = re.compile(r"[^\s,]")
_ITEMS = re.compile(r'\s*\{\s*"items"\s*:\s*(?=\[)')


class LocatedItem(NamedTuple):
    """An item of a file."""

    item: dict[str, Any]
    """The item; one without an id has its number in the file as its id."""

    line: int
    """The line in which it begins, from 1."""


def read_items(encoded: bytes) -> list[LocatedItem]:
    """Return the items of CSL-JSON: those of a list, or a single one.

    A list may be the member "items" of an object, as Zotero's web API has it.

    :raises CSLError: if it is not JSON in UTF-8, or has anything else in it than items; it says the line
    """
    try:
        source = encoded.decode("utf-8-sig")
        content = json.loads(source)
    except json.JSONDecodeError as error:
        raise CSLError(f"not JSON: {error.msg}", line=error.lineno) from None
    except UnicodeDecodeError:
        raise CSLError("not in UTF-8") from None
    except (ValueError, RecursionError) as error:  # a number or a depth beyond Python's limits
        raise CSLError(f"not JSON that can be read: {error}") from None

    # The values, and where the first of them begins in the source
    if _ITEMS.match(source):
        content = content["items"]
    is_list = isinstance(content, list)
    values = content if is_list else [content]
    position = source.index("[") + 1 if is_list else 0

    # ``zip`` ends with the values, so ``_lines`` reads nothing behind the last one
    items = []
    for number, (value, line) in enumerate(zip(values, _lines(source, position), strict=False), 1):
        if not isinstance(value, dict):
            raise CSLError(f"item {number}: expected an object of CSL-JSON", line=line)
        key = value.get("id", str(number))
        if not isinstance(key, str | int):
            raise CSLError(f"item {number}: its id is neither a text nor a number", line=line)
        items.append(LocatedItem({**value, "id": str(key)}, line))
    return items


def _lines(source: str, position: int) -> Iterator[int]:
    """Yield the line of each value from a position on, from 1; only commas stand between the values."""
    decoder = json.JSONDecoder()
    line = 1
    counted_to = 0
    while (value := _VALUE.search(source, position)) is not None:
        line += source.count("\n", counted_to, value.start())
        counted_to = value.start()
        yield line
        _, position = decoder.raw_decode(source, value.start())
