"""What to tell an author about a DOI: that it does not exist, or what is suspicious about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from doiuri._advice import advise, suggest

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from doiuri._advice import Advice
    from doiuri._doi import DOI

__all__ = ["DeadDOI", "dead_doi", "remarks"]

_DECODED = "decoded-escape"  # its suggestion is a longer spelling of the same DOI


class DeadDOI(NamedTuple):
    """A DOI that does not exist; ``str()`` is the sentence about it."""

    subject: str
    """Its name, with the advice on it."""

    suggestion: str | None
    """The DOI that was probably meant, or a better spelling; None if nothing is known."""

    def __str__(self) -> str:
        if self.suggestion is None:
            return f"DOI not found: {self.subject}"
        return f"DOI not found: {self.subject}; did you mean {self.suggestion}?"


def dead_doi(
    doi: DOI,
    typed: str | None = None,
    *,
    ignored: Container[str] = (),
    meant: DOI | None = None,
) -> DeadDOI:
    """Return what to say of a DOI that does not exist.

    >>> from doiuri import DOI
    >>> str(dead_doi(DOI("10.1000/182."), "10.1000/182."))
    "DOI not found: 10.1000/182.: the name ends in '.'; did you mean 10.1000/182?"

    :param doi: the DOI.
    :param typed: the DOI as the author typed it; None: say nothing of its spelling.
    :param ignored: the codes of advice to leave out.
    :param meant: the registered DOI that was probably meant, if it is known; see ``Survey.missing``.
    """
    suggestion = suggest(doi) if meant is None else meant.name
    if typed is None:
        return DeadDOI(doi.name, suggestion)

    advice = [piece for piece in advise(typed) if piece.code not in ignored]
    if not advice:
        return DeadDOI(doi.name, suggestion)

    messages = ", ".join(piece.message for piece in advice)
    subject = f"{_subject(typed, doi)}: {messages}"
    if suggestion is None:
        # the advice is also on what DOI.parse decoded or dropped
        suggestion = _better_spelling(advice)
    return DeadDOI(subject, suggestion)


def _better_spelling(advice: Iterable[Advice]) -> str | None:
    """Return the first suggestion that would be another DOI; None if there is none."""
    for piece in advice:
        if piece.suggestion and piece.code != _DECODED:
            return piece.suggestion
    return None


def remarks(typed: str, doi: DOI, *, exists: bool = False) -> list[tuple[str, str]]:
    """Return the advice on a DOI as pairs of code and sentence.

    >>> from doiuri import DOI
    >>> remarks("10.1000/182.", DOI("10.1000/182."))
    [('trailing-punctuation', "10.1000/182.: the name ends in '.'; did you mean 10.1000/182?")]
    >>> remarks("10.1000/182.", DOI("10.1000/182."), exists=True)
    []

    :param typed: the DOI as the author typed it.
    :param doi: what ``DOI.parse`` made of it.
    :param exists: whether it is known to exist: then its name is right, and only the advice on what
        ``DOI.parse`` decoded or dropped remains.
    """
    sentences = []
    on_name = advise(doi) if exists else ()
    for advice in advise(typed):
        if advice in on_name:
            continue
        sentence = f"{_subject(typed, doi)}: {advice.message}"
        if advice.suggestion and advice.code != _DECODED:
            sentence += f"; did you mean {advice.suggestion}?"
        sentences.append((advice.code, sentence))
    return sentences


def _subject(typed: str, doi: DOI) -> str:
    """Return what the author typed, and how it is read if that differs."""
    if typed == doi.name:
        return typed
    return f"{typed} is read as {doi.name}"
