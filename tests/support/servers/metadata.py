"""A DOI proxy that answers content negotiation from the metadata of a file of records."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from doiuri import DOI
from doiuri.rest import read_metadata, write_metadata
from support.servers.web import Answer, Answering, Asked, resolver


def metadata_proxy(records: Path | Sequence[Mapping[str, Any]]) -> Answering:
    """Answer for these records, each with a member ``metadata`` if its agency has any."""
    items = json.loads(records.read_text("utf-8")) if isinstance(records, Path) else records
    rest = resolver({item["handle"]: "https://example.org/" for item in items})
    bodies = {DOI(item["handle"]): read_metadata(item.get("metadata", {})) for item in items}

    def answer(asked: Asked) -> Answer:
        if asked.target.startswith(("/api/", "/doiRA/")):
            return rest(asked)
        doi = DOI.from_url(f"https://doi.org{asked.target}")
        if doi not in bodies:
            return Answer(404)
        status, content_type, body = write_metadata(bodies[doi], asked.headers["accept"])
        return Answer(status, {"Content-Type": content_type}, body)

    return answer
