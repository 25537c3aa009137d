"""``<label>``: the term for a number, a locator or a role (CSL 1.0.2, Label)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from doiuri_csl._context import TextOrigin
from doiuri_csl.elements._appearance import Appearance, read_appearance
from doiuri_csl.elements._numbers import is_count, is_plural, read_label
from doiuri_csl.text._markup import parse
from doiuri_csl.text._pieces import EMPTY, NOTHING, Piece, RenderedElement, State, text_pieces

if TYPE_CHECKING:
    from doiuri_csl._context import Context
    from doiuri_csl._xml import Node

_COUNTS = ("number-of-pages", "number-of-volumes")


@dataclass
class Label:
    """``<label>``."""

    variable: str
    form: str
    plural: str
    appearance: Appearance

    @classmethod
    def read(cls, node: Node) -> Label:
        """Return the label of an element."""
        plural = node.get("plural", "contextual")
        form = node.get("form", "long")
        return cls(node.get("variable"), form, plural, read_appearance(node))

    def render(self, context: Context) -> RenderedElement:
        """Return the term of the variable, "pp." for the pages 3–5, if the variable has a value.

        A locator that has a label of its own, such as "fol. 3", gets no other.
        """
        # Not ``Progress.is_substituted``: inside of ``<substitute>``, the label "vol." may stand beside its number
        is_substituted = self.variable in context.progress.substituted
        value = context.value(self.variable)
        if is_substituted or not value:
            return EMPTY
        name = self.variable
        if name == "locator":
            if read_label(value, context.terms) is not None:
                return NOTHING
            name = locator_term(context.cite.label)

        # ABSENT, not SHOWN: beside a variable without a value, "vol." goes with the group around both
        plural = self._is_plural(value, context)
        text = context.terms.term(name, self.form, plural=plural)
        return RenderedElement(
            self.appearance.apply(parse(text), context, TextOrigin.PART), State.ABSENT
        )

    def _is_plural(self, value: str, context: Context) -> bool:
        """Return whether the term is plural: for "3–5", for 2 volumes, or because the author wrote "pp."."""
        if self.plural != "contextual":
            return self.plural == "always"
        # The author of the text has written "pp.", even before a single number
        if self.variable == "locator" and context.cite.plural:
            return True
        # "2" stands for two volumes here, but for one in "volume"
        if self.variable in _COUNTS and is_count(value):
            return int(value) > 1
        return is_plural(value)

    def for_role(self, role: str, context: Context, *, several: bool) -> list[Piece]:
        """Return the label of a list of names, such as "eds."; ``several`` says whether it has two or more."""
        is_plural = several if self.plural == "contextual" else self.plural == "always"
        text = context.terms.term(role, self.form, plural=is_plural)
        return self.appearance.apply(text_pieces(text), context, TextOrigin.PART)


def locator_term(label: str) -> str:
    """Return the term for what a locator counts; "sub verbo" is its older spelling."""
    return label.replace(" ", "-")
