"""Bibliographies: RIS, and the entries of all formats, to compare with the registry's metadata."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from doiuri import DOI, DOISyntaxError, find
from doiuri.bibtex import EntryScanner, names
from doiuri.tex import plain_text

from doiuri_cli.readers import type_of
from doiuri_cli.readers._json import SKIPPED, at, described, is_work, strings
from doiuri_cli.readers._part import Part, ReadError, location_of, one_line
from doiuri_cli.readers._yaml import decoded, scalars

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri_cli.files import Location, Source
    from doiuri_cli.readers._json import Keys

    # place and text of the DOI, key, title, a text with the year, and the family name of the first author
    Fields = tuple[tuple[int, int], str, str, str, str, str]
    _Value = tuple[str, tuple[int, int]]  # a text, and its place in the file
    _Values = dict[Keys, _Value]


_LINE = re.compile(r"^([A-Z][A-Z0-9])[ ]{1,2}-(?:[ ]|$)[ \t]*+([^\r\n]*)", re.MULTILINE)
_FIELDS = {"DO"}
_TEXTS = {"AB", "L1", "L2", "L3", "L4", "LK", "M3", "N1", "N2", "UR"}


def read_ris(source: Source) -> Iterator[Part]:
    """Return the values of the tags that may mention DOIs; the entry is its ``ID``, or its number.

    :raises ReadError: if the file has no record.
    """
    for key, record in records(source):
        for tag, start, value in record:
            if value and (tag in _FIELDS or tag in _TEXTS):
                yield Part(value, start=start, entry=key, field=tag in _FIELDS, encode=one_line)


def records(source: Source) -> Iterator[tuple[str, list[tuple[str, int, str]]]]:
    """Return the records: the key of each, and its lines as tag, offset of the value, and value.

    :raises ReadError: if the file has none.
    """
    record: list[tuple[str, int, str]] = []
    number = 0
    for line in _LINE.finditer(source.text):
        if line[1] == "TY" and record:
            yield _key(record, number), record
            record = []
        number += line[1] == "TY"
        record.append((line[1], line.start(2), line[2].rstrip()))
    if record:
        yield _key(record, number), record
    if not number and source.text.strip():
        raise ReadError('not RIS: no record starts with "TY  - "')


def _key(record: list[tuple[str, int, str]], number: int) -> str:
    return next((value for tag, _, value in record if tag == "ID" and value), f"record {number}")


_YEAR = re.compile(r"(?<![0-9])[0-9]{4}(?![0-9])")
_MARKUP = re.compile(r"</?(?:i|b|sup|sub|sc|span)\b[^<>]{0,200}>")


class CitedWork(NamedTuple):
    """The work that an entry with a DOI cites, as the entry describes it."""

    key: str  # its key; empty if it has none
    doi: DOI  # the DOI
    title: str  # the title, as plain text; empty if it has none
    year: int | None  # the year of publication; None if it has none
    first_author_family: (
        str  # with its particle; of an organization, the name; empty if it has no author
    )
    location: Location  # where the DOI is


class Lacking(NamedTuple):
    """An entry of BibTeX that has no DOI."""

    title: str  # the title, as plain text, or else the key
    # the name of the first DOI in another field, such as the URL; None if there is none
    candidate: str | None


def entries(source: Source) -> Iterator[CitedWork | Lacking]:
    """Return the entries of a bibliography, of formats other than BibTeX those that have a DOI.

    :raises ReadError: if the file is not what its name says.
    """
    match type_of(source.path):
        case "bibtex":
            works = _bibtex
        case "yaml" if source.path.lower().endswith(".cff"):
            works = _cff
        case "json":
            works = _csl
        case "ris":
            works = _ris
        case _:
            return
    whole = Part(source.text, source=source)
    for span, doi, key, title, published, family in works(source):
        if not doi:
            matches = find(source.text[slice(*span)], "bibtex")
            yield Lacking(title or key, next((match.doi.name for match in matches), None))
            continue
        with suppress(DOISyntaxError):
            year = _YEAR.search(published)
            number = int(year[0]) if year else None
            location = location_of(whole._replace(entry=key), *span)
            yield CitedWork(key, DOI.parse(doi), " ".join(title.split()), number, family, location)


def _bibtex(source: Source) -> Iterator[Fields]:
    """Return the entries; one without a DOI has an empty text, and its own place."""
    scanner = EntryScanner(source.text)
    for entry, limit in scanner.entries():
        values: dict[str, str] = {}
        span = 0, 0
        for field in scanner.fields(limit):
            if field.name == "doi" and "doi" not in values:
                first, last = field.value[0], field.value[-1]
                span = first.start + (first.text is None), last.end - (last.text is None)
            values.setdefault(
                field.name, scanner.text_of(field.value)
            )  # BibTeX ignores a second one
        doi = plain_text(values.get("doi", ""))
        if not (doi or scanner.is_closed):
            continue  # a broken entry may have one
        published = values.get("year") or values.get("date", "")
        family = _family(names(values.get("author") or values.get("editor", "")))
        title = plain_text(values.get("title", ""))
        yield (
            span if doi else (entry.start(), scanner.end),
            doi,
            entry["key"],
            title,
            published,
            family,
        )


def _cff(source: Source) -> Iterator[Fields]:
    """Return the works; the key of each says where it is, such as "references[0]"."""
    works: dict[Keys, _Values] = {}
    for one in scalars(source.text):
        if not (one.is_key or one.style == "#"):
            size = {"references": 2, "preferred-citation": 1}.get(
                str(one.path[0]) if one.path else "", 0
            )
            work = works.setdefault(one.path[:size], {})
            value = decoded(source.text, one).text
            work.setdefault(one.path[size:], (value, (one.start, one.end)))
    for path, work in works.items():
        key = f"references[{path[1]}]" if len(path) > 1 else "".join(map(str, path))
        if doi := work.get(("doi",)) or _identifier(work):
            yield _work_fields(key, doi, {place: value for place, (value, _) in work.items()})


def _identifier(work: _Values) -> _Value | None:
    """Return the only DOI among the identifiers of a work: several may name versions."""
    kinds = (path for path, (value, _) in work.items() if path[-1:] == ("type",) and value == "doi")
    places = ((*path[:-1], "value") for path in kinds if path[0] == "identifiers")
    dois = [work[place] for place in places if place in work]
    return dois[0] if len(dois) == 1 else None


def _work_fields(key: str, doi: _Value, work: dict[Keys, str]) -> Fields:
    def text(*names: str | int) -> str:
        return work.get(names, "")

    author = ("authors", 0)
    family = f"{text(*author, 'name-particle')} {text(*author, 'family-names')}".strip()
    year = text("year") or text("date-released") or text("date-published")
    return doi[1], doi[0], key, text("title"), year, family or text(*author, "name")


def _csl(source: Source) -> Iterator[Fields]:
    """Return the items that have a DOI.

    :raises ReadError: if the file is not JSON.
    """
    value = described(source)
    for string in strings(source, SKIPPED) if value is not None else ():
        item = at(value, string.path[:-1])
        if string.path[-1:] != ("DOI",) or not isinstance(item, dict) or not is_work(item):
            continue
        span = string.start, string.end
        title = _MARKUP.sub("", _text(item.get("title")))
        year, family = _year(item.get("issued")), _family(item.get("author"))
        yield span, string.value, _text(item.get("id")), title, year, family


def _text(value: object) -> str:
    return str(value) if isinstance(value, str | int) else ""


def _year(issued: object) -> str:
    if not isinstance(issued, dict):
        return ""
    first = at(issued, ("date-parts", 0, 0))
    return _text(first) or _text(issued.get("raw")) or _text(issued.get("literal"))


def _family(authors: object) -> str:
    author = at(authors, (0,))
    if not isinstance(author, dict):
        return ""
    particle, family = _text(author.get("non-dropping-particle")), _text(author.get("family"))
    return f"{particle} {family}".strip() or _text(author.get("literal"))


def _ris(source: Source) -> Iterator[Fields]:
    """Return the records that have a DOI.

    :raises ReadError: if the file has no record.
    """
    for key, record in records(source):
        values: dict[str, tuple[int, str]] = {}
        for tag, start, value in record:
            values.setdefault(tag, (start, value))
        if "DO" not in values:
            continue
        start, doi = values["DO"]
        family = _first(values, "AU", "A1").partition(",")[0].strip()
        span = start, start + len(doi)
        yield span, doi, key, _first(values, "TI", "T1"), _first(values, "PY", "Y1", "DA"), family


def _first(values: dict[str, tuple[int, str]], *tags: str) -> str:
    return next((values[tag][1] for tag in tags if tag in values), "")
