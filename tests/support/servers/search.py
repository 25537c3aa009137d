"""A stand-in for Crossref's and DataCite's search and for the DOI proxy, over a list of works, on one server."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

from support.servers.web import JSON, Answer, Answering, Asked, Site, answering, record, site

CSL_JSON = "application/vnd.citationstyles.csl+json"
_WORD = re.compile(r"[^\W_]+")
_OF_DATACITE = ("10.48550/", "10.5281/")


def searchable(works: Sequence[Mapping[str, Any]]) -> Answering:
    """Answer as both search servers and the DOI proxy do, if these works, in Crossref's form, are registered."""
    records = [
        {**record(work["DOI"], "https://example.org/"), "metadata": {CSL_JSON: _csl(work)}}
        for work in works
    ]
    agencies = {work["DOI"].partition("/")[0]: "Crossref" for work in works}
    proxy = answering({"records": records, "agencies": agencies})

    def answer(asked: Asked) -> Answer:
        parts = urlsplit(asked.target)
        query = parse_qs(parts.query)
        if parts.path == "/works":
            words = query["query.bibliographic"][0]
            items = _best(works, words, int(query["rows"][0]), datacite=False)
            return _json({"status": "ok", "message-type": "work-list", "message": {"items": items}})
        if parts.path == "/dois":
            words = query["query"][0].replace("titles.title:", "")
            items = _best(works, words, int(query["page[size]"][0]), datacite=True)
            return _json({"data": [_record(item) for item in items]})
        return proxy(asked)

    return answer


@contextmanager
def search_site(works: Sequence[Mapping[str, Any]]) -> Iterator[Site]:
    with site(searchable(works)) as running:
        yield running


def searches(running: Site) -> list[str]:
    """Return the targets of the searches so far."""
    return [
        asked.target for asked in running.seen if asked.target.startswith(("/works?", "/dois?"))
    ]


def _best(
    works: Sequence[Mapping[str, Any]], text: str, count: int, *, datacite: bool
) -> list[Mapping[str, Any]]:
    """Return the works of a server whose titles and first authors are most like a text, by a full-text index."""
    wanted = " OR ".join(f'"{word}"' for word in dict.fromkeys(_WORD.findall(text.casefold())))
    if not wanted:
        return []
    of_server = [work for work in works if work["DOI"].startswith(_OF_DATACITE) is datacite]
    rows = [(number, _words(work)) for number, work in enumerate(of_server)]
    with closing(sqlite3.connect(":memory:")) as index:
        index.execute("CREATE VIRTUAL TABLE texts USING fts5(words)")
        index.executemany("INSERT INTO texts (rowid, words) VALUES (?, ?)", rows)
        query = "SELECT rowid FROM texts WHERE words MATCH ? ORDER BY rank LIMIT ?"
        return [of_server[number] for (number,) in index.execute(query, [wanted, count])]


def _words(work: Mapping[str, Any]) -> str:
    names = [str(value) for name in work.get("author", ())[:1] for value in name.values()]
    return " ".join(_WORD.findall(" ".join([*_list(work["title"]), *names]).casefold()))


def _list(value: Any) -> list[str]:
    return value if isinstance(value, list) else [value]


def _csl(work: Mapping[str, Any]) -> dict[str, Any]:
    """Return what content negotiation answers: titles are texts."""
    titles = ("title", "subtitle", "container-title", "short-container-title")
    return {
        member: _list(value)[0] if member in titles and value else value
        for member, value in work.items()
    }


def _record(work: Mapping[str, Any]) -> dict[str, Any]:
    """Return a work as DataCite's API does."""
    creators = [
        {
            "name": f"{name.get('family')}, {name.get('given')}",
            "familyName": name.get("family"),
            "givenName": name.get("given"),
        }
        for name in work.get("author", ())
    ]
    attributes = {
        "doi": work["DOI"],
        "titles": [{"title": title} for title in _list(work["title"])],
        "creators": creators,
        "publicationYear": work["issued"]["date-parts"][0][0],
        "types": {"citeproc": work.get("type")},
        "container": {"title": work["container-title"]} if "container-title" in work else {},
    }
    return {"id": work["DOI"], "type": "dois", "attributes": attributes}


def _json(value: Any) -> Answer:
    return Answer(200, JSON, json.dumps(value).encode())
