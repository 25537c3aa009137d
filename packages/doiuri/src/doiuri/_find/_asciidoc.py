"""DOIs in AsciiDoc: links, passthroughs, the marks of formatted text, escapes and references to characters."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from doiuri._find._html import AMPERSAND, ENTITY, unescaped
from doiuri._find._markup import Scanner, VisibleText, name_start
from doiuri._patterns import lazy

if TYPE_CHECKING:
    from doiuri._find._markup import Construct

# AsciiDoc Language Documentation, Character Replacement Attributes
_CHARACTERS = {
    "amp": "&",
    "apos": "'",
    "asterisk": "*",
    "backslash": "\\",
    "backtick": "`",
    "caret": "^",
    "endsb": "]",
    "gt": ">",
    "lt": "<",
    "plus": "+",
    "quot": '"',
    "startsb": "[",
    "tilde": "~",
    "vbar": "|",
}
_ESCAPE = rf"""
    \\ (?= https?:// )             # before a URL that is not to be a link
  | \\ (?<! \w\\ ) [*_`\#+{{]      # before a mark that is not to format
  | \\ \]
  | \{{ (?: {"|".join(_CHARACTERS)} ) \}}
  | {ENTITY}
"""
_ESCAPES = lazy(_ESCAPE, re.IGNORECASE | re.VERBOSE)
_LONGEST_URL = 1000  # characters
_NOT_BEFORE_MARK = frozenset(";:}/\\")  # nor a letter or a digit
# A mark such as "*" that closes formatted text: neither white space nor another one before it, no word after it
_ENDS_WORD = r"(?<! \s | {0} ) {0} (?! [^\W_] | {0} )"
_PASSTHROUGHS = frozenset(["pass", "+", "++", "+++", "$$"])  # what is in them is shown as it is
# What closes the text that a mark or a passthrough opens
_CLOSERS = {
    **{mark: lazy(re.escape(mark)) for mark in ("**", "__", "``", "##", "++", "+++", "$$")},
    **{mark: lazy(_ENDS_WORD.format(re.escape(mark)), re.VERBOSE) for mark in "*_`#+"},
    "pass": lazy(r"(?<!\\)\]"),
}


class AsciiDoc(Scanner):
    """AsciiDoc, as Asciidoctor reads it."""

    names = (lazy(name_start(rf"(?:{AMPERSAND}|[\\{{])")),)
    boundary = lazy(
        r"""
        \n(?=
            [ \t]*+
            (?: (?: [-*.]+ | [0-9]+ \. ) [ \t]    # an item of a list
            |   [|=+:]                            # a row of a table, a title, an attribute
            |   // | -{4} | \.{4} | `{3}          # a comment, the delimiter of a block
            |   \r? (?: \n | \Z )                 # a blank line
            )
        )
        """,
        re.VERBOSE,
    )
    first = lazy(r"[\\{&+$*_`#^HhDdPpFf]")
    token = lazy(
        rf"""
        (?P<escape> {_ESCAPE} )
        |
        (?P<link>
            (?: https?:// | (?<! [A-Za-z0-9/] ) doi: | \{{ [\w-]{{1,50}} \}} )
            (?> (?: (?! footnote: ) [^\s\[\]|] ){{1,{_LONGEST_URL}}} )
            (?= \[ )
        )
        | (?P<pass> pass: [a-z,-]{{0,50}} \[ )
        | (?P<mark> \+{{1,3}} | \$\$ | \*\*? | __? | ``? | \#\#? )
        | (?P<end> \^ (?= \] ) | footnote (?:ref)? : [\w-]{{0,50}} \[ )
        """,
        re.IGNORECASE | re.VERBOSE,
    )
    delimiters: ClassVar = {}

    def __init__(self, text: str) -> None:
        super().__init__(text)
        # What closes an opener, by it and the end of the block: found last, or None if there is nothing
        self._closers: dict[tuple[str, int], re.Match[str] | None] = {}
        self._closing: set[int] = set()  # where marks stand that close

    def meaning(self, token: re.Match[str], end: int) -> str | Construct | None:
        """Return what readers see for an escape, or the construct of a link, a passthrough or a mark."""
        match token.lastgroup:
            case "escape":
                return _unescaped(token)
            case "link":  # https://doi.org/10.1000/182[the handbook]
                url = VisibleText.replacing(self.text, token.span(), _ESCAPES, _unescaped)
                return url.whole_or_mentions(link=True), token.end()
            case "pass" | "mark" if token.start() not in self._closing:
                return self._enclosed(token, end)
            case _:
                return (), token.end()

    def _enclosed(self, token: re.Match[str], end: int) -> Construct | None:
        """Return the construct of a passthrough or of an opening mark; None if it is an ordinary character.

        It is one if it is part of a name, or if nothing closes it. A passthrough, ``+10.1000/a_b_+``, is a
        construct with its content, which is read as it is. Of formatted text, ``_10.1000/182_``, only the opening
        mark is the construct: what follows is running text, in which the closing mark, which is remembered, ends
        names.
        """
        is_mark = token.lastgroup == "mark"
        if is_mark and not self._may_open(token):
            return None
        opener = token[0] if is_mark else "pass"
        closer = self._closer(opener, token.end(), end)
        if closer is None:
            return None

        if opener in _PASSTHROUGHS:
            content = VisibleText(self.text, token.end(), closer.start())
            is_link_shown = "[" in content.text  # the source of a link, in documentation
            if not is_link_shown:
                return content.whole_or_mentions(), closer.end()
        self._closing.add(closer.start())
        return (), token.end()

    def _may_open(self, token: re.Match[str]) -> bool:
        """Return whether a mark stands where marked text may begin, so that it is not part of a name.

        The first mark in "*10.1000/182*" does, but not the one in "10.1000/a*b".
        """
        if self.text.endswith("link:", 0, token.start()):
            return True
        before = self.text[token.start() - 1 : token.start()]
        after = self.text[token.end() : token.end() + 1]
        if before == token[0][0] or before in _NOT_BEFORE_MARK:
            return False
        is_before_text = after.strip() != ""
        is_in_word = before.isascii() and before.isalnum()
        return is_before_text and not is_in_word

    def _closer(self, opener: str, start: int, end: int) -> re.Match[str] | None:
        """Return what closes the text that an opener begins at ``start``; None if nothing does before ``end``."""
        key = opener, end
        closer = self._closers.get(key)
        if key in self._closers and (closer is None or closer.start() > start):
            return closer
        closer = _CLOSERS[opener].search(self.text, start + 1, end)
        # not searched for again, or the time would be quadratic
        self._closers[key] = closer
        return closer


def _unescaped(token: re.Match[str]) -> str:
    """Return what readers see for an escape, an attribute or an entity: "<" for ``{lt}`` and ``&lt;``."""
    text = token[0]
    match text[0]:
        case "\\":
            return text[1:]
        case "{":
            return _CHARACTERS[text[1:-1].lower()]
        case _:
            return unescaped(token)
