"""The metrics of ``/metrics``, in the text formats of Prometheus and OpenMetrics."""

from __future__ import annotations

import threading
from bisect import bisect_left
from importlib.metadata import version
from typing import TYPE_CHECKING

from doiuri_proxy.app._counters import Counters

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prometheus_client import Metric

#: the values of the label ``endpoint``; "none" is a request that could not be read
ENDPOINTS = ("redirect", "api", "doira", "healthz", "readyz", "metrics", "none")
_STATUSES = ("1xx", "2xx", "3xx", "4xx", "5xx")
#: upper bounds in seconds: from an answer from memory to the time that a client may wait for upstream
BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0)

_OPENMETRICS = "application/openmetrics-text"
_CONNECTIONS = "connections"
_UPSTREAM_REQUESTS = "upstream requests"
_UPSTREAM_FAILURES = "upstream failures"
_LOG_FAILURES = "access log failures"


class Metrics:
    """What the workers of a service have done.

    :param workers: the number of worker processes
    """

    def __init__(self, workers: int = 1) -> None:
        names = [("requests", endpoint, status) for endpoint in ENDPOINTS for status in _STATUSES]
        buckets = [("bucket", endpoint, n) for endpoint in ENDPOINTS for n in range(len(BUCKETS) + 1)]
        seconds = [("seconds", endpoint) for endpoint in ENDPOINTS]
        others = [_CONNECTIONS, _UPSTREAM_REQUESTS, _UPSTREAM_FAILURES, _LOG_FAILURES]
        self._counters = Counters([*names, *buckets, *seconds, *others], workers)
        self._upstream_lock = threading.Lock()  # threads wait for upstream
        self._version = version("doiuri-proxy")  # now: an upgrade may replace the file

    def start_worker(self, number: int) -> None:
        """Count as this worker, 0-based; the one before it with the number has ended."""
        self._counters.use_row(number)
        self.set_connections(0)

    def count_request(self, endpoint: str, status: int, seconds: float | None) -> None:
        """Count a response; ``seconds`` is None for one to bytes that are not a request."""
        self._counters.add(("requests", endpoint, _STATUSES[status // 100 - 1]))
        if seconds is not None:
            self._counters.add(("bucket", endpoint, bisect_left(BUCKETS, seconds)))
            self._counters.add(("seconds", endpoint), seconds)

    def count_upstream(self, *, failed: bool) -> None:
        """Count a request to upstream. Thread-safe."""
        with self._upstream_lock:
            self._counters.add(_UPSTREAM_REQUESTS)
            if failed:
                self._counters.add(_UPSTREAM_FAILURES)

    def count_log_failure(self) -> None:
        """Count a line that could not be written to the access log."""
        self._counters.add(_LOG_FAILURES)

    def set_connections(self, count: int) -> None:
        """Set the number of open connections of this worker."""
        self._counters.set(_CONNECTIONS, count)

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
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        total = self._counters.total
        yield self._requests()
        yield self._durations()
        if records is not None:
            yield GaugeMetricFamily("doiuri_proxy_records", "Records that are held locally.", records)
        for name, text, column in (
            ("upstream_requests", "Requests sent to upstream.", _UPSTREAM_REQUESTS),
            ("upstream_failures", "Requests to upstream that got no usable answer.", _UPSTREAM_FAILURES),
            ("access_log_failures", "Lines that could not be written to the access log.", _LOG_FAILURES),
        ):
            yield CounterMetricFamily(f"doiuri_proxy_{name}", text, total(column))
        yield GaugeMetricFamily(
            "doiuri_proxy_connections", "Connections of clients that are open.", total(_CONNECTIONS)
        )
        info = GaugeMetricFamily("doiuri_proxy_build_info", "1, with the version.", labels=["version"])
        info.add_metric([self._version], 1)
        yield info

    def _requests(self) -> Metric:
        from prometheus_client.core import CounterMetricFamily

        family = CounterMetricFamily(
            "doiuri_proxy_requests",
            "Responses by endpoint and class of status.",
            labels=["endpoint", "status"],
        )
        for endpoint in ENDPOINTS:
            for status in _STATUSES[1:]:
                family.add_metric([endpoint, status], self._counters.total(("requests", endpoint, status)))
        return family

    def _durations(self) -> Metric:
        from prometheus_client.core import HistogramMetricFamily

        family = HistogramMetricFamily(
            "doiuri_proxy_request_duration_seconds",
            "Seconds from the head of a request to its response.",
            labels=["endpoint"],
        )
        for endpoint in ENDPOINTS[:-1]:
            count, buckets = 0.0, []
            for number, bound in enumerate([*map(str, BUCKETS), "+Inf"]):
                count += self._counters.total(("bucket", endpoint, number))
                buckets.append((bound, count))
            family.add_metric([endpoint], buckets, self._counters.total(("seconds", endpoint)))
        return family


class _Collector:
    """What a registry collects: metrics that are there already."""

    def __init__(self, families: list[Metric]) -> None:
        self._families = families

    def collect(self) -> list[Metric]:
        return self._families
