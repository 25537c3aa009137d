"""Names that the text of a link shortens: they are not DOIs.

In ``<a href="https://doi.org/10.1016/j.paid.2014.09.003">10.1016/j.paid.2014...</a>``, only the target has one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from doiuri._patterns import lazy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from doiuri._find._plain import MentionSpan

_FAR = 300  # characters around a mention that are looked at
_LONGEST = 1000  # characters of a target
_BEFORE_DOTS = frozenset(".\u2026&\\([{:/=%")  # dots, or what else ends a name too early
_DOTS = r"(?:(?:\\?\.){3}|\u2026|&hellip;|&\#8230;|&\#[xX]2026;|\\l?dots\b)"
_REST = lazy(rf"([^\s\"'`<>|]{{0,100}}?)[\[(]?{_DOTS}")
_DOTS_IN_NAME = lazy(r"\.{3,}|\.*\u2026")
_STRAY_PERCENT = lazy(r"%[0-9A-Fa-f]?\Z")  # of an escape that was cut
_TEXT_BEFORE_TARGET = lazy(
    rf"""
    [^\[\]]{{0,{_FAR}}} \]\( \s* ( \S{{1,{_LONGEST}}} )    # [text](target)
    | [^`<>]{{0,{_FAR}}} \s < ( [^\s<>]{{1,{_LONGEST}}} ) >    # `text <target>`_
    | [^<>]{{0,{_FAR}}} \s href \s*=\s* ["'] ( [^"'<>]{{1,{_LONGEST}}} )    # title="text" href="target"
    """,
    re.VERBOSE,
)
_TARGET_BEFORE_TEXT = lazy(
    r"""
    (?: \{ ( [^{}]* ) \} \s* \{ (?: [^{}] | \\[a-z]+\{ )*    # \href{target}{text}
    |   (?<! \S ) ( \S* ) \[ [^\[\]]*                       # target[text]
    )
    \Z
    """,
    re.VERBOSE,
)
_TAG = lazy(r"<([A-Za-z][\w:.-]*)\s([^<>]*)(?:>|\Z)")


def without_shortened(text: str, mentions: Iterable[MentionSpan]) -> Iterator[MentionSpan]:
    """Yield the mentions, without those that shorten a name with dots that the target of the link has whole."""
    for mention in mentions:
        start, _, end, doi = mention
        name = doi.name
        # Nearly always false, and fast
        may_have_dots = text[end : end + 1] in _BEFORE_DOTS or "..." in name or "\u2026" in name
        if not (may_have_dots and _is_shortened(text, start, end, name)):
            yield mention


def _is_shortened(text: str, start: int, end: int, name: str) -> bool:
    """Return whether the target of a link has more of the name that ``text[start:end]`` shows.

    It shows either the beginning and then dots, "10.1016/j.paid.2014...", or the beginning, dots, and the end,
    "10.1016/j.pa...09.003". In the first case the dots are after ``end``, as no name ends in them.

    :param name: the name as it was read from there.
    """
    if "..." in name or "\u2026" in name:
        beginning, ending = _DOTS_IN_NAME.split(name, maxsplit=1)
    else:
        rest = _REST.match(text, end)
        if rest is None:
            return False
        beginning = name + _decoded(rest[1])
        ending = ""

    beginning = _STRAY_PERCENT.sub("", beginning).lower()
    ending = ending.lower()
    # The target has at least one more character of a name where the dots are
    longer = re.compile(rf"{re.escape(beginning)}[\w(/<:;.-].*?{re.escape(ending)}", re.DOTALL)
    return any(longer.search(_decoded(target)) for target in _targets(text, start, end))


def _targets(text: str, start: int, end: int) -> Iterator[str]:
    r"""Yield what may be the target of a link whose text has ``text[start:end]``.

    It stands after the text, as in Markdown's ``[text](target)``, or before it, as in TeX's
    ``\href{target}{text}`` and in the tag ``<a href="target">``.
    """
    following = _TEXT_BEFORE_TARGET.match(text, end)
    if following is not None:
        yield from filter(None, following.groups())

    before = text[max(0, start - _FAR) : start]
    preceding = _TARGET_BEFORE_TEXT.search(before)
    if preceding is not None:
        yield from filter(None, preceding.groups())
    for tag in _TAG.finditer(before):
        is_open = f"</{tag[1]}" not in before[tag.end() :]
        if is_open:
            yield tag[2]


def _decoded(text: str) -> str:
    """Return a part of a target or of a name without escapes, in lower case: "10.1000/a%2Fb" is "10.1000/a/b"."""
    from html import unescape  # both are slow to import, and rarely needed
    from urllib.parse import unquote

    return unquote(unescape(text.replace("\\", ""))).lower()
