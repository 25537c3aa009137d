"""Bibliographies: RIS, and the entries of all formats, to compare with the registry's metadata."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from doiuri import DOI, DOISyntaxError, bibtex, find
from doiuri.tex import plain_text

from doiuri_cli.readers import type_of
from doiuri_cli.readers._json import SKIPPED, at, described, is_work, lines_of, strings
from doiuri_cli.readers._part import Part, ReadError, location_of, one_line
from doiuri_cli.readers._yaml import decoded, scalars

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri_cli.files import Source, SourceLocation
    from doiuri_cli.readers._json import Keys

    EntryValues = dict[Keys, "EntryValue"]
    RISLine = tuple[str, int, str]  # tag, offset of the value, and value


_LINE = re.compile(r"^([A-Z][A-Z0-9])[ ]{1,2}-(?:[ ]|$)[ \t]*+([^\r\n]*)", re.MULTILINE)
_FIELDS = {"DO"}
_TEXTS = {"AB", "L1", "L2", "L3", "L4", "LK", "M3", "N1", "N2", "UR"}


def read_ris(source: Source) -> Iterator[Part]:
    """Return the values of the tags that may mention DOIs; the entry is its ``ID``, or its number.

    :raises ReadError: if the file has no record.
    """
    for citation_key, record in records(source):
        for tag, start, value in record:
            if value and (tag in _FIELDS or tag in _TEXTS):
                yield Part(
                    value, start=start, entry=citation_key, field=tag in _FIELDS, encode=one_line
                )


def records(source: Source) -> Iterator[tuple[str, list[RISLine]]]:
    """Return the records: the citation key of each, and its lines as tag, offset of the value, and value.

    :raises ReadError: if the file has none.
    """
    # A record goes on until the next TY, whether it ends with ER or not
    record: list[RISLine] = []
    number = 0
    for line in _LINE.finditer(source.text):
        if line[1] == "TY":
            if record:
                yield _citation_key(record, number), record
            record = []
            number += 1
        record.append((line[1], line.start(2), line[2].rstrip()))
    if record:
        yield _citation_key(record, number), record
    if not number and source.text.strip():
        raise ReadError('not RIS: no record starts with "TY  - "')


def _citation_key(record: list[RISLine], number: int) -> str:
    """Return the ``ID`` of a record, or "record 3" for the third if it has none."""
    ids = (value for tag, _, value in record if tag == "ID" and value)
    return next(ids, f"record {number}")


_YEAR = re.compile(r"(?<![0-9])[0-9]{4}(?![0-9])")
_MARKUP = re.compile(r"</?(?:i|b|sup|sub|sc|span)\b[^<>]{0,200}>")


class CitedWork(NamedTuple):
    """The work that an entry with a DOI cites, as the entry describes it."""

    doi: DOI  # the DOI
    title: str  # the title, as plain text; empty if it has none
    year: int | None  # the year of publication; None if it has none
    # with its particle; of an organization, the name; empty if it has no author
    first_author_family: str
    location: SourceLocation  # where the DOI is


class EntryWithoutDOI(NamedTuple):
    """An entry of BibTeX that has no DOI."""

    title: str  # the title, as plain text, or else the citation key
    # the name of the first DOI in another field, such as the URL; None if there is none
    candidate: str | None


class Description(NamedTuple):
    """What an entry says."""

    # where its DOI starts and ends; of an entry without one, where the entry does
    span: tuple[int, int]
    doi: str  # the text of its DOI; empty if it has none
    citation_key: str  # its citation key; empty if it has none
    title: str  # its title
    published: str  # a text with the year of publication
    family: str  # the family name of the first author or editor


class EntryValue(NamedTuple):
    """A value of a file, and where it starts and ends."""

    text: str
    span: tuple[int, int]


def entries(source: Source) -> Iterator[CitedWork | EntryWithoutDOI]:
    """Return the entries of a bibliography, of formats other than BibTeX those that have a DOI.

    :raises ReadError: if the file is not what its name says.
    """
    whole = Part(source.text, source=source)
    for entry in _descriptions(source):
        if not entry.doi:
            matches = find(source.text[slice(*entry.span)], "bibtex")
            candidate = next((match.doi.name for match in matches), None)
            yield EntryWithoutDOI(entry.title or entry.citation_key, candidate)
            continue
        # An invalid DOI names no work to compare with; that it is invalid is another finding
        with suppress(DOISyntaxError):
            yield CitedWork(
                DOI.parse(entry.doi),
                " ".join(entry.title.split()),
                _year_in(entry.published),
                entry.family,
                location_of(whole._replace(entry=entry.citation_key), *entry.span),
            )


def _descriptions(source: Source) -> Iterator[Description]:
    """Return what the entries of a bibliography say; nothing of any other file.

    :raises ReadError: if the file is not what its name says.
    """
    match type_of(source.path):
        case "bibtex":
            return _bibtex(source)
        case "yaml" if source.path.lower().endswith(".cff"):
            return _cff(source)
        case "json":
            return _csl(source)
        case "ris":
            return _ris(source)
        case _:
            return iter(())


def _year_in(text: str) -> int | None:
    year = _YEAR.search(text)
    return None if year is None else int(year[0])


def _bibtex(source: Source) -> Iterator[Description]:
    """Return the entries, also those without a DOI, unless they are broken."""
    for entry in bibtex.entries(source.text):
        fields = entry.fields
        doi = plain_text(fields.get("doi", ""))
        if not doi and not entry.is_closed:
            continue  # the field for a DOI may be behind what is broken
        span = entry.spans["doi"] if doi else (entry.start, entry.end)
        people = bibtex.names(fields.get("author") or fields.get("editor") or "")
        yield Description(
            span=span,
            doi=doi,
            citation_key=entry.key,
            title=plain_text(fields.get("title", "")),
            published=plain_text(fields.get("year") or fields.get("date") or ""),
            family=_family(people),
        )


def _cff(source: Source) -> Iterator[Description]:
    """Return the works; the citation key of each says where it is, such as "references[0]"."""
    works: dict[Keys, EntryValues] = {}  # by their paths; the path of a value begins at its work
    for scalar in scalars(source.text):
        if scalar.is_key or scalar.style == "#":  # only values, no comments
            continue
        work_path = _path_of_work(scalar.path)
        work = works.setdefault(work_path, {})
        value = EntryValue(decoded(source.text, scalar).text, (scalar.start, scalar.end))
        # By its path within the work: ("references", 0, "doi") is ("doi",) there. Of a key that is repeated, the
        # first counts
        work.setdefault(scalar.path[len(work_path) :], value)

    for work_path, work in works.items():
        doi = work.get(("doi",)) or _identifier(work)
        if doi is not None:
            yield _description(_name_of_work(work_path), doi, work)


def _path_of_work(path: Keys) -> Keys:
    """Return the path of the work that a value of a CITATION.cff belongs to; () for that of the file.

    For ``("references", 0, "doi")``, it is ``("references", 0)``.
    """
    if path[:1] == ("references",):  # a list: its number is a part of the path, too
        return path[:2]
    if path[:1] == ("preferred-citation",):
        return path[:1]
    return ()


def _name_of_work(work_path: Keys) -> str:
    """Return "references[0]", "preferred-citation", or "" for the work of the file."""
    if len(work_path) > 1:
        return f"references[{work_path[1]}]"
    return "".join(map(str, work_path))


def _identifier(work: EntryValues) -> EntryValue | None:
    """Return the only DOI among the identifiers of a work, or None: several may name versions.

    It is the value at ``("identifiers", 0, "value")`` if that at ``("identifiers", 0, "type")`` is "doi".
    """
    dois: list[EntryValue] = []
    for path, entry_value in work.items():
        is_type = path[:1] == ("identifiers",) and path[-1] == "type"
        doi = work.get((*path[:-1], "value"))
        if is_type and entry_value.text == "doi" and doi is not None:
            dois.append(doi)
    return dois[0] if len(dois) == 1 else None


def _description(citation_key: str, doi: EntryValue, work: EntryValues) -> Description:
    """Return what a work of a CITATION.cff says."""

    def text(*path: str | int) -> str:
        value = work.get(path)
        return "" if value is None else value.text

    author = ("authors", 0)
    family = f"{text(*author, 'name-particle')} {text(*author, 'family-names')}".strip()
    return Description(
        span=doi.span,
        doi=doi.text,
        citation_key=citation_key,
        title=text("title"),
        published=text("year") or text("date-released") or text("date-published"),
        family=family or text(*author, "name"),
    )


def _csl(source: Source) -> Iterator[Description]:
    """Return the items that have a DOI, also those of JSON lines.

    :raises ReadError: if the file is not JSON.
    """
    for offset, text in lines_of(source) or [(0, source)]:
        for item in _items(text):
            start, end = item.span
            yield item._replace(span=(offset + start, offset + end))


def _items(source: Source) -> Iterator[Description]:
    """Yield the items of one value of JSON that have a DOI."""
    value = described(source)
    if value is None:
        return
    for string in strings(source, SKIPPED):
        item = at(value, string.path[:-1])
        is_doi = string.path[-1:] == ("DOI",) and not string.is_key
        if is_doi and isinstance(item, dict) and is_work(item):
            yield Description(
                span=(string.start, string.end),
                doi=string.value,
                citation_key=_text(item.get("id")),
                title=_MARKUP.sub("", _text(item.get("title"))),
                published=_published(item.get("issued")),
                family=_family(item.get("author")),
            )


def _text(value: object) -> str:
    return str(value) if isinstance(value, str | int) else ""


def _published(issued: object) -> str:
    """Return a text that contains the year of a date in CSL-JSON; "" if there is none."""
    if not isinstance(issued, dict):
        return ""
    first = at(issued, ("date-parts", 0, 0))
    return _text(first) or _text(issued.get("raw")) or _text(issued.get("literal"))


def _family(people: object) -> str:
    """Return the family name of the first person in CSL-JSON, with its particle; "" if there is none."""
    person = at(people, (0,))
    if not isinstance(person, dict):
        return ""
    particle = _text(person.get("non-dropping-particle"))
    family = _text(person.get("family"))
    return f"{particle} {family}".strip() or _text(person.get("literal"))


def _ris(source: Source) -> Iterator[Description]:
    """Return the records that have a DOI.

    :raises ReadError: if the file has no record.
    """
    for citation_key, record in records(source):
        values: dict[str, EntryValue] = {}
        for tag, start, text in record:
            values.setdefault(tag, EntryValue(text, (start, start + len(text))))
        if "DO" not in values:  # only BibTeX's entries without a DOI are listed
            continue
        yield Description(
            span=values["DO"].span,
            doi=values["DO"].text,
            citation_key=citation_key,
            title=_first(values, "TI", "T1"),
            published=_first(values, "PY", "Y1", "DA"),
            family=_first(values, "AU", "A1").partition(",")[0].strip(),
        )


def _first(values: dict[str, EntryValue], *tags: str) -> str:
    """Return the text of the first tag that a record has; "" if it has none of them."""
    return next((values[tag].text for tag in tags if tag in values), "")
