"""Apply fixes to a text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from doiuri_cli.rules import Fix


def compatible(fixes: Iterable[Fix]) -> list[Fix]:
    """Return the fixes that do not overlap or touch, in order: of two that do, the first."""
    chosen: list[Fix] = []
    for fix in sorted(fixes, key=lambda fix: (fix.start, fix.end)):
        if not chosen or fix.start > chosen[-1].end:
            chosen.append(fix)
    return chosen


def apply(text: str, fixes: Sequence[Fix]) -> str:
    """Return the text with all fixes applied.

    :param text: the text of the file.
    :param fixes: the fixes, in order and without overlaps.
    """
    parts: list[str] = []
    position = 0
    for fix in fixes:
        parts += text[position : fix.start], fix.replacement
        position = fix.end
    return "".join([*parts, text[position:]])
