"""Lists of references as whole documents have them."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from doiuri_csl.text._html import to_html
from doiuri_csl.text._runs import to_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from doiuri_csl._processor import BibliographyEntry
    from doiuri_csl._style import Style
    from doiuri_csl.text._runs import Display, Run

_INDENT = "2em"
_GAP = "0.5em"
"""The space between a label and the text that it stands beside."""


def list_to_html(entries: Iterable[BibliographyEntry], style: Style) -> str:
    """Return a list of references as HTML, with the classes that citeproc-js and pandoc use too.

    The list is a ``csl-bib-body``, an entry a ``csl-entry``; its blocks are ``csl-left-margin``,
    ``csl-right-inline``, ``csl-indent`` and ``csl-block``. The indents and distances that the style asks for are
    attributes, so that the list needs no style sheet.

    :param entries: those of ``Processor.bibliography``
    :param style: its style, for the indents and distances

    >>> from doiuri_csl import BibliographyEntry, Run, Style, list_to_html
    >>> style = Style.parse('''
    ...     <style xmlns="http://purl.org/net/xbiblio/csl" class="in-text" version="1.0">
    ...       <citation><layout/></citation>
    ...       <bibliography hanging-indent="true" entry-spacing="0"><layout/></bibliography>
    ...     </style>''')
    >>> entry = (Run("Doe & Co. "), Run("Ants", frozenset({"italic"})))
    >>> print(list_to_html([BibliographyEntry("ants", label=(), runs=entry)], style))
    <div class="csl-bib-body hanging-indent" style="margin-left: 2em; text-indent: -2em">
    <div class="csl-entry">Doe &amp; Co. <i>Ants</i></div>
    </div>
    """
    contents = [[*entry.label, *entry.runs] for entry in entries]
    label_width = max(map(_label_width, contents), default=0)

    classes = "csl-bib-body"
    properties = []
    # Beside labels, the blocks have a margin already
    if style.hanging_indent and not label_width:
        classes += " hanging-indent"
        properties += [f"margin-left: {_INDENT}", f"text-indent: -{_INDENT}"]
    if style.line_spacing != 1:
        properties.append(f"line-height: {style.line_spacing}")
    start_tag = _start_tag(classes, properties)

    blocks = _blocks_of(label_width)
    spacing = [f"margin-bottom: {style.entry_spacing}em"] if style.entry_spacing else []
    lines = [start_tag]
    for runs in contents:
        if runs:
            lines.append(f"{_start_tag('csl-entry', spacing)}{_entry(runs, blocks)}</div>")
    return "\n".join([*lines, "</div>"])


def _label_width(runs: list[Run]) -> int:
    """Return the width of an entry's label in characters: 3 for "[1]", 0 if it has none."""
    return len(to_text(run for run in runs if run.display == "left-margin").strip())


def _blocks_of(label_width: int) -> dict[Display, str]:
    """Return the start tags of blocks; those beside a label leave room for the widest (CSL 1.0.2, Display)."""
    beside_label = f"margin-left: calc({label_width}ch + {_GAP})"
    return {
        "block": _start_tag("csl-block", []),
        "left-margin": _start_tag("csl-left-margin", ["float: left"]),
        "right-inline": _start_tag("csl-right-inline", [beside_label]),
        "indent": _start_tag("csl-indent", [f"margin-left: {_INDENT}", "text-indent: 0"]),
    }


def _start_tag(classes: str, properties: list[str]) -> str:
    """Return the start tag of an element with CSS properties of its own."""
    style = f' style="{"; ".join(properties)}"' if properties else ""
    return f'<div class="{classes}"{style}>'


def _entry(runs: list[Run], blocks: dict[Display, str]) -> str:
    """Return the content of an entry as HTML, each block as an element.

    :param blocks: the start tags, as ``_blocks_of`` returns them
    """
    parts = []
    for display, group in groupby(runs, lambda run: run.display):
        content = list(group)
        if display:
            parts.append(f"{blocks[display]}{to_html(content)}</div>")
        elif to_text(content).strip():
            # What stands between blocks needs no line breaks around it
            parts.append(to_html(_without_breaks(content)))
    return "".join(parts)


def _without_breaks(runs: list[Run]) -> list[Run]:
    """Return runs without the line breaks at their beginning and end."""
    start = 1 if runs[0].text == "\n" else 0
    end = len(runs) - 1 if runs[-1].text == "\n" else len(runs)
    return runs[start:end]
