"""Entries of BibTeX and BibLaTeX as items of CSL-JSON."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, Any, NamedTuple

from doiuri.bibtex import EntryScanner, names
from doiuri.tex import plain_text, rich_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    Fields = Mapping[str, str]


def _table(lines: str) -> dict[str, list[str]]:
    return {words[0]: words[1:] for words in map(str.split, lines.splitlines()) if words}


# Those of the other entries are of the same name, if there are such types
_TYPES = {
    kind: csl
    for csl, kinds in _table("""
        article-journal article suppperiodical
        book collection manual mvbook mvcollection mvproceedings mvreference proceedings reference
        chapter inbook bookinbook incollection suppbook suppcollection
        entry-encyclopedia inreference
        graphic artwork image
        legal_case jurisdiction
        manuscript unpublished
        motion_picture movie video
        pamphlet booklet
        paper-conference inproceedings conference
        personal_communication letter
        report techreport
        song audio music
        thesis phdthesis mastersthesis
        webpage online electronic www
    """).items()
    for kind in kinds
}
# What each member is; the first field counts that an entry has
_MEMBERS = _table("""
    container-title journaltitle journal booktitle maintitle
    container-title-short shortjournal
    collection-title series
    publisher-place address location
    edition edition
    volume volume
    number-of-volumes volumes
    number-of-pages pagetotal
    chapter-number chapter
    page pages
    version version
    ISBN isbn
    ISSN issn
    event-title eventtitle
    event-place venue
""")
_PUBLISHERS = ["school", "institution", "organization", "howpublished", "publisher"]
_ROLES = {role: role for role in ("author", "editor", "translator")} | {"bookauthor": "container-author"}
_DATES = {"urldate": "accessed", "eventdate": "event-date", "origdate": "original-date"}
_GENRES = {
    "phdthesis": "PhD thesis",
    "mathesis": "Master’s thesis",
    "mastersthesis": "Master’s thesis",
    "techreport": "technical report",
    "resreport": "research report",
}
_ENGLISH = ("en", "american", "british", "ukenglish", "usenglish")
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTH = re.compile("|".join(_MONTHS), re.IGNORECASE)
_DAY = re.compile(r"\b[0-3]?[0-9]\b")
_ISO = re.compile(r"(\d{4})(?:-(\d\d))?(?:-(\d\d))?[?~%]?(?:/.*)?")
_DASHES = re.compile(r"\s*[-–—]+\s*")
_NO_ENTRY = re.compile(r"(?im)^[ \t]*@(?![ \t]*(?:comment\b|[a-z][\w-]*\s*[{(]))[^\r\n]*")
_URL = re.compile(r"https?://[^\s{}]+")
_EPRINTS = {"arxiv": "https://arxiv.org/abs/", "pubmed": "https://pubmed.ncbi.nlm.nih.gov/"}


class _Entry(NamedTuple):
    place: str
    line: int
    kind: str
    key: str
    fields: dict[str, str]


def bibtex_items(file: Path, text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the entries of a file as items of CSL-JSON, with their lines.

    :raises ValueError: if an entry is broken, or refers to another one that the file does not have
    """
    entries = [*_entries(file, text)]
    by_key = {entry.key.lower(): entry for entry in entries}
    for entry in entries:
        yield entry.line, _item(entry, _inherited(entry, by_key))


def _entries(file: Path, text: str) -> Iterator[_Entry]:
    scanner, last, line_of = EntryScanner(text), 0, line_finder(text)
    for match, limit in scanner.entries():
        _check_between(file, text, last, match.start())
        line = line_of(match.start())
        place = f"{file}:{line}: {match['key'] or 'the entry'}"
        fields: dict[str, str] = {}
        for field in scanner.fields(limit):
            fields.setdefault(field.name, scanner.text_of(field.value))  # BibTeX ignores a second one
        if not scanner.is_closed:
            after = f" after the field {[*fields][-1]!r}" if fields else ""
            raise ValueError(f"{place}: expected a field or the end of the entry{after}; is a brace missing?")
        yield _Entry(place, line, match["type"].lower(), match["key"], fields)
        last = scanner.end
    _check_between(file, text, last, len(text))


def line_finder(text: str) -> Callable[[int], int]:
    """Return a function that returns the line of a place in a text."""
    ends = [match.start() for match in re.finditer("\n", text)]
    return lambda place: bisect_left(ends, place) + 1


def _check_between(file: Path, text: str, start: int, end: int) -> None:
    """Raise an error if a line between entries begins like one."""
    if found := _NO_ENTRY.search(text[start:end]):
        line = text.count("\n", 0, start + found.start()) + 1
        raise ValueError(
            f"{file}:{line}: expected an entry such as @book{{key, …}}, not {found[0].strip()!r:.80}"
        )


def _inherited(entry: _Entry, by_key: Mapping[str, _Entry]) -> Fields:
    """Return the fields of an entry, and those that it lacks of the entries that it refers to."""
    fields, sources = dict(entry.fields), [entry]
    for source in sources:  # grows
        for reference in ("crossref", "xdata"):
            for key in filter(None, map(str.strip, source.fields.get(reference, "").split(","))):
                parent = by_key.get(key.lower())
                if parent is None:
                    raise ValueError(f"{source.place}: {reference} names no entry of the file: {key!r}")
                if parent in sources:
                    continue
                sources.append(parent)
                whole = "journal" if entry.kind == "article" else "book"
                for name, value in parent.fields.items():
                    is_of_whole = reference == "crossref" and name in ("title", "subtitle")
                    fields.setdefault(f"{whole}{name}" if is_of_whole else name, value)
    return fields


def _item(entry: _Entry, fields: Fields) -> dict[str, Any]:
    language = plain_text(fields.get("langid") or fields.get("hyphenation") or fields.get("language") or "")
    if language.lower().startswith(_ENGLISH):
        language = "en"
    in_english = language in ("", "en")  # BibTeX knows no other language

    def text_of(name: str, *, sentence_case: bool = False) -> str:
        text = rich_text(fields.get(name, ""), sentence_case=sentence_case and in_english)
        if name.endswith("title"):
            for part, mark in ((name.replace("title", "subtitle"), ":"), (f"{name}addon", ".")):
                more = rich_text(fields.get(part, ""), sentence_case=sentence_case and in_english)
                text += f"{'' if text.endswith(('?', '!', ':', '.')) else mark} {more}" if more else ""
        return text

    item: dict[str, Any] = {"id": entry.key, "type": _TYPES.get(entry.kind, entry.kind)}
    for member, sources in _MEMBERS.items():
        item[member] = next(filter(None, map(text_of, sources)), "")
    if item["container-title"] == text_of("booktitle"):  # the title of a work, not a name as of a journal
        item["container-title"] = text_of("booktitle", sentence_case=True)
    item["title"] = text_of("title", sentence_case=True)
    item["page"] = _DASHES.sub("-", item["page"])
    item["publisher"] = "; ".join(
        rich_text(fields[name]) for name in _PUBLISHERS if name in fields and not _URL.search(fields[name])
    )
    item |= {role: names(fields[source]) for source, role in _ROLES.items() if source in fields}
    item |= {member: _date(fields.get(source, "")) for source, member in _DATES.items()}
    item |= _numbers(item["type"], fields) | {"language": language, "issued": _issued(fields)}
    genre = fields.get("type", "") or (entry.kind if entry.kind.endswith("thesis") else "")
    item["genre"] = _GENRES.get(genre, plain_text(genre)) if genre != "thesis" else ""
    return {member: value for member, value in (item | _links(fields)).items() if value}


def _numbers(type_: str, fields: Fields) -> dict[str, str]:
    """Return what the field ``number`` is: an issue, the number in a series, or that of the work."""
    number, issue = (plain_text(fields.get(name, "")) for name in ("number", "issue"))
    if type_.startswith("article"):
        return {"issue": number or issue}
    is_in_series = "series" in fields and type_ in ("book", "chapter", "paper-conference")
    return {"collection-number" if is_in_series else "number": number, "issue": issue}


def _issued(fields: Fields) -> Any:
    date, year = fields.get("date", ""), plain_text(fields.get("year", ""))
    if date or not year.isdecimal():
        return _date(date or year)
    month = plain_text(fields.get("month", ""))
    if named := _MONTH.search(month):
        day = _DAY.search(month)
        return {
            "date-parts": [[year, _MONTHS.index(named[0].lower()) + 1, day[0] if day else fields.get("day")]]
        }
    return {"date-parts": [[year, month, fields.get("day")]]}


def _date(text: str) -> Any:
    """Return a date; of a period, the first one."""
    iso = _ISO.fullmatch(text.strip())
    parts = [part for part in iso.groups() if part] if iso else []
    return {"date-parts": [parts]} if parts else text and {"literal": plain_text(text)}


def _links(fields: Fields) -> dict[str, str]:
    """Return the DOI and the URL: that of a preprint or an abstract if there is no other."""
    eprint, server = (
        _verbatim(fields.get("eprint", "")),
        fields.get("eprinttype") or fields.get("archiveprefix"),
    )
    urls = [
        _verbatim(fields.get("url", "")),
        *_URL.findall(_verbatim(fields.get("howpublished", ""))),
        eprint and _EPRINTS.get((server or "arxiv").lower(), "") + eprint,
        "pmid" in fields and _EPRINTS["pubmed"] + _verbatim(fields["pmid"]),
    ]
    url = next((url for url in urls if url and url.startswith("http")), "")
    return {"DOI": _verbatim(fields.get("doi", "")), "URL": url}


def _verbatim(tex: str) -> str:
    """Return a text whose "~" and dashes are no TeX."""
    return plain_text(tex.replace("~", r"\textasciitilde{}").replace("--", "-{}-"))
