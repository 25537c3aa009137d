"""Runs as HTML."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from doiuri_csl.text._pieces import shared_length

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from doiuri_csl.text._runs import Format, Run

# The outermost first
TAGS: dict[Format, tuple[str, str]] = {
    "italic": ("<i>", "</i>"),
    "oblique": ("<em>", "</em>"),
    "bold": ("<b>", "</b>"),
    "light": ('<span style="font-weight: lighter">', "</span>"),
    "small-caps": ('<span style="font-variant: small-caps">', "</span>"),
    "underline": ("<u>", "</u>"),
    "superscript": ("<sup>", "</sup>"),
    "subscript": ("<sub>", "</sub>"),
}


def to_html(runs: Iterable[Run]) -> str:
    """Return runs as HTML, with ``<a>`` for their links.

    >>> from doiuri_csl import Run
    >>> to_html([Run("On "), Run("Bees", frozenset({"italic"}))])
    'On <i>Bees</i>'
    """
    return "".join(_html(runs))


def _html(runs: Iterable[Run]) -> Iterator[str]:
    """Yield text and tags; elements that the next run has too stay open: "<i>On <b>Bees</b></i>"."""
    opened: list[tuple[str, str]] = []
    for run in runs:
        tags = _tags(run)
        # Elements are closed from the innermost on, so only those that are shared from the outermost on can stay
        kept = shared_length(opened, tags)
        yield from _closed(opened, kept)
        for start_tag, end_tag in tags[kept:]:
            opened.append((start_tag, end_tag))
            yield start_tag
        yield escape(run.text, quote=False).replace("\n", "<br>\n")
    yield from _closed(opened, 0)


def _tags(run: Run) -> list[tuple[str, str]]:
    """Return the start tags and end tags around a run, the outermost first."""
    tags = []
    if run.link:
        tags.append((f'<a href="{escape(run.link)}">', "</a>"))
    tags += [tag for name, tag in TAGS.items() if name in run.formats]
    return tags


def _closed(opened: list[tuple[str, str]], kept: int) -> Iterator[str]:
    """Yield the end tags of all but the outermost elements."""
    while len(opened) > kept:
        yield opened.pop()[1]
