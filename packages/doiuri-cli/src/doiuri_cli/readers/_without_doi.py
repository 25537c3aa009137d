"""The works of a bibliography that have no DOI, to search for, and where their DOI would be written.

For BibTeX, RIS, JSON and YAML each, in this order:

1. a function yields the works, each with the location of its entry;
2. another one returns the insertion: a field like those around it, or none if their layout is not known;
3. ``adds_only`` proves an insertion: read again, the file says the same as before, and the DOI.
"""

from __future__ import annotations

import json
import re
from collections import Counter, deque
from typing import TYPE_CHECKING, Any, NamedTuple

from doiuri import bibtex
from doiuri.citations import read_bibtex
from doiuri.tex import plain_text
from doiuri.works import Work

from doiuri_cli.readers import type_of
from doiuri_cli.readers._bibliography import records
from doiuri_cli.readers._json import at, loaded, strings
from doiuri_cli.readers._part import Part, location_of
from doiuri_cli.readers._yaml import decoded, scalars

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from doiuri.bibtex import BibTeXEntry

    from doiuri_cli.files import Source, SourceLocation
    from doiuri_cli.readers._bibliography import RISLine
    from doiuri_cli.readers._json import Keys


class Insertion(NamedTuple):
    """How a file of this kind gets a DOI that it lacks."""

    start: int  # offset in the file's text
    before: str  # what is written there before the DOI
    after: str  # what is written after it
    is_json: bool = False  # whether the DOI is written as JSON escapes it

    def text(self, name: str) -> str:
        """Return what is inserted."""
        written = json.dumps(name, ensure_ascii=False)[1:-1] if self.is_json else name
        return f"{self.before}{written}{self.after}"


class WorkWithoutDOI(NamedTuple):
    """A work of a bibliography that has no DOI."""

    work: Work  # as the bibliography describes it
    location: SourceLocation  # where its entry starts
    insertion: Insertion | None  # None if it is not known how to write a DOI into the entry


def works_without_doi(source: Source) -> Iterator[WorkWithoutDOI]:
    """Yield the works of a bibliography that have no field for a DOI; of other files, none.

    :raises ReadError: if the file is not what its name says.
    """
    match type_of(source.path):
        case "bibtex":
            yield from _bibtex(source)
        case "json":
            yield from _json(source)
        case "yaml":
            yield from _yaml(source)
        case "ris":
            yield from _ris(source)


def adds_only(names: Collection[str], before: Source, after: Source) -> bool:
    """Return whether a bibliography says the same as before, and that some of its works have these DOIs.

    Its values are compared in order: each new one is the next old one, or one of the DOIs.
    """
    missing = Counter(names)
    old = deque(_values(before))
    for key, value in _values(after):
        if old and old[0] == (key, value):
            old.popleft()
        elif key in {"doi", "DOI", "DO"} and missing[value]:
            missing[value] -= 1
        else:
            return False
    return not old and not missing.total()


def _values(source: Source) -> Iterator[tuple[Any, Any]]:
    """Yield all that a bibliography says, in order: each value with its key."""
    match type_of(source.path):
        case "bibtex":
            for entry in bibtex.entries(source.text):
                yield f"@{entry.type}", entry.key
                for name, tex in entry.fields.items():
                    yield name, plain_text(tex) if name == "doi" else tex
        case "json":
            for item in loaded(source):  # type: ignore[attr-defined]  # it is a list of items
                yield "item", None
                yield from item.items()
        case "yaml":
            for scalar in scalars(source.text):
                if scalar.is_key:
                    continue
                key = scalar.path if scalar.key not in {"doi", "DOI"} else scalar.key
                yield key, decoded(source.text, scalar).text
        case "ris":
            for _, record in records(source):
                yield from ((tag, value) for tag, _, value in record)


def _location(source: Source, key: str, start: int, end: int) -> SourceLocation:
    return location_of(Part(source.text, source=source, entry=key), start, end)


_FIRST_LINE = re.compile(r"[^\r\n]*")


def _bibtex(source: Source) -> Iterator[WorkWithoutDOI]:
    """Yield the works of closed entries without a field ``doi``; of several with one key, the first counts."""
    text = source.text
    works = read_bibtex(text)
    seen: set[str] = set()
    for entry in bibtex.entries(text):
        is_repeated = entry.key in seen
        seen.add(entry.key)
        if is_repeated or not entry.is_closed or "doi" in entry.fields or entry.key not in works:
            continue

        # Shown is only the first line of an entry, which may have many
        first_line = _FIRST_LINE.match(text, entry.start, entry.end)
        end = first_line.end() if first_line else entry.end
        location = _location(source, entry.key, entry.start, end)
        work = _with_remarks(works[entry.key], entry)
        yield WorkWithoutDOI(work, location, _bibtex_insertion(text, entry))


_REMARKS = ("note", "howpublished", "ee", "pubstate", "status", "addendum", "year", "date")


def _with_remarks(work: Work, entry: BibTeXEntry) -> Work:
    """Return a work with a note of what its entry says in fields that no style shows as they are.

    They may name its DOI, or say that it is not published.
    """
    remarks = [plain_text(entry.fields[name]) for name in _REMARKS if name in entry.fields]
    if not remarks:
        return work
    return Work.from_item(work.key, {**work.csl, "note": "; ".join(remarks)})


# A field with the comma before it, as its author spaces them, up to the text of its value
_FIELD = re.compile(
    r"""
    (?P<lead> \s*,\s* ) (?P<name> [A-Za-z][\w-]* ) (?P<space> \s* ) = (?P<gap> \s* )
    (?P<quote> ["{] ) \Z
    """,
    re.VERBOSE,
)
_CLOSING = {"{": "}", '"': '"'}
_COMMENT_FOLLOWS = re.compile(r"[,\s]*%")


def _bibtex_insertion(text: str, entry: BibTeXEntry) -> Insertion | None:
    """Return where the field for a DOI goes: after the last quoted field, in its layout.

    If the signs "=" are aligned, they stay so: ``year  = {2020}`` and ``title = {A}`` get ``doi   = {10.1000/1}``.
    """
    # Of each field, its head, which is what is before its text, and where its text ends
    fields = [
        (_FIELD.search(text, entry.start, start), end)
        for start, end in sorted(entry.spans.values())
    ]
    quoted = [
        (head, end)
        for head, end in fields
        if head and text[end : end + 1] == _CLOSING[head["quote"]]
    ]
    # A comment on a field has to stay beside it
    usable = [(head, end) for head, end in quoted if not _COMMENT_FOLLOWS.match(text, end + 1)]
    if not usable:
        return None

    head, end = usable[-1]
    name = _in_case_of(head["name"])
    space = head["space"]
    if _are_aligned([head for head, _ in quoted]):
        space = " " * max(len(head["name"] + space) - len(name), 1)
    before = f"{head['lead']}{name}{space}={head['gap']}{head['quote']}"
    return Insertion(end + 1, before, _CLOSING[head["quote"]])


def _are_aligned(heads: Sequence[re.Match[str]]) -> bool:
    """Return whether the signs "=" of fields are aligned: names of several lengths, equally long with blanks."""
    lengths = {len(head["name"]) for head in heads}
    lengths_with_blanks = {len(head["name"] + head["space"]) for head in heads}
    return len(lengths) > 1 and len(lengths_with_blanks) == 1


def _in_case_of(name: str) -> str:
    """Return the name of the field for a DOI in the case of another one: "DOI" with "YEAR", "Doi" with "Year"."""
    if name.isupper():
        return "DOI"
    return "Doi" if name.istitle() else "doi"


def _ris(source: Source) -> Iterator[WorkWithoutDOI]:
    """Yield the works of the records without a tag ``DO``."""
    for key, record in records(source):
        if any(tag == "DO" for tag, _, _ in record):
            continue
        _, start, _ = record[0]  # the line of its type
        location = _location(source, key, start, start + len(record[0][2]))
        yield WorkWithoutDOI(
            _work_of_ris(key, record), location, _ris_insertion(source.text, record)
        )


_RIS_TYPES = {
    "BOOK": "book",
    "CHAP": "chapter",
    "COMP": "software",
    "CONF": "paper-conference",
    "CPAPER": "paper-conference",
    "DATA": "dataset",
    "JOUR": "article-journal",
    "MANSCPT": "manuscript",
    "RPRT": "report",
    "THES": "thesis",
    "UNPB": "manuscript",
}
_RIS_MEMBERS = {
    "title": ("TI", "T1"),
    "container-title": ("T2", "JO", "JF", "JA"),
    "volume": ("VL",),
    "issue": ("IS",),
    "URL": ("UR",),
    "note": ("N1",),
    "number": ("M1",),
}
_YEAR = re.compile(r"[0-9]{4}")


def _work_of_ris(key: str, record: Sequence[RISLine]) -> Work:
    """Return the work that a record describes; of a tag that is repeated, but for authors, the first counts."""
    first: dict[str, str] = {}
    for tag, _, value in record:
        first.setdefault(tag, value)
    item: dict[str, Any] = {"type": _RIS_TYPES.get(first.get("TY", ""), "document")}
    for member, tags in _RIS_MEMBERS.items():
        item[member] = next((first[tag] for tag in tags if first.get(tag)), "")
    pages = [first[tag] for tag in ("SP", "EP") if first.get(tag)]
    item["page"] = "-".join(pages)
    item["author"] = [
        bibtex.names(value)[0] for tag, _, value in record if tag in {"AU", "A1"} and value
    ]
    year = _YEAR.search(first.get("PY") or first.get("Y1") or first.get("DA") or "")
    item["issued"] = {"date-parts": [[int(year[0])]]} if year else None
    return Work.from_item(key, {member: value for member, value in item.items() if value})


def _ris_insertion(text: str, record: Sequence[RISLine]) -> Insertion | None:
    """Return where the line for a DOI goes: before the one that ends the record; None if it has no end."""
    tag, start, _ = record[-1]
    if tag != "ER":
        return None
    line_start = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
    line_end = "\r\n" if text[line_start - 2 : line_start] == "\r\n" else "\n"
    return Insertion(line_start, "DO  - ", line_end)


def _json(source: Source) -> Iterator[WorkWithoutDOI]:
    """Yield the items of CSL-JSON that have no DOI."""
    root = loaded(source)
    if not isinstance(root, list) or not root:
        return

    first_keys: dict[
        Keys, tuple[int, int]
    ] = {}  # where that of each item starts and ends, with quotation marks
    for string in strings(source):
        if string.is_key and len(string.path) == 2:  # the number of the item, and the key
            first_keys.setdefault(string.path[:1], (string.start - 1, string.end + 1))

    for path, (start, end) in first_keys.items():
        item = at(root, path)
        if isinstance(item, dict) and _is_csl(item) and {"doi", "DOI"}.isdisjoint(item):
            key = str(item.get("id") or "")
            location = _location(source, key, start, end)
            yield WorkWithoutDOI(
                Work.from_item(key, item), location, _json_insertion(source.text, start, end)
            )


_BEFORE_KEY = re.compile(r"\{(?P<space>\s*)\Z")
_AFTER_KEY = re.compile(r"\s*:\s*")


def _json_insertion(text: str, start: int, end: int) -> Insertion | None:
    """Return where the member for a DOI goes: before the first one, in its layout; None if that is not known.

    Before ``"id": 1``, it is ``"DOI": "10.1000/1", ``.
    """
    before = _BEFORE_KEY.search(text, 0, start)
    colon = _AFTER_KEY.match(text, end)
    if before is None or colon is None:
        return None
    return Insertion(start, f'"DOI"{colon[0]}"', f'",{before["space"] or " "}', is_json=True)


def _is_csl(item: Mapping[str, Any]) -> bool:
    """Return whether an object is an item of CSL, which has an id, a type, a title, and names or a date."""
    has_texts = all(isinstance(item.get(member), str) for member in ("type", "title"))
    is_described = not {"author", "editor", "issued"}.isdisjoint(item)
    return has_texts and "id" in item and is_described


def _yaml(source: Source) -> Iterator[WorkWithoutDOI]:
    """Yield the items of CSL-YAML, or the references of a CITATION.cff, that have no DOI."""
    is_cff = source.path.lower().endswith(".cff")
    tree: dict[str | int, Any] = {}  # the values of the file
    keys: dict[Keys, list[tuple[int, int]]] = {}  # where those of each mapping start and end
    for scalar in scalars(source.text):
        # No comments, and only the first document: those that follow have the same paths
        if scalar.style == "#" or scalar.document:
            continue
        if scalar.is_key:
            keys.setdefault(scalar.mapping, []).append((scalar.start, scalar.end))
        elif scalar.path:
            _put(tree, scalar.path, decoded(source.text, scalar).text)

    for path, spans in keys.items():
        # An item of the list that is the file, or of ``references``
        is_listed = path[:-1] in {(), ("references",)} and bool(path) and isinstance(path[-1], int)
        item = _with_lists(at(tree, path)) if is_listed else None
        if not isinstance(item, dict) or not {"doi", "DOI"}.isdisjoint(item):
            continue
        name = f"references[{path[-1]}]" if is_cff else str(item.get("id") or "")
        if is_cff:
            item = _csl_of_cff(item)
        elif not _is_csl(item):
            continue
        insertion = _yaml_insertion(source.text, spans, "doi" if is_cff else "DOI")
        yield WorkWithoutDOI(
            Work.from_item(name, item), _location(source, name, *spans[0]), insertion
        )


def _put(tree: dict[str | int, Any], path: Keys, text: str) -> None:
    """Put a value into nested mappings; the items of a sequence are a mapping of their numbers.

    At the path ``("authors", 0, "name")``, it is ``{"authors": {0: {"name": text}}}``.
    """
    for step in path[:-1]:
        inner = tree.setdefault(step, {})
        if not isinstance(inner, dict):
            return
        tree = inner
    tree.setdefault(path[-1], text)


def _with_lists(tree: Any) -> Any:
    """Return a value in which mappings of numbers are lists again."""
    if not isinstance(tree, dict):
        return tree
    if tree and all(isinstance(step, int) for step in tree):
        return [_with_lists(value) for value in tree.values()]
    return {step: _with_lists(value) for step, value in tree.items()}


_CFF_TYPES = {
    "article": "article-journal",
    "book": "book",
    "conference-paper": "paper-conference",
    "data": "dataset",
    "dataset": "dataset",
    "magazine-article": "article-magazine",
    "manual": "report",
    "newspaper-article": "article-newspaper",
    "proceedings": "book",
    "report": "report",
    "software": "software",
    "software-code": "software",
    "thesis": "thesis",
    "unpublished": "manuscript",
}
_CFF_MEMBERS = {
    "title": "title",
    "container-title": "journal",
    "volume": "volume",
    "issue": "issue",
    "status": "status",
    "URL": "url",
    "note": "notes",
}


def _csl_of_cff(reference: Mapping[str, Any]) -> dict[str, Any]:
    """Return a reference of a CITATION.cff as CSL-JSON (Citation File Format 1.2.0, "definitions.reference")."""
    item: dict[str, Any] = {"type": _CFF_TYPES.get(reference.get("type", ""), "document")}
    for member, key in _CFF_MEMBERS.items():
        item[member] = reference.get(key)

    conference = reference.get("conference")
    if not item["container-title"] and isinstance(conference, dict):
        item["container-title"] = conference.get("name")
    item["container-title"] = item["container-title"] or reference.get("collection-title")

    pages = [reference.get(key) for key in ("start", "end")]
    item["page"] = "-".join(page for page in pages if isinstance(page, str))
    authors = reference.get("authors")
    item["author"] = [_name_of_cff(name) for name in authors] if isinstance(authors, list) else []
    year = (
        reference.get("year") or reference.get("date-published") or reference.get("date-released")
    )
    # Of a date, as in "2020-01-31", only the year
    item["issued"] = {"raw": year[:4]} if isinstance(year, str) else None
    return {member: value for member, value in item.items() if value}


def _name_of_cff(name: object) -> dict[str, Any]:
    """Return a person or an entity of a CITATION.cff as a name of CSL-JSON."""
    if not isinstance(name, dict):
        return {}
    parts = {
        "family": name.get("family-names"),
        "given": name.get("given-names"),
        "non-dropping-particle": name.get("name-particle"),
        "literal": name.get("name"),
    }
    return {part: text for part, text in parts.items() if text}


def _yaml_insertion(text: str, keys: Sequence[tuple[int, int]], name: str) -> Insertion | None:
    """Return where the line for a DOI goes: before the second key, which begins a line; None if it does not.

    The first key does not begin a line in a list: ``- type: book``.

    :param keys: where the keys of the item start and end.
    :param name: the key for the DOI.
    """
    if len(keys) < 2:
        return None
    start = keys[1][0]
    line_start = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
    margin = text[line_start:start]
    if margin.strip(" "):
        return None
    line_end = "\r\n" if text[line_start - 2 : line_start] == "\r\n" else "\n"
    return Insertion(start, f"{name}: ", f"{line_end}{margin}")
