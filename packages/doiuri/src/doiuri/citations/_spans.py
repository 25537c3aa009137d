"""Text that leads to a DOI, a URL or a work: runs of the CSL processor, by where they lead."""

from __future__ import annotations

from collections import deque
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import doiuri_csl as csl

from doiuri._notation import lowered, raised

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from doiuri._doi import Handle
    from doiuri.works import Work

    Target: TypeAlias = Handle | str | None


_CLOSERS = {"(": ")", "[": "]", "（": "）"}


class Span(NamedTuple):
    """Text of a citation or an entry that leads to one place."""

    runs: tuple[csl.Run, ...]
    """The text, with its formats."""

    target: Target = None
    """In an entry: the DOI or URL that it links to. In a citation: the key of the work that it cites."""


def text_of(spans: Iterable[Span]) -> str:
    """Return the text of a citation or an entry, for outputs without formats: "10⁵" if "5" is raised."""
    return "".join(_plain(run) for span in spans for run in span.runs)


def _plain(run: csl.Run) -> str:
    if "superscript" in run.formats:
        return raised(run.text)
    if "subscript" in run.formats:
        return lowered(run.text)
    return run.text


def spans_of(runs: Iterable[csl.Run], target_of: Callable[[csl.Run], Target]) -> tuple[Span, ...]:
    """Return a span for each series of runs that lead to one target; only their texts and formats are kept."""
    spans = []
    for target, runs_to_target in groupby(runs, target_of):
        merged = csl.merge(csl.Run(run.text, run.formats) for run in runs_to_target)
        if merged:
            spans.append(Span(merged, target))
    return tuple(spans)


def with_whole_brackets(spans: Sequence[Span]) -> tuple[Span, ...]:
    """Return the text of a citation in which no link has only one of two brackets.

    A link that opens one, such as "Weber (1905", includes the text up to the other: "Weber (1905, p. 12)". If
    the link to another work comes before that, it ends before its bracket.
    """
    whole: list[Span] = []
    rest = deque(spans)
    while rest:
        span = rest.popleft()
        opened = _unclosed(span) if span.target is not None else None
        if opened is None:
            whole.append(span)
            continue

        text = _text(span)
        text_follows = bool(rest) and rest[0].target is None
        end = _end_of_bracket(text[opened], _text(rest[0])) if text_follows else None
        if end is None:  # "Weber (1905" alone: "Weber" is linked
            before, bracket = _split(span, len(text[:opened].rstrip()))
            whole += [before, bracket._replace(target=None)]
        else:  # "Weber (1905" and ", p. 12) and"
            inside, after = _split(rest.popleft(), end)
            whole += [Span(csl.merge((*span.runs, *inside.runs)), span.target), after]
    return tuple(span for span in whole if span.runs)


def _unclosed(span: Span) -> int | None:
    """Return the place of the last bracket that a span opens and does not close; None if it closes all."""
    text = _text(span)
    opened: list[int] = []
    for place, character in enumerate(text):
        if character in _CLOSERS:
            opened.append(place)
        elif opened and character == _CLOSERS[text[opened[-1]]]:
            opened.pop()
    return opened[-1] if opened else None


def _end_of_bracket(bracket: str, text: str) -> int | None:
    """Return where a text closes a bracket that was opened before it; None if it does not.

    It is 10 for "(" and ", p. (12)), and".
    """
    depth = 1
    for place, character in enumerate(text):
        if character == bracket:
            depth += 1
        elif character == _CLOSERS[bracket]:
            depth -= 1
        if depth == 0:
            return place + 1
    return None


def _text(span: Span) -> str:
    return "".join(run.text for run in span.runs)


def _split(span: Span, place: int) -> tuple[Span, Span]:
    """Return a span up to a place in its text, and the rest."""
    before: list[csl.Run] = []
    after: list[csl.Run] = []
    for run in span.runs:
        cut = max(place, 0)
        before.append(run._replace(text=run.text[:cut]))
        after.append(run._replace(text=run.text[cut:]))
        place -= len(run.text)
    return span._replace(runs=csl.merge(before)), span._replace(runs=csl.merge(after))


def link_of(work: Work) -> Target:
    """Return what the entry of a work links to: its DOI, or else its URL; None for neither."""
    return work.doi or work.csl.get("URL")


def entry_spans(runs: Iterable[csl.Run], work: Work) -> tuple[Span, ...]:
    """Return the text of an entry, which leads to the DOI of the work, or else to its URL.

    If the style shows neither of them, the link is added at the end. If the style shows nothing of the work, the
    link or else the title is the text.
    """
    link = link_of(work)

    def target_of(run: csl.Run) -> Target:
        return link if _is_doi(run, work) else run.link or None

    runs_of_host = _stripped([_run_of_host(run, work) for run in runs])
    spans = spans_of(runs_of_host, target_of)
    if link is None:
        return spans or (Span((csl.Run(work.title or str(work.key)),)),)
    if any(span.target == link for span in spans):
        return spans

    address = link if isinstance(link, str) else link.url
    linked = Span((csl.Run(address),), link)
    return (*spans, Span((csl.Run(" "),)), linked) if spans else (linked,)


def _run_of_host(run: csl.Run, work: Work) -> csl.Run:
    """Return a run of an entry as hosts show it: a DOI as a link or a name, and everything on one line."""
    if run.text == "\n":
        return csl.Run(" ")
    if _is_doi(run, work) and work.doi is not None:
        text = work.doi.url if run.text.startswith("http") else work.doi.name
        return run._replace(text=text)
    return run


def _is_doi(run: csl.Run, work: Work) -> bool:
    """Return whether a run is the DOI of a work."""
    return bool(run.link) and run.role == "DOI" and work.doi is not None


def _stripped(runs: list[csl.Run]) -> list[csl.Run]:
    """Return runs without white space at the beginning and the end."""
    if runs:
        runs[0] = runs[0]._replace(text=runs[0].text.lstrip())
        runs[-1] = runs[-1]._replace(text=runs[-1].text.rstrip())
    return runs
