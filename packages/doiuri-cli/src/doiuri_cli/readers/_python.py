"""Python: comments, and strings that are statements by themselves, which document what is around them.

The text is not compiled, so a program that cannot run is read too. In one that is not even made of tokens,
such as a cell with shell commands, comments and strings in triple quotes are recognized by their looks.
"""

from __future__ import annotations

import ast
import io
import re
from functools import partial
from typing import TYPE_CHECKING

from doiuri import find

from doiuri_cli.files import Lines
from doiuri_cli.readers._bibtex import read_entries
from doiuri_cli.readers._blank import may_mention
from doiuri_cli.readers._part import Decoded, Part, moved, nested, one_line, undo
from doiuri_cli.readers._quoted import quoted
from doiuri_cli.readers._rst import without_code

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from doiuri_cli.files import Source

    Span = tuple[int, int]

# What find does not see in the program as it stands: an invalid DOI, and a name with an escape
_SIGN = re.compile(r"doi(?::|\.org/)|10\.[0-9]{4}[0-9.]{0,30}+\\")
_LITERAL = re.compile(r"(?P<prefix>[A-Za-z]*)(?P<quotes>\"\"\"|'''|\"|')")
_BY_LOOKS = re.compile(
    r"^[ \t]*(?P<prefix>[rRuU]{0,2})(?:\"\"\"(?P<double>.*?)(?:\"\"\"|\Z)|'''(?P<single>.*?)(?:'''|\Z))"
    r"|(?:^|(?<=[ \t]))#(?P<comment>[^\r\n]*)",
    re.MULTILINE | re.DOTALL,
)
_MARGIN = re.compile(r"\n([ \t]*+)(?=\S)")
_LONGEST_LINE = 5_000  # characters; some versions of tokenize take quadratic time for long ones
_ESCAPE = re.compile(
    r"\\(?:[0-7]{1,3}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^{}\r\n]{1,200}\}"
    r"|\r\n?|[\n\\'\"abfnrtv])|\r\n?"
)
_LINE_END = re.compile(r"\r\n?")
_CALLS = ("Doi", "BibTeX")  # what duecredit calls a reference
_ESCAPED = re.compile(r"[\\\x00-\x08\x0a-\x1f\x7f]")


def read(source: Source) -> Iterator[Part]:
    """Return the comments as text, and the docstrings as reStructuredText."""
    yield from parts_of_code(source.text)


def parts_of_code(text: str) -> Iterator[Part]:
    """Return the comments and docstrings of a program that may mention a DOI, as parts of its text."""
    if not may_mention(text) or not (_SIGN.search(text) or any(True for _ in find(text))):
        return
    import tokenize  # slow to import, and rarely needed

    try:
        found = list(_documenting(text))
    except (tokenize.TokenError, SyntaxError, ValueError):  # no token, bad indentation, lone surrogates
        found = list(_by_looks(text))
    for prefix, quotes, (start, end), kind in found:
        if not may_mention(text[start:end]):
            continue
        if quotes == "#":
            yield Part(text[start:end], start=start, encode=one_line)
        else:
            yield from _parts_of_literal(text, (start, end), quotes, kind, raw="r" in prefix.lower())


def _documenting(text: str) -> Iterator[tuple[str, str, Span, str]]:
    """Yield the prefix, the opening, the content's place and the kind of each comment and documenting string.

    :raises ValueError: if a line is too long.
    :raises tokenize.TokenError: or SyntaxError, if the text is not made of tokens.
    """
    import tokenize

    lines = Lines(text)
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    if any(len(line) > _LONGEST_LINE for line in plain.split("\n")):
        raise ValueError("too long a line")
    blank = {tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT}
    depth, first, before, earlier, pending = 0, "", "", "", None
    for kind, string, start, end, _ in tokenize.generate_tokens(io.StringIO(plain).readline):
        if kind == tokenize.ERRORTOKEN and string[0] in "'\"":  # before Python 3.12
            raise ValueError("a string without an end")
        ends = kind in {tokenize.COMMENT, tokenize.NEWLINE, tokenize.ENDMARKER} or string == ";"
        if pending and (string in {")", ","} if pending[3] in _CALLS else ends):
            yield pending
        pending = None
        if kind == tokenize.COMMENT:
            place = lines.offset(start[0], start[1] + 1) + 1
            yield "", "#", (place, place + len(string) - 1), ""
        elif kind == tokenize.NEWLINE:
            first = before = earlier = ""
        elif kind not in blank:
            is_statement = before in {"", ";"} or (before == ":" and first in {"async", "class", "def"})
            is_call = before == "(" and earlier in _CALLS
            if kind == tokenize.STRING and (
                is_call or (not depth and (is_statement or (earlier, before) == ("__doc__", "=")))
            ):
                literal = _LITERAL.match(string)
                if literal and not literal["prefix"].lower().strip("ru"):
                    span = lines.offset(start[0], start[1] + 1), lines.offset(end[0], end[1] + 1)
                    inner = span[0] + literal.end(), span[1] - len(literal["quotes"])
                    pending = literal["prefix"], literal["quotes"], inner, earlier if is_call else ""
            if kind == tokenize.OP:
                depth = max(0, depth + (string in {"(", "[", "{"}) - (string in {")", "]", "}"}))
            first, earlier, before = first or string, before, string


def _by_looks(text: str) -> Iterator[tuple[str, str, Span, str]]:
    """Yield the same for a text that is not made of tokens: what looks like a comment or a docstring."""
    quotes = {"comment": "#", "double": '"""', "single": "'''"}
    for found in _BY_LOOKS.finditer(text):
        kind = found.lastgroup or ""
        yield found["prefix"] or "", quotes[kind], found.span(kind), ""


def _parts_of_literal(text: str, span: Span, quotes: str, kind: str, *, raw: bool) -> Iterator[Part]:
    encode = encoder(quotes, raw=raw)
    content = text[slice(*span)]
    places: Sequence[int] = range(span[0], span[1] + 1)
    if "\r" in content or not (raw or "\\" not in content):
        content, places = decode(text, span, raw=raw)
    for part in _parts_of_string(content, kind):
        yield moved(part, places)._replace(encode=partial(nested, inner=part.encode, outer=encode))


def _parts_of_string(content: str, kind: str) -> Iterator[Part]:
    """Return the parts of a string; a docstring's first line is indented like the others (PEP 257)."""
    if kind == "Doi":
        yield Part(content, field=True)
    elif kind == "BibTeX":
        yield from read_entries(content)
    else:
        margin = min((margin[1] for margin in _MARGIN.finditer(content)), key=len, default="")
        shown = without_code(margin + content)
        yield Part(shown[len(margin) :], "rst")
        yield from quoted(content, shown[len(margin) :] if shown != margin + content else content)


def decode(text: str, span: Span, *, raw: bool) -> Decoded:
    """Return the text of a literal (Python's reference, §2.4.1).

    :param text: the program.
    :param span: offsets of the first character after the opening quotes, and of the closing ones.
    :param raw: whether the literal is raw: then a backslash escapes nothing.
    """
    return undo(text, [span], _LINE_END if raw else _ESCAPE, _meaning)


def _meaning(escape: re.Match[str]) -> str:
    if escape[0][0] == "\r":
        return "\n"
    try:
        return str(ast.literal_eval(f'"{escape[0]}"'))
    except SyntaxError:  # no such character
        return escape[0]


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
