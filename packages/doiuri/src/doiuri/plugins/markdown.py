"""Code in the source of Markdown: what is shown as it is written, told from text as the parsers tell it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from doiuri._find._fences import fenced_block, next_fence
from doiuri._patterns import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri._find._fences import Fence

__all__ = ["NO_LINKS", "without_code"]

NO_LINKS = "a|button|code|kbd|math|option|pre|samp|script|select|style|svg|textarea|title|tt|var"
"""Elements in which a link is invalid, or would change what the author wants to show."""
_CODE = "code|kbd|pre|samp|script|style|textarea"

_TAB = 4  # columns of a level of indentation
_QUOTED = lazy(r"(?>(?:[ ]*+>[ ]?)+)")
# Python-Markdown: a language and options
_INFO = lazy(
    r"""
    [ \t]*+
    (?: [\w#.+-]++ (?= \s | $ ) )?
    (?: [ \t]*+ (?: \{ .* \} | [\w-]++ = [^`]*+ ) )?
    \s*+ $
    """,
    re.VERBOSE,
)
# What MyST, pandoc, Quarto and R Markdown take for code; other names in braces are MyST's directives
_DIRECTIVE = lazy(
    r"""[ \t]*\{(?!
        [.#=\ ]                                                      # attributes of pandoc
      | (?i:r|python3?|julia|bash|sh|zsh|sql|ojs|js|javascript|css|html|stan|rcpp|cpp|c|fortran|octave
          |scala|rust|go|perl|ruby|dot|graphviz|mermaid|plantuml     # languages that are run
          |code|code-block|code-cell|sourcecode|literalinclude|parsed-literal|highlight|math|doctest
          |testcode|testsetup|testcleanup|testoutput|prompt|ipython3?|jupyter-execute|raw  # directives
        )[\s,}]
    )""",
    re.VERBOSE,
)
_CODE_ROLES = "{code}", "{literal}", "{math}", "{samp}", "{kbd}", "{file}"
# What later lines that are indented more belong to
_CONTAINER = lazy(
    r"""
    [*+-][ ] | [0-9]++[.)][ ]           # an item of a list
  | \[\^[^\]]*+\]: | :[ ]{1,3}\S        # a footnote, a definition
  | !!![ ] | \?\?\? | ===[ +!]*"        # an admonition, a tab
  | </?(?:aside|center|d[dlt]|details|div|fieldset|figcaption|figure|footer|form|header|li|main|nav|[ou]l|p
        |section|summary|t(?:able|body|[dhr]|foot|head))\b  # HTML
    """,
    re.VERBOSE | re.IGNORECASE,
)
_HEADING = lazy(r"#{1,6}[^#]")

# No comment or element contains the beginning of another one, so that the time is linear if none is closed.
_RAW = lazy(
    r"""
    ^ [ ]{0,3} <
    (?: !-- (?: (?! <!-- ) . )*? -->
    |   ( pre | script | style | textarea ) \b
        (?: [^<]++ | < (?! \1\b ) )*?
        </ \1 \s* >
    )
    """,
    re.DOTALL | re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
_NEW_BLOCK = r"\n(?=[ \t\r>]*+(?:\n|[*+-][ ]|[0-9]++\.[ ]|\#|\Z))"
_SPAN = lazy(
    rf"""
    (?<! [`\\] ) (?> (?: \\\\ )* )
    ( `++ )
    (?> (?: [^`\n]++ | (?! {_NEW_BLOCK} ) \n | (?! \1 (?!`) ) `++ )* )
    \1 (?! ` )
    """,
    re.VERBOSE,
)
_COMMENT = lazy(rf"<!--(?:(?!<!--|{_NEW_BLOCK}).)*?-->", re.DOTALL)


def _element(names: str) -> re.Pattern[str]:
    """Return the pattern of an element that is closed."""
    return lazy(
        rf"""
        < ( {names} ) (?= [\s/>] )
        (?: [^<]++ | < (?! \1\b ) )*?
        </ \1 \s* >
        """,
        re.IGNORECASE | re.VERBOSE,
    )


_ELEMENT = _element(NO_LINKS)
_MYST_ELEMENT = _element(_CODE)
_TEXT = lazy(r"(?<=>)(?>(?:[^<]++|<(?![a-zA-Z/!]))+)")
# As in the text of a paragraph: no space just inside the dollar signs, no word character just outside
_IN_MATH = rf"(?=[^\s$])(?>(?:(?!{_NEW_BLOCK})[^$])*)(?<=\S)"
_MATH = lazy(
    rf"""
    (?<! [\w\\$] )
    \$
    (?: \$ {_IN_MATH} \$\$ | {_IN_MATH} \$ )
    (?! [\w$] )
    """,
    re.VERBOSE,
)
_LINE = lazy(r"[^\r\n]+")


def without_code(source: str, *, myst: bool = False) -> str:
    """Return the source of a page with spaces in place of code, comments and math.

    Every other character, and every end of a line, keeps its place. Tags stay, because their attributes may
    be links; the backticks around MyST's directives become colons. Raw HTML that is never closed counts as
    text.

    :param myst: whether to read it as MyST and CommonMark do: a fence that is never closed is code, and the
        text of roles and directives such as ``{doi}`` and ``{note}`` is not. Otherwise it is read as
        Python-Markdown does, with an extension for fences, and text in :data:`NO_LINKS` counts as code.
    """
    text = source
    if "```" in text or "~~~" in text:
        text = _without_fenced(text, myst=myst)
    if "<" in text:
        text = _RAW.sub(_without_text, text)
    if "    " in text or "\t" in text:
        text = _without_indented(text, source)
    if "`" in text:
        replacement = _without_role if myst else _blank_match
        text = _SPAN.sub(replacement, text)
    if "<" in text:
        text = _COMMENT.sub(_blank_match, text)
        element = _MYST_ELEMENT if myst else _ELEMENT
        text = element.sub(_without_text, text)
    if "$" in text:
        text = _MATH.sub(_blank_match, text)
    return text


def _blank(text: str) -> str:
    """Return spaces in place of a text; its line ends stay."""
    return _LINE.sub(lambda line: " " * len(line[0]), text)


def _blank_match(match: re.Match[str]) -> str:
    return _blank(match[0])


def _without_role(span: re.Match[str]) -> str:
    """Return a code span without its text, and the text of MyST's roles as it is."""
    before_span = span.string[max(0, span.start() - len("{literal}")) : span.start()]
    is_role = before_span.endswith("}") and not before_span.endswith(_CODE_ROLES)
    if is_role:
        return span[0]
    return _blank(span[0])


def _without_text(element: re.Match[str]) -> str:
    """Return a comment as spaces, and another element with its tags, which may hold links."""
    if element[0].lstrip().startswith("<!--"):
        return _blank(element[0])
    return _TEXT.sub(_blank_match, element[0])


class _Substitute(NamedTuple):
    """What stands in place of a stretch of the source: as many characters."""

    start: int
    text: str


def _without_fenced(source: str, *, myst: bool) -> str:
    """Return a source without the code in fences; the backticks of MyST's directives become colons."""
    substitutes = _myst_substitutes(source) if myst else _substitutes(source)
    parts = []
    end = 0
    for substitute in substitutes:
        parts += [source[end : substitute.start], substitute.text]
        end = substitute.start + len(substitute.text)
    return "".join([*parts, source[end:]])


def _substitutes(source: str) -> Iterator[_Substitute]:
    """Yield blanks in place of the blocks that an extension of Python-Markdown reads: those that are closed."""
    unclosed = set()
    end = 0
    while (opener := next_fence(source, end)) is not None:
        end = opener.end
        style = _style(opener)
        if style in unclosed or opener.is_item or not _INFO.match(opener.info):
            continue

        closer = next_fence(source, end)
        while closer is not None and (closer.info or _style(closer) != style):
            closer = next_fence(source, closer.end)
        if closer is None:
            # not searched for again, or the time would be quadratic
            unclosed.add(style)
            continue
        end = closer.end
        yield _Substitute(opener.line_start, _blank(source[opener.line_start : end]))


def _style(fence: Fence) -> tuple[int, int, bool, str]:
    """Return what the two fences of a block have in common in Python-Markdown."""
    return fence.quotes, fence.blanks, fence.is_item, fence.run


def _myst_substitutes(source: str) -> Iterator[_Substitute]:
    """Yield blanks in place of MyST's blocks of code, and colons in place of the backticks of directives."""
    open_directives: list[str] = []  # their fences
    end = 0
    while (fence := next_fence(source, end)) is not None:
        end = fence.end
        may_close = open_directives and not fence.info
        if may_close and fence.run.startswith(open_directives[-1]):
            open_directives.pop()
        elif _DIRECTIVE.match(fence.info):
            open_directives.append(fence.run)
        else:  # a block of code, with its closing fence
            end = fenced_block(source, fence).end
            yield _Substitute(fence.line_start, _blank(source[fence.line_start : end]))
            continue
        yield _Substitute(fence.start, ":" * len(fence.run))


def _without_indented(text: str, source: str) -> str:
    """Return ``text``, in which other code of ``source`` is blank, without indented code blocks.

    A line is code if it is indented deeper than the lists and the like that it is in, and begins a block or
    follows such a line: below ``- item``, a line with one level of indentation is text, one with two is code.
    """
    lines = text.split("\n")
    # The number of lists and similar blocks around a line, by the number of quotations that it is in
    depths = {0: 0}
    begins_block = True
    in_code = False
    for number, (line, source_line) in enumerate(zip(lines, source.split("\n"), strict=True)):
        content = _content(line)
        if not content.text:
            begins_block = True
            is_other_code = not line.strip() and source_line.strip() != ""
            if is_other_code:  # such as a fenced block, which ends the lists that are deeper
                depths = {0: min(_content(source_line).margin, depths[0])}
                in_code = False
            continue

        if begins_block and content.quotes == 0:  # the quotations have ended
            depths = {0: depths[0]}

        # In its quotations, or as a whole
        depth = depths.get(content.quotes, 0)
        is_deeper = content.level > depth or content.margin > depths[0]
        in_code = is_deeper and (begins_block or in_code)
        if in_code:
            lines[number] = _blank(line)
            continue

        # A block ends the lists that it is not indented for
        opens_container = _CONTAINER.match(content.text) is not None
        if begins_block or opens_container:
            depths[content.quotes] = min(content.level, depth)
        if opens_container:
            depths[content.quotes] += 1
        begins_block = _HEADING.match(content.text) is not None
    return "\n".join(lines)


class _LineContent(NamedTuple):
    """The content of a line: of ``  >     - a``, this is ``- a`` at level 1 in one quotation, with margin 0."""

    text: str
    level: int  # of its indentation
    quotes: int  # quotations that it is in
    margin: int  # level of the indentation outside of them


def _content(line: str) -> _LineContent:
    """Return what a line has after the marks of quotations and the indentation, and how deep that is."""
    expanded = line.expandtabs(_TAB)
    text = expanded.lstrip()
    margin = (len(expanded) - len(text)) // _TAB
    quoted = _QUOTED.match(expanded)
    if quoted is None:
        return _LineContent(text, margin, 0, margin)

    in_quotation = expanded[quoted.end() :]
    text = in_quotation.lstrip()
    level = (len(in_quotation) - len(text)) // _TAB
    return _LineContent(text, level, quoted[0].count(">"), margin)
