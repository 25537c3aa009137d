"""Fences of Markdown: the lines of backticks or tildes around blocks of code."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from doiuri._patterns import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator

_TAB = 4  # columns of a level of indentation
_MARKS = lazy("```|~~~")
_FENCE = lazy(
    r"""
    (?P<margin> [ \t>]*+ (?> (?: (?: [-*+] | [0-9]{1,9}[.)] ) [ \t]++ )* ) )    # in quotations and items of lists
    (?P<run> (?P<mark> ` ) `{2,}+ | ~{3,}+ )
    (?P<info> (?(mark) [^`\n]* | .* ) )
    $
    """,
    re.MULTILINE | re.VERBOSE,
)


class Fence(NamedTuple):
    """A line that opens or closes a block of code, such as ``> ~~~ python``."""

    line_start: int
    start: int
    """Where its backticks or tildes start."""
    end: int
    """Where the line ends, before its line break."""
    quotes: int
    """The number of quotations that it is in."""
    blanks: int
    """The number of blanks before it, in the innermost quotation."""
    is_item: bool
    """Whether it is the first line of an item of a list."""
    run: str
    """The backticks or tildes."""
    info: str
    """What follows them; "" in a closing fence."""


class FencedBlock(NamedTuple):
    """A block of code in fences."""

    start: int
    """Where the backticks or tildes of its opening fence start."""
    code_end: int
    """Where the line of its closing fence starts; without one, as ``end``."""
    end: int
    """Where its last line ends, before the line break."""


def next_fence(text: str, start: int) -> Fence | None:
    """Return the first fence from ``start`` on, or None if there is none.

    :param start: 0, or where a line ends, before its line break.
    """
    while (marks := _MARKS.search(text, start)) is not None:
        line_start = text.rfind("\n", start, marks.start()) + 1
        line = _FENCE.match(text, line_start)
        if line is not None:
            return _fence(line)
        start = text.find("\n", marks.end())
        if start < 0:
            return None
    return None


def _fence(line: re.Match[str]) -> Fence:
    """Return the fence that a line is: ``> 1. ~~~ r`` is an item in one quotation, with the info " r".

    Before its tildes stand the mark of the quotation, with its blank, and the three characters of the item's.
    """
    margin = line["margin"].expandtabs(_TAB)
    quotes = margin.count(">")
    blanks = margin.rpartition(">")[2]  # or the mark of an item
    if quotes:
        blanks = blanks.removeprefix(" ")  # it belongs to the mark of the quotation
    return Fence(
        line_start=line.start(),
        start=line.start("run"),
        end=line.end(),
        quotes=quotes,
        blanks=len(blanks),
        is_item=blanks.strip() != "",
        run=line["run"],
        info=line["info"].rstrip(),
    )


def fenced_block(text: str, opener: Fence) -> FencedBlock:
    """Return the block that a fence opens, as CommonMark reads it (0.31, Fenced code blocks).

    Without a closing fence, it ends with the quotation that it is in, or else with the text.
    """
    quotation = rf"(?:[ \t]*>){{{opener.quotes}}}"
    end_of_block = re.compile(
        rf"""
        \n
        (?: (?! {quotation} )                            # after the quotation
        |   (?P<closer>
                {quotation} [ \t]*+
                {opener.run} {opener.run[0]}*+           # at least as long
                [^\S\n]*+ $                              # and alone
            )
        )
        """,
        re.MULTILINE | re.VERBOSE,
    )
    end = end_of_block.search(text, opener.end)
    if end is None:
        return FencedBlock(opener.start, len(text), len(text))
    if end["closer"] is None:
        return FencedBlock(opener.start, end.start(), end.start())
    return FencedBlock(opener.start, end.start("closer"), end.end())


def fenced_blocks(text: str) -> Iterator[FencedBlock]:
    """Yield the blocks of code in fences, in order."""
    end = 0
    while (opener := next_fence(text, end)) is not None:
        block = fenced_block(text, opener)
        yield block
        end = block.end
