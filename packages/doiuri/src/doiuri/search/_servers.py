"""The search servers, Crossref and DataCite: what is asked, and what their answers say, without IO.

What is sent about a work: title, first author, year, container, volume and page; never keys, notes, abstracts or
names of files.

Crossref: REST API, "Queries" (api.crossref.org). DataCite: REST API, "Queries and filtering"
(support.datacite.org/docs/api-queries).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode

from doiuri._errors import BadRecord, ResolverUnavailable
from doiuri._json import Malformed, brief, load, read_object
from doiuri._patterns import lazy
from doiuri._text import plain_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from doiuri.resolver.http import Reply
    from doiuri.works._work import Work

    Item = dict[str, Any]  # a work as CSL-JSON, with the members that Crossref adds

ROWS = 5
"""Works that are asked for."""

MAX_SIZE = 5_000_000
"""Bytes of an answer: five works, each with thousands of authors."""

_LONGEST = 300  # characters of a title that is sent
_MEMBERS = (
    "DOI",
    "title",
    "subtitle",
    "author",
    "editor",
    "issued",
    "published-print",
    "published-online",
    "container-title",
    "short-container-title",
    "volume",
    "issue",
    "page",
    "article-number",
    "type",
    "relation",
    "update-to",
)
_NAMES = ("author", "editor")
# A query of Lucene: characters and words that mean something are escaped, or become lower case
_LUCENE = lazy(r'[+\-!(){}\[\]^"~*?:\\/&|=]')
_COMPARISONS = str.maketrans("<>", "  ")  # cannot be escaped
_OPERATORS = lazy(r"\b(?:AND|OR|NOT|TO)\b")


class SearchServer(NamedTuple):
    """A search server: how to ask it about a work, and how to read its answer."""

    name: str
    path: Callable[[Work], str]  # path and query of the URL
    read: Callable[[Any], list[Item]]  # returns the works in its parsed answer; raises Malformed

    def items(self, reply: Reply) -> list[Item]:
        """Return the works in a reply.

        :raises ResolverUnavailable: if it is not the server's answer to a search
        :raises BadRecord: if it cannot be read
        """
        if reply.status != 200:
            raise ResolverUnavailable(None, f"HTTP status {reply.status}", reply.status)
        try:
            return [_reduced(item) for item in self.read(load(reply.body))[:ROWS]]
        except Malformed as error:
            raise BadRecord(None, str(error)) from None


def _crossref_path(work: Work) -> str:
    """Return the path of a search for everything that is told of a work."""
    query = {
        "query.bibliographic": " ".join(filter(None, _words(work))),
        "rows": ROWS,
        "select": ",".join(_MEMBERS),
    }
    return f"/works?{urlencode(query)}"


def _words(work: Work) -> Iterator[str]:
    """Yield what a server is told of a work: title, first author, year, container, volume and page."""
    csl = work.csl
    yield work.title[:_LONGEST]
    names = work.authors or work.editors
    if names:
        yield names[0].family
    if work.year is not None:
        yield str(work.year)
    yield work.container[:_LONGEST]
    for member in ("volume", "page"):
        yield plain_text(csl.get(member), 40)


def _read_crossref(answer: object) -> list[Item]:
    message = read_object(read_object(answer).get("message"))
    return _objects(message.get("items"))


def _datacite_path(work: Work) -> str:
    """Return the path of a search for the title alone, in which no character means anything to Lucene."""
    title = work.title[:_LONGEST].translate(_COMPARISONS)
    title = _OPERATORS.sub(lambda word: word[0].lower(), title)
    escaped = _LUCENE.sub(lambda character: f"\\{character[0]}", title)
    query = {"query": f"titles.title:({escaped})", "page[size]": ROWS}
    return f"/dois?{urlencode(query)}"


def _read_datacite(answer: object) -> list[Item]:
    records = _objects(read_object(answer).get("data"))
    return [_csl_of(record.get("attributes")) for record in records]


def _csl_of(attributes: object) -> Item:
    """Return a work of DataCite (metadata schema 4) as CSL-JSON."""
    if not isinstance(attributes, dict):
        return {}
    types = attributes.get("types")
    container = attributes.get("container")
    item: Item = {
        "DOI": attributes.get("doi"),
        "title": [title.get("title") for title in _dicts(attributes.get("titles"))],
        "author": [_name(creator) for creator in _dicts(attributes.get("creators"))],
        "issued": {"date-parts": [[attributes.get("publicationYear")]]},
        "type": types.get("citeproc") if isinstance(types, dict) else None,
    }
    if isinstance(container, dict):
        item["container-title"] = container.get("title")
        item["volume"] = container.get("volume")
        item["issue"] = container.get("issue")
        item["page"] = container.get("firstPage")
    return item


def _name(creator: Mapping[str, Any]) -> Item:
    """Return the name of a creator; one without divided names is divided at its comma, as in "Kahn, Robert"."""
    family = creator.get("familyName")
    if isinstance(family, str) and family:
        return {"family": family, "given": creator.get("givenName")}
    name = creator.get("name")
    if isinstance(name, str) and creator.get("nameType") != "Organizational":
        family, comma, given = name.partition(", ")
        if comma:
            return {"family": family, "given": given}
    return {"literal": name}


def _objects(value: object) -> list[Item]:
    """Return the objects in a list of works.

    :raises Malformed: if it is not a list
    """
    if not isinstance(value, list):
        raise Malformed(f"the works are {brief(value)}, expected a list")
    return _dicts(value)


def _dicts(value: object) -> list[Item]:
    if not isinstance(value, list):
        return []
    return [each for each in value if isinstance(each, dict)]


def _reduced(item: Item) -> Item:
    """Return the members of a work that are compared; of its names, only the first one is."""
    reduced = {member: item[member] for member in _MEMBERS if item.get(member)}
    for member in _NAMES:
        if member in reduced:
            names = reduced[member]
            reduced[member] = names[:1] if isinstance(names, list) else []
    return reduced


CROSSREF = SearchServer("Crossref", _crossref_path, _read_crossref)
DATACITE = SearchServer("DataCite", _datacite_path, _read_datacite)
