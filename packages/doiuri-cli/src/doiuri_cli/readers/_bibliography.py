"""The entries of a bibliography, to compare with the registry's metadata."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from doiuri import DOI, DOISyntaxError, find

from doiuri_cli.readers._choice import type_of
from doiuri_cli.readers._json import CSL_LISTS, at, csl_items, strings
from doiuri_cli.readers._ris import records

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri_cli.files import Source
    from doiuri_cli.readers._json import Keys
    from doiuri_cli.readers._yaml_scalars import Scalar

    # place and text of the DOI, key, title, a text with the year, and the family name of the first author
    Fields = tuple[tuple[int, int], str, str, str, str, str]


_YEAR = re.compile(r"(?<![0-9])[0-9]{4}(?![0-9])")
_PREFERRED, _REFERENCES = "preferred-citation", "references"
_MARKUP = re.compile(r"</?(?:i|b|sup|sub|sc|span)\b[^<>]{0,200}>")


class Entry(NamedTuple):
    """An entry that has a DOI.

    :ivar key: its key; empty if it has none.
    :ivar doi: the DOI.
    :ivar title: the title, as plain text; empty if it has none.
    :ivar year: the year of publication; None if it has none.
    :ivar first_author_family: the family name of the first author, with its particle, or the name of the
        organization; empty if it has no author.
    :ivar span: offsets in the file of the DOI's first character, and after its last one.
    :ivar kind: the kind of work that a column holds, one of ``KINDS``; empty if it may be any.
    """

    key: str
    doi: DOI
    title: str
    year: int | None
    first_author_family: str
    span: tuple[int, int]
    kind: str = ""


class Lacking(NamedTuple):
    """An entry of BibTeX that has no DOI.

    :ivar title: the title, as plain text, or else the key.
    :ivar candidate: the name of the first DOI in another field, such as the URL; None if there is none.
    """

    title: str
    candidate: str | None


def entries(source: Source) -> Iterator[Entry | Lacking]:
    """Return the entries of a bibliography, of formats other than BibTeX those that have a DOI.

    :raises ReadError: if the file is not what its name says.
    """
    match type_of(source.path):
        case "bibtex":
            from doiuri_cli.readers._bibtex_entries import read  # imports bibtexparser, which is slow
        case "yaml" if source.path.lower().endswith(".cff"):
            read = _cff
        case "json":
            read = _csl
        case "ris":
            read = _ris
        case _:
            return
    for span, doi, key, title, published, family in read(source):
        if not doi:
            matches = find(source.text[slice(*span)], "bibtex")
            yield Lacking(title or key, next((match.doi.name for match in matches), None))
            continue
        with suppress(DOISyntaxError):
            year = _YEAR.search(published)
            number = int(year[0]) if year else None
            yield Entry(key, DOI.parse(doi), " ".join(title.split()), number, family, span)


def _cff(source: Source) -> Iterator[Fields]:
    """Return the works; the key of each says where it is, such as "references[0]".

    :raises ReadError: if the file is not YAML.
    """
    from doiuri_cli.readers._yaml_scalars import scalars  # imports PyYAML, which is slow

    values = {scalar.path: scalar for scalar in scalars(source) if not scalar.is_key}
    for path in dict.fromkeys(filter(_is_work, (_work(path) for path in values))):
        doi = values.get((*path, "doi")) or _identifier(values, path)
        if doi is not None:
            yield _work_fields(values, path, doi)


def _work(path: Keys) -> Keys:
    """Return the path of the work to which a value belongs."""
    if path[:1] == (_REFERENCES,):
        return path[:2]
    return path[:1] if path[:1] == (_PREFERRED,) else ()


def _is_work(path: Keys) -> bool:
    return path[:1] != (_REFERENCES,) or len(path) == 2


def _identifier(values: dict[Keys, Scalar], path: Keys) -> Scalar | None:
    """Return the only DOI among the identifiers of a work: several may name versions."""
    inside = (*path, "identifiers")
    dois = [
        values[*place[:-1], "value"]
        for place, scalar in values.items()
        if place[: len(inside)] == inside and place[-1] == "type" and scalar.value == "doi"
        if (*place[:-1], "value") in values
    ]
    return dois[0] if len(dois) == 1 else None


def _work_fields(values: dict[Keys, Scalar], path: Keys, doi: Scalar) -> Fields:
    def text(*names: str | int) -> str:
        scalar = values.get((*path, *names))
        return scalar.value if scalar else ""

    author = ("authors", 0)
    family = f"{text(*author, 'name-particle')} {text(*author, 'family-names')}".strip()
    quotes = len(doi.style) if doi.style in {"'", '"'} else 0
    span = doi.start + quotes, doi.end - quotes
    key = f"{_REFERENCES}[{path[1]}]" if len(path) > 1 else "".join(map(str, path))
    year = text("year") or text("date-released") or text("date-published")
    return span, doi.value, key, text("title"), year, family or text(*author, "name")


def _csl(source: Source) -> Iterator[Fields]:
    """Return the items that have a DOI.

    :raises ReadError: if the file is not JSON.
    """
    items = csl_items(source)
    if items is None:
        return
    for string in strings(source, CSL_LISTS):
        item = at(items, string.path[:-1])
        if string.path[-1:] != ("DOI",) or len(string.path) > 2 or not isinstance(item, dict):
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
