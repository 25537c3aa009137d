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
        :raises ValueError: for any other name, and for a file that cannot be read or used
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
            has_bibliography = style.parsed.has_bibliography
        except OSError as error:
            raise ValueError(f"{path}: cannot be read: {error.strerror}") from None
        except csl.CSLError as error:
            place = csl.CSLError(
                error.reason, path=str(path), line=error.line, element=error.element
            )
            raise ValueError(str(place)) from None
        if not has_bibliography:
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
    def replaces_names(self) -> bool:
        """Whether something stands for the names of an entry that the entry before it has, too."""
        return b"subsequent-author-substitute=" in self.xml


@cache
def locale_of(name: str) -> csl.Locale:
    """Return the locale for a language, or that of a file whose name ends in ``.xml``.

    :raises ValueError: if there is none
    """
    if name.lower().endswith(".xml"):
        return csl.Locale.read(name)
    try:
        return csl.Locale.load(name)
    except csl.CSLError:
        raise ValueError(
            f"there is no locale {name!r}, only {', '.join(csl.Locale.available())}; for another one, give "
            "the path of its file, from https://github.com/citation-style-language/locales"
        ) from None


def check_locale(name: str, folder: str | os.PathLike[str] = ".") -> str:
    """Return the name of the locale for a language such as "de", "de-AT" or "pt_BR", or the path of a file.

    :param name: the language, or the path of one of CSL's locale files, whose name ends in ``.xml``
    :param folder: the folder of relative paths
    :raises ValueError: if there is no such locale; the message names those that there are

    >>> check_locale("de"), check_locale("pt_BR")
    ('de-DE', 'pt-BR')
    """
    if not name.lower().endswith(".xml"):
        return locale_of(name).lang
    path = str(Path(folder, name))
    locale_of(path)
    return path
