"""The DOIs that the description of a work names in other places: links, notes and other identifiers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from doiuri._arxiv import ARXIV_PATTERN, arxiv_doi
from doiuri._doi import DOI
from doiuri._find import find
from doiuri._patterns import lazy
from doiuri._text import plain_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri.works._work import Work

ARXIV = "arXiv identifier"
ACL = "ACL Anthology URL"
_LONGEST = 2000  # characters of a link or a note that are read
_ARXIV = lazy(
    rf"(?:https?://(?:\w+\.)?arxiv\.org/(?:abs|pdf|html)/|(?i:arxiv[:\s]\s*)){ARXIV_PATTERN}"
)
_RFC = lazy(
    r"(?i:\b(?:rfc|request\ for\ comments)(?:\ \(?rfc\)?)?[\s/_-]*0*)(?P<number>[1-9][0-9]{0,4})\b"
)
_ACL = lazy(
    r"""
    https?://(?:www\.)? acl(?: anthology\.org | web\.org/anthology )/ (?: (?:papers/)? [A-Z]/[A-Z][0-9]{2}/ )?
    (?:
        (?P<old> [A-Z][0-9]{2}-[0-9]{4,5} )         # until 2019: P19-1001
        | (?P<new> [0-9]{4}\.[a-z0-9_]+-[a-z0-9]+\.[0-9]+ )
    )
    (?: v[0-9]+ )? (?: \.pdf )? (?![\w.-])
    """,
    re.VERBOSE,
)
_ABSTRACT = lazy(r"abs/(?P<id>\S+)")  # a volume or a page of CoRR, which is arXiv: "abs/1412.6980"
_MEMBERS = (
    "collection-number",
    "collection-title",
    "container-title",
    "genre",
    "number",
    "page",
    "volume",
)
_ZENODO = lazy(r"https?://(?:www\.)?zenodo\.org/records?/(?P<number>[0-9]+)")


class Named(NamedTuple):
    """A DOI that a description of a work names."""

    doi: DOI
    where: str  # what names it: "URL", "note", or another identifier

    @property
    def is_identifier(self) -> bool:
        """Whether it is made of the work's own identifier; a link or a note may name a work built upon."""
        return self.where not in {"URL", "note"}


def named_dois(work: Work) -> Iterator[Named]:
    """Yield the DOIs that a description of a work names, those first that are most probably its own."""
    csl = work.csl
    url = plain_text(csl.get("URL"), _LONGEST)
    note = plain_text(csl.get("note"), _LONGEST)
    for where, text in (("URL", url), ("note", note)):
        for match in find(text):
            yield Named(match.doi, where)
    yield from _identifiers("; ".join([url, *_other_texts(work), note]))


def _other_texts(work: Work) -> Iterator[str]:
    """Yield what else may hold an identifier of arXiv or of an RFC, such as "arXiv preprint arXiv:1412.6980"."""
    texts = {member: plain_text(work.csl.get(member), _LONGEST) for member in _MEMBERS}
    number = texts["number"]

    yield texts["container-title"]
    yield _ABSTRACT.sub(r"arXiv:\g<id>", texts["volume"])
    yield _ABSTRACT.sub(r"arXiv:\g<id>", texts["page"])
    yield number
    yield f"{texts['genre']} {number}"
    yield f"{texts['collection-title']} {texts['collection-number'] or number}"


def _identifiers(text: str) -> Iterator[Named]:
    """Yield the DOIs that are made of other identifiers in a text: 10.17487/RFC2616 of "RFC 2616"."""
    for match in _ARXIV.finditer(text):
        yield Named(arxiv_doi(match), ARXIV)
    for match in _RFC.finditer(text):
        yield Named(DOI(f"10.17487/RFC{int(match['number']):04}"), "RFC number")
    for match in _ACL.finditer(text):
        yield Named(DOI(f"10.18653/v1/{match['old'] or match['new']}"), ACL)
        if match["old"]:  # or registered before 2016
            yield Named(DOI(f"10.3115/v1/{match['old']}"), ACL)
    for match in _ZENODO.finditer(text):
        yield Named(DOI(f"10.5281/zenodo.{match['number']}"), "Zenodo URL")
