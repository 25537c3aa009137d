"""The entries of lists of references, by the CSL processor citeproc-py."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, TypeAlias

from doiuri.citations._items import link_of
from doiuri.citations._locale import citeproc_folder, terms_of
from doiuri.citations._parts import linked_parts, tidied
from doiuri.records._work import Work

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, MutableMapping

    from doiuri.citations._bibliography import Reference
    from doiuri.citations._parts import Part
    from doiuri.citations._style import Style

EntryKey: TypeAlias = tuple[Work, str, bytes, str]
"""What an entry depends on: the work, its letter, a digest of the style, and the locale."""


def format_entries(
    references: Iterable[Reference],
    style: Style,
    locale: str = "en-US",
    known: MutableMapping[EntryKey, tuple[Part, ...]] | None = None,
) -> list[tuple[Part, ...]]:
    """Return the entries of references, without their numbers.

    :param references: entries of a ``Bibliography``
    :param style: their style
    :param locale: the language, such as "de-DE"
    :param known: entries of earlier calls, which are not formatted again; all of this call are set in it
    :raises ValueError: if there is no such locale, or citeproc-py cannot use the style
    :raises ModuleNotFoundError: if the extra ``citations`` is not installed
    """
    citeproc_folder()
    known = {} if known is None else known
    digest = hashlib.blake2s(style.xml).digest()
    keys = {(one.work, one.letter, digest, locale): one for one in references}
    new = {key: one for key, one in keys.items() if key not in known}
    formatted = dict(zip(new, _formatted([*new.values()], style, locale), strict=True)) if new else {}
    entries = {key: formatted[key] if key in formatted else known[key] for key in keys}
    known.update(entries)
    return [*entries.values()]


def _formatted(references: list[Reference], style: Style, locale: str) -> Iterator[tuple[Part, ...]]:
    from doiuri.citations._processor import entry

    terms = terms_of(locale)
    for reference in references:
        text = entry(reference.work, reference.letter, style, locale)
        yield linked_parts(tidied(text, terms).strip(), link_of(reference.work))
