"""What the proxy says about itself: ``/healthz``, ``/readyz``, and ``/metrics`` for Prometheus."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter
from importlib.metadata import version
from itertools import accumulate
from typing import TYPE_CHECKING

from doiuri.rest.server import JSON_TYPE, write_json

from doiuri_proxy.app._http import Response

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prometheus_client import Metric

    from doiuri_proxy.app._http import Request
    from doiuri_proxy.records._source import Source

#: the values of the label ``endpoint``
ENDPOINTS = ("redirect", "api", "doira", "healthz", "readyz", "metrics")
#: upper bounds in seconds: from an answer from memory to the time that a client may wait for upstream
BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0)

_STATUSES = ("2xx", "3xx", "4xx", "5xx")
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
    """What the proxy has done since it started. Methods other than `count_upstream` are not thread-safe."""

    def __init__(self) -> None:
        #: requests without a response yet
        self.in_progress = 0
        #: lines that could not be written to the access log
        self.log_failures = 0
        self._requests: Counter[tuple[str, str]] = Counter()  # by endpoint and class of status
        self._buckets: Counter[tuple[str, int]] = Counter()  # by endpoint and index of the bucket
        self._seconds: Counter[str] = Counter()  # by endpoint
        self._upstream: Counter[bool] = Counter()  # by whether the request failed
        self._upstream_lock = threading.Lock()  # threads wait for upstream
        self._version = version("doiuri-proxy")  # now: an upgrade may replace the file

    def count_request(self, endpoint: str, status: int, seconds: float) -> None:
        """Count a response."""
        self._requests[endpoint, f"{status // 100}xx"] += 1
        self._buckets[endpoint, bisect_left(BUCKETS, seconds)] += 1
        self._seconds[endpoint] += seconds  # type: ignore[assignment]

    def count_upstream(self, failed: bool) -> None:
        """Count a request to upstream."""
        with self._upstream_lock:
            self._upstream[failed] += 1

    def count_log_failure(self) -> None:
        """Count a line that could not be written to the access log."""
        self.log_failures += 1

    def text(self, accept: str, records: int | None) -> tuple[str, bytes]:
        """Return the Content-Type and the text of all metrics.

        :param accept: the Accept header
        :param records: the number of local records, if it is known
        """
        from prometheus_client import CollectorRegistry  # takes longer to import than a start may take
        from prometheus_client.exposition import choose_encoder

        registry = CollectorRegistry(auto_describe=False)
        registry.register(_Collector([*self._families(records)]))
        # choose_encoder fails for some headers, such as those with a version that is not a number
        encoder, content_type = choose_encoder(_OPENMETRICS if _OPENMETRICS in accept.lower() else "")
        return content_type, encoder(registry)

    def _families(self, records: int | None) -> Iterator[Metric]:
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily

        requests = CounterMetricFamily(
            "doiuri_proxy_requests",
            "Responses by endpoint and class of status.",
            labels=["endpoint", "status"],
        )
        durations = HistogramMetricFamily(
            "doiuri_proxy_request_duration_seconds",
            "Seconds from the head of a request to its response.",
            labels=["endpoint"],
        )
        bounds = [*map(str, BUCKETS), "+Inf"]
        for endpoint in ENDPOINTS:
            for status in _STATUSES:
                requests.add_metric([endpoint, status], self._requests[endpoint, status])
            counts = accumulate(self._buckets[endpoint, index] for index in range(len(bounds)))
            durations.add_metric([endpoint], [*zip(bounds, counts, strict=True)], self._seconds[endpoint])
        yield from (requests, durations)
        if records is not None:
            yield GaugeMetricFamily("doiuri_proxy_records", "Records that are held locally.", records)
        for name, text, count in (
            ("upstream_requests", "Requests sent to upstream.", self._upstream.total()),
            ("upstream_failures", "Requests to upstream that got no usable answer.", self._upstream[True]),
            ("access_log_failures", "Lines that could not be written to the access log.", self.log_failures),
        ):
            yield CounterMetricFamily(f"doiuri_proxy_{name}", text, count)
        yield GaugeMetricFamily(
            "doiuri_proxy_requests_in_progress", "Requests without a response yet.", self.in_progress
        )
        info = GaugeMetricFamily("doiuri_proxy_build_info", "1, with the version.", labels=["version"])
        info.add_metric([self._version], 1)
        yield info


class _Collector:
    """What a registry collects: metrics that are there already."""

    def __init__(self, families: list[Metric]) -> None:
        self._families = families

    def collect(self) -> list[Metric]:
        return self._families
