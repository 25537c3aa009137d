"""Files of works in BibTeX, CSL-JSON or CSL-YAML: works without a DOI, and corrections of metadata."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from doiuri._doi import DOI
from doiuri._errors import DOISyntaxError
from doiuri._json import Malformed, brief, load
from doiuri._names import short_doi_flaw
from doiuri.citations._bibtex import bibtex_items, line_finder
from doiuri.works._work import Work

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from doiuri._doi import Handle

    AnyHandle = TypeVar("AnyHandle", bound=Handle)  # a Mapping's keys are invariant
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
    """What is wrong with single works, such as a broken entry, which is left out, with the files and lines."""

    _items: Mapping[Handle | str, Mapping[str, Any]]

    @property
    def keys(self) -> tuple[Handle | str, ...]:
        """The DOI or the id of each work, in the order of the files."""
        return tuple(self._items)

    def merge(
        self, works: Mapping[AnyHandle, Work], keys: Iterable[Handle | str] | None = None
    ) -> dict[Handle | str, Work]:
        """Return the works of the registry, corrected, and those of the files.

        Each member of an item replaces that of the registry.

        :param keys: the works to take from the files; by default all of them
        """
        merged: dict[Handle | str, Work] = dict(works.items())
        wanted_keys = self._items.keys() if keys is None else self._items.keys() & set(keys)
        for key in wanted_keys:
            item = dict(self._items[key])
            registered = merged.get(key)
            if registered is not None:
                item = {**registered.csl, **item}
            merged[key] = Work.from_item(key, item)
        return merged


def read_works(
    paths: Iterable[str], folder: str | os.PathLike[str] = ".", language: str = "en"
) -> Library:
    """Read files of works: BibTeX (``.bib``), CSL-YAML (``.yaml``, ``.yml``), or CSL-JSON (``.json``).

    ``Library.problems`` says what is wrong with single works; the others are read. A work whose DOI is invalid
    is one without a DOI. Works with one DOI are one work: the first one counts, and each id cites it. A work
    that is repeated as it is counts once.

    :param paths: the files
    :param folder: the folder of relative paths
    :param language: the language of works in BibTeX that do not say theirs; only English titles get sentence
        case
    :raises ValueError: if a file cannot be read or is not such a file, or YAML needs PyYAML, which is not
        installed
    """
    files = tuple(Path(folder, path) for path in paths)
    builder = _LibraryBuilder()
    for file in files:
        for line, item in _items_of(file, language, builder.problems.append):
            builder.add(item, f"{file}:{line}")
    known_ids = builder.ids if files else None
    return Library(files, known_ids, tuple(dict.fromkeys(builder.problems)), builder.items)


def read_bibtex(text: str, language: str = "en") -> dict[str, Work]:
    """Return the works of a text in BibTeX by their citation keys, each with what it inherits of other entries.

    An entry that is broken, or whose key occurred before, is left out.

    :param language: as that of ``read_works``
    """
    works: dict[str, Work] = {}
    for _, item in bibtex_items(Path(), text, language, lambda _problem: None):
        key = str(item.get("id") or "")
        works.setdefault(key, Work.from_item(key, item))
    return works


class _LibraryBuilder:
    """Collects the items of files, and what is wrong with them.

    An item is known by its key: its DOI, or else its id. Of several items with one DOI, the first one counts.
    """

    def __init__(self) -> None:
        self.ids: dict[str, Handle | str] = {}
        self.items: dict[Handle | str, Mapping[str, Any]] = {}
        self.problems: list[str] = []

    def add(self, item: Any, place: str) -> None:
        """Add the work in an item, or a problem, which begins with the place: file and line."""
        if not isinstance(item, dict):
            self.problems.append(f"{place}: expected the object of a work, not {brief(item)}")
            return
        key = self._key(item, place)
        if key is None or self.items.get(key) == item:
            return

        id_ = str(item.get("id") or "")
        if id_ in self.ids:
            twice = f"{id_!r} occurs twice in the files of works; the first one counts"
            self.problems.append(f"{place}: {twice}")
            return
        if id_:
            self.ids[id_] = key

        if key not in self.items:
            self.items[key] = item
        elif not isinstance(key, str):
            both = f"{_called(self.items[key])} and {_called(item)}"
            one_work = f"have the DOI {key.name}, so they are one work; the first one counts"
            self.problems.append(f"{place}: {both} {one_work}")

    def _key(self, item: dict[str, Any], place: str) -> Handle | str | None:
        """Return the DOI of an item, or else its id; None if it has neither.

        A DOI that is invalid is reported, and becomes the URL of the item. A short DOI, such as "10/abc", is a URL
        of https://doi.org.
        """
        name = str(item.get("DOI") or "")
        id_ = str(item.get("id") or "")
        if not name and not id_:
            self.problems.append(
                f"{place}: the work has neither an id nor a DOI, so it is left out"
            )
            return None
        if not name:
            return id_
        try:
            return DOI.parse(name)
        except DOISyntaxError as error:
            problem = f"{place}: {id_ or 'the work'}: {error}"
        if not id_:
            self.problems.append(f"{problem}; without an id, the work is left out")
            return None
        self.problems.append(f"{problem}; the work is read without a DOI")
        url = name
        if short_doi_flaw(name) is None:
            url = f"https://doi.org/{name}"
        item.setdefault("URL", url)
        return id_


def _called(item: Mapping[str, Any]) -> str:
    """Return the id of an item in quotation marks, or what it is called without one."""
    if not item.get("id"):
        return "a work without an id"
    return repr(str(item["id"]))


def _items_of(file: Path, language: str, report: Callable[[str], object]) -> Items:
    """Return the items of a file, with their lines; ``report`` is called with each problem of BibTeX entries."""
    try:
        text = file.read_text("utf-8-sig")
    except OSError as error:
        raise ValueError(f"{file}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"{file}: not UTF-8 at byte {error.start}") from None
    except ValueError:  # a NUL in the path
        raise ValueError(f"{str(file)!r} is not a path") from None

    match file.suffix.lower():
        case ".bib" | ".bibtex" | ".biblatex":
            return bibtex_items(file, text, language, report)
        case ".yaml" | ".yml":
            return _yaml_items(file, text)
        case ".json":
            return _json_items(file, text)
        case other:
            raise ValueError(
                f"{file}: unknown type {other!r}; known are .bib, .json, .yaml and .yml"
            )


def _json_items(file: Path, text: str) -> Items:
    """Yield the items of a file of CSL-JSON, with their lines."""
    try:
        items = load(text)
    except Malformed as error:
        cause = error.__context__
        place = f":{cause.lineno}" if isinstance(cause, json.JSONDecodeError) else ""
        raise ValueError(f"{file}{place}: {error}") from None
    if not isinstance(items, list):
        raise ValueError(f"{file}:1: expected a list of works, not {brief(items)}")  # noqa: TRY004

    # Each item is decoded a second time, to know where it ends and the next one begins
    decoder = json.JSONDecoder()
    line_of = line_finder(text)
    end = 0
    for item in items:
        before = _BETWEEN.match(text, end)
        start = before.end() if before else end
        yield line_of(start), item
        _, end = decoder.raw_decode(text, start)


def _yaml_items(file: Path, text: str) -> Items:
    """Yield the items of a file of CSL-YAML, with their lines."""
    try:
        import yaml
    except ModuleNotFoundError:
        raise ValueError(f'{file}: files in YAML need PyYAML: pip install "doiuri[yaml]"') from None
    try:
        loader = yaml.BaseLoader(text)  # dates and numbers stay as they are written
        root = loader.get_single_node()
        if isinstance(root, yaml.MappingNode):  # pandoc's form, "references: […]"
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
