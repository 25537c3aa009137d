"""String literals of Python: their text, and how they write one (Python's reference, §2.4.1)."""

from __future__ import annotations

import re
import unicodedata
from functools import partial
from typing import TYPE_CHECKING

from doiuri_cli.readers.strings._places import Decoded, Stretches, one_line, undo

if TYPE_CHECKING:
    from collections.abc import Callable

_ESCAPE = re.compile(
    r"\\(?:(?P<octal>[0-7]{1,3})|x(?P<two>[0-9a-fA-F]{2})|u(?P<four>[0-9a-fA-F]{4})"
    r"|U(?P<eight>[0-9a-fA-F]{8})|N\{(?P<name>[^{}\r\n]{1,200})\}|(?P<line>\r\n?|\n)"
    r"|(?P<character>[\\'\"abfnrtv]))|(?P<end>\r\n?)"
)
_END = re.compile(r"(?P<end>\r\n?)")
_CHARACTERS = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_ESCAPED = re.compile(r"[\\\x00-\x08\x0a-\x1f\x7f]")


def decode(text: str, span: tuple[int, int], *, raw: bool) -> Decoded:
    """Return the text of a literal.

    :param text: the program.
    :param span: offsets of the first character after the opening quotes, and of the closing ones.
    :param raw: whether the literal is raw: then a backslash escapes nothing.
    """
    stretches = Stretches()
    undo(stretches, text, span, _END if raw else _ESCAPE, _line_end if raw else _meaning)
    return stretches.decoded(span[1])


def _line_end(found: re.Match[str]) -> str:  # noqa: ARG001 - every line end is the same one
    return "\n"


def _meaning(escape: re.Match[str]) -> str:
    if escape["end"]:
        return "\n"
    if escape["octal"]:
        return chr(int(escape["octal"], 8))
    if digits := escape["two"] or escape["four"] or escape["eight"]:
        code = int(digits, 16)
        return chr(code) if code <= 0x10FFFF else escape[0]
    if escape["name"]:
        try:
            return unicodedata.lookup(escape["name"])
        except KeyError:
            return escape[0]
    return "" if escape["line"] else _CHARACTERS.get(escape["character"], escape["character"])


def encoder(quotes: str, *, raw: bool) -> Callable[[str], str]:
    """Return what writes text in a literal.

    :param quotes: the quotation marks of the literal.
    :param raw: whether the literal is raw.
    """
    return partial(encode_raw if raw else encode, quote=quotes[0])


def encode(text: str, quote: str) -> str:
    """Return the text as a literal between such quotation marks writes it."""
    return _ESCAPED.sub(_escaped, text).replace(quote, "\\" + quote)


def _escaped(found: re.Match[str]) -> str:
    return "\\\\" if found[0] == "\\" else f"\\x{ord(found[0]):02x}"


def encode_raw(text: str, quote: str) -> str:
    """Return the text: a raw literal writes it as it is.

    :raises ValueError: if it cannot.
    """
    if quote in text or text.endswith("\\"):
        raise ValueError(f"a raw string cannot hold this text: {text!r}")
    return one_line(text)
