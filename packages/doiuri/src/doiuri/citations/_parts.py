"""Formatted text as data: parts of text, from what the CSL processor returns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from doiuri._notation import lowered, raised

if TYPE_CHECKING:
    from collections.abc import Iterable

    import doiuri_csl as csl

    from doiuri._doi import Handle
    from doiuri.works._work import Work

Format = Literal["emphasis", "strong", "subscript", "superscript", "small-caps"]
"""How a part looks."""


class Part(NamedTuple):
    """A part of a citation or an entry: text that looks the same and leads to the same place."""

    text: str
    """Plain text; escape it for the format that you write."""

    formats: frozenset[Format] = frozenset()
    """How it looks."""

    link: Handle | str | None = None
    """In an entry: the DOI or URL that it links to. In a citation: the key of the work that it cites."""

    @property
    def plain(self) -> str:
        """The text for outputs without formats: "10⁵" if "5" is raised."""
        if "superscript" in self.formats:
            return raised(self.text)
        if "subscript" in self.formats:
            return lowered(self.text)
        return self.text


class Reference(NamedTuple):
    """An entry in a list of references."""

    work: Work
    """The work."""

    number: int
    """Its place in the list, from 1."""

    letter: str = ""
    """The letter after the year, such as "a"; "" if no other work has the same label."""

    conditions: int = 0
    """How many of the style's tests for ``disambiguate`` are true, since another work has the same label."""

    @property
    def key(self) -> Handle | str:
        """The DOI of the work, or its id in a works file."""
        return self.work.key


_FORMATS: dict[csl.Format, Format] = {
    "italic": "emphasis",
    "oblique": "emphasis",
    "bold": "strong",
    "small-caps": "small-caps",
    "subscript": "subscript",
    "superscript": "superscript",
}


def formats_of(run: csl.Run) -> frozenset[Format]:
    """Return how a run looks, as far as hosts can show it."""
    return frozenset(_FORMATS[name] for name in run.formats if name in _FORMATS)


def link_of(work: Work) -> Handle | str | None:
    """Return what the entry of a work links to: its DOI, or else its URL; None for neither."""
    return work.doi or work.csl.get("URL")


def entry_parts(runs: tuple[csl.Run, ...], work: Work) -> tuple[Part, ...]:
    """Return the parts of an entry; if the style shows neither DOI nor URL, the link is at the end."""
    parts = merged(_entry_part(run, work) for run in runs)
    link = link_of(work)
    if link is not None and all(part.link != link for part in parts):
        text = link if isinstance(link, str) else link.url
        parts += [Part(" "), Part(text, link=link)]
    return stripped(parts)


def _entry_part(run: csl.Run, work: Work) -> Part:
    """Return a run of an entry as a part; a DOI is shown as the style does, as a link or a name."""
    formats = formats_of(run)
    if run.link and run.role == "DOI" and work.doi is not None:
        text = work.doi.url if run.text.startswith("http") else work.doi.name
        return Part(text, formats, work.doi)
    text = " " if run.text == "\n" else run.text  # hosts have no lines in an entry
    return Part(text, formats, run.link or None)


def merged(parts: Iterable[Part]) -> list[Part]:
    """Return parts; neighbours that look the same and lead to the same place are one."""
    whole: list[Part] = []
    for part in parts:
        if whole and whole[-1][1:] == part[1:]:
            whole[-1] = part._replace(text=whole[-1].text + part.text)
        elif part.text:
            whole.append(part)
    return whole


def stripped(parts: list[Part]) -> tuple[Part, ...]:
    """Return parts without white space at the beginning and the end."""
    if not parts:
        return ()
    parts[0] = parts[0]._replace(text=parts[0].text.lstrip())
    parts[-1] = parts[-1]._replace(text=parts[-1].text.rstrip())
    return tuple(part for part in parts if part.text)
