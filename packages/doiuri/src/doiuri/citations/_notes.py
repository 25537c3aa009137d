"""Styles of notes: where the mark of a note stands, and how citations begin and end among other words."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import doiuri_csl as csl

    from doiuri.citations._cites import CitationItem

# The mark stands after them, and before dashes and slashes
_BEFORE_MARK = frozenset(".,;:!?…\"'。，、；：！？｡､")
_STRAIGHT_OR_APOSTROPHE = "\"'’"
_QUOTES = '"”’»“'
_STOPS = (".", "!", "?", "…", "。", "！", "？")
_AFTER_STOP = ")]}'\"”’»“"
_SPACES = " \t\n\u00a0"


class Around(NamedTuple):
    """The text around a citation in its paragraph."""

    before: str = ""
    """The text before it."""

    after: str = ""
    """The text after it."""

    in_note: bool = False
    """Whether the citation stands in a note that the author wrote."""

    @classmethod
    def of(cls, before: Iterable[str], after: Iterable[str], *, in_note: bool) -> Around:
        """Return the text around a citation, as far as the nearest words.

        :param before: the texts before it, the nearest first.
        :param after: the texts after it, the nearest first.
        """
        nearest_before = "".join(reversed([*_to_first_word(before)]))
        return cls(nearest_before, "".join(_to_first_word(after)), in_note)

    @property
    def begins_sentence(self) -> bool:
        """Whether the citation begins a sentence."""
        return not self.before.strip() or ends_sentence(self.before.rstrip())

    @property
    def continues(self) -> bool:
        """Whether the sentence goes on after the citation."""
        following = self.after.lstrip()
        if not following:
            return False
        return not (self.begins_sentence and following[0].isupper())


def _to_first_word(texts: Iterable[str]) -> Iterator[str]:
    """Yield the texts as far as the first that is not blank."""
    for text in texts:
        yield text
        if text.strip():
            return


def move_mark(before: str, after: str, *, stops_in_quotes: bool = False) -> tuple[str, str]:
    """Move the mark of a note, which stands between two texts, behind the punctuation that follows.

    Spaces before it go, and so does a stop that would follow another.

    >>> move_mark("words ", ", then")
    ('words,', ' then')
    >>> move_mark("and so on, etc. ", ". Then")
    ('and so on, etc.', ' Then')
    >>> move_mark('He said "so" ', ". Then", stops_in_quotes=True)
    ('He said "so."', ' Then')

    :param before: the text before the mark, in its paragraph
    :param after: the text that follows
    :param stops_in_quotes: whether full stops and commas stand inside quotation marks in the language
    :return: the texts before and after the mark
    """
    text = before.rstrip(_SPACES)
    end = _end_of_punctuation(text, after)
    moved = after[:end]
    rest = after[end:]
    begins_with_stop = moved[:1] == "." and moved[:2] != ".."
    if begins_with_stop and _has_stop(text, stops_in_quotes=stops_in_quotes):
        moved = moved[1:]
    if stops_in_quotes and moved in {".", ","} and text.endswith(tuple(_QUOTES)):
        return f"{text[:-1]}{moved}{text[-1]}", rest
    return text + moved, rest


def _end_of_punctuation(before: str, after: str) -> int:
    """Return where the punctuation ends with which a text begins after a mark, and which belongs before it.

    It is 2 for ".) Then", but 0 for ")" in "([mark])", where the citation alone is in brackets.
    """
    end = 0
    while end < len(after) and _stands_before_mark(after, end):
        is_closing = unicodedata.category(after[end]) == "Pe"
        if is_closing and end == 0 and before and unicodedata.category(before[-1]) == "Ps":
            return 0
        end += 1
    return end


def _stands_before_mark(text: str, at: int) -> bool:
    """Return whether the mark of a note stands behind a character: "." or a closing bracket, but not "-"."""
    character = text[at]
    is_closing = unicodedata.category(character) in {"Pe", "Pf"}  # brackets, quotation marks
    if character not in _BEFORE_MARK and not is_closing:
        return False
    follows_letter = text[at + 1 : at + 2].isalnum()
    # A straight quotation mark opens if a word follows, and an apostrophe belongs to "'s"
    return not (character in _STRAIGHT_OR_APOSTROPHE and follows_letter)


def _has_stop(text: str, *, stops_in_quotes: bool) -> bool:
    """Return whether a text has a stop at its end already, so that a full stop after it would be one too many."""
    if stops_in_quotes:
        text = text.rstrip(_QUOTES)
    return text.endswith(_STOPS)


def as_in_note(
    names: tuple[CitationItem, ...], note: tuple[CitationItem, ...]
) -> tuple[CitationItem, ...]:
    """Return the cites of names in a text with the places of the same works in the note that follows them."""
    places = {cite.key: cite.place for cite in reversed(note)}
    return tuple(replace(cite, place=places.get(cite.key, cite.place)) for cite in names)


def ends_sentence(text: str) -> bool:
    """Return whether a text ends like a sentence, perhaps in quotation marks or brackets."""
    return text.rstrip(_AFTER_STOP).endswith(_STOPS)


def ends_in_title(text: str, title: str) -> bool:
    """Return whether a text ends in a title with a full stop of its own: "Bees, etc.", perhaps in quotes."""
    stripped = text.rstrip(_AFTER_STOP).casefold()
    return title.endswith(".") and stripped.endswith(title.casefold())


def without_stop(runs: list[csl.Run]) -> list[csl.Run]:
    """Return runs without the full stop at their end, which may stand in quotation marks; "..." stays.

    Runs at the end that hold nothing but quotation marks and brackets are passed over.
    """
    runs = list(runs)
    for index in range(len(runs) - 1, -1, -1):
        text = runs[index].text
        core = text.rstrip(_AFTER_STOP)
        if core.endswith(".") and not core.endswith(".."):
            runs[index] = runs[index]._replace(text=core[:-1] + text[len(core) :])
        if core:
            break
    return runs
