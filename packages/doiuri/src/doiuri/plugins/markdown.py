"""Code in the source of Markdown: what is shown as it is written, told from text as the parsers tell it."""

from __future__ import annotations

import re
from typing import NamedTuple

from doiuri._patterns import lazy

__all__ = ["NO_LINKS", "without_code"]

NO_LINKS = "a|button|code|kbd|math|option|pre|samp|script|select|style|svg|textarea|title|tt|var"
"""Elements in which a link is invalid, or would change what the author wants to show."""
_CODE = "code|kbd|pre|samp|script|style|textarea"

_TAB = 4  # columns of a level of indentation
_QUOTED = lazy(r"(?>(?:[ ]*+>[ ]?)+)")
_FENCE = lazy(
    r"""
    (?P<margin> [ \t>]*+ (?> (?: (?: [-*+] | [0-9]{1,9}[.)] ) [ \t]++ )* ) )    # in quotations and items of lists
    (?P<run> (?P<mark> ` ) `{2,}+ | ~{3,}+ )
    (?P<info> (?(mark) [^`\n]* | .* ) )
    $
    """,
    re.VERBOSE,
)
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
        text = _without_fences(text, myst)
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


class _Fence(NamedTuple):
    quotes: int  # quotations that it is in
    blanks: int  # before it, in the innermost quotation
    is_item: bool  # whether it is the first line of an item of a list
    run: str
    info: str

    @property
    def opening(self) -> tuple[int, int, bool, str]:
        """What the fences of a block have in common in Python-Markdown."""
        return self.quotes, self.blanks, self.is_item, self.run

    def closes(self, opener: _Fence) -> bool:
        return self.info == "" and self.opening == opener.opening

    def closes_myst(self, opener: _Fence) -> bool:
        if self.info or self.is_item or self.quotes != opener.quotes:
            return False
        return self.run.startswith(opener.run)


def _fence(line: str) -> _Fence | None:
    """Return the fence that a line is, or None."""
    if "```" not in line and "~~~" not in line:
        return None
    fence = _FENCE.match(line)
    if fence is None:
        return None
    margin = fence["margin"].expandtabs(_TAB)
    quotes = margin.count(">")
    blanks = margin.rpartition(">")[2]
    if quotes:
        blanks = blanks.removeprefix(" ")
    is_item = blanks.strip() != ""
    return _Fence(quotes, len(blanks), is_item, fence["run"], fence["info"].rstrip())


def _without_fences(source: str, myst: bool) -> str:
    """Return a source without the code in fences; the backticks of MyST's directives become colons."""
    lines = source.split("\n")
    fences = [_fence(line) for line in lines]
    if myst:
        _blank_myst_fences(lines, fences)
    else:
        _blank_fences(lines, fences)
    return "\n".join(lines)


def _blank_myst_fences(lines: list[str], fences: list[_Fence | None]) -> None:
    directives: list[str] = []  # the fences of the directives that are open
    block_end = 0
    for number, fence in enumerate(fences):
        if fence is None or number < block_end:
            continue
        may_close = directives and not fence.info
        if may_close and fence.run.startswith(directives[-1]):
            directives.pop()
        elif _DIRECTIVE.match(fence.info):
            directives.append(fence.run)
        else:
            block_end = _myst_block_end(lines, fences, number, fence)
            lines[number:block_end] = map(_blank, lines[number:block_end])
            continue
        lines[number] = lines[number].replace(fence.run, ":" * len(fence.run), 1)


def _blank_fences(lines: list[str], fences: list[_Fence | None]) -> None:
    unclosed = set()
    block_end = 0
    for number, fence in enumerate(fences):
        if fence is None or number < block_end:
            continue
        if fence.opening in unclosed or fence.is_item or not _INFO.match(fence.info):
            continue
        closer = _closer(fences, number, fence)
        if closer is None:
            unclosed.add(fence.opening)
            continue
        block_end = closer + 1
        lines[number:block_end] = map(_blank, lines[number:block_end])


def _closer(fences: list[_Fence | None], number: int, opener: _Fence) -> int | None:
    """Return the number of the line that closes a fenced block of Python-Markdown; None if none does."""
    for line_number in range(number + 1, len(fences)):
        fence = fences[line_number]
        if fence is not None and fence.closes(opener):
            return line_number
    return None


def _myst_block_end(
    lines: list[str], fences: list[_Fence | None], number: int, opener: _Fence
) -> int:
    """Return the number of the line after a fenced block.

    A block without a closing fence ends with the quotation that it is in, or else with the page.
    """
    for line_number in range(number + 1, len(lines)):
        fence = fences[line_number]
        if fence is not None and fence.closes_myst(opener):
            return line_number + 1
        if opener.quotes > 0 and _content(lines[line_number]).quotes < opener.quotes:
            return line_number
    return len(lines)


def _without_indented(text: str, source: str) -> str:
    """Return ``text``, in which other code of ``source`` is blank, without indented code blocks."""
    lines = text.split("\n")
    # of the lists and similar blocks that contain the line, by the depth of its quotation
    depths = {0: 0}
    begins_block = True
    in_code = False
    for number, (line, source_line) in enumerate(zip(lines, source.split("\n"), strict=True)):
        content = _content(line)
        if not content.text:
            begins_block = True
            is_other_code = not line.strip() and source_line.strip() != ""
            if is_other_code:
                depths = {0: min(_content(source_line).margin, depths[0])}
                in_code = False
            continue

        if begins_block and content.quotes == 0:
            depths = {0: depths[0]}
        depth = depths.get(content.quotes, 0)
        is_deeper = content.level > depth or content.margin > depths[0]
        in_code = is_deeper and (begins_block or in_code)
        if in_code:
            lines[number] = _blank(line)
            continue

        opens_container = _CONTAINER.match(content.text) is not None
        if begins_block or opens_container:
            depths[content.quotes] = min(content.level, depth)
        if opens_container:
            depths[content.quotes] += 1
        begins_block = _HEADING.match(content.text) is not None
    return "\n".join(lines)


class _Content(NamedTuple):
    text: str
    level: int  # of its indentation
    quotes: int  # quotations that it is in
    margin: int  # level of the indentation outside of them


def _content(line: str) -> _Content:
    """Return the content of a line in quotations, and how deep it is."""
    expanded = line.expandtabs(_TAB)
    text = expanded.lstrip()
    margin = (len(expanded) - len(text)) // _TAB
    quoted = _QUOTED.match(expanded)
    if quoted is None:
        return _Content(text, margin, 0, margin)

    in_quotation = expanded[quoted.end() :]
    text = in_quotation.lstrip()
    level = (len(in_quotation) - len(text)) // _TAB
    return _Content(text, level, quoted[0].count(">"), margin)
