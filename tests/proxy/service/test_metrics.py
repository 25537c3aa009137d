"""``/metrics``, read by Prometheus' own parsers."""

import re
import socket
import threading
from importlib.metadata import version
from math import isnan
from pathlib import Path

import pytest
from doiuri.resolver import SQLiteStore
from doiuri_proxy import Running, running
from doiuri_proxy.app import _metrics
from doiuri_proxy.app._metrics import BUCKETS
from doiuri_proxy.records import _store
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_openmetrics
from prometheus_client.parser import text_string_to_metric_families
from support.command import command, run
from support.http import ask
from support.ports import refusing
from support.proxy_records import RECORDS, link
from support.servers.deploy import DEPLOY
from support.waiting import until

Samples = dict[tuple[str, ...], float]


def scrape(url: str) -> Samples:
    """The samples by name and label values."""
    answer = ask(url, "/metrics")
    assert answer.status == 200
    assert answer.headers["content-type"].startswith("text/plain; version=")
    families = [*text_string_to_metric_families(answer.text)]
    assert all(family.name.startswith("doiuri_proxy_") and family.documentation for family in families)
    samples = [sample for family in families for sample in family.samples]
    found = {(sample.name, *sample.labels.values()): sample.value for sample in samples}
    assert len(found) == len(samples)
    return found


def requests(samples: Samples) -> dict[tuple[str, ...], float]:
    name = "doiuri_proxy_requests_total"
    return {key[1:]: value for key, value in samples.items() if key[0] == name and value}


def test_requests_are_counted_by_endpoint_and_class_of_status() -> None:
    with running(RECORDS) as proxy:
        for path in ("/10.1000/1", "/10.1000/alias", "/10.1000/none", "/", "/10.1000/%zz", "/metrics/x"):
            ask(proxy.url, path)
        for path in ("/api/handles/10.1000/1", "/api/handles/10.1000/none", "/api", "/api/metrics"):
            ask(proxy.url, path)
        for path in ("/doiRA/10.1000", "/ra/10.1000", "/healthz", "/readyz", "/metrics"):
            ask(proxy.url, path)
        ask(proxy.url, "/10.1000/1", "DELETE")
        assert requests(scrape(proxy.url)) == {
            ("redirect", "2xx"): 1,
            ("redirect", "3xx"): 2,
            ("redirect", "4xx"): 3,
            ("redirect", "5xx"): 1,
            ("api", "2xx"): 1,
            ("api", "4xx"): 3,
            ("doira", "2xx"): 2,
            ("healthz", "2xx"): 1,
            ("readyz", "2xx"): 1,
            ("metrics", "2xx"): 1,
        }


def test_durations_are_a_histogram() -> None:
    with running(RECORDS) as proxy:
        for _ in range(5):
            ask(proxy.url, "/10.1000/1")
        samples = scrape(proxy.url)
    name = "doiuri_proxy_request_duration_seconds"
    counts = [samples[f"{name}_bucket", "redirect", bound] for bound in [*map(str, BUCKETS), "+Inf"]]
    assert counts == sorted(counts)
    assert counts[-1] == samples[f"{name}_count", "redirect"] == 5
    assert 0 < samples[f"{name}_sum", "redirect"] < 5


def test_names_in_requests_are_never_labels() -> None:
    """Whatever clients send, the number of series stays."""
    with running(RECORDS) as proxy:
        before = scrape(proxy.url).keys()
        for number in range(15):
            ask(proxy.url, f"/10.{number}/x{number}", headers={"User-Agent": f"agent/{number}"})
            ask(proxy.url, f"/unknown-{number}", f"VERB{number}")
            ask(proxy.url, f"/api/{number}")
        assert scrape(proxy.url).keys() == before
    assert len(before) < 250


def test_the_number_of_records_follows_the_store(tmp_path: Path) -> None:
    store = tmp_path / "r.sqlite3"
    with running(RECORDS) as proxy:
        assert scrape(proxy.url)["doiuri_proxy_records",] == len(RECORDS)
    run("add", "10.1000/1", "https://example.org/", "--store", store)
    with running(store) as proxy:
        assert scrape(proxy.url)["doiuri_proxy_records",] == 1
        run("add", "10.1000/2", "https://example.org/", "--store", store)
        until(lambda: scrape(proxy.url)["doiuri_proxy_records",] == 2)


def test_a_store_that_takes_long_to_count_keeps_nobody_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, go_on, counts = tmp_path / "r.sqlite3", threading.Event(), list[str]()
    run("add", "10.1000/1", "https://example.org/", "--store", store)
    count = SQLiteStore.Snapshot.count

    def slow(self: SQLiteStore.Snapshot, kind: str, base: str) -> int:
        counts.append(base)
        go_on.wait(60)
        return count(self, kind, base)

    monkeypatch.setattr(SQLiteStore.Snapshot, "count", slow)
    monkeypatch.setattr(_store, "COUNT_TIME", 0.1)
    with running(store) as proxy:
        for _ in range(3):
            assert isnan(scrape(proxy.url)["doiuri_proxy_records",])
        assert len(counts) == 1
        go_on.set()
        until(lambda: scrape(proxy.url).get(("doiuri_proxy_records",)) == 1)


def test_requests_to_upstream_and_their_failures_are_counted() -> None:
    def upstream(proxy: Running) -> tuple[float, float]:
        samples = scrape(proxy.url)
        name = "doiuri_proxy_upstream"
        return samples[f"{name}_requests_total",], samples[f"{name}_failures_total",]

    with (
        running([link("10.1000/1", "https://example.org/")]) as upper,
        running(upstream=upper.url, cache=":memory:") as proxy,
    ):
        assert upstream(proxy) == (0, 0)
        for path in ("/10.1000/1", "/10.1000/1", "/10.1000/none"):
            ask(proxy.url, path)
        assert upstream(proxy) == (2, 0)  # the second came from the cache
    with refusing() as port, running(upstream=f"http://127.0.0.1:{port}", cache=":memory:") as proxy:
        ask(proxy.url, "/10.1000/2")
        sent, failed = upstream(proxy)
        assert sent == failed > 0


def test_requests_whose_client_left_are_logged_and_counted(tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    with socket.create_server(("127.0.0.1", 0)) as silent:
        upstream = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with command(tmp_path, "--upstream", upstream, "--cache", ":memory:", "--access-log", log) as proxy:
            with pytest.raises(TimeoutError):
                ask(proxy.url, "/10.1000/1", timeout=0.3)
            until(lambda: " 499 " in log.read_text())
            samples = scrape(proxy.url)
            assert requests(samples) == {("redirect", "4xx"): 1}
            assert samples["doiuri_proxy_requests_in_progress",] == 1  # this one
            proxy.process.kill()  # it would wait for upstream
    line = log.read_text().splitlines()[0]
    pattern = r'127\.0\.0\.1 - - \[[^]]+\] "GET /10\.1000/1 HTTP/1\.1" 499 0 \d+\.\d{6}'
    assert re.fullmatch(pattern, line), line


def test_openmetrics_is_negotiated() -> None:
    with running(RECORDS) as proxy:
        ask(proxy.url, "/10.1000/1")
        answer = ask(proxy.url, "/metrics", headers={"Accept": "application/openmetrics-text; version=1.0.0"})
        assert answer.headers["content-type"].startswith("application/openmetrics-text")
        names = {family.name for family in read_openmetrics(answer.text)}  # type: ignore[no-untyped-call]
        assert "doiuri_proxy_request_duration_seconds" in names


@pytest.mark.parametrize(
    "parameters", ["", ";version", ";version=x", ";version=1.x", ";version=9;escaping=x", ";;="]
)
@pytest.mark.parametrize("media_type", ["application/openmetrics-text", "text/plain", "*/*", "é"])
def test_every_accept_header_gets_metrics(proxy: Running, media_type: str, parameters: str) -> None:
    answer = ask(proxy.url, "/metrics", headers={"Accept": media_type + parameters})
    assert answer.status == 200
    kind = media_type if "openmetrics" in media_type else "text/plain"
    written = "1.0.0" if "openmetrics" in media_type else "0.0.4"
    assert answer.headers["content-type"] == f"{kind}; version={written}; charset=utf-8"
    assert "doiuri_proxy_requests_in_progress" in answer.text


def test_the_version_is_the_one_that_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also after an upgrade, which replaces the files of the package."""
    with running([]) as proxy:
        monkeypatch.setattr(_metrics, "version", lambda _: "99")
        found = [key[1] for key in scrape(proxy.url) if key[0] == "doiuri_proxy_build_info"]
        assert found == [version("doiuri-proxy")]


def test_the_paths_of_the_proxy_are_not_those_of_handles() -> None:
    """A handle has a slash after its prefix; /metrics, /readyz and /healthz have none."""
    names = ["metrics/x", "readyz/x", "healthz/x", "metrics/"]
    with running([link(name, "https://example.org/") for name in names[:3]]) as proxy:
        assert [ask(proxy.url, f"/{name}").status for name in names] == [302, 302, 302, 404]
        for name in ("metrics", "readyz"):
            assert ask(proxy.url, f"/api/handles/{name}/x").json()["responseCode"] == 1
            assert (
                ask(proxy.url, f"/{name}")
                .headers["content-type"]
                .startswith(("text/plain", "application/json"))
            )
            assert ask(proxy.url, f"/{name}", "HEAD").status == 200
            assert ask(proxy.url, f"//{name}").status == 404


def test_the_manual_names_the_metrics_that_there_are() -> None:
    manual = (DEPLOY.parents[2] / "docs" / "howto" / "proxy-service.rst").read_text("utf-8")
    named = {*re.findall(r"doiuri_proxy_\w+", manual)}
    with running(RECORDS) as proxy:
        ask(proxy.url, "/10.1000/1")
        samples = {key[0] for key in scrape(proxy.url)}
    parts = re.compile("_(bucket|count|sum)$")
    samples = {name for name in samples if not name.endswith("_created")}  # Prometheus' own
    assert {parts.sub("", name) for name in named} == {parts.sub("", name) for name in samples}
