"""The scalars of YAML 1.2: their text with places, and how each style writes one (chapter 7 and §8.1).

Events are read, so aliases are not expanded.
"""

from __future__ import annotations

import re
from functools import lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple

import yaml

from doiuri_cli.readers._json import encode_unicode
from doiuri_cli.readers._part import Decoded, Part, ReadError, one_line, undo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from doiuri_cli.files import Source

DEEPEST = 200  # levels of sequences and mappings
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_STARTS_PROPERTIES = ("&", "!")
_new = tuple.__new__  # takes half the time of Scalar(…)
_PROPERTIES = re.compile(r"(?:(?:[&!][^ \t\r\n]*+|#[^\r\n]*+)?[ \t\r\n]++)*")
_BREAK = r"(?:\r\n?|[\n\x85\u2028\u2029])"
_SINGLE = re.compile("''")
_DOUBLE = re.compile(rf"\\(?:x[0-9a-fA-F]{{2}}|u[0-9a-fA-F]{{4}}|U[0-9a-fA-F]{{8}}|{_BREAK}[ \t]*+|.)")
_HEADER = re.compile(rf"[|>][^\r\n\x85\u2028\u2029]*(?:{_BREAK}|\Z)")
# What would end a plain scalar, or make it something else (§7.3.3)
_NOT_PLAIN = re.compile(
    r"\A[-?:,\[\]{}#&*!|>'\"%@`\s]|:\s|:\Z|\s#|\s\Z|[^\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufffd]"
)
_FLOW = re.compile(r"[,\[\]{}]")
_NOT_PRINTABLE = re.compile(
    r"[^\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)


class Scalar(NamedTuple):
    """A scalar.

    :ivar path: the keys and, in sequences, the numbers from 0 that lead to it.
    :ivar value: its text.
    :ivar start: offset in the file of its first character, quotation marks included.
    :ivar end: offset after its last one.
    :ivar style: "'", '"', "|" or ">"; empty if it is plain.
    :ivar flow: whether it is within brackets or braces.
    :ivar is_key: whether it is the key of a mapping.
    """

    path: tuple[str | int, ...]
    value: str
    start: int
    end: int
    style: str
    flow: bool
    is_key: bool


def part_of(text: str, scalar: Scalar, entry: str, *, field: bool) -> Part:
    """Return a scalar as a part of a file.

    :param text: the text of the file.
    :param scalar: the scalar.
    :param entry: the key of the entry that it is in.
    :param field: whether it is the value of a field for a DOI.
    """
    content, places = decode(text, scalar)
    return Part(content, places=places, entry=entry, field=field, encode=encoder(scalar))


def decode(text: str, scalar: Scalar) -> Decoded:
    """Return the text of a scalar with the place of each character; line breaks and margins stay."""
    start, end = scalar.start, scalar.end
    if scalar.style in {"'", '"'}:
        return undo(text, [(start + 1, end - 1)], _SINGLE if scalar.style == "'" else _DOUBLE, _meaning)
    header = _HEADER.match(text, start, end) if scalar.style else None
    start = header.end() if header else start
    return Decoded(text[start:end], range(start, end + 1))


def _meaning(found: re.Match[str]) -> str:
    return "'" if found[0] == "''" else _unescaped(found[0])


@lru_cache(256)  # a text has many of a few escapes
def _unescaped(escape: str) -> str:
    return str(yaml.load(f'"{escape}"', _LOADER))  # noqa: S506 - a safe one


def encoder(scalar: Scalar) -> Callable[[str], str]:
    """Return what writes text in a scalar of this style."""
    match scalar.style:
        case "'":
            return encode_single
        case '"':
            return encode_double
        case "|" | ">":
            return encode_block
        case _:
            return partial(encode_plain, flow=scalar.flow)


def encode_plain(text: str, *, flow: bool) -> str:
    """Return the text: a plain scalar has it as it is.

    :param text: the text.
    :param flow: whether the scalar is within brackets or braces.
    :raises ValueError: if it would be no plain scalar.
    """
    if _NOT_PLAIN.search(text) or (flow and _FLOW.search(text)):
        raise ValueError(f"a plain scalar cannot hold this text: {text!r}")
    return text


def encode_single(text: str) -> str:
    """Return the text as single quotes hold it.

    :raises ValueError: if they cannot.
    """
    return _printable(text).replace("'", "''")


def encode_double(text: str) -> str:
    """Return the text as double quotes hold it: with the escapes of JSON."""
    return _NOT_PRINTABLE.sub(_escaped, encode_unicode(text))


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def encode_block(text: str) -> str:
    """Return the text: a line of a block has it as it is.

    :raises ValueError: if it cannot.
    """
    if text[:1].isspace():
        raise ValueError(f"white space would change the indentation: {text!r}")
    return _printable(text)


def _printable(text: str) -> str:
    if _NOT_PRINTABLE.search(text):
        raise ValueError(f"this scalar cannot hold such characters: {text!r}")
    return one_line(text)


def scalars(source: Source) -> Iterator[Scalar]:
    """Return the scalars of all documents, in order.

    :raises ReadError: if the text is not YAML.
    """
    try:
        yield from _Walk(source).scalars(_events(source.text))
    except yaml.MarkedYAMLError as error:
        raise _problem(source, error) from error
    except yaml.reader.ReaderError as error:
        raise _unprintable(source) from error
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


def _problem(source: Source, error: yaml.MarkedYAMLError) -> ReadError:
    """Return what is wrong and where; of something without an end, where it begins."""
    mark = error.problem_mark
    if error.context_mark and (mark is None or mark.index >= len(source.text.rstrip())):
        mark = error.context_mark
    reason = ", ".join(words for words in (error.context, error.problem) if words)
    return ReadError(reason, *source.lines.position(mark.index)) if mark else ReadError(reason)


def _unprintable(source: Source) -> ReadError:
    found = yaml.reader.Reader.NON_PRINTABLE.search(source.text)
    if found is None:
        return ReadError("YAML does not allow a character of this file")
    reason = f"YAML does not allow the character U+{ord(found[0]):04X}"
    return ReadError(reason, *source.lines.position(found.start()))


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
        (start, end), text, here = _span(event), self._source.text, (*self._path,)
        if text.startswith(_STARTS_PROPERTIES, start):
            properties = _PROPERTIES.match(text, start)
            start = min(properties.end(), end) if properties else start
        value, style = event.value, (event.style or "").strip()
        flow, is_key = self._levels[-1] if self._levels else (False, None)
        self._ended(value)
        return _new(Scalar, (here, value, start, end, style, flow, is_key is True))

    def _started(self, event: yaml.CollectionStartEvent) -> None:
        if len(self._levels) == DEEPEST:
            place = self._source.lines.position(_span(event)[0])
            raise ReadError(f"more than {DEEPEST} levels", *place)
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
