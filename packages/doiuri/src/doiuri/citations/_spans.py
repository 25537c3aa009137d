"""Text that leads to a DOI, a URL or a work: runs of the CSL processor, by where they lead."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import doiuri_csl as csl

from doiuri._notation import lowered, raised

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from doiuri._doi import Handle
    from doiuri.works import Work

    Target: TypeAlias = Handle | str | None


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
    """Return runs by where they lead; only text and formats are left of them."""
    spans = []
    for target, same in groupby(runs, target_of):
        plain = csl.merge(csl.Run(run.text, run.formats) for run in same)
        if plain:
            spans.append(Span(plain, target))
    return tuple(spans)


def link_of(work: Work) -> Target:
    """Return what the entry of a work links to: its DOI, or else its URL; None for neither."""
    return work.doi or work.csl.get("URL")


def entry_spans(runs: Iterable[csl.Run], work: Work) -> tuple[Span, ...]:
    """Return the text of an entry; if the style shows neither DOI nor URL, the link is at the end.

    If the style shows nothing of the work, the link or else the title is the text.
    """
    link = link_of(work)

    def target_of(run: csl.Run) -> Target:
        return link if _is_doi(run, work) else run.link or None

    spans = spans_of(_stripped([_shown(run, work) for run in runs]), target_of)
    if link is None:
        return spans or (Span((csl.Run(work.title or str(work.key)),)),)
    if any(span.target == link for span in spans):
        return spans

    address = link if isinstance(link, str) else link.url
    linked = Span((csl.Run(address),), link)
    return (*spans, Span((csl.Run(" "),)), linked) if spans else (linked,)


def _shown(run: csl.Run, work: Work) -> csl.Run:
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
