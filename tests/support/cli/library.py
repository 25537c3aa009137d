"""Records with metadata: articles, some with notices, a preprint; a data set without metadata, an alias."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from support.proxy_records import link

CSL = "application/vnd.citationstyles.csl+json"
RIS = "application/x-research-info-systems"
BIBTEX = "application/x-bibtex"

KAHN = "10.5555/kahn-2006"
DIKES = "10.5555/dikes,{1}"
BAD = "10.5555/Retracted"
GONE = "10.5555/gone"
DOUBTED = "10.5555/doubted"
PREPRINT = "10.5555/preprint"
BARE = "10.5555/bare"
ALIAS = "10.5555/alias"
DEAD = "10.5555/nope"


def item(name: str, **metadata: Any) -> dict[str, Any]:
    """A record with a URL."""
    return link(name, f"https://example.org/{name[8:]}") | metadata


def work(title: str, given: str, family: str, year: int, **more: Any) -> dict[str, Any]:
    """Metadata as Crossref has it."""
    author = [{"given": given, "family": family}, {"given": "Robert", "family": "Wilensky"}]
    issued = {"date-parts": [[year]]}
    return {"type": "journal-article", "title": [title], "author": author, "issued": issued, **more}


RECORDS: dict[str, Any] = json.loads(Path(__file__).with_name("library.json").read_text("utf-8"))
