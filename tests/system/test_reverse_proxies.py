"""nginx and Caddy in front of the proxy, with the configuration files in the repository."""

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from support.command import Command, command
from support.ports import free_port
from support.programs import needs
from support.proxy_records import RECORDS, link, loc
from support.servers.deploy import deployed
from support.servers.tls import Authority
from support.waiting import until

HOST = "doi.example.org"
LONG = "10.1000/" + "x" * 7000
LONG_URL = "https://example.org/" + "y" * 20_000
LINKS = "".join(f'<location href="https://example.org/{n:0>990}" rel="item"/>' for n in range(4))
LONG_ANSWERS = [
    link("10.1000/long-url", LONG_URL),
    loc("10.1000/long-links", f"<locations>{LINKS}</locations>"),
]
# nginx needs a configuration around the site's own
NGINX = """
daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log; {user}
events {{ worker_connections 256; }}
http {{ access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
include {folder}/doiuri-proxy.conf; }}
"""
PATHS = [
    "/10.1000/1",
    "/10.1000%2F1",
    "//10.1000/1",
    "/doi:10.1000/1",
    "/10.1000/456%23789",
    "/10.1000/456",
    "/10.123/456ABC/zyz",
    "/10.123/456ABC%2Fzyz",
    "/10.1000%2F..",
    "/10.1000/x;y&z%3F+%C3%BC",
    "/10.26321/%C3%81.GUTI%C3%89RREZ.ZARZA.02.2018.03",
    "/10.1000/%3Cscript%3Ealert(1)%3C/script%3E",
    "/10.1000/a:b?noredirect",
    "/10.1000/a,b?urlappend=%2F%2Fx%3Fy",
    "/10.1000/alias2?x=1&y=%20",
    "/api/handles/10.1000/456%23789",
    "/api/handles/10.1000/FORMATS?type=EMAIL&index=2&pretty",
    "/api/handles/10.1000%2Fnone",
    "/doiRA/10.1000/a%2Cb,10.2000",
    f"/{LONG}",
    "/healthz",
]


@dataclass
class Front:
    """A reverse proxy, and the proxy behind it with its access log."""

    kind: str
    port: int
    trust: ssl.SSLContext
    proxy: Command
    log: Path

    def get(self, path: str, client: str = "127.0.0.1", **headers: str) -> tuple[int, str | None, bytes]:
        """The status, the location and the body of an answer over TLS."""
        plain = socket.create_connection(("127.0.0.1", self.port), timeout=30, source_address=(client, 0))
        connection = http.client.HTTPConnection(HOST)
        connection.sock = self.trust.wrap_socket(plain, server_hostname=HOST)
        return answer_of(connection, path, headers)

    def direct(self, path: str) -> tuple[int, str | None, bytes]:
        """The same from the proxy itself."""
        return answer_of(http.client.HTTPConnection(self.proxy.url.removeprefix("http://")), path, {})

    def connections(self) -> int:
        """The number of connections from the reverse proxy to the proxy, as the system lists them."""
        end = f":{urlsplit(self.proxy.url).port:04X}"
        lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()]
        return sum(fields[1].endswith(end) and fields[3] == "01" for fields in lines)  # 01: established

    def clients(self) -> list[str]:
        """The clients in the access log."""
        return [line.partition(" ")[0] for line in self.log.read_text().splitlines()]


def answer_of(
    connection: http.client.HTTPConnection, path: str, headers: dict[str, str]
) -> tuple[int, str | None, bytes]:
    with contextlib.closing(connection):
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.getheader("Location"), answer.read()


def start_nginx(folder: Path, files: dict[str, object]) -> tuple[list[str], dict[str, str]]:
    text = deployed(
        "nginx.conf",
        {
            "listen 443 ssl": f"listen 127.0.0.1:{files['port']} ssl",
            "127.0.0.1:8053": files["backend"],
            "keepalive_timeout 15s": "keepalive_timeout 1s",
            "/etc/ssl/certs/doi.example.org.pem": files["chain"],
            "/etc/ssl/private/doi.example.org.key": files["key"],
        },
    )
    (folder / "doiuri-proxy.conf").write_text(text)
    user = "user root;" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder, user=user))
    return [needs("nginx"), "-p", str(folder), "-c", str(folder / "nginx.conf")], {}


def start_caddy(folder: Path, files: dict[str, object]) -> tuple[list[str], dict[str, str]]:
    site = f"https://{HOST}:{files['port']} {{\n\tbind 127.0.0.1\n\ttls {files['chain']} {files['key']}"
    replaced = {f"{HOST} {{": site, "127.0.0.1:8053": files["backend"], "keepalive 15s": "keepalive 1s"}
    text = deployed("Caddyfile", replaced)
    options = "{\n\tadmin off\n\tauto_https disable_redirects\n}\n"
    (folder / "Caddyfile").write_text(options + text)
    words = [needs("caddy"), "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]
    return words, {"HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}


@pytest.fixture(scope="module", params=[start_nginx, start_caddy], ids=["nginx", "caddy"])
def front(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Front]:
    folder = tmp_path_factory.mktemp("front")
    records, log, port = folder / "r.jsonl", folder / "access.log", free_port()
    with records.open("w") as file:
        served = [*RECORDS, link(LONG, "https://example.org/long"), *LONG_ANSWERS]
        file.writelines(json.dumps(one) + "\n" for one in served)
    authority = Authority(folder)
    chain, key = authority.files(folder, HOST)
    words = ("--records", records, "--access-log", log, "--forwarded-allow-ips", "127.0.0.1")
    with command(folder, *words) as proxy:
        backend = proxy.url.removeprefix("http://")
        start, environ = request.param(folder, {"port": port, "backend": backend, "chain": chain, "key": key})
        with (folder / "front.log").open("wb") as errors:
            process = subprocess.Popen(start, stdout=errors, stderr=errors, env={**os.environ, **environ})
        try:
            wait_for_port(port, process, folder / "front.log")
            yield Front(Path(start[0]).name, port, authority.trusting(), proxy, log)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)


def wait_for_port(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 60
    while True:
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < deadline, log.read_text()
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)


def test_names_arrive_as_they_were_sent(front: Front) -> None:
    answers = {path: front.direct(path) for path in PATHS}
    assert {path: front.get(path) for path in PATHS} == answers
    assert sum(status in {200, 301, 302} for status, _, _ in answers.values()) >= len(PATHS) - 2


def test_long_headers_of_answers_arrive(front: Front) -> None:
    assert front.get("/10.1000/long-url")[:2] == (302, LONG_URL)
    assert front.get("/10.1000/long-links")[0] == 302


def test_paths_that_do_not_arrive_as_they_were_sent(front: Front) -> None:
    """The exceptions that the manual names."""
    above_root, not_a_path = "/10.1000/../../x", "/doiRA/10.1000/a%2Cb|c"
    is_nginx = front.kind == "nginx"
    assert (front.get(above_root)[0] == 400) == is_nginx
    assert front.direct(above_root)[0] == 404
    assert len(json.loads(front.direct(not_a_path)[2])) == 1
    assert len(json.loads(front.get(not_a_path)[2])) == (1 if is_nginx else 2)


def test_the_access_log_names_the_client_and_believes_nobody_else(front: Front) -> None:
    before = len(front.clients())
    front.get("/10.1000/1", "127.0.0.2")
    front.get("/10.1000/1", "127.0.0.3", **{"X-Forwarded-For": "192.0.2.1"})
    front.get("/10.1000/1", "127.0.0.4", Forwarded="for=192.0.2.1")
    assert front.clients()[before:] == ["127.0.0.2", "127.0.0.3", "127.0.0.4"]


@pytest.mark.parametrize("path", ["/metrics", "/readyz"])
def test_metrics_are_for_the_machine_itself(front: Front, path: str) -> None:
    assert front.get(path)[0] == 200
    for spelled in (path, path.replace("e", "%65"), f"/{path}", f"/x/..{path}"):
        status, _, body = front.get(spelled, "127.0.0.2")
        assert status in {403, 404}, spelled
        assert not re.search(rb"doiuri_proxy_|status.:.ok", body)


def test_connections_are_kept_and_closed_before_the_proxy_closes_them(front: Front) -> None:
    """The proxy would close them after 20 seconds, perhaps when a request is under way."""
    until(lambda: front.connections() == 0)
    start = time.monotonic()
    until(lambda: front.get("/10.1000/1")[0] == 302 and front.connections() == 1)
    until(lambda: front.connections() == 0)
    assert time.monotonic() - start < 15
