"""Markdown's half-processed data: its stash of what was replaced, and the text as readers will see it."""

from __future__ import annotations

import hashlib
import html
import re
from bisect import bisect_left, bisect_right
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from doiuri.plugins.mentions import BOUNDARY
from markdown.treeprocessors import InlineProcessor as InlineTreeprocessor
from markdown.util import AMP_SUBSTITUTE, ETX, HTML_PLACEHOLDER_RE, INLINE_PLACEHOLDER, STX

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from doiuri import Handle
    from markdown import Markdown

ENTITY = r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});"
STASHED = INLINE_PLACEHOLDER % "([0-9]+)"
MARKER = f"{STX}[^{STX}{ETX}]*{ETX}"

_ESCAPED = re.compile(f"{STX}([0-9]{{1,6}}){ETX}")
_SPECIAL_CHARACTER = re.compile(f"{STASHED}|{ENTITY}|{STX}")


_TAG = (
    r"/?[a-zA-Z][^<>\"']*+"
    r"(?:"
    r"\"[^\"]*+\"[^<>\"']*+"  # a value in double quotes, and what follows it
    r"|'[^']*+'[^<>\"']*+"  # in single quotes
    r")*>"
)
_COMMENT = r"!--[^<-]*+(?:(?:<(?!!--)|-(?!->))[^<-]*+)*-->"
_INSTRUCTION = r"\?[^<?]*+(?:(?:<(?!\?)|\?(?!>))[^<?]*+)*\?>"
_CDATA = r"!\[CDATA\[[^<\]]*+(?:(?:<(?!!\[CDATA)|\](?!\]>))[^<\]]*+)*\]\]>"
# Not VERBOSE, as Markdown compiles patterns; a match never extends past the next beginning of its kind
RAW_HTML = f"<(?:{_TAG}|{_COMMENT}|{_INSTRUCTION}|{_CDATA})"
"""A pattern of inline raw HTML (CommonMark 0.31.2 section 6.6)."""


def literal(text: str) -> str:
    """Return ``text`` with its "&" protected: the serializer would leave ``&lt;`` unescaped."""
    return text.replace("&", f"{AMP_SUBSTITUTE}amp;")


def unescaped(text: str) -> str:
    """Return ``text`` with the placeholders of backslash escapes replaced by their characters."""
    return _ESCAPED.sub(lambda marker: chr(int(marker[1])), text)


def escaped(node: Element | str | None) -> str:
    """Return the character if ``node`` is a backslash escape, or ""."""
    return unescaped(node) if isinstance(node, str) and _ESCAPED.fullmatch(node) else ""


_NOT_IN_ID = re.compile(r"[^A-Za-z0-9.-]+")
_MAX_ID = 80  # characters of a name in an id


def slug(key: Handle | str) -> str:
    """Return a part of an id for a work or path; special bytes become hexadecimal: "10.1000_2fa" of 10.1000/A."""
    if isinstance(key, str):
        text = key
        plain = _NOT_IN_ID.sub(_in_hexadecimal, text)
    else:
        text = key.key
        plain = _NOT_IN_ID.sub(_in_hexadecimal, text).lower()
    if len(plain) <= _MAX_ID:
        return plain
    digest = hashlib.sha256(text.encode()).hexdigest()
    return f"{plain[:_MAX_ID]}-{digest[:12]}"


def _in_hexadecimal(special: re.Match[str]) -> str:
    return "".join(f"_{byte:02x}" for byte in special[0].encode())


def is_caseless(character: str) -> bool:
    """Return whether a character is punctuation or a letter of a script without spaces, and not ASCII."""
    return not character.isascii() and character.lower() == character.upper()


class WrittenText(NamedTuple):
    """What an author wrote, with escapes and entities decoded, up to other markup."""

    text: str
    length: int
    """The length of the data that it is decoded from."""
    is_whole: bool
    """Whether it is all of the data, without other markup."""


class Stash:
    """The stash of one Markdown instance, whose content is that of the document being converted."""

    def __init__(self, md: Markdown) -> None:
        self._md = md

    @property
    def _inline(self) -> InlineTreeprocessor:
        inline = self._md.treeprocessors["inline"]
        assert isinstance(inline, InlineTreeprocessor)  # noqa: S101 (for mypy)
        return inline

    @property
    def nodes(self) -> dict[str, Element | str]:
        """The stashed nodes, by the number in their placeholders."""
        return self._inline.stashed_nodes

    def add(self, node: Element) -> str:
        """Stash a node as Markdown does; return its placeholder."""
        number = f"{len(self.nodes):04}"
        self.nodes[number] = node
        return INLINE_PLACEHOLDER % number

    def raw_html(self, node: str) -> str:
        """Return the raw tag if ``node`` is the placeholder of one, or ""."""
        placeholder = HTML_PLACEHOLDER_RE.fullmatch(node)
        if placeholder is None:
            return ""
        raw = self._md.htmlStash.rawHtmlBlocks[int(placeholder[1])]
        return raw if isinstance(raw, str) else ""

    def in_link(self) -> bool:
        """Return whether the text being processed is that of a link."""
        return "a" in self._inline.ancestors

    def attribute_lists(self) -> bool:
        """Return whether the extension attr_list, which reads ``{: .class }``, is in use."""
        return "attr_list" in self._md.treeprocessors

    def written(self, data: str) -> WrittenText:
        r"""Return what the author wrote for ``data``, up to the first markup that is not an escape.

        Of ``a\_b &lt; `c` d``, this is "a_b < ".
        """
        if STX not in data and "&" not in data:
            return WrittenText(data, len(data), is_whole=True)

        parts: list[str] = []
        end = 0
        for special in _SPECIAL_CHARACTER.finditer(data):
            parts.append(data[end : special.start()])
            character = self._character(special)
            if character in {"", STX}:
                return WrittenText("".join(parts), special.start(), is_whole=False)
            parts.append(character)
            end = special.end()
        parts.append(data[end:])
        return WrittenText("".join(parts), len(data), is_whole=True)

    def _character(self, special: re.Match[str]) -> str:
        """Return what an entity or the placeholder of an escape stands for; "" for other placeholders."""
        number = special[1]
        if number is None:
            return html.unescape(special[0])
        return escaped(self.nodes.get(number))


_DELIMITERS = "*_~^=+"  # emphasis, and mark, insert, tilde and caret of common extensions
_RUNS = "|".join(f"{re.escape(delimiter)}{re.escape(delimiter)}*" for delimiter in _DELIMITERS)
# Math as MathJax and KaTeX read it: no space just inside the dollar signs, no word character just outside
_MATH = r"\$(?<![\w\\$]\$)(?:\$(?=[^\s$])[^$]*+(?<=\S)\$\$|(?=[^\s$])[^$]*+(?<=\S)\$)(?![\w$])"
_ATTRIBUTES = r"\{(?:[:.#]|[ ]+[.#])[^{}\n]*\}"
# Each alternative begins with a literal character, which makes the search fast.
_SPECIAL = re.compile(f"{STASHED}|{MARKER}|{ENTITY}|{_RUNS}|{_MATH}|{_ATTRIBUTES}")
_ANY_SPECIAL = re.compile(r"[\x02&*_~^=+${]")
_BEFORE_OPENING = frozenset(" \t\n([{\"'>\x03" + _DELIMITERS)
_MENTION = re.compile(r"doi|10\.|hdl:|info:|urn:", re.IGNORECASE)
# <page:title> of a SICI, which Markdown takes for a tag; a digit follows it.
_SICI = re.compile(r"<[^<>\s/\"'=]*:[^<>\s/\"'=]*>")


class _Replacement(NamedTuple):
    """A place of the data that is something else in the text."""

    start: int
    """The position in the text."""
    end: int
    data_start: int
    """The position in the data."""
    data_end: int


class RenderedText:
    """The rendered ``text`` of inline ``data``, and the mapping of its positions back to ``data``.

    Code, links and math become BOUNDARY, tags and delimiters of emphasis a space: the text of
    ``**DOI:** 10.1000/a&amp;b`` is " DOI:  10.1000/a&b".
    """

    def __init__(self, data: str, stash: Stash) -> None:
        self._data = data
        self._stash = stash
        self._nodes = stash.nodes
        self._open: dict[str, int] = {}  # delimiters of emphasis that are open, by character
        self._replacements: list[_Replacement] = []  # in order
        self._spaces: list[int] = []  # positions in the text of the replacements that are spaces
        text = self._build() if _ANY_SPECIAL.search(data) else data
        self.text = text.replace("\n", " ")

    def _build(self) -> str:
        """Return the text, and note what it has in place of the data."""
        parts: list[str] = []
        size = 0  # of the parts
        data_end = 0
        for special in _SPECIAL.finditer(self._data):
            replacement = self._replacement(special)
            if replacement == special[0]:
                continue

            start, end = special.span()
            parts.append(self._data[data_end:start])
            size += start - data_end
            if replacement == " ":
                self._spaces.append(size)
            parts.append(replacement)
            size_after = size + len(replacement)
            self._replacements.append(_Replacement(size, size_after, start, end))
            size = size_after
            data_end = end
        parts.append(self._data[data_end:])
        return "".join(parts)

    def _replacement(self, special: re.Match[str]) -> str:
        """Return what ``special`` becomes in the text."""
        source = special[0]
        match source[0]:
            case "&":
                return html.unescape(source) or BOUNDARY
            case "{":
                return BOUNDARY if self._stash.attribute_lists() else source
            case "$":
                return BOUNDARY
            case "\x02":
                return self._stashed_text(special)
        return " " if self._is_delimiter(special) else source

    def _stashed_text(self, marker: re.Match[str]) -> str:
        """Return what the placeholder of a stashed node becomes.

        It is the character of a backslash escape; a tag that is a part of a SICI, as a digit follows it; a space
        for any other tag; and BOUNDARY for elements and the rest.
        """
        node = self._nodes.get(marker[1])
        if not isinstance(node, str):
            return BOUNDARY
        if character := escaped(node):
            return character
        tag = self._stash.raw_html(node)
        if _SICI.fullmatch(tag) and self._data[marker.end() : marker.end() + 1].isdecimal():
            return tag
        return " " if tag else BOUNDARY

    def _is_delimiter(self, run: re.Match[str]) -> bool:
        """Return whether ``run`` closes emphasis, or opens it just before a mention.

        So ``*doi:10.1000/182*`` loses both asterisks, ``*so*`` the second, and ``2 * 3`` none.
        """
        start, end = run.span()
        delimiter = run[0][0]
        before = " " if start == 0 else self._data[start - 1]
        after = self._data[end : end + 1] or " "
        opened = self._open.get(delimiter, 0)

        ends_word = delimiter == "*" or not after.isalnum()
        can_close = ends_word and not before.isspace()
        if opened and can_close:
            self._open[delimiter] = max(0, opened - len(run[0]))
            return True

        begins_word = before in _BEFORE_OPENING or is_caseless(before)
        can_open = begins_word and not after.isspace()
        if not can_open:
            return False
        self._open[delimiter] = opened + len(run[0])
        # Other opening delimiters stay in the text
        return _MENTION.match(self._data, end) is not None

    def data_position(self, position: int) -> int | None:
        """Return the position in the data of a position in the text, or None inside a replacement."""
        index = bisect_right(self._replacements, position, key=attrgetter("start"))
        if index == 0:
            return position

        replacement = self._replacements[index - 1]
        if position == replacement.start:
            return replacement.data_start
        if position < replacement.end:
            return None
        return replacement.data_end + position - replacement.end

    def is_broken(self, start: int, end: int) -> bool:
        """Return whether a tag or emphasis begins or ends between ``start`` and ``end``."""
        return bisect_left(self._spaces, start) < bisect_left(self._spaces, end)
