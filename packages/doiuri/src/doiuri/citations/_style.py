"""CSL files, among them the two styles of ours, and the languages of citations."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import doiuri_csl as csl

if TYPE_CHECKING:
    import os

ENGLISH = "en-US"
SHIPPED = ("author-date", "numeric")
"""The names of our styles: in APA's manner, and in that of engineering journals."""

_NUMERIC = re.compile(
    r"""
    ieee | vancouver | num | ama | acm | acs | aip | aps    # styles and societies
    | nature | science | cell | medic | chemi | physic      # journals and fields
    """,
    re.IGNORECASE | re.VERBOSE,
)


@dataclass(frozen=True)
class Style:
    """A CSL style.

    Get one with ``Style.load``. Styles are equal if their files are.

    >>> Style.load().numbered, Style.load("numeric").numbered
    (False, True)
    """

    name: str = field(compare=False)
    """The name of a style of ours, or the path of the file, as it was given."""

    xml: bytes = field(repr=False)
    """The content of the file."""

    @classmethod
    def load(cls, name: str = "author-date", folder: str | os.PathLike[str] = ".") -> Style:
        """Return a style.

        :param name: "author-date" or "numeric", or the path of a file whose name ends in ``.csl``
        :param folder: the folder of relative paths
        :raises ValueError: for any other name, for a file that cannot be read or used, and for a style without a
            list, unless it is one of notes
        """
        if name in SHIPPED:
            return cls(name, Path(__file__).with_name(f"{name}.csl").read_bytes())
        if not name.lower().endswith(".csl") or "\0" in name:
            closest = SHIPPED[bool(_NUMERIC.search(name))]
            raise ValueError(
                f"unknown style {name!r}: write {closest!r}, the closest of ours, or the path of a .csl file"
            )
        path = Path(folder, name)
        try:
            style = cls(name, path.read_bytes())
            shows_works = style.parsed.has_bibliography or style.is_note
        except OSError as error:
            raise ValueError(f"{path}: cannot be read: {error.strerror}") from None
        except csl.CSLError as error:
            place = csl.CSLError(
                error.reason, path=str(path), line=error.line, element=error.element
            )
            raise ValueError(str(place)) from None
        if not shows_works:
            raise ValueError(f"{path}: a CSL style without a bibliography, so it has no entries")
        return style

    @cached_property
    def parsed(self) -> csl.Style:
        """The style as the processor reads it."""
        return csl.Style.parse(self.xml)

    @cached_property
    def with_semicolons(self) -> csl.Style:
        """Our numeric style with "; " between works: ", " would read as part of a locator."""
        return csl.Style.parse(
            self.xml.replace(b'suffix="]" delimiter=", "', b'suffix="]" delimiter="; "')
        )

    @cached_property
    def digest(self) -> bytes:
        """A digest of the file."""
        return hashlib.blake2s(self.xml).digest()

    @property
    def is_shipped(self) -> bool:
        """Whether it is one of ours."""
        return self.name in SHIPPED

    @property
    def numbered(self) -> bool:
        """Whether citations are numbers."""
        return self.parsed.is_numeric

    @property
    def is_note(self) -> bool:
        """Whether citations stand in notes."""
        return self.parsed.class_ == "note"

    @property
    def replaces_names(self) -> bool:
        """Whether something stands for the names of an entry that the entry before it has, too."""
        return b"subsequent-author-substitute=" in self.xml


def load_locale(name: str, folder: str | os.PathLike[str] = ".") -> csl.Locale:
    """Return the locale for a language such as "de", "de-AT" or "pt_BR", or that of a file, as it is now.

    :param name: the language, or the path of one of CSL's locale files, whose name ends in ``.xml``
    :param folder: the folder of relative paths
    :raises ValueError: if there is no such locale; the message names those that there are

    >>> load_locale("de").lang, load_locale("pt_BR").lang
    ('de-DE', 'pt-BR')
    """
    if name.lower().endswith(".xml"):
        return csl.Locale.read(Path(folder, name))
    return _shipped_locale(name)


def locale_of(locale: csl.Locale | str) -> csl.Locale:
    """Return a locale that was given as it is, or by its name.

    :raises ValueError: if there is none of that name
    """
    return load_locale(locale) if isinstance(locale, str) else locale


@cache
def _shipped_locale(name: str) -> csl.Locale:
    try:
        return csl.Locale.load(name)
    except csl.CSLError:
        raise ValueError(
            f"there is no locale {name!r}, only {', '.join(csl.Locale.available())}; for another one, give "
            "the path of its file, from https://github.com/citation-style-language/locales"
        ) from None
