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
_QUOTED = lazy(r"(?>(?:[ ]*+>[ ]?)*)")
_FENCE = lazy(
    r"(?P<margin>[ \t>]*+(?>(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]++)*))"  # in quotations and items of lists
    r"(?P<run>(?P<mark>`)`{2,}+|~{3,}+)(?P<info>(?(mark)[^`\n]*|.*))$"
)
# Python-Markdown: a language and options
_INFO = lazy(r"[ \t]*+(?:[\w#.+-]++(?=\s|$))?(?:[ \t]*+(?:\{.*\}|[\w-]++=[^`]*+))?\s*+$")
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
    r"^[ ]{0,3}<(?:!--(?:(?!<!--).)*?-->|(pre|script|style|textarea)\b(?:[^<]++|<(?!\1\b))*?</\1\s*>)",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)
_NEW_BLOCK = r"\n(?=[ \t\r>]*+(?:\n|[*+-][ ]|[0-9]++\.[ ]|#|\Z))"
_SPAN = lazy(
    rf"(?<![`\\])(?>(?:\\\\)*)(`++)(?>(?:[^`\n]++|(?!{_NEW_BLOCK})\n|(?!\1(?!`))`++)*)\1(?!`)"
)
_COMMENT = lazy(rf"<!--(?:(?!<!--|{_NEW_BLOCK}).)*?-->", re.DOTALL)
_ELEMENTS = {
    myst: lazy(rf"<({names})(?=[\s/>])(?:[^<]++|<(?!\1\b))*?</\1\s*>", re.IGNORECASE)
    for myst, names in ((False, NO_LINKS), (True, _CODE))
}
_TEXT = lazy(r"(?<=>)(?>(?:[^<]++|<(?![a-zA-Z/!]))+)")
# As in the text of a paragraph: no space just inside the dollar signs, no word character just outside
_IN_MATH = rf"(?=[^\s$])(?>(?:(?!{_NEW_BLOCK})[^$])*)(?<=\S)"
_MATH = lazy(rf"(?<![\w\\$])\$(?:\${_IN_MATH}\$\$|{_IN_MATH}\$)(?![\w$])")
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
    text = _without_fences(source, myst) if "```" in source or "~~~" in source else source
    if "<" in text:
        text = _RAW.sub(_without_text, text)
    if "    " in text or "\t" in text:
        text = _without_indented(text, source)
    if "`" in text:
        text = _SPAN.sub(_without_role if myst else _blank_match, text)
    if "<" in text:
        text = _ELEMENTS[myst].sub(_without_text, _COMMENT.sub(_blank_match, text))
    return _MATH.sub(_blank_match, text) if "$" in text else text


def _blank(text: str) -> str:
    return _LINE.sub(lambda line: " " * len(line[0]), text)


def _blank_match(match: re.Match[str]) -> str:
    return _blank(match[0])


def _without_role(span: re.Match[str]) -> str:
    """Return a code span without its text, and the text of MyST's roles as it is."""
    before = span.string[max(0, span.start() - 9) : span.start()]
    return span[0] if before.endswith("}") and not before.endswith(_CODE_ROLES) else _blank(span[0])


def _without_text(element: re.Match[str]) -> str:
    return (
        _blank(element[0])
        if element[0].lstrip().startswith("<!--")
        else _TEXT.sub(_blank_match, element[0])
    )


class _Fence(NamedTuple):
    quotes: int  # quotations that it is in
    blanks: int  # before it, in the innermost quotation
    is_item: bool  # whether it is the first line of an item of a list
    run: str
    info: str

    def closes(self, opener: _Fence, myst: bool) -> bool:
        if self.info or self.is_item or self.quotes != opener.quotes:
            return False
        return self.run.startswith(opener.run) if myst else self[:4] == opener[:4]


def _fence(line: str) -> _Fence | None:
    fence = _FENCE.match(line)
    if fence is None:
        return None
    margin = fence["margin"].expandtabs(_TAB)
    blanks = margin.rpartition(">")[2]
    blanks = blanks.removeprefix(" ") if ">" in margin else blanks
    return _Fence(
        margin.count(">"), len(blanks), bool(blanks.strip()), fence["run"], fence["info"].rstrip()
    )


def _without_fences(source: str, myst: bool) -> str:
    lines = source.split("\n")
    fences = [_fence(line) if "```" in line or "~~~" in line else None for line in lines]
    directives: list[str] = []  # the fences of MyST's directives that are open
    unclosed = set()
    after = 0  # the last block
    for number, fence in enumerate(fences):
        if fence is None or number < after:
            continue
        if myst and (_closes_directive(fence, directives) or _DIRECTIVE.match(fence.info)):
            if fence.info:
                directives.append(fence.run)
            lines[number] = lines[number].replace(fence.run, ":" * len(fence.run), 1)
        elif myst or (fence[:4] not in unclosed and not fence.is_item and _INFO.match(fence.info)):
            end = _end(lines, fences, number, myst)
            if end is None:
                unclosed.add(fence[:4])
                continue
            lines[number:end] = map(_blank, lines[number:end])
            after = end
    return "\n".join(lines)


def _closes_directive(fence: _Fence, directives: list[str]) -> bool:
    is_closing = not fence.info and bool(directives) and fence.run.startswith(directives[-1])
    if is_closing:
        directives.pop()
    return is_closing


def _end(lines: list[str], fences: list[_Fence | None], number: int, myst: bool) -> int | None:
    """Return the number of the line after a fenced block; in Python-Markdown, one not closed is none."""
    opener = fences[number]
    assert opener  # noqa: S101 (for mypy)
    for end in range(number + 1, len(lines)):
        fence = fences[end]
        if fence and fence.closes(opener, myst):
            return end + 1
        if myst and opener.quotes and _content(lines[end]).quotes < opener.quotes:
            return end
    return len(lines) if myst else None


def _without_indented(text: str, source: str) -> str:
    """Return ``text``, in which other code of ``source`` is blank, without indented code blocks."""
    lines = text.split("\n")
    depths = {
        0: 0
    }  # of the lists and similar blocks that contain the line, by the depth of its quotation
    begins, code = True, False  # whether the line begins a block, or continues code
    for number, (line, written) in enumerate(zip(lines, source.split("\n"), strict=True)):
        inner, level, quotes, margin = _content(line)
        if not inner:
            begins = True
            if written.strip() and not line.strip():  # other code
                depths, code = {0: min(_content(written).margin, depths[0])}, False
            continue
        if begins and not quotes:
            depths = {0: depths[0]}
        depth = depths.get(quotes, 0)
        code = (level > depth or margin > depths[0]) and (begins or code)
        if code:
            lines[number] = _blank(line)
            continue
        opens = _CONTAINER.match(inner) is not None
        if begins or opens:
            depths[quotes] = min(level, depth) + opens
        begins = _HEADING.match(inner) is not None
    return "\n".join(lines)


class _Content(NamedTuple):
    text: str
    level: int  # of its indentation
    quotes: int  # quotations that it is in
    margin: int  # level of the indentation outside of them


def _content(line: str) -> _Content:
    """Return the content of a line in quotations, and how deep it is."""
    text = line.expandtabs(_TAB)
    inner = text.lstrip()
    level = margin = (len(text) - len(inner)) // _TAB
    quotes = 0
    if inner.startswith(">") and (quoted := _QUOTED.match(text)):
        quotes = quoted[0].count(">")
        inner = text[quoted.end() :].lstrip()
        level = (len(text) - quoted.end() - len(inner)) // _TAB
    return _Content(inner, level, quotes, margin)
