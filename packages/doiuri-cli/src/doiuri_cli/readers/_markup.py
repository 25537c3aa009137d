"""Markup: the text of Markdown, HTML, reStructuredText and TeX, without code and comments."""

from __future__ import annotations

import re
from functools import cache
from heapq import merge
from typing import TYPE_CHECKING

from doiuri.bibtex import ENTRY, NEXT_ENTRY, closing
from doiuri.plugins.markdown import without_code

from doiuri_cli.readers._bibtex import parts as parts_of_bibtex
from doiuri_cli.readers._part import (
    Closers,
    Part,
    blanked,
    is_attempt,
    moved,
    paragraphs,
    stretches,
    unwritable,
    value_of_doi,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri_cli.files import Source


FIELD = re.compile(
    r"""
    ^[ \t]*(?:-[ \t]+)?["']?doi["']?[ \t]*[:=][ \t]*           # the key, also of an item of a list
    (?: "(?P<double>[^"\r\n]*)"
      | '(?P<single>[^'\r\n]*)'
      | (?P<plain>[^\s"'\[{#&*!|>%@`](?:[^\r\n#]|(?<=\S)\#)*?)  # not what has a meaning in YAML
    )
    [ \t]*(?:(?<=\s)\#[^\r\n]*)?\r?$                           # a comment
    """,
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
_LINE_WITH_ENTRY = re.compile(r"(?:^[ \t>]*+|>)@(?=[A-Za-z]+[ \t]*\{)", re.MULTILINE)
# Not the URI doi:10.…
_VALUE = re.compile(
    r"""
    (?<= [ \t\"'] )
    (?i: https?:// \S{1,99}? / | doi: )?
    10\. [0-9]{4,9} / \S+
    """,
    re.VERBOSE,
)
_COMMENT = 5000  # characters before a place in which a comment around it begins


def parts_in_code(text: str, prose: str) -> Iterator[Part]:
    """Return the entries of BibTeX, and the fields of CFF and other YAML, that are in code.

    Both begin a line there: ``@article{…}``, ``doi: 10.1000/1``. In comments of HTML, they do not count.

    :param prose: the text with blanks in the place of code; the text itself if it has no code.
    """
    if prose is text:
        return
    for line in _LINE_WITH_ENTRY.finditer(text):
        start = line.end() - 1
        entry = ENTRY.match(text, start)
        # In code, the prose has a blank at the same place
        is_prose = prose[start] == "@"
        if entry is None or is_prose or _in_comment(text, start):
            continue
        # An entry that is not closed ends before the next one
        following = NEXT_ENTRY.search(text, entry.end())
        limit = following.start() if following else len(text)
        end = closing(text, entry.start("open"), limit)
        if end is not None:
            for part in parts_of_bibtex(text[start:end]):
                yield moved(part, range(start, end + 1))

    for field in FIELD.finditer(text):
        start, end = _span_of_value(field)
        is_in_code = prose[start:end].isspace()
        if not is_in_code or _in_comment(text, start) or not _VALUE.fullmatch(text, start, end):
            continue
        value = value_of_doi(Part(text[start:end], start=start))
        if not value.field:
            # A link may be what a program returns, as an API's documentation shows it
            value = value._replace(encode=unwritable)
        yield value


def _span_of_value(field: re.Match[str]) -> tuple[int, int]:
    """Return where the value of a field starts and ends: it is the only group that matched."""
    return field.span(field.lastgroup or 0)


def _in_comment(text: str, place: int) -> bool:
    """Return whether a place is in a comment of HTML."""
    before = max(0, place - _COMMENT)
    return text.rfind("<!--", before, place) > text.rfind("-->", before, place)


_CODE_TAGS = ("pre", "code", "samp", "kbd", "textarea", "script", "style")
_HTML_OPENER = re.compile(
    rf"<(?:!--|(?P<tag>{'|'.join(_CODE_TAGS)})(?=[\s>])[^<>]*>)", re.IGNORECASE
)
_HTML_CLOSERS = {tag: re.compile(rf"</{tag}\s*>", re.IGNORECASE) for tag in _CODE_TAGS}
_COMMENT_END = re.compile("-->")
_JSON_LD = "application/ld+json"
_FRONT_MATTER = re.compile(
    r"""
    (--- | \+\+\+) [ \t]* \r?\n                      # of YAML or TOML
    (?s: .*? \n )??
    (?P<end> \1 | \.\.\. ) [ \t]* (?: \r?\n | \Z )
    """,
    re.VERBOSE,
)
# What YAML or TOML may read otherwise, with or without quotes
_NOT_PLAIN = re.compile(r"[^\w./()<>%+=~;: -]|:(?: |\Z)|\A[ <>%-]")
_COMMENT_LINE = re.compile(r"^[ \t]*#[^\r\n]*", re.MULTILINE)


def read_html(source: Source) -> Iterator[Part]:
    """Return the whole text, with blanks in the place of what is not read."""
    text = source.text
    is_xml = source.path.lower().endswith((".xml", ".csl", ".owl", ".rdf"))
    syntax = "xml" if is_xml else "html"
    spans = list(code_spans(text, is_xml=is_xml))
    prose = blanked(text, spans)
    yield Part(prose, syntax)
    if is_xml:
        # A page hides in comments what was in it; a style or a record says there where something comes from
        comments = (span for span in spans if text.startswith("<!--", span[0]))
        yield from (_part_of_comment(text, *span) for span in comments)
    yield from parts_in_code(text, prose)


def _part_of_comment(text: str, start: int, end: int) -> Part:
    first = start + len("<!--")
    last = end - len("-->")
    return Part(text[first:last], start=first, labelled=True, encode=_without_hyphens)


def _without_hyphens(text: str) -> str:
    """Return the text: a comment of XML holds it as it is.

    :raises ValueError: if it has two hyphens, which a comment cannot have (XML 1.0 §2.5).
    """
    if "--" in text:
        raise ValueError(f"a comment cannot hold the text {text!r}")
    return text


def code_spans(text: str, *, is_xml: bool = False) -> Iterator[tuple[int, int]]:
    """Yield start and end of each comment and each element that holds code, in order."""
    closers = Closers(text)
    position = 0
    while (opener := _HTML_OPENER.search(text, position)) is not None:
        position = opener.end()
        # Read: the root of CSL, JSON-LD, which describes works, and what follows an element without content
        is_style = is_xml and opener["tag"] == "style"
        if is_style or _JSON_LD in opener[0] or opener[0].endswith("/>"):
            continue
        tag = opener["tag"]
        closer = _HTML_CLOSERS[tag.lower()] if tag else _COMMENT_END
        end = closers.end(closer, position)
        if end is not None:
            yield opener.start(), end
            position = end


def read_markdown(source: Source) -> Iterator[Part]:
    """Return the front matter and the text, with blanks in the place of what is not read."""
    text = source.text
    front = _FRONT_MATTER.match(text)
    start = front.end() if front else 0
    if front is not None:
        # Without the marks around it, which rules would take for the adornment of a title
        fields = text[3 : front.start("end")]
        yield from _front_matter(f"   {fields}")  # blanks keep the offsets
    for part in parts_of_markdown(text[start:]):
        yield moved(part, range(start, len(text) + 1))


def parts_of_markdown(text: str) -> Iterator[Part]:
    """Return Markdown without code, and the entries and fields of bibliographies in its code."""
    prose = without_code(text, myst=True)
    yield Part(prose, "markdown")
    yield from parts_in_code(text, prose)


def _front_matter(text: str) -> Iterator[Part]:
    """Yield the value of each field for a DOI, and the text between these values, without comments."""
    text = blanked(text, (comment.span() for comment in _COMMENT_LINE.finditer(text)))
    last = 0
    for field in FIELD.finditer(text):
        start, end = _span_of_value(field)
        yield Part(text[last:start], start=last, encode=_plain)
        if is_attempt(text[start:end]):
            yield value_of_doi(Part(text[start:end], start=start, encode=_plain))
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


_CODE = (
    "code|code-block|sourcecode|highlight|parsed-literal|literalinclude|math|doctest|testcode|testsetup"
    "|testcleanup|testoutput|prompt|ipython|jupyter-execute|graphviz|digraph|mermaid|plantuml|plot"
)
_MARKED = re.compile(r"::[ \t\r]*(?=\n)")  # ends a paragraph before a literal block
_EXPLICIT = re.compile(r"\n[ \t]*\.\.(?=[ \t\r\n])")
_DOCTEST = re.compile(r"\n[ \t]*>>> [^\n]*(?:\n[ \t]*[^\s][^\n]*)*")
_IS_CODE = re.compile(rf"\.\.[ \t]+(?:\|[^|\n]+\|[ \t]+)?(?:{_CODE})::")
# A directive, a target, a footnote or citation, or a substitution
_IS_MARKUP = re.compile(
    r"""
    \.\. [ \t]+
    (?: [A-Za-z0-9] [\w.:+-]*? [ \t]? :: (?!\S)
    |   _
    |   \[ [^\]\n]+ \] (?!\S)
    |   \|
    )
    """,
    re.VERBOSE,
)
_MARGIN = re.compile(
    r"""
    [ \t]*
    (?: (?: [-*+] | • | [0-9A-Za-z#]{1,9}[.)] | \([0-9A-Za-z#]{1,9}\)   # of an item of a list,
        |   :[^:\n]+:                                                  # or a field
        )
        [ \t]+
    )*
    """,
    re.VERBOSE,
)
_BLANK_LINE = re.compile(r"[ \t\r]*(?:\n|\Z)")
_LITERAL = re.compile(r"``(?=\S)[^`]*(?:`(?!`)[^`]*)*``")


def read_rst(source: Source) -> Iterator[Part]:
    """Return reStructuredText without code, and the entries of bibliographies in its code."""
    prose = rst_without_code(source.text)
    yield Part(prose, "rst")
    yield from parts_in_code(source.text, prose)


def rst_without_code(text: str) -> str:
    """Return reStructuredText with blanks in the place of literals, code, doctests and comments."""
    text = blanked(text, _rst_blocks(text))
    return blanked(text, _literals(text))


def _rst_blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of literal blocks, code, comments and doctests, in order."""
    doctests = (doctest.span() for doctest in _DOCTEST.finditer(text))
    blocks = merge(_literal_blocks(text), _explicit_blocks(text), doctests)
    # Of what begins in another block, such as a doctest in a literal block, only what goes on behind it is new
    last = 0
    for start, end in blocks:
        if end > last:
            yield max(start, last), end
            last = end


def _literal_blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of the blocks after ``::`` at the end of a paragraph.

    A block goes on as long as its lines are indented deeper than the paragraph; in an item of a list, than the
    text of the item.
    """
    last = 0
    for mark in _MARKED.finditer(text):
        if mark.start() < last:
            continue
        line = text.rfind("\n", 0, mark.start()) + 1
        # The text of ".. note::" is no literal block, and neither is that right below "A paragraph::"
        is_directive = text.startswith("..", _indented(text, line))
        if is_directive or not _BLANK_LINE.match(text, mark.end() + 1):
            continue
        text_start = _MARGIN.match(text, line)
        margin = text_start.end() - line if text_start else 0
        end = block_end(text, mark.end() + 1, margin)
        yield mark.end(), end
        last = end


def _explicit_blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of the comments and the directives that hold code: ``.. code::``, ``.. a comment``."""
    last = 0
    starts = [0] if text.startswith("..") else []
    starts += (mark.start() + 1 for mark in _EXPLICIT.finditer(text))
    for start in starts:
        dots = _indented(text, start)
        holds_text = _IS_MARKUP.match(text, dots) and not _IS_CODE.match(text, dots)
        if start < last or holds_text:
            continue
        following = text.find("\n", start) + 1 or len(text)
        if not text[dots + 2 : following].strip() and _BLANK_LINE.match(text, following):
            continue  # an empty comment: it ends what is before, and the block after it is none of its own
        last = block_end(text, following, dots - start)
        yield start, last


_ASCIIDOC_DELIMITER = re.compile(
    r"^(?P<fence> -{4,} | \.{4,} | /{4,} | `{3,} ) \w* [ \t]* (?=\r?\n)", re.MULTILINE | re.VERBOSE
)
_ASCIIDOC_COMMENT = re.compile(r"^//(?!/)[^\r\n]*", re.MULTILINE)
_TITLE_LENGTH = 300  # characters of a line that may be a title
# At most, of a title and the line below it (AsciiDoc Language, Setext-style headings)
_LENGTHS_DIFFER = 1


def read_asciidoc(source: Source) -> Iterator[Part]:
    """Return the whole text, with blanks in the place of what is not read."""
    text = source.text
    prose = blanked(text, _asciidoc_blocks(text))
    prose = blanked(prose, (comment.span() for comment in _ASCIIDOC_COMMENT.finditer(prose)))
    yield Part(prose, "asciidoc")
    yield from parts_in_code(text, prose)


def _asciidoc_blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of listing, literal and comment blocks, in order."""
    position = 0
    while (opener := _ASCIIDOC_DELIMITER.search(text, position)) is not None:
        position = opener.end()
        if _underlines(text, opener):
            continue
        fence = re.escape(opener["fence"])
        closer = re.compile(rf"^{fence}[ \t]*\r?$", re.MULTILINE).search(text, position)
        position = closer.end() if closer else len(text)
        yield opener.start(), position


def _underlines(text: str, delimiter: re.Match[str]) -> bool:
    """Return whether a line such as "----" is below a title, and not the delimiter of a block."""
    start = max(0, delimiter.start() - _TITLE_LENGTH)
    title = text[start : delimiter.start()].removesuffix("\n").rpartition("\n")[2].rstrip()
    # ".A title" and "[source]" stand above a block
    has_text = any(map(str.isalnum, title)) and not title.startswith((".", "["))
    return has_text and abs(len(title) - len(delimiter["fence"])) <= _LENGTHS_DIFFER


def _literals(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of the literals in paragraphs that may mention a DOI."""
    if "``" not in text:
        return
    for start, end in paragraphs(text):
        if text.find("``", start, end) >= 0:
            yield from (literal.span() for literal in _LITERAL.finditer(text, start, end))


def _indented(text: str, line: int) -> int:
    """Return where the text of a line begins, which starts at ``line``."""
    while text[line : line + 1] in {" ", "\t"}:
        line += 1
    return line


@cache
def _deeper(margin: int) -> re.Pattern[str]:
    """Return what matches lines that are blank, or indented deeper than the margin."""
    return re.compile(
        rf"""
        (?: [ \t]{{{margin + 1},}} [^\n]* (?: \n | \Z )
        |   [ \t\r]* \n
        )*
        """,
        re.VERBOSE,
    )


def block_end(text: str, start: int, margin: int) -> int:
    """Return where the block at the line ``start`` ends, which is indented deeper than ``margin``."""
    block = _deeper(min(margin, 200)).match(text, start)
    return block.end() if block else start


_VERBATIM = ("verbatim", "Verbatim", "lstlisting", "minted", "alltt", "comment", "filecontents")
_OPENER = re.compile(
    rf"""\\(?:
        begin\{{(?P<name>(?:{"|".join(_VERBATIM)})\*?)\}}
      | (?P<off>iffalse)(?![A-Za-z])
      | (?P<end>end\{{document\}})  # nothing is read after it
    )""",
    re.VERBOSE,
)
_CLOSERS = {"iffalse": re.compile(r"\\fi(?![A-Za-z])")}
for _name in (*_VERBATIM, *(f"{name}*" for name in _VERBATIM)):
    _CLOSERS[_name] = re.compile(rf"\\end\{{{re.escape(_name)}\}}")
_IN_LINE = re.compile(
    r"""
    \\(?:url|href|doi|path|nolinkurl)[ \t]*\{[^{}\r\n]*\}       # where a "%" is itself
  | (?P<code>
        \\(?:verb\*?|lstinline|mintinline\{[a-z]*\})            # short verbatim text,
        (?P<mark>[^\sA-Za-z0-9*\[{\\])[^\r\n]*?(?P=mark)
      | %[^\r\n]*                                               # or a comment
    )
  | \\.                                                         # a "%" after it begins no comment
    """,
    re.VERBOSE,
)


def read_tex(source: Source) -> Iterator[Part]:
    """Return the whole text, with blanks in the place of comments and verbatim text."""
    text = blanked(source.text, _comments(source.text))
    yield Part(blanked(text, _verbatim(text)), "tex")


def _comments(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of comments and short verbatim text, on the lines that may mention a DOI."""
    for start, end in stretches(text, "\n"):
        if text.find("%", start, end) >= 0 or text.find("\\", start, end) >= 0:
            for token in _IN_LINE.finditer(text, start, end):
                if token["code"]:
                    yield token.span()


def _verbatim(text: str) -> Iterator[tuple[int, int]]:
    r"""Yield start and end of what TeX does not typeset as text, in order.

    It is in verbatim environments, from ``\iffalse`` to ``\fi``, and after ``\end{document}``. If an environment
    or an ``\iffalse`` is not closed, what follows is read.
    """
    closers = Closers(text)
    position = 0
    while (opener := _OPENER.search(text, position)) is not None:
        position = opener.end()
        if opener["end"]:
            yield position, len(text)
            return
        end = closers.end(_CLOSERS[opener["name"] or opener["off"]], position)
        if end is not None:
            yield position, end
            position = end
