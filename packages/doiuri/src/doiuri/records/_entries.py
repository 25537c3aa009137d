"""The text of an entry in a list of references: where it links to the DOI, and a simple form of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from doiuri._find import find
from doiuri.records._bibliography import CitationPart
from doiuri.records._labels import CitationWords, year_label

if TYPE_CHECKING:
    from doiuri._doi import Handle
    from doiuri.records._bibliography import Reference
    from doiuri.records._name import Name
    from doiuri.records._work import Work

MAX_NAMES = 20
"""Names that an entry lists, as in APA style."""


def reference_parts(doi: Handle, text: str) -> tuple[CitationPart, ...]:
    """Return a formatted reference in parts, one of which, with the attribute ``doi``, is the link.

    The link is the part of the text that names the DOI. If no part does, the link is appended.

    >>> from doiuri import DOI
    >>> [part.text for part in reference_parts(DOI("10.1000/182"), "Handbook. https://doi.org/10.1000/182.")]
    ['Handbook. ', 'https://doi.org/10.1000/182', '.']
    >>> [part.text for part in reference_parts(DOI("10.1000/182"), "Handbook.")]
    ['Handbook. ', 'https://doi.org/10.1000/182']

    :param doi: the DOI of the entry
    :param text: the text, such as that of ``Resolver.reference``
    """
    span = _span_of(doi, text)
    if span is None:
        return CitationPart(f"{text} " if text else ""), CitationPart(doi.url, doi)
    start, end = span
    parts = CitationPart(text[:start]), CitationPart(text[start:end], doi), CitationPart(text[end:])
    return tuple(part for part in parts if part.text)


def _span_of(doi: Handle, text: str) -> tuple[int, int] | None:
    """Return where a text names the DOI, also in a link whose "#" or "?" the agency did not encode."""
    for match in find(text):
        if match.doi == doi:
            return match.start, match.end
    link = rf"https?://(?:dx\.)?doi\.org/{re.escape(doi.name)}(?=[.,;)]?(?:\s|\Z))"
    raw = re.search(link, text, re.IGNORECASE | re.ASCII)
    return raw.span() if raw else None


def with_year_label(reference: Reference, text: str) -> str:
    """Return a formatted reference with the letter of its label after the year.

    An agency formats each reference alone, so it cannot know the letter. The year is the first one in
    brackets, or else between punctuation, or else anywhere before the DOI. A text that does not contain the
    year of the work stays as it is.

    >>> from doiuri import DOI
    >>> from doiuri.records import Bibliography, Work
    >>> works = {doi: Work(doi, {"author": ["Kahn"], "issued": 2001})
    ...          for doi in (DOI("10.1000/1"), DOI("10.1000/2"))}
    >>> with_year_label(Bibliography(works, works).references[1], "Kahn. (2001). Names.")
    'Kahn. (2001b). Names.'

    :param reference: the entry
    :param text: its text, such as that of ``Resolver.reference``
    """
    if not reference.letter:
        return text
    year = re.escape(reference.year.removesuffix(reference.letter).removesuffix("-"))
    end = next((match.start for match in find(text) if match.doi == reference.doi), len(text))
    patterns = (
        rf"(?<=\(){year}[a-z]?(?=[),;])",
        rf"(?<=[.,;:] ){year}(?=[.,;:](?!\d)|\Z)",
        rf"(?<![\w./\u2013-]){year}(?![\w/\u2013-]|\.\d)",
    )
    found = next(filter(None, (re.compile(pattern).search(text, 0, end) for pattern in patterns)), None)
    return f"{text[: found.start()]}{reference.year}{text[found.end() :]}" if found else text


def plain_reference(work: Work, words: CitationWords | None = None) -> str:
    """Return an entry in a simple form, for use if the agency's formatted text is not available.

    >>> from doiuri import DOI
    >>> from doiuri.records import Work
    >>> csl = {"title": "DOI Handbook", "publisher": "DOI Foundation", "issued": {"date-parts": [[2019]]}}
    >>> plain_reference(Work(DOI("10.1000/182"), csl))
    'DOI Handbook (2019). DOI Foundation.'

    :param work: the work; authors after the 20th are left out
    :param words: "et al." and "n.d." in the language of the text
    """
    words = words or CitationWords()
    names = [_inverted(name) for name in work.authors or work.editors]
    people = "; ".join(names[:MAX_NAMES]) + (f" {words.et_al}" if len(names) > MAX_NAMES else "")
    csl = work.csl
    issue = f"({csl['issue']})" if "issue" in csl else ""
    source = [work.container, f"{csl.get('volume', '')}{issue}", csl.get("page", "")]
    title = work.title or (work.doi.name if not people else "")
    first, second = (people, title) if people else (title, "")
    sentences = [
        f"{first} ({year_label(work, words)})",
        second,
        ", ".join(filter(None, source)),
        work.publisher,
    ]
    return " ".join(text if text.endswith((".", "?", "!")) else f"{text}." for text in sentences if text)


def _inverted(name: Name) -> str:
    return ", ".join(filter(None, (name.family, name.given, name.suffix)))
