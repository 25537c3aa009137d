"""What plugins show in place of a DOI, and what they suggest in place of text that is not a DOI."""

from __future__ import annotations

import re
from itertools import islice
from string import Formatter
from typing import TYPE_CHECKING

from doiuri._errors import DOISyntaxError
from doiuri._find import find
from doiuri._urls import DOI_ORG
from doiuri.records._bibliography import CitationWords, author_label, year_label

if TYPE_CHECKING:
    from doiuri._doi import DOI
    from doiuri.records._work import Work

__all__ = ["breakable", "check_display", "display", "needs_work"]

# After a mark or before a bracket, but not in "doi:10." and "https://doi.org"
_BREAK = re.compile(r"(?<=[/.:;,)>_])(?<!doi:)(?<!10\.)(?<!https:)(?<!http:)(?<!:/)(?<!//doi\.)|(?=[(<])")
_WIDTH = 36  # characters: what fits into a line on a phone
_OF_WORKS = frozenset({"authors", "year", "title"})
_FIELDS = _OF_WORKS | {"name", "prefix", "suffix", "uri", "url"}

_LONGEST = 2_000  # characters of a URL


def check_display(text: str) -> str:
    """Return ``text`` if ``display`` takes it: "name", "link", or a template.

    A template may contain ``{name}``, ``{prefix}``, ``{suffix}``, ``{uri}`` and ``{url}``, and of the work
    ``{authors}``, ``{year}`` and ``{title}``.

    :raises ValueError: if it is anything else.
    """
    if text in {"name", "link"}:
        return text
    try:
        fields = [part for part in Formatter().parse(text) if part[1] is not None]
    except ValueError as error:
        raise ValueError(f"not a template for DOIs: {text!r} ({error})") from None
    for _, field, spec, conversion in fields:
        if field not in _FIELDS or spec or conversion:
            raise ValueError(f"not a template for DOIs: {text!r} (fields are {', '.join(sorted(_FIELDS))})")
    if not fields:
        raise ValueError(f'not a template for DOIs: {text!r} (use "name", "link", or text with {{name}})')
    return text


def needs_work(text: str) -> bool:
    """Return whether ``display`` needs the work for this text: it is a template with a field of the work.

    >>> needs_work("{authors} ({year})"), needs_work("link")
    (True, False)

    :raises ValueError: if ``text`` is not valid.
    """
    return not _OF_WORKS.isdisjoint(field for _, field, _, _ in Formatter().parse(check_display(text)))


def display(
    doi: DOI,
    text: str = "name",
    *,
    base: str = DOI_ORG,
    work: Work | None = None,
    words: CitationWords | None = None,
) -> str:
    """Return the visible text of a DOI.

    >>> doi = DOI("10.1000/182")
    >>> display(doi), display(doi, "link"), display(doi, "DOI {name}")
    ('doi:10.1000/182', 'https://doi.org/10.1000/182', 'DOI 10.1000/182')

    :param text: "name" for ``doi:`` and the name, "link" for the link, or a template as in ``check_display``.
        A template with a field of the work counts as "name" if there is no work.
    :param base: the URL that links begin with.
    :param work: the work, if it is known. Its texts are plain text: escape the result.
    :param words: the words of the labels ``{authors}`` and ``{year}``.
    :raises ValueError: if ``text`` is not valid.
    """
    check_display(text)
    if text == "name" or (work is None and needs_work(text)):
        return f"doi:{doi.name}"
    url = doi.link(base)
    if text == "link":
        return url
    fields = {"name": doi.name, "prefix": doi.prefix, "suffix": doi.suffix, "uri": doi.uri, "url": url}
    if work is not None:
        words = words or CitationWords()
        fields["authors"], fields["year"] = author_label(work, words), year_label(work, words)
        fields["title"] = work.title or doi.name
    return text.format(**fields)


def breakable(text: str, width: int = _WIDTH) -> list[str]:
    """Return the parts of a name or a link between which a line may break.

    >>> breakable("doi:10.1000/182"), breakable("https://doi.org/10.1000/a.b(c)", 20)
    (['doi:10.1000/182'], ['https://', 'doi.org/', '10.1000/', 'a.', 'b', '(c)'])

    :param text: the visible text of a link.
    :param width: the width of a narrow line, in characters; a text with no longer words is one part.
    """
    if len(text) <= width or max(map(len, text.split()), default=0) <= width:
        return [text]
    return [part for part in _BREAK.split(text) if part]


def with_suggestion(error: DOISyntaxError) -> DOISyntaxError:
    """Return an error about a URL, such as a publisher's, with the DOI in it as its suggestion.

    Any other error is returned as it is, and so is one that has a suggestion.

    >>> from doiuri import DOI
    >>> try:
    ...     DOI.parse("https://onlinelibrary.wiley.com/doi/10.1002/abc.123/full")
    ... except DOISyntaxError as error:
    ...     with_suggestion(error).suggestion
    'doi:10.1002/abc.123'

    :param error: what ``DOI.parse`` raised.
    """
    text = error.text
    if error.suggestion is not None or "://" not in text or len(text) > _LONGEST:
        return error
    found = list(islice(find(text), 2))
    if len(found) != 1:
        return error
    return DOISyntaxError(text, error.position, error.reason, found[0].doi.uri, error.kind)
