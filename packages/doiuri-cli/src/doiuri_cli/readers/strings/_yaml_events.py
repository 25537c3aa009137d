"""The scalars of YAML documents, with their paths: events are read, so aliases are not expanded."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import yaml

from doiuri_cli.readers._part import ReadError
from doiuri_cli.readers.strings._yaml import Scalar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from doiuri_cli.files import Source

DEEPEST = 200  # levels of sequences and mappings
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_STARTS_PROPERTIES = ("&", "!")
_new = tuple.__new__  # takes half the time of Scalar(…)
_PROPERTIES = re.compile(r"(?:(?:[&!][^ \t\r\n]*+|#[^\r\n]*+)?[ \t\r\n]++)*")


def scalars(source: Source) -> Iterator[Scalar]:
    """Return the scalars of all documents, in order.

    :raises ReadError: if the text is not YAML.
    """
    try:
        yield from _Walk(source).scalars(_events(source.text))
    except yaml.MarkedYAMLError as error:
        raise ReadError(_problem(source, error)) from error
    except yaml.reader.ReaderError as error:
        raise ReadError(_unprintable(source)) from error
    except UnicodeEncodeError as error:
        raise ReadError("not Unicode") from error


def _events(text: str) -> Iterator[yaml.Event]:
    """Return the events as ``yaml.parse`` does, without asking first whether there is another one."""
    loader = _LOADER(text)
    try:
        while (event := loader.get_event()) is not None:
            yield event
    finally:
        loader.dispose()


def _problem(source: Source, error: yaml.MarkedYAMLError) -> str:
    """Return what is wrong and where; of something without an end, where it begins."""
    mark = error.problem_mark
    if error.context_mark and (mark is None or mark.index >= len(source.text.rstrip())):
        mark = error.context_mark
    where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
    return where + ", ".join(words for words in (error.context, error.problem) if words)


def _unprintable(source: Source) -> str:
    found = yaml.reader.Reader.NON_PRINTABLE.search(source.text)
    if found is None:
        return "YAML does not allow a character of this file"
    line, column = source.lines.position(found.start())
    return f"line {line}, column {column}: YAML does not allow the character U+{ord(found[0]):04X}"


def _span(event: yaml.Event) -> tuple[int, int]:
    start, end = event.start_mark, event.end_mark
    return (start.index, end.index) if start is not None and end is not None else (0, 0)


class _Walk:
    """Follows the events of documents."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._path: list[str | int] = []
        # Of each level: whether it is in brackets, and whether a key comes next; None in a sequence
        self._levels: list[tuple[bool, bool | None]] = []

    def scalars(self, events: Iterable[yaml.Event]) -> Iterator[Scalar]:
        for event in events:
            if type(event) is yaml.ScalarEvent:
                yield self._scalar(event)
            elif isinstance(event, yaml.CollectionStartEvent):
                self._started(event)
            elif isinstance(event, yaml.CollectionEndEvent):
                self._levels.pop()
                self._path.pop()
                self._ended("")
            elif isinstance(event, yaml.AliasEvent):
                self._ended("")

    def _scalar(self, event: yaml.ScalarEvent) -> Scalar:
        (start, end), text, path = _span(event), self._source.text, self._path
        if text.startswith(_STARTS_PROPERTIES, start):
            properties = _PROPERTIES.match(text, start)
            start = min(properties.end(), end) if properties else start
        value, style, flow, is_key = event.value, event.style, False, None
        here = (*path,)
        if self._levels:
            flow, is_key = self._levels[-1]
            if is_key is None:
                path[-1] += 1  # type: ignore[operator] # in a sequence, it is a number
            else:
                path[-1] = value if is_key else path[-1]
                self._levels[-1] = flow, not is_key
        return _new(Scalar, (here, value, start, end, style.strip() if style else "", flow, is_key is True))

    def _started(self, event: yaml.CollectionStartEvent) -> None:
        if len(self._levels) == DEEPEST:
            line, column = self._source.lines.position(_span(event)[0])
            raise ReadError(f"line {line}, column {column}: more than {DEEPEST} levels")
        is_mapping = isinstance(event, yaml.MappingStartEvent)
        self._levels.append((bool(event.flow_style), True if is_mapping else None))
        self._path.append("" if is_mapping else 0)

    def _ended(self, key: str) -> None:
        """Go on behind a scalar, an alias or a collection."""
        if not self._levels:
            return
        flow, is_key = self._levels[-1]
        last = self._path[-1]
        if isinstance(last, int):
            self._path[-1] = last + 1
            return
        if is_key:
            self._path[-1] = key
        self._levels[-1] = (flow, not is_key)
