"""``<date>`` and ``<date-part>`` (CSL 1.0.2, Date)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from doiuri_csl._context import TextOrigin
from doiuri_csl.data._dates import PARTS, DateValue, Moment, sort_text
from doiuri_csl.elements._appearance import Appearance, read_appearance
from doiuri_csl.elements._numbers import ordinal
from doiuri_csl.text._markup import parse
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
    from doiuri_csl._context import Context
    from doiuri_csl._xml import Node

_FIRST_YEAR_WITHOUT_ERA = 1000
_PARTS_OF = {"year": ("year",), "year-month": ("year", "month")}


@dataclass
class _DatePart:
    """``<date-part>``: how a year, a month or a day is written."""

    name: str
    form: str = ""
    appearance: Appearance = field(default_factory=Appearance)
    range_delimiter: str = "–"

    @classmethod
    def read(cls, node: Node) -> _DatePart:
        delimiter = node.get("range-delimiter", "–")
        return cls(node.get("name"), node.get("form"), read_appearance(node), delimiter)

    def value(self, moment: Moment, context: Context) -> str:
        """Return the part of a moment as text, without affixes."""
        if self.name == "year":
            return self._year(moment, context)
        if self.name == "month":
            return self._month(moment, context)
        return self._day(moment, context)

    def _year(self, moment: Moment, context: Context) -> str:
        """Return the year: "2001", "01" in the form "short", "79AD", "44BC"; "" if it is not known."""
        # CSL 1.0.2, AD and BC: years have an era up to 999.
        year = moment.year
        if year == 0:
            return ""
        if year < 0:
            return f"{-year}{context.terms.term('bc')}"
        text = f"{year % 100:02d}" if self.form == "short" else str(year)
        if year < _FIRST_YEAR_WITHOUT_ERA:
            return text + context.terms.term("ad")
        return text

    def _month(self, moment: Moment, context: Context) -> str:
        """Return the month or the season: "May", "5", "05" or "Summer"; "" if neither is known."""
        if moment.month == 0 and moment.season == 0:
            return ""
        if moment.month == 0:
            return context.terms.term(f"season-{moment.season:02d}")
        if self.form == "numeric":
            return str(moment.month)
        if self.form == "numeric-leading-zeros":
            return f"{moment.month:02d}"
        return context.terms.term(f"month-{moment.month:02d}", self.form or "long")

    def _day(self, moment: Moment, context: Context) -> str:
        """Return the day: "3", "03" or "3rd"; "" if it is not known."""
        if moment.day == 0:
            return ""
        if self.form == "numeric-leading-zeros":
            return f"{moment.day:02d}"
        if self.form == "ordinal":
            only_first = context.terms.option("limit-day-ordinals-to-day-1")
            if moment.day > 1 and only_first:
                return str(moment.day)  # in French, "1er" but "2"
            gender = context.terms.gender(f"month-{moment.month:02d}")
            return ordinal(moment.day, gender, context.terms)
        return str(moment.day)


class _DateFormat(NamedTuple):
    """How a date is written: its parts in their order, and what stands between them."""

    parts: list[_DatePart]
    delimiter: str


@dataclass
class Date:
    """``<date>``: a date variable in the locale's form or in parts of its own."""

    variable: str
    form: str
    date_parts: str
    parts: list[_DatePart]
    delimiter: str
    appearance: Appearance

    @classmethod
    def read(cls, node: Node) -> Date:
        """Return the date of an element."""
        return cls(
            variable=node.get("variable"),
            form=node.get("form"),
            date_parts=node.get("date-parts", "year-month-day"),
            parts=[_DatePart.read(part) for part in node.children("date-part")],
            delimiter=node.get("delimiter"),
            appearance=read_appearance(node),
        )

    def render(self, context: Context) -> RenderedElement:
        """Return the date, such as "May 3, 2001" or "2001a"; in a sort key, as text in the order of time."""
        # A date that stands for missing names is not shown a second time in the cite
        if self.variable in context.progress.substituted:
            return EMPTY
        value = context.date(self.variable)
        if value is None:
            return EMPTY
        # In ``<substitute>``, the variables that were rendered there stand for the names
        context.progress.rendered.append(self.variable)
        if context.is_sorting:
            # "Sorting Macros": the parts that the macro shows, in the order of time
            names = tuple(part.name for part in self._format(context).parts)
            return RenderedElement(text_pieces(sort_text(value, names)), State.SHOWN)
        pieces = self._render_value(value, context)
        if not pieces:
            return EMPTY  # it has no part that the style shows, as a year alone for ``<date-part name="month"/>``
        pieces = self.appearance.apply(pieces, context, TextOrigin.STYLE)
        return RenderedElement(wrap_pieces(pieces, "role", self.variable), State.SHOWN)

    def _render_value(self, value: DateValue, context: Context) -> list[Piece]:
        """Return the date without the affixes of the element: "2001", "1999–2001", "1999–", "in press"."""
        # Words, nothing, a range with an end, a single moment; what is left is a range without an end
        parts, delimiter = self._format(context)
        if value.literal:
            return self._render_literal(value.literal, parts, context)
        if value.start is None:
            return []
        if value.end is not None:
            return self._render_range(parts, delimiter, value.start, value.end, context)
        if not value.open_end:
            return self._render_moment(parts, delimiter, value.start, context)

        # The dash follows the year at once: "1999–", not "1999.–"
        parts = _without_last_suffix(parts, value.start, context)
        pieces = self._render_moment(parts, delimiter, value.start, context)
        if pieces:
            pieces.append(Piece("–"))
        return pieces

    def _render_literal(self, text: str, parts: list[_DatePart], context: Context) -> list[Piece]:
        """Return a date in words, such as "in press", in the appearance of the year, but without a letter."""
        pieces = parse(text)
        for part in parts:
            if part.name == "year":
                return part.appearance.apply(pieces, context)
        return pieces

    def _format(self, context: Context) -> _DateFormat:
        """Return the style's own format; if it asks for a ``form``, that of the locale with the style's changes.

        CSL 1.0.2, Date.
        """
        localized = context.terms.dates.get(self.form) if self.form else None
        if localized is None:
            return _DateFormat(self.parts, self.delimiter)
        changes = {part.name: part for part in self.parts}
        names = _PARTS_OF.get(self.date_parts, PARTS)  # "year-month-day" is all of them
        parts = []
        for part_node in localized.children("date-part"):
            part = _DatePart.read(part_node)
            if part.name in names:
                parts.append(_merge_part(part, changes.get(part.name)))
        return _DateFormat(parts, localized.get("delimiter"))

    def _render_moment(
        self, parts: list[_DatePart], delimiter: str, moment: Moment, context: Context
    ) -> list[Piece]:
        """Return one moment, "May 3, 2001", with the letter of a year that needs one, "2001a"."""
        rendered = []
        for part in parts:
            pieces = parse(part.value(moment, context))
            if part.name == "year":
                pieces += self._year_suffix(context)
            rendered.append(part.appearance.apply(pieces, context, TextOrigin.PART))
        return join_pieces(rendered, delimiter)

    def _year_suffix(self, context: Context) -> list[Piece]:
        """Return the letter after a year, if this is the first year of the cite; a date of access gets none."""
        suffix = context.cited_item.listed.year_suffix
        # CSL 1.0.2, Disambiguation: dates add the suffix, unless the style shows it somewhere itself.
        is_explicit = context.area in context.style_options.areas_with_year_suffix
        if not suffix or is_explicit or self.variable == "accessed":
            return []
        # "2001a", and then "reprinted 1999" without a letter
        if context.progress.has_year_suffix:
            return []
        context.progress.has_year_suffix = True
        return wrap_pieces([Piece(suffix)], "role", "year-suffix")

    def _render_range(
        self, parts: list[_DatePart], delimiter: str, start: Moment, end: Moment, context: Context
    ) -> list[Piece]:
        """Return a range: "3–5 May 2001", "May–June 2001", "3 May 2001–5 June 2002".

        The largest part that differs and all smaller ones stand on both sides (CSL 1.0.2, Date Ranges).
        """
        largest = _largest_difference(parts, start, end, context)
        if largest is None:  # the style shows only the year of "May–June 2001"
            return self._render_moment(parts, delimiter, start, context)

        repeated = _repeated_parts(parts, largest)
        first = parts.index(repeated[0])
        last = parts.index(repeated[-1])
        start_parts = _without_last_suffix(repeated, start, context)
        end_parts = _without_first_prefix(repeated, end, context)
        # In "3–5 May 2001", "May 2001" is the tail; in "2001 May 3–5", it is the head
        head = self._render_moment(parts[:first], delimiter, start, context)
        # The end is rendered before the start, as a year suffix stands at the last year: "1999–2001a"
        right = self._render_moment(end_parts, delimiter, end, context)
        left = self._render_moment(start_parts, delimiter, start, context)
        tail = self._render_moment(parts[last + 1 :], delimiter, start, context)
        middle = [*left, Piece(largest.range_delimiter), *right]
        return join_pieces([head, middle, tail], delimiter)


def _largest_difference(
    parts: list[_DatePart], start: Moment, end: Moment, context: Context
) -> _DatePart | None:
    """Return the largest part in which two moments differ, as they are written; None if they look the same."""
    for name in PARTS:
        for part in parts:
            if part.name == name and part.value(start, context) != part.value(end, context):
                return part
    return None


def _repeated_parts(parts: list[_DatePart], largest: _DatePart) -> list[_DatePart]:
    """Return the parts that stand on both sides of the dash, in their order.

    They are the largest part that differs and the smaller ones: if the months differ, the months and the days.
    """
    larger_names = PARTS[: PARTS.index(largest.name)]
    return [part for part in parts if part.name not in larger_names]


def _without_last_suffix(
    parts: list[_DatePart], moment: Moment, context: Context
) -> list[_DatePart]:
    """Return the parts that the start of a range has, the last one without its suffix, as the dash follows."""
    written = [part for part in parts if part.value(moment, context)]
    if written:
        last = written.pop()
        written.append(replace(last, appearance=replace(last.appearance, suffix="")))
    return written


def _without_first_prefix(
    parts: list[_DatePart], moment: Moment, context: Context
) -> list[_DatePart]:
    """Return the parts that the end of a range has, the first one without its prefix, as it follows the dash."""
    written = [part for part in parts if part.value(moment, context)]
    if written:
        first = written[0]
        written[0] = replace(first, appearance=replace(first.appearance, prefix=""))
    return written


def _merge_part(part: _DatePart, change: _DatePart | None) -> _DatePart:
    """Return a part of the locale's date with what the style changes: form, case and formats, not affixes."""
    if change is None:
        return part
    appearance = part.appearance.changed_by(change.appearance)
    return _DatePart(part.name, change.form or part.form, appearance, change.range_delimiter)
