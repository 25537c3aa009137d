"""Which RA: ``GET /doiRA/<doi>[,<doi>…]``, also ``/ra/`` (DOI resolution documentation §4)."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from doiuri import DOI, DOISyntaxError, Prefix

from doiuri_proxy.app._http import Response, unescape
from doiuri_proxy.records._source import dump

if TYPE_CHECKING:
    from doiuri_proxy.app._http import Request
    from doiuri_proxy.records._source import Source, Standing


async def answer(request: Request, source: Source) -> Response:
    """Name the registration agency of each DOI or prefix, in the order asked; raises BadRequestError."""
    names = [unescape(part) for part in request.path.split(b"/", 2)[2].split(b",")]
    valid = list(dict.fromkeys(filter(_is_valid, names)))
    standings = dict(zip(valid, await source.standings(valid), strict=True))
    body = dump([{"DOI": name, **_said(standings.get(name))} for name in names])
    return Response(200, body, "application/json;charset=UTF-8")


def _is_valid(name: str) -> bool:
    """Tell whether a name is a DOI or a bare prefix: short DOIs are not answered here."""
    for kind in (DOI, Prefix):
        with contextlib.suppress(DOISyntaxError):
            kind(name)
            return True
    return False


def _said(standing: Standing | None) -> dict[str, str]:
    if standing is None:
        return {"status": "Invalid DOI"}
    if standing.exists is False:
        return {"status": "DOI does not exist"}
    return {"RA": standing.agency} if standing.agency else {"status": "Unknown"}
