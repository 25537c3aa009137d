"""What callers get: runs of text that look the same, and their plain text."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

    from doiuri_csl.text._pieces import Piece, Wrap

Format: TypeAlias = Literal[
    "italic", "oblique", "bold", "light", "small-caps", "underline", "superscript", "subscript"
]
"""How a run looks."""

Display: TypeAlias = Literal["", "block", "left-margin", "right-inline", "indent"]
"""The block of an entry that a run stands in; "" for none (CSL 1.0.2, Display)."""

# CSL 1.0.2, Formatting; the values that are not here mean "no format"
_FORMATS: dict[tuple[str, str], Format] = {
    ("font-style", "italic"): "italic",
    ("font-style", "oblique"): "oblique",
    ("font-weight", "bold"): "bold",
    ("font-weight", "light"): "light",
    ("font-variant", "small-caps"): "small-caps",
    ("text-decoration", "underline"): "underline",
    ("vertical-align", "sup"): "superscript",
    ("vertical-align", "sub"): "subscript",
}
_DISPLAYS: dict[str, Display] = {
    "block": "block",
    "left-margin": "left-margin",
    "right-inline": "right-inline",
    "indent": "indent",
}
# Of ASCII, of Latin-1, and the two that Unicode has for ends of lines and paragraphs
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


_PLAIN: frozenset[Format] = frozenset()


class Run(NamedTuple):
    """Text that looks the same, leads to the same place and means the same.

    The text is plain: escape it for the format that you write. A line break is a run of its own,
    whose text is a newline (CSL's ``display``).
    """

    text: str
    """Plain text."""

    formats: frozenset[Format] = _PLAIN
    """How it looks."""

    link: str = ""
    """The address that a DOI, URL, PMID or PMCID leads to; "" for other text."""

    role: str = ""
    """The variable of CSL whose value it is, such as "author" or "year-suffix"; "" for text of the style."""

    item: str = ""
    """In a citation: the id of the item that it cites; "" for what stands between items, and in entries."""

    display: Display = ""
    """In an entry: the block that it stands in, such as "left-margin"; "" for none (CSL's ``display``)."""


def runs_of(pieces: Iterable[Piece]) -> tuple[Run, ...]:
    """Return pieces as runs; neighbours that differ in nothing but their text are one run.

    Between two blocks of an entry stands a line break, or a space.
    """
    runs: list[Run] = []
    block_before: Wrap | None = None
    for piece in pieces:
        block = piece.wrap("display")
        if runs and block is not block_before:
            runs.append(Run(_between(block_before, block, runs[-1].text)))
        block_before = block
        runs.append(_run_of(piece))
    return tuple(run for run in _with_addresses(merge(runs)) if run.text)


def _between(block_before: Wrap | None, block: Wrap | None, text_before: str) -> str:
    """Return what stands between two blocks: a line break (CSL 1.0.2, Display).

    What follows the left margin or is in the right column goes on in the same line, after a space.
    """
    # None is text outside of any block
    follows_margin = block_before is not None and block_before.value == "left-margin"
    is_right_column = block is not None and block.value == "right-inline"
    if not follows_margin and not is_right_column:
        return "\n"
    return "" if text_before[-1:].isspace() else " "


def merge(runs: Iterable[Run]) -> tuple[Run, ...]:
    """Return runs; neighbours that differ only in their text are one, and a line break stays alone.

    Without roles, there are fewer of them:

    >>> title = Run("On Bees", frozenset({"italic"}), role="title")
    >>> volume = Run(", 12", frozenset({"italic"}), role="volume")
    >>> [run.text for run in merge(run._replace(role="") for run in [title, volume])]
    ['On Bees, 12']
    """
    merged: list[Run] = []
    runs_with_text = (run for run in runs if run.text)
    for _, group in groupby(runs_with_text, _all_but_text):
        first, *rest = group
        if rest:
            first = first._replace(text="".join(run.text for run in (first, *rest)))
        merged.append(first)
    return tuple(merged)


def _all_but_text(run: Run) -> object:
    """Return a run without its text, to compare it with its neighbour; a line break is equal to no other run."""
    if run.text == "\n":
        return object()
    return run[1:]


def _with_addresses(runs: Iterable[Run]) -> list[Run]:
    """Return the runs; a link has the part of its address that stands before it.

    As in "Available at https://doi.org/" before a DOI (CSL 1.0.2, Appendix VI).
    """
    done: list[Run] = []
    for run in runs:
        # An address before another link is the text of a link itself
        text_before = done[-1].text if done and not done[-1].link else ""
        address = _address_at_end(text_before) if run.link else ""
        if address:
            done[-1] = done[-1]._replace(text=text_before[: -len(address)])
        done.append(run._replace(text=address + run.text))
    return done


def _address_at_end(text: str) -> str:
    """Return the address of the web that a text ends in: "https://doi.org/" of "At https://doi.org/"; else ""."""
    start = max(text.rfind("https://"), text.rfind("http://"))
    address = text[start:] if start >= 0 else ""
    if any(character.isspace() for character in address):
        return ""
    return address


def _run_of(piece: Piece) -> Run:
    """Return a piece as a run.

    Its wraps are read from the outermost to the innermost, which wins: italics, and in them "normal", are upright.
    """
    values: dict[str, str] = {}  # the format of each kind, such as "font-style"
    other = {"link": "", "role": "", "item": ""}
    display: Display = ""
    for wrap in piece.wraps:
        if wrap.kind in other:
            other[wrap.kind] = wrap.value
        elif wrap.kind == "display":
            # The outermost block counts, as it does between pieces
            display = display or _DISPLAYS.get(wrap.value, "block")
        elif wrap.kind == "nodecor":
            # <span class="nodecor"> is upright in any formats around it
            values.clear()
        elif wrap.toggle and values.get(wrap.kind) == wrap.value:
            # Italics of a title inside of italics of the style are upright.
            values[wrap.kind] = "normal"
        else:
            values[wrap.kind] = wrap.value
    formats = _PLAIN
    if values:
        formats = frozenset(_FORMATS[pair] for pair in values.items() if pair in _FORMATS)
    return Run(piece.text, formats, other["link"], other["role"], other["item"], display)


def lines_of(runs: Iterable[Run]) -> list[list[Run]]:
    """Return runs for a writer: the lines that are not empty, each as runs that differ in formats or links.

    Control characters become spaces, because hosts could read them as markup. Only links to the web are kept.
    """
    lines: list[list[Run]] = [[]]
    for run in merge(Run(run.text, run.formats, _web(run.link)) for run in runs):
        if run.text == "\n":
            lines.append([])
        elif run.text:
            lines[-1].append(run._replace(text=_CONTROLS.sub(" ", run.text)))
    return [line for line in lines if to_text(line).strip()]


def _web(link: str) -> str:
    return link if link.startswith(("https://", "http://")) else ""


def to_text(runs: Iterable[Run]) -> str:
    """Return runs as plain text.

    >>> to_text([Run("On "), Run("Bees", frozenset({"italic"}))])
    'On Bees'
    """
    return "".join(run.text for run in runs)
