"""What the proxy says about itself: ``/healthz``, ``/readyz`` and ``/metrics``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doiuri.rest import JSON_TYPE, write_json

from doiuri_proxy.app._http import Response

if TYPE_CHECKING:
    from doiuri_proxy.app._http import Request
    from doiuri_proxy.app._metrics import Metrics
    from doiuri_proxy.records._source import Source

_FRESH = ("Cache-Control", "no-store")


async def answer(endpoint: str, request: Request, source: Source, metrics: Metrics) -> Response:
    """Return the answer to a request for the endpoint "healthz", "readyz" or "metrics"."""
    if endpoint == "healthz":
        return Response(200, b'{"status":"ok"}', JSON_TYPE)
    if endpoint == "readyz":
        return await _ready(source)
    accept = request.headers.get("accept", "")
    content_type, body = metrics.text(accept, await source.count())
    return Response(200, body, content_type, (_FRESH,))


async def _ready(source: Source) -> Response:
    """Return status 503 if a part of the source does not work, with the reason of each."""
    problems = await source.check()
    parts = {part: problem or "ok" for part, problem in problems.items()}
    is_ready = not any(problems.values())
    body = write_json({"status": "ok" if is_ready else "unavailable", **parts})
    return Response(200 if is_ready else 503, body, JSON_TYPE, (_FRESH,))
