"""What the proxy says about itself: ``/healthz``, ``/readyz``, and ``/metrics`` for Prometheus."""

from __future__ import annotations

from importlib.metadata import version
from itertools import product
from math import nan
from typing import TYPE_CHECKING

from doiuri.rest.server import JSON_TYPE, write_json
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import choose_encoder

from doiuri_proxy.app._http import Response

if TYPE_CHECKING:
    from doiuri_proxy.app._http import Request
    from doiuri_proxy.records._open import Source

#: the values of the label ``endpoint``
ENDPOINTS = ("redirect", "api", "doira", "healthz", "readyz", "metrics")
#: upper bounds in seconds: from an answer from memory to the time that a client may wait for upstream
BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0)

_STATUSES = ("2xx", "3xx", "4xx", "5xx")
_LABELS = ("endpoint", "status")
_OPENMETRICS = "application/openmetrics-text"
_FRESH = ("Cache-Control", "no-store")


async def answer(endpoint: str, request: Request, source: Source, metrics: Metrics) -> Response:
    """Return the answer to a request for the endpoint "healthz", "readyz" or "metrics"."""
    if endpoint == "healthz":
        return Response(200, b'{"status":"ok"}', JSON_TYPE)
    if endpoint == "readyz":
        return await _ready(source)
    content_type, body = metrics.text(request.headers.get("accept", ""), await source.count())
    return Response(200, body, content_type, (_FRESH,))


async def _ready(source: Source) -> Response:
    """Return status 503 if a part of the source does not work, with the reason of each."""
    problems = await source.check()
    parts = {part: problem or "ok" for part, problem in problems.items()}
    is_ready = not any(problems.values())
    body = write_json({"status": "ok" if is_ready else "unavailable", **parts})
    return Response(200 if is_ready else 503, body, JSON_TYPE, (_FRESH,))


class Metrics:
    """What the proxy has done since it started."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        requests = Counter(
            "doiuri_proxy_requests", "Responses by endpoint and class of status.", _LABELS, registry=registry
        )
        seconds = Histogram(
            "doiuri_proxy_request_duration_seconds",
            "Seconds from the head of a request to its response.",
            _LABELS[:1],
            registry=registry,
            buckets=BUCKETS,
        )
        # looked up once: labels() takes longer than counting
        self._requests = {key: requests.labels(*key) for key in product(ENDPOINTS, _STATUSES)}
        self._seconds = {endpoint: seconds.labels(endpoint) for endpoint in ENDPOINTS}
        self._records = Gauge("doiuri_proxy_records", "Records that are held locally.", registry=registry)
        self._upstream_requests = Counter(
            "doiuri_proxy_upstream_requests", "Requests sent to upstream.", registry=registry
        )
        self._upstream_failures = Counter(
            "doiuri_proxy_upstream_failures",
            "Requests to upstream that got no usable answer.",
            registry=registry,
        )
        #: lines that could not be written to the access log
        self.log_failures = Counter(
            "doiuri_proxy_access_log_failures",
            "Lines that could not be written to the access log.",
            registry=registry,
        )
        #: requests without a response yet
        self.in_progress = 0
        waiting = Gauge(
            "doiuri_proxy_requests_in_progress", "Requests without a response yet.", registry=registry
        )
        waiting.set_function(lambda: self.in_progress)
        info = Gauge("doiuri_proxy_build_info", "1, with the version.", ["version"], registry=registry)
        info.labels(version("doiuri-proxy")).set(1)

    def count_request(self, endpoint: str, status: int, seconds: float) -> None:
        """Count a response."""
        self._requests[endpoint, f"{status // 100}xx"].inc()
        self._seconds[endpoint].observe(seconds)

    def count_upstream(self, failed: bool) -> None:
        """Count a request to upstream."""
        self._upstream_requests.inc()
        self._upstream_failures.inc(failed)

    def text(self, accept: str, records: int | None) -> tuple[str, bytes]:
        """Return the Content-Type and the text of all metrics.

        :param accept: the Accept header
        :param records: the number of local records, if it is known
        """
        self._records.set(nan if records is None else records)
        # choose_encoder fails for some headers, such as those with a version that is not a number
        encoder, content_type = choose_encoder(_OPENMETRICS if _OPENMETRICS in accept.lower() else "")
        return content_type, encoder(self._registry)
