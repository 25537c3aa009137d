"""What a fix must keep, judged by plain rules without the finder, whose mistakes these do not share.

1. ``keeps_name``: the DOI stays the same; only labels, links, escapes and white space change.
2. ``is_fixed_text``: nothing changes that has to keep its length or its wording, such as a title or a label.
3. ``keeps_host``: no character changes to which the file's format, or a program that fills in a text, gives a
   meaning.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate, chain
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from doiuri.plugins import PROXY_PATTERN

from doiuri_cli.readers import type_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri_cli.readers import Part


_OTHER_SITE = r"https?://[^\s/?#:]+/(?:[\w.~-]+/)*?(?=10\.)"
_HEADS = re.compile(
    rf"""
    \s*
    (?: {PROXY_PATTERN} /+ (?:api/handles/)?                # a link to the DOI proxy,
    |   {PROXY_PATTERN} \Z                                  # or its host alone
    |   {_OTHER_SITE}
    |   info:(?:doi|hdl)/ | urn:doi: | hdl: | doi\s*:?\s*
    )*
    """,
    re.IGNORECASE | re.VERBOSE,
)
# What links really have: places on a page, and parameters such as ?locatt=…, ?nosfx
_USUAL = re.compile(
    r"""
    \# (?: [A-Za-z_!/:~] \S* )?                                     # a place on a page
  | \? (?: [\w.\[\]%+~-]* (?: [=&;] \S* )? )? (?: \# \S* )?        # parameters, and a place
    """,
    re.VERBOSE,
)
# ANSI/NISO Z39.56: the check character that follows may be "#", after a TeX escape in any format
_SICI = re.compile(r"[0-9]\.[0-9]\.[A-Z]{2};[0-9]-\\?\Z", re.IGNORECASE)
_URN = re.compile(r"(10\.[0-9.]+):")
_TEX_ESCAPE = re.compile(r"\\(?:([A-Za-z]+)(?:\{\}|[ ]+)?|(.))|\$([<>])\$|[{}]", re.DOTALL)
_TEX_COMMANDS = {
    "textless": "<",
    "textgreater": ">",
    "textbar": "|",
    "textunderscore": "_",
    "slash": "/",
}
_TEX_COMMANDS |= {"textbackslash": "\\", "textasciitilde": "~", "textasciicircum": "^"}
_BACKSLASH = re.compile(r"\\([!-/:-@\[-`{-~])")
_PERCENT = re.compile(r"(?<!\\)%")
_TEX = frozenset({"tex", "bibtex"})
_RST = frozenset({"rst", "text"})  # many a .txt is reStructuredText, too
_ADORNMENT = re.compile(r"[ \t]*([!-/:-@\[-`{-~])\1{2,}[ \t\r]*\Z")
_GRID = re.compile(r"[ \t]*(?:[-*+][ \t]+)?[|+].*[|+][ \t\r]*\Z")
_BORDER = re.compile(r"[ \t]*(?:[-*+][ \t]+)?=+(?: +=+)+[ \t\r]*\Z")
_NEAR = 300  # characters of a label
_RST_TARGET = re.compile(r"(?<![^\s`])<[^\s<>`]*\Z")
_RST_REFERENCE_END = re.compile(r"[^`]*[^\s`]`(?:_(?![_\w])|:(?!\S))")
_RST_NAME_START = re.compile(
    r"""
    (?: (?<! [^\s'\"(\[{<:/-] ) _` [^`]*                    # an inline target
    |   (?<!\S) \.\.[ ]_ (?!_) (?: [^:`\\\n] | \\. )*      # the name of a target without backticks
    )
    \Z
    """,
    re.VERBOSE,
)
_LABEL_START = re.compile(r"\[([^\[\]]*)\Z")
_LABEL_END = re.compile(r"[^\[\]]*(?=\])")
_DEFINITION = re.compile(r"^[ \t>]*\[([^\[\]\n]+)\]:", re.MULTILINE)

# What formats give a meaning to: escapes, comments, directives, quotation marks and brackets
_SPECIAL = "%\\\"'`()[]{}<>"
_STRINGS = frozenset({"python", "notebook", "yaml", "json"})  # each part is a string, or a comment
_ROXYGEN = re.compile(r"[ \t]*#+'")
# What a program fills in, by the character that it consists of
_PERCENT_DIRECTIVE = re.compile(
    r"""
    %
    (?! in% )                                                         # an operator of R
    (?! (?<= [\w/.:;)-]% )                                            # an escape within a URL
        (?: [2-7][0-9A-Fa-f] | [89A-Fa-f][0-9] | [89A-F][A-F] )
    )
    (?: % | [(<{] \w+ [)>}]                                           # printf in C, Python, R, Ruby, Java
    |   (?: [0-9]+ \$ )? [-+\#0]* (?: [0-9]+ | \* )? (?: \. (?: [0-9]+ | \* ) )?
        [hlLjzt]* [diouxXeEfFgGcrsa@]
    )
    """,
    re.VERBOSE,
)
_NAMED_DIRECTIVE = re.compile(r"%\(\w+\)[-+#0-9.]*[a-z]")  # no prose has it
_BRACES_DIRECTIVE = re.compile(r"\{[^{}\s]*\}")  # of str.format and its like
_DIRECTIVES = {"%": _PERCENT_DIRECTIVE, "{": _BRACES_DIRECTIVE, "}": _BRACES_DIRECTIVE}
# What stands in a name for what a person, a program or a pattern puts there
_BLANK = re.compile(
    rf"""
    (?<! [0-9] ) (?: {_PERCENT_DIRECTIVE.pattern} )    # but not "50%off"
  | < [^\W\d] [^<>:]* >        # "<id>", but not "<791::AID-SIM500>" of a SICI
  | [{{<] % (?! 25 )           # of Jinja, of Ruby
  | \\ [A-Za-z0-9] | \[\^     # of a regular expression
  | ["'] [ ]? [+.]            # between two strings
    """,
    re.VERBOSE,
)


def is_usual(name: str, rest: str) -> bool:
    """Return whether what follows a link is a query or a fragment such as links have, and not of the name.

    ``?locatt=a`` and ``#page=3`` are, but ``#1`` is not; a SICI ends in a check character, which may be "#".
    """
    may_be_check = rest.startswith("#") or rest == "?"
    return _USUAL.fullmatch(rest) is not None and not (may_be_check and _SICI.search(name))


def keeps_name(old: str, new: str, syntax: str) -> bool:
    """Return whether a replacement changes labels, links, escapes and white space only.

    Of a link it may also drop a usual query and fragment: ``http://doi.org/10.1000/1?nosfx`` names ``10.1000/1``.
    In TeX, it must start no comment and leave as many braces open; BibTeX counts those after a backslash, too.
    """
    if syntax in _TEX:
        starts_comment = len(_PERCENT.findall(new)) > len(_PERCENT.findall(old))
        if starts_comment or _open_braces(new) != _open_braces(old):
            return False

    head, old_name = _split(old, syntax)
    _, new_name = _split(new, syntax)
    names = {_unquoted(old_name)}

    # Of a link; in a bare name, "?" and "#" are characters of the name
    end_of_path = re.search("[?#]", old_name)
    if end_of_path is not None and "/" in head:
        path = _unquoted(old_name[: end_of_path.start()])
        if is_usual(path, old_name[end_of_path.start() :]):
            names.add(path)
    return _unquoted(new_name) in names


def _open_braces(text: str) -> int:
    return text.count("{") - text.count("}")


def _split(text: str, syntax: str) -> tuple[str, str]:
    r"""Return the labels and links that a text starts with, and the name after them, without escapes.

    For ``urn:doi:10.1000:a\_b`` in TeX, they are ``urn:doi:`` and ``10.1000/a_b``.
    """
    text = html.unescape(text)
    if syntax in _TEX:
        # Again: an entity may be escaped itself, as in "\&\#60;" for "<"
        text = html.unescape(_TEX_ESCAPE.sub(_tex_meaning, text))
    elif syntax in {"markdown", "rst", "asciidoc"}:
        text = _BACKSLASH.sub(r"\1", text)
    heads = _HEADS.match(text)
    head = heads[0] if heads else ""
    name = text[len(head) :].strip()
    if "urn:" in head.lower():
        name = _URN.sub(r"\1/", name, count=1)
    return head, name


def _tex_meaning(escape: re.Match[str]) -> str:
    """Return what an escape of TeX stands for; itself if the command is not known."""
    command, character, sign = escape.groups()
    if command:
        return _TEX_COMMANDS.get(command, escape[0])
    return character or sign or ""


def _unquoted(name: str) -> str:
    return unquote(name, errors="surrogateescape")  # bytes that are no UTF-8 stay apart


def keeps_host(part: Part, span: tuple[int, int], new: str) -> bool:
    """Return whether what reads the file reads all the same with ``new`` in the place of a piece of a part.

    It may not if characters change that a format or a program gives a meaning to. This is judged by the file
    around the piece, for the reader of the part may be mistaken about it.
    """
    old = part.text[slice(*span)]
    start = span[0]
    before = part.text[max(0, start - 1) : start]  # says whether "%3C" is an escape
    if _fills_in(before + old, before + new, part.syntax):
        return False
    kind = type_of(part.source.path)
    if kind == "asciidoc" and "://" in new and "://" not in old:  # "[1]" after a link is its text
        return False

    changed = _special_changes(old, new)
    if not changed:
        return True
    if kind is None:  # only its name says what escapes and comments are
        return False

    line = _line_around(part, span)
    # "%" begins a comment in Rd (Writing R Extensions, 2.1); roxygen is Rd unless the package says Markdown
    is_roxygen = kind == "code" and _ROXYGEN.match(line) is not None
    if is_roxygen or part.source.path.lower().endswith(".rd"):
        return False

    # A program may fill in the text around the piece: "%s" % x
    template = _template(part, kind, line)
    directives = {_DIRECTIVES[character] for character in changed & _DIRECTIVES.keys()}
    return not any(directive.search(template) for directive in directives)


def _fills_in(old: str, new: str, syntax: str) -> bool:
    """Return whether a replacement takes for a name what is to be filled in, as in "10.1000/<id>"."""
    if syntax in _TEX and "\\" in old:  # begins a command
        return False
    return _BLANK.findall(html.unescape(old)) != _BLANK.findall(html.unescape(new))


def _template(part: Part, kind: str, line: str) -> str:
    """Return the text that a program would fill in together with a line of a part, if it fills in any."""
    if kind in _STRINGS:
        return line + part.text
    if kind == "code" or _NAMED_DIRECTIVE.search(part.source.text):
        return part.source.text
    return line


def _special_changes(old: str, new: str) -> set[str]:
    """Return the special characters between the start and the end that two texts have in common.

    For ``a%b`` and ``a<b``, they are ``%`` and ``<``.
    """
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    changed = old[start : len(old) - end] + new[start : len(new) - end]
    return {character for character in changed if character in _SPECIAL}


def _common(first: str, second: str) -> int:
    """Return how many characters two texts have in common at the start."""
    for place, (character, other) in enumerate(zip(first, second, strict=False)):
        if character != other:
            return place
    return min(len(first), len(second))


def _line_around(part: Part, span: tuple[int, int]) -> str:
    """Return the line or lines of the file that a piece of a part is in."""
    text = part.source.text
    first, last = part.span(*span)
    start = text.rfind("\n", 0, first) + 1
    end = text.find("\n", last)
    return text[start:] if end < 0 else text[start:end]


def is_fixed_text(part: Part, start: int, end: int) -> bool:
    """Return whether a piece of a part must keep its length or its wording.

    It must in a table or a title of reStructuredText, in an underlined title of AsciiDoc, and in the label of
    a reference.
    """
    if part.syntax in _RST:
        return _is_fixed_in_rst(part.text, start, end)
    if part.syntax == "markdown":
        return _is_label(part.text, start, end)
    if part.syntax == "asciidoc":
        return _is_underlined(part.text, end)
    return False


def _is_underlined(text: str, place: int) -> bool:
    """Return whether a place is in a title of AsciiDoc: the line below is as long, but for one character."""
    line_end = text.find("\n", place)
    if line_end < 0:
        return False
    length = line_end - text.rfind("\n", 0, place) - 1
    # Two characters more are enough to see that the line is too long
    following, _, _ = text[line_end + 1 : line_end + length + 3].partition("\n")
    is_close = abs(len(following.rstrip()) - length) <= 1
    return is_close and _ADORNMENT.match(following) is not None


def _is_fixed_in_rst(text: str, start: int, end: int) -> bool:
    """Return whether a piece of reStructuredText is in a table, a title or the name of a reference.

    Names are those of ```doi:10.1000/1`_`` and ``.. _doi 10.1000/1:``, but a target in angle brackets is none.
    """
    if _layout(text).fixes(start):
        return True
    before = text[max(0, start - _NEAR) : start]
    is_name = _RST_REFERENCE_END.match(text, start, end + _NEAR) or _RST_NAME_START.search(before)
    return is_name is not None and not _RST_TARGET.search(before)


def _is_label(text: str, start: int, end: int) -> bool:
    """Return whether a piece of Markdown is in the label of a reference that the text defines.

    It is the label in ``[doi:10.1000/1]`` if the text has ``[doi:10.1000/1]: target``.
    """
    label_start = _LABEL_START.search(text[max(0, start - _NEAR) : start])
    if label_start is None:
        return False
    label_end = _LABEL_END.match(text[end : end + _NEAR])
    if label_end is None:
        return False
    label = label_start[1] + text[start:end] + label_end[0]
    return _folded(label) in _labels(text)


class _Layout(NamedTuple):
    """The lines of reStructuredText: where each starts, and whether it is in a table or a title."""

    starts: list[int]
    is_fixed: list[bool]

    def fixes(self, offset: int) -> bool:
        """Return whether a character is in a table or a title, which depend on the length of the text."""
        return self.is_fixed[bisect_right(self.starts, offset) - 1]


@lru_cache(1)
def _layout(text: str) -> _Layout:
    """Return the lines of reStructuredText that titles and tables are made of."""
    lines = text.split("\n")
    in_title = _lines_of_titles(lines)
    in_simple_table = frozenset(chain.from_iterable(_simple_tables(lines)))

    is_fixed: list[bool] = []
    for number, line in enumerate(lines):
        in_grid_table = _GRID.match(line) is not None
        is_fixed.append(in_title[number] or number in in_simple_table or in_grid_table)
    starts = list(accumulate((len(line) + 1 for line in lines[:-1]), initial=0))
    return _Layout(starts, is_fixed)


def _lines_of_titles(lines: list[str]) -> list[bool]:
    """Return whether each line is an adornment, or beside one."""
    adorned = [_ADORNMENT.match(line) is not None for line in lines]
    # Shifted by one: three of these are about the line before, the line itself, and the line after it
    with_ends = [False, *adorned, False]
    return [any(with_ends[number : number + 3]) for number in range(len(lines))]


def _simple_tables(lines: list[str]) -> Iterator[range]:
    """Yield which lines are in each simple table: from its first border, such as ``==== ====``, to its last.

    The last is the second one if a blank line or nothing follows it, and else the third. If there are too few
    borders, the table goes on to the last line of the text.
    """
    last_line = len(lines) - 1
    borders = (number for number, line in enumerate(lines) if _BORDER.match(line))
    for first in borders:
        second = next(borders, last_line)
        ends_table = second == last_line or not lines[second + 1].strip()
        last = second if ends_table else next(borders, last_line)
        yield range(first, last + 1)


@lru_cache(1)
def _labels(text: str) -> frozenset[str]:
    return frozenset(_folded(label[1]) for label in _DEFINITION.finditer(text))


def _folded(label: str) -> str:
    return " ".join(label.casefold().split())
