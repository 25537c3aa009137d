"""The attributes that most elements share: formats, affixes, text case, quotation marks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from doiuri_csl._context import TextOrigin
from doiuri_csl.text._markup import affix_pieces
from doiuri_csl.text._pieces import Kind, Piece, quote_pieces, wrap_pieces
from doiuri_csl.text._textcase import apply_case

if TYPE_CHECKING:
    from doiuri_csl._context import Context
    from doiuri_csl._xml import Node

_FORMATS = ("font-style", "font-variant", "font-weight", "text-decoration", "vertical-align")


@dataclass(frozen=True)
class Appearance:
    """Formats inside, affixes outside (CSL 1.0.2, Affixes)."""

    formats: tuple[tuple[str, str], ...] = ()
    prefix: str = ""
    suffix: str = ""
    text_case: str = ""
    strip_periods: bool = False
    quotes: bool = False
    display: str = ""

    def _format(self, pieces: list[Piece], context: Context, origin: TextOrigin) -> list[Piece]:
        """Return the pieces in their case and formats, and around them quotation marks."""
        # The quotation marks are last, so that they are in no format: “<i>Bees</i>”
        if self.strip_periods:
            pieces = _strip_periods(pieces)
        if self.text_case:
            pieces = apply_case(pieces, self.text_case, context.language(origin))
        for kind, value in self.formats:
            pieces = wrap_pieces(pieces, kind, value)
        if self.quotes:
            pieces = quote_pieces(pieces)
        return pieces

    def affix(self, pieces: list[Piece]) -> list[Piece]:
        """Return the pieces with the prefix and the suffix; nothing stays nothing."""
        if pieces and self.prefix:
            pieces = [*affix_pieces(self.prefix), *pieces]
        if pieces and self.suffix:
            pieces = [*pieces, *affix_pieces(self.suffix)]
        return pieces

    def apply(
        self, pieces: list[Piece], context: Context, origin: TextOrigin = TextOrigin.ITEM
    ) -> list[Piece]:
        """Return the pieces with formats, affixes and display; nothing stays nothing.

        A sort key has affixes, but no formats. ``origin`` decides on the language of the text's case.
        """
        if not pieces or context.is_sorting:
            return self.affix(pieces)
        pieces = self.affix(self._format(pieces, context, origin))
        if self.display:
            return wrap_pieces(pieces, "display", self.display)
        return pieces

    @cached_property
    def without_affixes(self) -> Appearance:
        """The appearance without prefix and suffix."""
        return replace(self, prefix="", suffix="")

    def changed_by(self, other: Appearance) -> Appearance:
        """Return this appearance, in which the formats and the case of another win; affixes stay."""
        formats = {**dict(self.formats), **dict(other.formats)}
        return replace(
            self,
            formats=tuple(formats.items()),
            text_case=other.text_case or self.text_case,
            strip_periods=other.strip_periods or self.strip_periods,
        )


def read_appearance(node: Node) -> Appearance:
    """Return the appearance that an element's attributes ask for."""
    formats = []
    for name in _FORMATS:
        if name in node:
            formats.append((name, node.get(name)))
    return Appearance(
        formats=tuple(formats),
        prefix=node.get("prefix"),
        suffix=node.get("suffix"),
        text_case=node.get("text-case"),
        strip_periods=node.get("strip-periods") == "true",
        quotes=node.get("quotes") == "true",
        display=node.get("display"),
    )


def _strip_periods(pieces: list[Piece]) -> list[Piece]:
    """Return the pieces without periods: "ed." as "ed" (CSL 1.0.2, Strip-periods)."""
    stripped = []
    for piece in pieces:
        text = piece.text.replace(".", "")
        if text or piece.kind is not Kind.TEXT:
            stripped.append(piece.with_text(text))
    return stripped
