"""Scalars of YAML 1.2: their text with places, and how each style writes one (chapter 7 and §8.1)."""

from __future__ import annotations

import re
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from doiuri_cli.readers.strings._json import encode_unicode
from doiuri_cli.readers.strings._places import Decoded, Stretches, one_line, undo

if TYPE_CHECKING:
    from collections.abc import Callable

_BREAK = r"(?:\r\n?|[\n\x85\u2028\u2029])"
_FOLD = rf"[ \t]*+{_BREAK}(?:[ \t]*+{_BREAK})*[ \t]*+"
_LINE = re.compile(_BREAK)
_LINE_FEEDS = "\r\n\x85"  # folded; YAML 1.1 keeps the separators of Unicode
_PLAIN = re.compile(_FOLD)
_SINGLE = re.compile(rf"(?P<quote>'')|{_FOLD}")
_DOUBLE = re.compile(
    rf"\\(?:x(?P<two>[0-9a-fA-F]{{2}})|u(?P<four>[0-9a-fA-F]{{4}})|U(?P<eight>[0-9a-fA-F]{{8}})"
    rf"|(?P<joined>{_BREAK}[ \t]*+)|(?P<character>.))|{_FOLD}"
)
_CHARACTERS = dict(zip("0abtnvfreN_LP", "\0\a\b\t\n\v\f\r\x1b\x85\xa0\u2028\u2029", strict=True))
_WORD = re.compile(r"[^ \t\r\n\x85\u2028\u2029]+")
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


def decode(text: str, scalar: Scalar) -> Decoded:
    """Return the text of a scalar with the place of each character; if in doubt, as the file has it."""
    stretches = Stretches()
    start, end = scalar.start, scalar.end
    match scalar.style:
        case "'":
            undo(stretches, text, (start + 1, end - 1), _SINGLE, _meaning)
            end -= 1
        case '"':
            undo(stretches, text, (start + 1, end - 1), _DOUBLE, _meaning)
            end -= 1
        case "|" | ">":
            _align(stretches, text, scalar)
        case _:
            undo(stretches, text, (start, end), _PLAIN, _meaning)
    decoded = stretches.decoded(end)
    if decoded.text == scalar.value:
        return decoded
    stretches = Stretches()
    stretches.add(text[scalar.start : scalar.end], scalar.start)
    return stretches.decoded(scalar.end)


def _meaning(found: re.Match[str]) -> str:
    kinds = found.groupdict()
    if kinds.get("quote"):
        return "'"
    if digits := kinds.get("two") or kinds.get("four") or kinds.get("eight"):
        code = int(digits, 16)
        return chr(code) if code <= 0x10FFFF else found[0]
    if kinds.get("joined"):
        return ""
    if character := kinds.get("character"):
        return _CHARACTERS.get(character, character)
    first, *others = ("\n" if line[0] in _LINE_FEEDS else line for line in _LINE.findall(found[0]))
    return "".join(others if first == "\n" else (first, *others)) or " "


def _align(stretches: Stretches, text: str, scalar: Scalar) -> None:
    """Append a block scalar: it has the words of the file, and other white space between them."""
    header = _HEADER.match(text, scalar.start, scalar.end)
    place = header.end() if header else scalar.start
    value, done = scalar.value, 0
    words = zip_longest(_WORD.finditer(value), _WORD.finditer(text, place, scalar.end))
    for word, raw in words:
        if word is None or raw is None or word[0] != raw[0]:
            return
        _add_blanks(stretches, value[done : word.start()], text[place : raw.start()], place)
        stretches.add(word[0], raw.start())
        done, place = word.end(), raw.end()
    _add_blanks(stretches, value[done:], text[place : scalar.end], place)


def _add_blanks(stretches: Stretches, blanks: str, raw: str, place: int) -> None:
    if blanks == raw:
        stretches.add(blanks, place)
        return
    for number, blank in enumerate(blanks):
        stretches.add(blank, place + min(number, len(raw)))


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
