"""Records with metadata: articles, some with notices, a preprint; a data set without metadata, an alias."""

from __future__ import annotations

from typing import Any

CSL = "application/vnd.citationstyles.csl+json"
BIBTEX = "application/x-bibtex"
RIS = "application/x-research-info-systems"
APA = "text/x-bibliography; style=apa"

KAHN, DIKES, BAD = "10.5555/kahn-2006", "10.5555/dikes,{1}", "10.5555/Retracted"
GONE, DOUBTED, PREPRINT = "10.5555/gone", "10.5555/doubted", "10.5555/preprint"
BARE, ALIAS, DEAD = "10.5555/bare", "10.5555/alias", "10.5555/nope"


def item(name: str, **metadata: Any) -> dict[str, Any]:
    """A record with a URL."""
    value = {
        "index": 1,
        "type": "URL",
        "data": {"format": "string", "value": f"https://example.org/{name[8:]}"},
    }
    described = {"metadata": metadata["metadata"]} if metadata else {}
    return {"handle": name, "values": [value], **described}


def work(title: str, given: str, family: str, year: int, **more: Any) -> dict[str, Any]:
    """Metadata as Crossref has it."""
    author = [{"given": given, "family": family}, {"given": "Robert", "family": "Wilensky"}]
    issued = {"date-parts": [[year]]}
    return {"type": "journal-article", "title": [title], "author": author, "issued": issued, **more}


def update(kind: str, name: str, *date: int) -> dict[str, Any]:
    """A notice as Crossref lists it."""
    return {"type": kind, "DOI": name, "source": "retraction-watch", "updated": {"date-parts": [date]}}


NOTICED: dict[str, dict[str, Any]] = {
    GONE: {
        "updated-by": [
            update("correction", "10.5555/first", 2011),
            update("expression_of_concern", "10.5555/second", 2012),
            update("retraction", "10.5555/third", 2013, 6, 5),
        ]
    },
    DOUBTED: {"updated-by": [update("expression_of_concern", "10.5555/second", 2012)]},
    PREPRINT: {
        "updated-by": [update("correction", "10.5555/first", 2011)],
        "relation": {"is-preprint-of": [{"id-type": "doi", "id": "10.5555/printed"}]},
    },
}

RECORDS = {
    "records": [
        item(
            KAHN,
            metadata={
                CSL: work("A framework for digital object services", "Robert", "Kahn", 2006),
                BIBTEX: " @article{Kahn_2006, title={A framework}, DOI={10.5555/kahn-2006}, year={2006} }\n",
                RIS: "TY  - JOUR\r\nTI  - A framework\r\nDO  - 10.5555/kahn-2006\r\nER  - \r\n",
                APA: "Kahn, R., &amp; Wilensky, R. (2006). <i>A framework</i>.",
            },
        ),
        item(
            DIKES,
            metadata={
                CSL: work("On dikes", "Anna", "van der Berg", 1999),
                BIBTEX: "@misc{https://doi.org/10.5555/dikes, title={On dikes}}",
                APA: "van der Berg, A. (1999). On dikes.",
            },
        ),
        item(
            BAD,
            metadata={
                CSL: work("RETRACTED: On cold fusion", "Jane", "Doe", 2010),
                BIBTEX: "@article{Doe_2010, title={On cold fusion}}",
            },
        ),
        *(
            item(name, metadata={CSL: work("On water", "Jane", "Doe", 2010, **more)})
            for name, more in NOTICED.items()
        ),
        item(BARE),
        {
            "handle": ALIAS,
            "values": [
                {"index": 1, "type": "HS_ALIAS", "data": {"format": "string", "value": "10.5555/TARGET"}}
            ],
        },
        item("10.5555/target"),
    ],
    "agencies": {"10.5555": "Crossref"},
}
