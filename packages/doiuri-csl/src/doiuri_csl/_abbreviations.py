"""Lists of abbreviations: what stands for titles, publishers and places in their short form."""

from __future__ import annotations

import hashlib
import json
import re
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from doiuri_csl._errors import CSLError, naming_file

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping

# The fields of lists, as citeproc-js has them, and the variables that they abbreviate
_VARIABLES = {
    "container-title": ("container-title", "archive"),
    "collection-title": ("collection-title",),
    "title": ("title", "genre", "event", "event-title", "medium"),
    "institution-part": ("publisher", "authority"),
    "place": ("publisher-place", "event-place", "archive-place"),
}
_DEFAULT = "default"
# What Zotero leaves out of the titles in its list; "l" and "d" only as in "l'Oiseau", not in "Physica D"
_NOT_COMPARED = re.compile(
    r"<[^<>]*>|\b(?:the|and|l[ae]|[ld](?=['’])|et|und|y)\b|[^\w\s]", re.IGNORECASE
)
# A hint of Juris-M for other fields, before an abbreviation: "!publisher>>>J. Law"
_HINT = re.compile(r"![a-z,-]*>>>")


class Abbreviations:
    """A list of abbreviations, for ``Processor``.

    It has the form of Zotero and Juris-M: by jurisdiction, by field, by the long form. The fields are
    "container-title", "collection-title", "title", "institution-part" (publishers) and "place"; others are
    ignored. Long forms are compared without case, punctuation, articles and "and".

    >>> journals = {"Journal of the Royal Society Interface": "J. R. Soc. Interface"}
    >>> abbreviations = Abbreviations({"default": {"container-title": journals}})
    >>> abbreviations.get("container-title", "Journal of The Royal Society: Interface")
    'J. R. Soc. Interface'

    :param lists: the abbreviations, as JSON has them
    :raises CSLError: if it is not a list of this form
    """

    def __init__(self, lists: Mapping[str, Any]) -> None:
        self._lists: dict[tuple[str, str], dict[str, str]] = {}
        # The lists that Juris-M publishes stand inside a description
        described = lists.get("xdata")
        by_jurisdiction = described if isinstance(described, dict) else lists
        for jurisdiction, fields in by_jurisdiction.items():
            if not isinstance(fields, dict):
                raise CSLError(f"{jurisdiction!r} has no fields, such as container-title")
            for field, entries in fields.items():
                if field in _VARIABLES:
                    self._lists[jurisdiction, field] = _read_entries(field, entries)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Abbreviations:
        """Return the list of a JSON file.

        :raises CSLError: if it cannot be read or is not such a list; it says the path
        """
        with naming_file(path):
            lists = _read_json(Path(path).read_bytes())
            # Zotero's list describes itself
            lists.pop("info", None)
            return cls(lists)

    @cached_property
    def digest(self) -> bytes:
        """A digest of the list."""
        return hashlib.blake2s(json.dumps([*self._lists.items()]).encode()).digest()

    def get(self, field: str, long: str, jurisdiction: str = "") -> str:
        """Return the abbreviation of a long form; "" if there is none.

        :param field: such as "container-title"
        :param jurisdiction: of Juris-M, such as "us:fl"; the first counts of "us:fl", "us" and "default"
        """
        parts = jurisdiction.lower().split(":")
        jurisdictions = [":".join(parts[:count]) for count in range(len(parts), 0, -1)]
        key = _compared(long)
        for name in (*jurisdictions, _DEFAULT):
            short = self._lists.get((name, field), {}).get(key)
            if short is not None:
                return short
        return ""

    def short_forms(self, item: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Yield the short forms of an item: ("container-title-short", "J. R. Soc. Interface")."""
        jurisdiction = item.get("jurisdiction", "")
        for field, variables in _VARIABLES.items():
            for variable in variables:
                long = item.get(variable, "")
                short = self.get(field, long, jurisdiction) if long else ""
                if short:
                    yield f"{variable}-short", short


def _read_json(encoded: bytes) -> dict[str, Any]:
    """Return the object of a JSON file.

    :raises CSLError: if it is not JSON, or not an object
    """
    try:
        lists = json.loads(encoded)
    except json.JSONDecodeError as error:
        raise CSLError(f"not JSON: {error.msg}", line=error.lineno) from None
    except (ValueError, RecursionError) as error:  # not UTF-8, or too deep
        raise CSLError(f"not JSON: {error}") from None
    if not isinstance(lists, dict):
        raise CSLError("not a list of abbreviations: expected an object")
    return lists


def _read_entries(field: str, entries: object) -> dict[str, str]:
    """Return the abbreviations of a field, by what ``_compared`` returns for their long forms.

    :raises CSLError: if the field has something else
    """
    if not isinstance(entries, dict):
        raise CSLError(f"{field!r} is not an object of abbreviations")
    read: dict[str, str] = {}
    for long, short in entries.items():
        if not isinstance(short, str):
            raise CSLError(f"{field!r}: the abbreviation of {long!r} is not text")
        text = _HINT.sub("", short, count=1) if short.startswith("!") else short
        # Of long forms that differ in articles or case alone, the first counts
        if text:
            read.setdefault(_compared(long), text)
    return read


def _compared(long: str) -> str:
    """Return a long form without case, punctuation, articles and "and", to compare it with others."""
    return " ".join(_NOT_COMPARED.sub("", long.casefold()).split())
