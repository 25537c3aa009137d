"""``<names>``: the lists of one or more variables, with labels and substitutes (CSL 1.0.2, Names)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from doiuri_csl._context import Context, NamesElement
from doiuri_csl.data._people import Person
from doiuri_csl.elements._appearance import Appearance, read_appearance
from doiuri_csl.elements._choose import Content, rendering_elements
from doiuri_csl.elements._labels import Label
from doiuri_csl.elements._namelist import NameList
from doiuri_csl.elements._nameoptions import NameOptions, NameStyle
from doiuri_csl.text._pieces import (
    EMPTY,
    Piece,
    RenderedElement,
    State,
    join_pieces,
    text_pieces,
    wrap_pieces,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from doiuri_csl._xml import Node

_PARTS = ("name", "et-al", "label", "substitute")


def _sort_count(count: int) -> str:
    """Return a count as text that sorts as a number: 12 as "00000012"."""
    return f"{count:08d}"


class _LabelledNames(NamedTuple):
    """The names of a variable, and the term of their label, such as "editor"."""

    names: NameList
    role: str


@dataclass
class Names:
    """``<names>``."""

    variables: list[str]
    style: NameStyle

    delimiter: str | None
    """Between the lists of two variables; None for that of the area."""

    label: Label | None
    label_first: bool
    substitutes: list[Content]
    appearance: Appearance

    inherits: bool
    """Whether it has no child element, so that as a substitute it has the form of the ``<names>`` around it."""

    def render(self, context: Context) -> RenderedElement:
        """Return the names, "A. Doe and B. Roe, eds.", or the first substitute that shows something.

        The first names of a cite are marked as such, since cites are grouped by them; if the author of the text
        has named them already, they are left out.
        """
        # In the order of the exits: names that stand for others, no names, sort keys and names after
        # the first of a cite, names that the author of the text has named, and the first names
        progress = context.progress
        if progress.substituting is not None:
            return self._render_as_substitute(progress.substituting, context)

        rendered = self._render_or_substitute(context)
        if not rendered.pieces:
            if context.is_sorting and self.style.options(context).is_count:
                # Without names the count is 0, which sorts first, as in citeproc-js and pandoc
                return RenderedElement(text_pieces(_sort_count(0)), State.SHOWN)
            return EMPTY
        if context.is_sorting or progress.has_names:
            return rendered

        progress.has_names = True
        if context.suppress_author:
            return RenderedElement([], State.SHOWN)  # the group around them still shows its terms
        first_names = wrap_pieces(rendered.pieces, "part", "first-names")
        return RenderedElement(first_names, State.SHOWN)

    def render_others(self, variables: list[str], context: Context) -> RenderedElement:
        """Return the names of other variables in the form of this element."""
        return replace(self, variables=variables)._render_lists(context)

    def _render_as_substitute(self, outer: NamesElement, context: Context) -> RenderedElement:
        """Return these names as they stand in the ``<substitute>`` of another ``<names>``.

        ``<names variable="editor"/>`` without a child is written in the form of the outer element, with its label.
        """
        if self.inherits:
            return outer.render_others(self.variables, context)
        rendered = self._render_or_substitute(context)
        if rendered.pieces:
            context.progress.substituted.update(self.variables)
        return rendered

    def _render_or_substitute(self, context: Context) -> RenderedElement:
        rendered = self._render_lists(context)
        if not rendered.pieces and self.substitutes:
            rendered = self._substitute(context)
        return rendered

    def _render_lists(self, context: Context) -> RenderedElement:
        """Return the lists of all variables that have names: "A. Doe and B. Roe, eds.; C. Li, trans."."""
        options = self.style.options(context)
        lists = self._name_lists(options, context)
        if options.is_count and lists:
            total = sum(labelled.names.shown_count() for labelled in lists)
            count = _sort_count(total) if context.is_sorting else str(total)
            return RenderedElement(text_pieces(count), State.SHOWN)

        written = [self._write(labelled, context) for labelled in lists]
        # A list may be empty: et-al-use-first="0" shows nobody
        if not any(written):
            return EMPTY
        delimiter = self.delimiter
        if delimiter is None:
            delimiter = context.names.get("names-delimiter", "")
        joined = join_pieces(written, delimiter)
        return RenderedElement(self.appearance.apply(joined, context), State.SHOWN)

    def _name_lists(self, options: NameOptions, context: Context) -> list[_LabelledNames]:
        """Return the list of names of each variable that has some."""
        lists = []
        for variable, role in self._roles(context):
            people = self._people(variable, context)
            if people:
                names = NameList(self.style, options, context, variable, people)
                lists.append(_LabelledNames(names, role))
                context.progress.rendered.append(variable)
                context.progress.name_lists.append(names)
        return lists

    def _write(self, labelled: _LabelledNames, context: Context) -> list[Piece]:
        """Return the names of a variable with their label: "A. Doe, ed.", or "eds." for several people."""
        names = labelled.names
        pieces = wrap_pieces(names.write(), "part", "names")
        if self.label is not None and pieces and not context.is_sorting:
            is_several = len(names.people) > 1
            label = self.label.for_role(labelled.role, context, several=is_several)
            pieces = [*label, *pieces] if self.label_first else [*pieces, *label]
        return wrap_pieces(pieces, "role", names.variable)

    def _people(self, variable: str, context: Context) -> list[Person]:
        """Return the people of a variable; nobody if a substitution has shown them already."""
        value = context.item.get(variable)
        if context.progress.is_substituted(variable) or not isinstance(value, list):
            return []
        return value

    def _roles(self, context: Context) -> list[tuple[str, str]]:
        """Return each variable with the term of its label, which has the same name.

        Editors who are the translators too stand once, "A. Doe, ed. & trans.", under the term "editortranslator"
        (CSL 1.0.2, Names).
        """
        pairs = [(variable, variable) for variable in self.variables]
        if sorted(self.variables) != ["editor", "translator"]:
            return pairs
        editors = context.item.get("editor")
        if not editors or editors != context.item.get("translator"):
            return pairs
        form = self.label.form if self.label else "long"
        if not context.terms.term("editortranslator", form):
            return pairs
        # The list of the first variable shows the people of both, so that a substitution counts the second too
        shown, other = self.variables
        context.progress.rendered.append(other)
        return [(shown, "editortranslator")]

    def _substitute(self, context: Context) -> RenderedElement:
        """Return the first substitute that shows something, such as the title; EMPTY if none does.

        The rest of the cite does not show its variables again (CSL 1.0.2, Substitute).
        """
        # A substitute may be ``<names>`` with a ``<substitute>`` of its own: after it, the outer one goes on
        progress = context.progress
        outer = progress.substituting
        outer_start = progress.substitution_start
        progress.substituting = self
        start = len(progress.rendered)
        progress.substitution_start = start
        try:
            for element in rendering_elements(self.substitutes, context):
                rendered = element.render(context)
                # An empty term stands for the names too: the style wants nothing there
                if rendered.pieces or rendered.state is State.BLANK:
                    progress.substituted.update(progress.rendered[start:])
                    return RenderedElement(rendered.pieces, State.SHOWN)
        finally:
            progress.substituting = outer
            progress.substitution_start = outer_start
        return EMPTY


def read_names(node: Node, read_element: Callable[[Node], Content]) -> Names:
    """Return the ``<names>`` of an element.

    :param read_element: reads an element that stands in ``<substitute>``
    """
    substitutes = []
    for substitute in node.children("substitute"):
        substitutes += [read_element(child) for child in substitute]
    order = [child.name for child in node]
    label = None
    label_first = False
    label_node = node.child("label")
    if label_node is not None:
        label = Label.read(label_node)
        label_first = "name" in order and order.index("label") < order.index("name")
    return Names(
        variables=node.get("variable").split(),
        style=NameStyle.read(node),
        delimiter=node.attributes.get("delimiter"),
        label=label,
        label_first=label_first,
        substitutes=substitutes,
        appearance=read_appearance(node),
        inherits=not any(name in order for name in _PARTS),
    )
