"""CSL files, among them the two styles of ours, and the languages of citations."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import doiuri_csl as csl

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

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


_NAME = re.compile(r"[^/\\\0.][^/\\\0]*")  # of a file, but no hidden one
_ALIKE = 0.7  # how similar a misspelt name is to the right one, from 0 to 1


@dataclass(frozen=True)
class ReferenceStyle:
    """A CSL style.

    Get one with ``ReferenceStyle.load``. Styles are equal if their files are.

    >>> ReferenceStyle.load().numbered, ReferenceStyle.load("numeric").numbered
    (False, True)
    """

    name: str = field(compare=False)
    """Its name, or the path of its file, as it was given."""

    xml: bytes = field(repr=False)
    """The content of the file."""

    parent_xml: bytes = field(default=b"", repr=False)
    """The content of the style that it depends on; empty if it is independent."""

    files: tuple[Path, ...] = field(default=(), repr=False, compare=False)
    """The files that were read, for hosts that watch them."""

    @classmethod
    def load(
        cls,
        name: str = "author-date",
        folder: str | os.PathLike[str] = ".",
        csl_path: Iterable[str] = (),
    ) -> ReferenceStyle:
        """Return a style.

        :param name: "author-date" or "numeric"; or the path of a file whose name ends in ``.csl``; or the name
            of one in ``csl_path``, without this end
        :param folder: the folder of relative paths
        :param csl_path: folders of ``.csl`` files, such as Zotero's; the first one that has the style counts.
            In each, ``dependent`` and ``hidden`` are searched too
        :raises ValueError: if there is no such style, for a file that cannot be read or used, and for
            a style without a list, unless it is one of notes
        """
        if name in SHIPPED:
            return _shipped_style(name)
        if name.lower().endswith(".csl") and "\0" not in name:
            path = Path(folder, name)
        else:
            path = _find(name, [Path(searched) for searched in csl_path])

        loaded = csl.Style.load(path)
        shows_works = loaded.has_bibliography or loaded.class_ == "note"
        if not shows_works:
            raise ValueError(f"{path}: a CSL style without a bibliography, so it has no entries")
        xml, *parents = (file.read_bytes() for file in loaded.files)  # at most one parent
        return cls(name, xml, b"".join(parents), loaded.files)

    @cached_property
    def parsed(self) -> csl.Style:
        """The style as the processor reads it."""
        return csl.Style.parse(self.xml, lambda _address: self.parent_xml)

    @cached_property
    def with_semicolons(self) -> csl.Style:
        """Our numeric style with "; " between works: ", " would read as part of a locator."""
        return csl.Style.parse(
            self.xml.replace(b'suffix="]" delimiter=", "', b'suffix="]" delimiter="; "')
        )

    @cached_property
    def digest(self) -> bytes:
        """A digest of the files."""
        return hashlib.blake2s(repr((self.xml, self.parent_xml)).encode()).digest()

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

    @cached_property
    def is_raised(self) -> bool:
        """Whether citations are raised numbers: a citation of any work shows it."""
        if not self.numbered:
            return False
        processor = csl.Processor(self.parsed, [{"id": "any"}], _shipped_locale(ENGLISH))
        processor.set_citations([[csl.Cite("any")]])
        runs = processor.citation(0)
        return bool(runs) and all("superscript" in run.formats for run in runs)

    @property
    def replaces_names(self) -> bool:
        """Whether something stands for the names of an entry that the entry before it has, too."""
        return b"subsequent-author-substitute=" in (self.parent_xml or self.xml)


@cache
def _shipped_style(name: str) -> ReferenceStyle:
    return ReferenceStyle(name, Path(__file__).with_name(f"{name}.csl").read_bytes())


def _find(name: str, folders: list[Path]) -> Path:
    """Return the file of a style in the first folder that has it.

    :raises ValueError: if there is none; it names similar styles of the folders, and the closest of ours
    """
    # Zotero's own; the CSL project keeps dependent styles apart, and Zotero those on which only others depend
    places = [folder / below for folder in folders for below in ("", "dependent", "hidden")]
    if _NAME.fullmatch(name):
        for place in places:
            file = place / f"{name}.csl"
            if file.is_file():
                return file

    raise ValueError(f"unknown style {name!r}: {_advice(name, folders, places)}")


def _advice(name: str, folders: list[Path], places: list[Path]) -> str:
    """Return where a style was not found, which ones are similar to it there, and the closest of ours."""
    author_date, numeric = SHIPPED
    closest = numeric if _NUMERIC.search(name) else author_date
    advice = f"write {closest!r}, the closest of ours, or the path of a .csl file"
    if not folders:
        return advice
    known = {file.stem for place in places for file in place.glob("*.csl")}
    similar = get_close_matches(name.lower(), known, cutoff=_ALIKE)
    searched = []
    for folder in folders:
        remark = "" if folder.is_dir() else " (no folder)"
        searched.append(f"{folder}{remark}")
    question = f" (did you mean {' or '.join(similar)}?)" if similar else ""
    return f"it is not in {', '.join(searched)}{question}; {advice}"


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
    """Return a locale of doiuri-csl; the ValueError for any other names those that there are."""
    try:
        return csl.Locale.load(name)
    except csl.CSLError:
        raise ValueError(
            f"there is no locale {name!r}, only {', '.join(csl.Locale.available())}; for another one, give "
            "the path of its file, from https://github.com/citation-style-language/locales"
        ) from None


# What lists of references are called, by language; the term "reference" of CSL's locales is another word
_HEADINGS = {
    "cs": "Literatura",
    "da": "Litteraturliste",
    "de": "Literaturverzeichnis",
    "el": "Βιβλιογραφία",
    "en": "References",
    "es": "Referencias",
    "fi": "Lähteet",
    "fr": "Références",
    "hu": "Irodalomjegyzék",
    "it": "Bibliografia",
    "ja": "参考文献",
    "ko": "참고문헌",
    "nb": "Litteraturliste",
    "nl": "Literatuurlijst",
    "pl": "Bibliografia",
    "pt": "Referências",
    "ro": "Bibliografie",
    "ru": "Список литературы",
    "sv": "Referenser",
    "tr": "Kaynakça",
    "uk": "Список літератури",
    "zh": "参考文献",
    "zh-TW": "參考文獻",
}


def heading_of(locale: csl.Locale) -> str:
    """Return what a list of references is called in a language, such as "References"."""
    language = locale.lang.partition("-")[0]
    known = _HEADINGS.get(locale.lang) or _HEADINGS.get(language)
    return known or locale.term("reference", plural=True).capitalize()
