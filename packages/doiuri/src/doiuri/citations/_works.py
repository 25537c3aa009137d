"""Files of works in BibTeX, CSL-JSON or CSL-YAML: works without a DOI, and corrections of metadata."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from doiuri._doi import DOI
from doiuri._errors import DOISyntaxError
from doiuri._json import Malformed, brief, load
from doiuri._names import short_doi_flaw
from doiuri.bibtex import EntryScanner, names
from doiuri.tex import plain_text, rich_text
from doiuri.works._work import Work

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from doiuri._doi import Handle

    AnyHandle = TypeVar("AnyHandle", bound=Handle)  # a Mapping's keys are invariant
    Fields = Mapping[str, str]
    Items = Iterator[tuple[int, Any]]  # lines and items


_BETWEEN = re.compile(r"[\[,\s]*")  # what stands before an item of a list


@dataclass(frozen=True, slots=True)
class Library:
    """The works of files in BibTeX, CSL-JSON or CSL-YAML."""

    files: tuple[Path, ...]
    """The files, for hosts that watch them."""

    ids: Mapping[str, Handle | str] | None
    """What each id stands for: the DOI of its item, or, without one, the id itself; None without files."""

    problems: tuple[str, ...]
    """What is wrong with works that were read nevertheless, with the files and lines."""

    _items: Mapping[Handle | str, Mapping[str, Any]]

    @property
    def keys(self) -> tuple[Handle | str, ...]:
        """The DOI or the id of each work, in the order of the files."""
        return tuple(self._items)

    def complete(
        self, works: Mapping[AnyHandle, Work], keys: Iterable[Handle | str] | None = None
    ) -> dict[Handle | str, Work]:
        """Return the works of the registry, corrected, and those of the files.

        Each member of an item replaces that of the registry.

        :param keys: the works to take from the files; by default all of them
        """
        complete: dict[Handle | str, Work] = dict(works.items())
        for key in self._items.keys() if keys is None else self._items.keys() & set(keys):
            item = self._items[key]
            known = complete.get(key)
            complete[key] = Work.whole(key, {**(known.csl if known else {}), **item})
        return complete


def read_works(paths: Iterable[str], folder: str | os.PathLike[str] = ".") -> Library:
    """Read files of works: BibTeX (``.bib``), CSL-YAML (``.yaml``, ``.yml``), or CSL-JSON (``.json``).

    A work whose DOI is invalid is one without a DOI. One that is repeated as it is counts once.

    :param paths: the files
    :param folder: the folder of relative paths
    :raises ValueError: if a file cannot be read or is not such a file, an id or a DOI occurs twice, an
        item has neither, or YAML needs PyYAML, which is not installed
    """
    files = tuple(Path(folder, path) for path in paths)
    ids: dict[str, Handle | str] = {}
    items: dict[Handle | str, Mapping[str, Any]] = {}
    problems: list[str] = []
    for file in files:
        for line, item in _read(file):
            place = f"{file}:{line}"
            if not isinstance(item, dict):
                raise ValueError(f"{place}: expected the object of a work, not {brief(item)}")  # noqa: TRY004
            id_, key = str(item.get("id") or ""), _key(item, place, problems)
            if items.get(key) == item:
                continue
            if key in items or id_ in ids:
                raise ValueError(
                    f"{place}: {id_ or item['DOI']!r} occurs twice in the files of works"
                )
            items[key] = item
            if id_:
                ids[id_] = key
    return Library(files, ids if files else None, tuple(dict.fromkeys(problems)), items)


def _key(item: dict[str, Any], place: str, problems: list[str]) -> Handle | str:
    """Return the DOI of an item, or else its id; an invalid DOI that is a URL becomes its URL."""
    name, id_ = item.get("DOI"), str(item.get("id") or "")
    if not name and not id_:
        raise ValueError(f"{place}: the work has neither an id nor a DOI")
    if not name:
        return id_
    try:
        return DOI.parse(str(name))
    except DOISyntaxError as error:
        problem = f"{place}: {id_ or 'the work'}: {error}"
    if not id_:
        raise ValueError(problem)
    problems.append(f"{problem}; the work is read without a DOI")
    item.setdefault(
        "URL", f"https://doi.org/{name}" if short_doi_flaw(str(name)) is None else str(name)
    )
    return id_


def _read(file: Path) -> Items:
    try:
        text = file.read_text("utf-8-sig")
    except OSError as error:
        raise ValueError(f"{file}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"{file}: not UTF-8 at byte {error.start}") from None
    except ValueError:
        raise ValueError(f"{str(file)!r} is not a path") from None
    match file.suffix.lower():
        case ".bib" | ".bibtex" | ".biblatex":
            return _bibtex_items(file, text)
        case ".yaml" | ".yml":
            return _yaml_items(file, text)
        case ".json":
            return _json_items(file, text)
        case other:
            raise ValueError(
                f"{file}: unknown type {other!r}; known are .bib, .json, .yaml and .yml"
            )


def _json_items(file: Path, text: str) -> Items:
    try:
        items = load(text)
    except Malformed as error:
        cause = error.__context__
        place = f":{cause.lineno}" if isinstance(cause, json.JSONDecodeError) else ""
        raise ValueError(f"{file}{place}: {error}") from None
    if not isinstance(items, list):
        raise ValueError(f"{file}:1: expected a list of works, not {brief(items)}")  # noqa: TRY004
    decoder, line_of, end = json.JSONDecoder(), _line_finder(text), 0
    for item in items:
        before = _BETWEEN.match(text, end)
        start = before.end() if before else end
        yield line_of(start), item
        _, end = decoder.raw_decode(text, start)


def _yaml_items(file: Path, text: str) -> Items:
    try:
        import yaml
    except ModuleNotFoundError:
        raise ValueError(f'{file}: files in YAML need PyYAML: pip install "doiuri[yaml]"') from None
    try:
        loader = yaml.BaseLoader(text)  # dates and numbers stay as they are written
        root = loader.get_single_node()
        if isinstance(root, yaml.MappingNode):  # pandoc's: references: […]
            root = next((value for name, value in root.value if name.value == "references"), None)
        if not isinstance(root, yaml.SequenceNode):
            raise ValueError(f"{file}:1: expected a list of works, or one named references")  # noqa: TRY004
        for node in root.value:
            yield node.start_mark.line + 1, loader.construct_object(node, deep=True)
    except yaml.MarkedYAMLError as error:
        line = "" if error.problem_mark is None else f":{error.problem_mark.line + 1}"
        raise ValueError(f"{file}{line}: not YAML: {error.problem}") from None
    except yaml.reader.ReaderError as error:  # which has no mark
        before = text.count("\n", 0, error.position)
        raise ValueError(f"{file}:{before + 1}: not YAML: {error.reason}") from None


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
        treaty legal
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
_ROLES = {role: role for role in ("author", "editor", "translator")} | {
    "bookauthor": "container-author"
}
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


def _bibtex_items(file: Path, text: str) -> Items:
    """Yield the entries of a file as items of CSL-JSON, with their lines.

    :raises ValueError: if an entry is broken, or refers to another one that the file does not have
    """
    entries = [*_entries(file, text)]
    by_key = {entry.key.lower(): entry for entry in entries}
    for entry in entries:
        yield entry.line, _item(entry, _inherited(entry, by_key))


def _entries(file: Path, text: str) -> Iterator[_Entry]:
    scanner, last, line_of = EntryScanner(text), 0, _line_finder(text)
    for match, limit in scanner.entries():
        _check_between(file, text, last, match.start())
        line = line_of(match.start())
        place = f"{file}:{line}: {match['key'] or 'the entry'}"
        fields: dict[str, str] = {}
        for field in scanner.fields(limit):
            fields.setdefault(
                field.name, scanner.text_of(field.value)
            )  # BibTeX ignores a second one
        if not scanner.is_closed:
            after = f" after the field {[*fields][-1]!r}" if fields else ""
            raise ValueError(
                f"{place}: expected a field or the end of the entry{after}; is a brace missing?"
            )
        yield _Entry(place, line, match["type"].lower(), match["key"], fields)
        last = scanner.end
    _check_between(file, text, last, len(text))


def _line_finder(text: str) -> Callable[[int], int]:
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
                    raise ValueError(
                        f"{source.place}: {reference} names no entry of the file: {key!r}"
                    )
                if parent in sources:
                    continue
                sources.append(parent)
                whole = "journal" if entry.kind == "article" else "book"
                for name, value in parent.fields.items():
                    is_of_whole = reference == "crossref" and name in ("title", "subtitle")
                    fields.setdefault(f"{whole}{name}" if is_of_whole else name, value)
    return fields


def _item(entry: _Entry, fields: Fields) -> dict[str, Any]:
    language = plain_text(
        fields.get("langid") or fields.get("hyphenation") or fields.get("language") or ""
    )
    if language.lower().startswith(_ENGLISH):
        language = "en"
    in_english = language in ("", "en")  # BibTeX knows no other language

    def text_of(name: str, *, sentence_case: bool = False) -> str:
        text = rich_text(fields.get(name, ""), sentence_case=sentence_case and in_english)
        if name.endswith("title"):
            for part, mark in ((name.replace("title", "subtitle"), ":"), (f"{name}addon", ".")):
                more = rich_text(fields.get(part, ""), sentence_case=sentence_case and in_english)
                text += (
                    f"{'' if text.endswith(('?', '!', ':', '.')) else mark} {more}" if more else ""
                )
        return text

    item: dict[str, Any] = {"id": entry.key, "type": _TYPES.get(entry.kind, entry.kind)}
    for member, sources in _MEMBERS.items():
        item[member] = next(filter(None, map(text_of, sources)), "")
    if item["container-title"] == text_of(
        "booktitle"
    ):  # the title of a work, not a name as of a journal
        item["container-title"] = text_of("booktitle", sentence_case=True)
    item["title"] = text_of("title", sentence_case=True)
    item["page"] = _DASHES.sub("-", item["page"])
    item["publisher"] = "; ".join(
        rich_text(fields[name])
        for name in _PUBLISHERS
        if name in fields and not _URL.search(fields[name])
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
    month, day = plain_text(fields.get("month", "")), fields.get("day")
    if named := _MONTH.search(month):
        found = _DAY.search(month)
        return {
            "date-parts": [[year, _MONTHS.index(named[0].lower()) + 1, found[0] if found else day]]
        }
    return {"date-parts": [[year, month, day]]}


def _date(text: str) -> Any:
    """Return a date; of a period, the first one."""
    iso = _ISO.fullmatch(text.strip())
    parts = [part for part in iso.groups() if part] if iso else []
    return {"date-parts": [parts]} if parts else text and {"literal": plain_text(text)}


def _links(fields: Fields) -> dict[str, str]:
    """Return the DOI and the URL: that of a preprint or an abstract if there is no other."""
    eprint = _verbatim(fields.get("eprint", ""))
    server = fields.get("eprinttype") or fields.get("archiveprefix")
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
