"""DOIs in reStructuredText: escapes, literals, roles, embedded and explicit targets."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from doiuri._find._markup import Scanner, Stretch, VisibleText, name_start
from doiuri._patterns import lazy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from doiuri._find._markup import Construct
    from doiuri._find._plain import MentionSpan

_TAIL = "_"  # an underscore at the end of a word makes it a reference
_ROLE = lazy(r":([A-Za-z][\w.+:-]{0,99}):\Z")
_DOI_ROLE = lazy(r"(?:^|[:_-])doi\Z", re.IGNORECASE)
_NEARBY = 120  # how far back the name of a role and the margin of a target are looked for
_MARGIN = lazy(r"^([ \t]*)(?:\.\.[ ]_|__)\Z", re.MULTILINE)
_TARGET_NAME = lazy(
    r"""
    (?:
        _? (?: `[^`\n]*` | [^\\:\n`]*+ (?: \\. [^\\:\n`]*+ )* ) :
    |   (?<= __ )             # an anonymous target
    )
    ( [ \t]+ | [ \t]*\n[ \t]+ )    # the URI may stand on the next line
    (?= \S )
    """,
    re.DOTALL | re.VERBOSE,
)
_EMBEDDED_URI = lazy(r"(?:^|(?<=\s))<")
_PHRASE_END = lazy(r"[^`\\]*+(?:\\.[^`\\]*+)*`", re.DOTALL)
_ESCAPE = lazy(r"\\(.)", re.DOTALL)
# Inside the angle brackets of a SICI, as in "<693::AID-ASI4>3.0.CO;2-O", a line is broken after a dash or colon
_BREAK = r"\n(?<=[-:]\n)[ \t]*(?=[^\s<>`]{1,40}>[0-9]\.[0-9]\.(?:CO|TX);)"
_ESCAPE_OR_BREAK = lazy(rf"\\(.)|{_BREAK}", re.DOTALL)
_SICI_BREAK = lazy(_BREAK)
# docutils drops white space in the URI of a target
_ESCAPE_OR_SPACE = lazy(r"\\(.)|\s+", re.DOTALL)

_BLANKS_IN_NAME = r"\s+[0-9./:%\\]"


class RST(Scanner):
    """reStructuredText."""

    # The second is for URIs of targets: docutils drops white space there
    names = (
        lazy(name_start(r"\\")),
        lazy(name_start(_BLANKS_IN_NAME) + "(?<=[/<:]1)"),
    )
    # Before explicit markup or a blank line
    boundary = lazy(r"\n(?=[ \t]*+(?:\.\. |\r?(?:\n|\Z)))")
    first = lazy(r"[\\`_]")
    token = lazy(
        r"""
        (?P<escape> \\. )
        | (?P<literal> `` )
        | (?P<phrase> ` )
        | (?P<target> _ (?: (?<= \.\.[ ]_ ) | (?<= __ ) (?<! \S__ ) ) )
        """,
        re.DOTALL | re.VERBOSE,
    )
    delimiters: ClassVar = {">": (" <", "\n<"), "`": (" `", ":`", "(`", "\n`")}
    tail = _TAIL

    def running_text(self, start: int, end: int, edits: list[Stretch]) -> VisibleText:
        """Return running text, without line breaks inside a SICI."""
        if self.text.find("<", start, end) >= 0:
            line_breaks = _SICI_BREAK.finditer(self.text, start, end)
            joined = [Stretch(line.start(), line.end(), "") for line in line_breaks]
            edits = sorted(edits + joined)
        return super().running_text(start, end, edits)

    def meaning(self, token: re.Match[str], end: int) -> str | Construct | None:
        """Return what readers see for an escape, or the construct of a literal, a phrase or a target."""
        match token.lastgroup:
            case "escape" if not token[0][1].isspace():
                return token[0][1]
            case "literal":  # in double backticks
                return self._literal(token.end(), end)
            case "phrase":  # in backticks, perhaps with a role before it
                return self._phrase(token, end)
            case "target":  # .. _handbook: https://doi.org/10.1000/182
                return self._target(token.end())
            case _:
                return (), token.end()  # escaped white space: nothing is seen, but names end there

    def _literal(self, start: int, limit: int) -> Construct:
        """Return the construct of an inline literal; it is empty if nothing closes it before ``limit``."""
        end = self.text.find("``", start, limit)
        if end < 0:
            return (), start
        return VisibleText(self.text, start, end).mentions(), end + 2

    def _phrase(self, token: re.Match[str], limit: int) -> Construct:
        """Return the construct of interpreted text or of a phrase reference; it is empty if nothing closes it.

        :doi:`10.1000/182` is interpreted text, `Handbook <https://doi.org/10.1000/182>`_ a phrase reference.
        """
        start, text_start = token.span()
        phrase = _PHRASE_END.match(self.text, text_start, limit)
        if phrase is None:
            return (), text_start
        role = _ROLE.search(self.text, max(0, start - _NEARBY), start)
        role_name = None if role is None else role[1]
        return _in_phrase(self.text, text_start, phrase.end() - 1, role_name), phrase.end()

    def _target(self, start: int) -> Construct | None:
        """Return the construct of an explicit target whose underscore ends at ``start``; None if it is none.

        Such as ".. _handbook: https://doi.org/10.1000/182", or "__ https://doi.org/10.1000/182".
        """
        margin = _MARGIN.search(self.text, max(0, start - _NEARBY), start)
        if margin is None:
            return None
        name = _TARGET_NAME.match(self.text, start)
        if name is None:
            return None
        uri_start = name.end()
        _, line_break, indentation = name[1].rpartition("\n")
        if line_break and len(indentation) <= len(margin[1]):
            return None  # an internal target, and the next line is another block

        end = _block_end(self.text, uri_start, margin[1])
        return _in_link(self.text, uri_start, end), end


def _in_phrase(text: str, start: int, end: int, role: str | None) -> Iterator[MentionSpan]:
    """Yield the mentions in a phrase: in its title and its ``<target>``, or in all of it if it has none."""
    labelled = role is not None and _DOI_ROLE.search(role) is not None
    title_end, target_start = _target_opening(text, start, end)
    has_target = title_end < end
    if not has_target:
        yield from _in_text(text, start, end, labelled=labelled)
        return

    title = VisibleText.replacing(text, (start, title_end), _ESCAPE, _unescaped)
    yield from title.mentions()
    if role is None:
        yield from _in_link(text, target_start, end - 1)
    else:
        yield from _in_text(text, target_start, end - 1, labelled=labelled)


def _target_opening(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span of the "<" that begins the target in a phrase, as in "Handbook <10.1000/182>".

    If the phrase has no target, the span is empty, at ``end``.
    """
    no_target = end, end
    if text[end - 1] != ">":
        return no_target
    openings = list(_EMBEDDED_URI.finditer(text, start, end))
    if openings:
        # The title may hold a "<" too; a name (SICI) has no blank before
        return openings[-1].span()

    opening = text.rfind("<", start, end)
    if opening >= 0 and _is_repeated(text, start, opening, end):
        return opening, opening + 1
    return no_target


def _is_repeated(text: str, start: int, opening: int, end: int) -> bool:
    """Return whether a phrase is the same name twice, as in "10.1000/182<10.1000/182>"."""
    first = text.find("10.", start, opening)
    second = text.find("10.", opening, end)
    if first < start or second < 0:
        return False
    return text[first:opening].lower() == text[second : end - 1].lower()


def _in_text(text: str, start: int, end: int, *, labelled: bool) -> Iterable[MentionSpan]:
    """Return the mention that a text is as a whole, or else those in it.

    :param labelled: whether the text has a role for DOIs, so that any name counts.
    """
    mention = VisibleText.replacing(text, (start, end), _ESCAPE, _unescaped).whole(
        labelled=labelled
    )
    if mention is not None:
        return [mention]
    return _running(text, start, end)


def _in_link(text: str, start: int, end: int) -> Iterable[MentionSpan]:
    """Return the mention that a URI is as a whole, or else those in it."""
    uri = VisibleText.replacing(text, (start, end), _ESCAPE_OR_SPACE, _unescaped)
    mention = uri.whole(link=True)
    if mention is not None:
        return [mention]
    return _running(text, start, end)


def _running(text: str, start: int, end: int) -> Iterator[MentionSpan]:
    """Yield the mentions in ``text[start:end]``, read as running text."""
    visible = VisibleText.replacing(text, (start, end), _ESCAPE_OR_BREAK, _unescaped)
    return visible.mentions(_TAIL)


def _unescaped(token: re.Match[str]) -> str:
    """Return what readers see for an escape, and nothing for white space or a line break."""
    return token[1] or ""


def _block_end(text: str, start: int, indent: str) -> int:
    """Return where the block of ``start`` ends: before a blank line or one that is indented no deeper."""
    line_break = re.compile(rf"\n(?!{indent}[ \t]++\S)").search(text, start)
    if line_break is None:
        return len(text)
    return line_break.start()
