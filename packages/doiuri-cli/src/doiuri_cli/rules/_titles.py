"""Links whose visible text is a DOI other than their target's."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from doiuri_cli.rules._finding import finding_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from doiuri import DOI

    from doiuri_cli._mentions import Mention
    from doiuri_cli.files import Source
    from doiuri_cli.rules._finding import Finding

_LONGEST = 300  # characters between the two
_MARKUP = r"(?:[*_`]|\\texttt\{|\\nolinkurl\{|<(?:code|span|small|b|i|em|strong|tt)\b[^<>]*>\s*){0,4}"
_END = r"(?:[*_`}]|</(?:code|span|small|b|i|em|strong|tt)>\s*){0,4}"
# What stands before the first mention, between them and after the second: title first, then target first
_TITLE_FIRST = {
    "markdown": (rf"(?<![\\!])\[{_MARKUP}\Z", rf"{_END}\]\(\s*<?\Z", r""),
    "rst": (r"`\Z", r"\s+<\Z", r">`"),
}
_HTML = (r"\bhref\s*=\s*[\"']?\Z", rf"[\"']?[^<>]*>\s*{_MARKUP}\Z", rf"{_END}</a\s*>")
_TEX = (r"\\href\s*\{\Z", rf"\}}\s*\{{{_MARKUP}\Z", rf"{_END}\}}")
_TARGET_FIRST = {"html": _HTML, "xml": _HTML, "markdown": _HTML, "tex": _TEX, "bibtex": _TEX}


def title_findings(source: Source, mentions: Sequence[Mention]) -> Iterator[Finding]:
    """Return a finding for each link whose visible text is one DOI and whose target is another.

    :param source: the file.
    :param mentions: the mentions in one part, in order.
    """
    for first, second in pairwise(mentions):
        if first.doi is None or second.doi is None or first.doi == second.doi:
            continue
        if second.start - first.end > _LONGEST:
            continue
        syntax = first.part.syntax
        if _fits(_TITLE_FIRST.get(syntax), first, second):
            yield _finding(source, first, first.doi, second.doi)
        elif _fits(_TARGET_FIRST.get(syntax), first, second) and _is_web_link(first.text):
            yield _finding(source, second, second.doi, first.doi)


def _is_web_link(text: str) -> bool:
    from doiuri_cli.rules._links import is_web_link  # rarely needed

    return is_web_link(text)


def _fits(patterns: tuple[str, str, str] | None, first: Mention, second: Mention) -> bool:
    if patterns is None:
        return False
    before, between, after = patterns
    text = first.part.text
    return (
        re.match(between, text[first.end : second.start]) is not None
        and re.search(before, text[max(0, first.start - _LONGEST) : first.start]) is not None
        and re.match(after, text[second.end : second.end + _LONGEST]) is not None
    )


def _finding(source: Source, title: Mention, shown: DOI, target: DOI) -> Finding:
    message = f"the text says {shown.name}, the link leads to {target.name}"
    span = title.start, title.end
    return finding_at(source, title.part, span, "text-differs", message, doi=target.name)
