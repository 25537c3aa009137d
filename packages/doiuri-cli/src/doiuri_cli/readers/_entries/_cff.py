"""Entries of CITATION.cff: the work itself, the preferred citation, and the references."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doiuri_cli.readers._entries._entry import Entry, entry
from doiuri_cli.readers.strings._yaml_events import scalars

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri_cli.files import Source
    from doiuri_cli.readers.strings._yaml import Scalar

    Path = tuple[str | int, ...]

_PREFERRED, _REFERENCES = "preferred-citation", "references"


def read(source: Source) -> Iterator[Entry]:
    """Return the works that have a DOI; the key of each says where it is, such as "references[0]".

    :raises ReadError: if the file is not YAML.
    """
    values = {scalar.path: scalar for scalar in scalars(source) if not scalar.is_key}
    for path in dict.fromkeys(filter(_is_work, (_work(path) for path in values))):
        doi = values.get((*path, "doi")) or _identifier(values, path)
        if doi is not None and (found := _entry(source, values, path, doi)):
            yield found


def _work(path: Path) -> Path:
    """Return the path of the work to which a value belongs."""
    if path[:1] == (_REFERENCES,):
        return path[:2]
    return path[:1] if path[:1] == (_PREFERRED,) else ()


def _is_work(path: Path) -> bool:
    return path[:1] != (_REFERENCES,) or len(path) == 2


def _identifier(values: dict[Path, Scalar], path: Path) -> Scalar | None:
    """Return the only DOI among the identifiers of a work: several may name versions."""
    inside = (*path, "identifiers")
    dois = [
        values[*place[:-1], "value"]
        for place, scalar in values.items()
        if place[: len(inside)] == inside and place[-1] == "type" and scalar.value == "doi"
        if (*place[:-1], "value") in values
    ]
    return dois[0] if len(dois) == 1 else None


def _entry(source: Source, values: dict[Path, Scalar], path: Path, doi: Scalar) -> Entry | None:
    def text(*names: str | int) -> str:
        scalar = values.get((*path, *names))
        return scalar.value if scalar else ""

    author = ("authors", 0)
    family = f"{text(*author, 'name-particle')} {text(*author, 'family-names')}".strip()
    quotes = len(doi.style) if doi.style in {"'", '"'} else 0
    return entry(
        source,
        (doi.start + quotes, doi.end - quotes),
        doi.value,
        key=f"{_REFERENCES}[{path[1]}]" if len(path) > 1 else "".join(map(str, path)),
        title=text("title"),
        year=text("year") or text("date-released") or text("date-published"),
        family=family or text(*author, "name"),
    )
