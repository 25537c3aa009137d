"""Markdown and HTML: front matter, text and attributes, without code and comments."""

from __future__ import annotations

import re
from functools import lru_cache
from heapq import merge
from typing import TYPE_CHECKING

from doiuri_cli.readers._blank import Closers, blanked, holds_sign, paragraphs
from doiuri_cli.readers._part import Part, moved
from doiuri_cli.readers._quoted import FIELD, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri_cli.files import Source


_CODE_TAGS = ("pre", "code", "samp", "kbd", "textarea", "script", "style")
_OPENER = re.compile(rf"<(?:!--|(?P<tag>{'|'.join(_CODE_TAGS)})(?=[\s>])[^<>]*>)", re.IGNORECASE)
_CLOSERS = {tag: re.compile(rf"</{tag}\s*>", re.IGNORECASE) for tag in _CODE_TAGS}
_COMMENT_END = re.compile("-->")
_JSON_LD = "application/ld+json"
_FRONT_MATTER = re.compile(r"(---|\+\+\+)[ \t]*\r?\n(?s:.*?\n)??(?:\1|\.\.\.)[ \t]*(?:\r?\n|\Z)")
# No schema says what the field holds, and templates of sites often use it as the address of a link
_LINK = re.compile(r"(?:https?:)?//[^\s#?]*?10\.", re.IGNORECASE)
# What YAML or TOML may read otherwise, with or without quotes
_NOT_PLAIN = re.compile(r"[^\w./()<>%+=~;: -]|:(?: |\Z)|\A[ <>%-]")
_COMMENT_LINE = re.compile(r"^[ \t]*#[^\r\n]*", re.MULTILINE)
_RUNS = (re.compile("````*"), re.compile("~~~~*"))
_BEFORE_FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)*\Z")
# What MyST, pandoc, Quarto and R Markdown take for code; other names in braces are MyST's directives
_IS_CODE = re.compile(
    r"[ \t]*(?!\{)|[ \t]*\{(?:[.#= ]|(?i:r|python3?|julia|bash|sh|zsh|sql|ojs|js|javascript|css|html"
    r"|stan|rcpp|cpp|c|fortran|octave|scala|rust|go|perl|ruby|dot|graphviz|mermaid|plantuml|code|code-block|code-cell|sourcecode"
    r"|literalinclude|parsed-literal|highlight|math|doctest|testcode|testsetup|testcleanup|testoutput|prompt"
    r"|ipython3?|jupyter-execute|raw)[\s,}])"
)
_TICKS = re.compile("``*")
_QUIET = re.compile(  # text, and code spans without a DOI
    r"(?>(?:[^`\\]+|\\(?s:.)|(?<!\})`(?!`)(?>(?:[^`1dD]+|1(?!0)|[dD](?![oO]))*)`(?!`)){0,500})"
)
_LONGEST_SPAN = 5000  # characters
_FENCE = 3  # backticks of the shortest fence
# After a blank line; the text before decides whether it is code or belongs to a list
_INDENTED = re.compile(r"\n[ \t\r]*\n(?:(?: {4}| {0,3}\t)[^\n]*(?:\n|\Z)|[ \t\r]*\n)+")
_HOLDS_BLOCKS = re.compile(
    r"^(?:[ \t]+\S|>|[-*+][ \t]|[0-9]{1,9}[.)][ \t]|\[\^[^\]\n]+\]:|:[ \t]|!!!|\?\?\?|===|///|:::|<)",
    re.MULTILINE,
)
_PARAGRAPH = 2000  # characters before an indented block that are looked at


def read_html(source: Source) -> Iterator[Part]:
    """Return the whole text, with blanks in the place of what is not read."""
    is_xml = source.path.lower().endswith((".xml", ".csl", ".owl"))
    shown = html_without_code(source.text, is_xml=is_xml)
    yield Part(shown, "xml" if is_xml else "html")
    yield from quoted(source.text, shown)


def html_without_code(text: str, *, is_xml: bool = False) -> str:
    """Return HTML or XML with blanks in the place of comments and code."""
    return blanked(text, code_spans(text, is_xml=is_xml))


def code_spans(text: str, *, is_xml: bool = False) -> Iterator[tuple[int, int]]:
    """Yield start and end of each comment and each element that holds code, in order."""
    closers = Closers(text)
    position = 0
    while (opener := _OPENER.search(text, position)) is not None:
        position = opener.end()
        is_style = is_xml and opener["tag"] == "style"  # the root of CSL
        if is_style or _JSON_LD in opener[0] or opener[0].endswith("/>"):
            continue
        closer = _CLOSERS[opener["tag"].lower()] if opener["tag"] else _COMMENT_END
        end = closers.end(closer, position)
        if end is not None:
            yield opener.start(), end
            position = end


def read(source: Source) -> Iterator[Part]:
    """Return the front matter and the text, with blanks in the place of what is not read."""
    text = source.text
    front = _FRONT_MATTER.match(text)
    start = front.end() if front else 0
    yield from _front_matter(text[:start])
    for part in parts_of_text(text[start:] if start else text):
        yield moved(part, range(start, len(text) + 1))


def parts_of_text(text: str) -> Iterator[Part]:
    """Return Markdown without code, and the entries and fields of bibliographies in its code."""
    shown = without_code(text)
    yield Part(shown, "markdown")
    yield from quoted(text, shown)


def _front_matter(text: str) -> Iterator[Part]:
    """Yield the fields for DOIs and what is around them."""
    text = blanked(text, (comment.span() for comment in _COMMENT_LINE.finditer(text)))
    last = 0
    for field in FIELD.finditer(text):
        start, end = field.span(field.lastgroup or 0)
        yield Part(text[last:start], start=last, encode=_plain)
        yield Part(text[start:end], start=start, field=not _LINK.match(text, start, end), encode=_plain)
        last = end
    if last < len(text):
        yield Part(text[last:], start=last, encode=_plain)


def _plain(text: str) -> str:
    """Return a text that needs no escapes in front matter.

    :raises ValueError: if it may need some.
    """
    if _NOT_PLAIN.search(text):
        raise ValueError(text)
    return text


def without_code(text: str) -> str:
    """Return Markdown with blanks in the place of code and HTML comments."""
    text = blanked(text, _blocks(text))
    text = blanked(text, _indented(text))
    return blanked(text, _spans(text))


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield the fenced code blocks, and the comments and code in HTML; the first to start wins."""
    last = 0
    for start, end in merge(_fences(text), _html(text)):
        if start >= last:
            yield start, end
            last = end


def _html(text: str) -> Iterator[tuple[int, int]]:
    for start, end in code_spans(text):
        if text[start - 1 : start] != "`":
            yield start, end


def _fences(text: str) -> Iterator[tuple[int, int]]:
    closers = Closers(text)
    last = 0
    ends: set[int] = set()  # of the fences of directives
    for run in merge(*(runs.finditer(text) for runs in _RUNS), key=re.Match.start):
        start = run.start()
        line = text.rfind("\n", 0, start) + 1
        if start < last or start in ends or not _BEFORE_FENCE.match(text[line : min(start, line + 100)]):
            continue
        line_end = text.find("\n", start)
        line_end = line_end if line_end >= 0 else len(text)
        if text.find("`", run.end(), line_end) >= 0 and run[0][0] == "`":
            continue
        end = closers.end(_fence_end(run[0][0], len(run[0])), run.end())
        if _IS_CODE.match(text, run.end(), line_end):
            last = end or len(text)
            yield start, last
        elif end is not None:
            ends.add(text.rfind("\n", 0, end) + len(text[text.rfind("\n", 0, end) : end].rstrip(run[0][0])))


@lru_cache(64)
def _fence_end(character: str, length: int) -> re.Pattern[str]:
    return re.compile(rf"\n[ \t>]*{character}{{{length},}}(?=[ \t\r]*(?:\n|\Z))")


def _indented(text: str) -> Iterator[tuple[int, int]]:
    for block in _INDENTED.finditer(text):
        start = block.start()
        if not holds_sign(text, start, block.end()):
            continue
        before = text[max(0, start - _PARAGRAPH) : start].replace("\r\n", "\n").rstrip()
        paragraph = before[before.rfind("\n\n") + 1 :]
        if not _HOLDS_BLOCKS.search(paragraph):
            yield block.span()


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the code spans in paragraphs that may mention a DOI; after a brace they are MyST's roles."""
    for first, end in paragraphs(text) if "`" in text else ():
        position = first
        while (quiet := _QUIET.match(text, position, end)) and (run := _TICKS.search(text, quiet.end(), end)):
            start, position = run.span()
            closer = _span_end(text, run[0], position, min(end, position + _LONGEST_SPAN))
            if closer is not None and not _is_fence(text, run):
                position = closer
                if text[start - 1 : start] != "}":
                    yield start, closer


def _span_end(text: str, ticks: str, start: int, limit: int) -> int | None:
    """Return where the next run of as many backticks ends."""
    while (start := text.find(ticks, start, limit)) >= 0:
        end = start + len(ticks)
        if text[end : end + 1] != "`":
            return end
        while text[end : end + 1] == "`":
            end += 1
        start = end
    return None


def _is_fence(text: str, run: re.Match[str]) -> bool:
    """Return whether a directive begins or ends here."""
    line = text.rfind("\n", 0, run.start()) + 1
    return len(run[0]) >= _FENCE and not text[line : run.start()].strip(" \t>")
