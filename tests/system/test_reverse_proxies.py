"""Caddy in front of the proxy, with the configuration in the manual."""

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

import pytest
from support.command import Command, command
from support.ports import free_port
from support.programs import needs
from support.proxy_records import RECORDS, link, loc
from support.servers.tls import Authority

HOST = "doi.example.org"
LONG = "10.1000/" + "x" * 7000
LONG_URL = "https://example.org/" + "y" * 20_000
LINKS = "".join(f'<location href="https://example.org/{n:0>990}" rel="item"/>' for n in range(4))
LONG_ANSWERS = [
    link("10.1000/long-url", LONG_URL),
    loc("10.1000/long-links", f"<locations>{LINKS}</locations>"),
]
MANUAL = Path(__file__).parents[2] / "docs" / "howto" / "proxy.rst"
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
    """A reverse proxy, and the proxy behind it."""

    port: int
    trust: ssl.SSLContext
    proxy: Command

    def get(self, path: str) -> tuple[int, str | None, bytes]:
        """The status, the location and the body of an answer over TLS."""
        plain = socket.create_connection(("127.0.0.1", self.port), timeout=30)
        connection = http.client.HTTPConnection(HOST)
        connection.sock = self.trust.wrap_socket(plain, server_hostname=HOST)
        return answer_of(connection, path)

    def direct(self, path: str) -> tuple[int, str | None, bytes]:
        """The same from the proxy itself."""
        return answer_of(http.client.HTTPConnection(self.proxy.url.removeprefix("http://")), path)


def answer_of(connection: http.client.HTTPConnection, path: str) -> tuple[int, str | None, bytes]:
    with contextlib.closing(connection):
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.getheader("Location"), answer.read()


def start_caddy(folder: Path, files: dict[str, object]) -> tuple[list[str], dict[str, str]]:
    (block,) = re.findall(
        r"\n   doi\.example\.org \{\n.*?\n   \}\n", MANUAL.read_text("utf-8"), re.DOTALL
    )
    site = f"https://{HOST}:{files['port']} {{\n\tbind 127.0.0.1\n\ttls {files['chain']} {files['key']}"
    text = block.replace(f"{HOST} {{", site).replace("127.0.0.1:8053", str(files["backend"]))
    options = "{\n\tadmin off\n\tauto_https disable_redirects\n}\n"
    (folder / "Caddyfile").write_text(options + text)
    words = [needs("caddy"), "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]
    return words, {
        "HOME": str(folder),
        "XDG_DATA_HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder),
    }


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Front]:
    folder = tmp_path_factory.mktemp("front")
    records = folder / "r.jsonl"
    port = free_port()
    with records.open("w") as file:
        served = [*RECORDS, link(LONG, "https://example.org/long"), *LONG_ANSWERS]
        file.writelines(json.dumps(one) + "\n" for one in served)
    authority = Authority(folder)
    chain, key = authority.files(folder, HOST)
    with command(folder, "--records", records) as proxy:
        backend = proxy.url.removeprefix("http://")
        start, environ = start_caddy(
            folder, {"port": port, "backend": backend, "chain": chain, "key": key}
        )
        with (folder / "front.log").open("wb") as errors:
            process = subprocess.Popen(
                start, stdout=errors, stderr=errors, env={**os.environ, **environ}
            )
        try:
            wait_for_port(port, process, folder / "front.log")
            yield Front(port, authority.trusting(), proxy)
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
    missing = [path for path, (status, _, _) in answers.items() if status == 404]
    assert missing == ["/10.1000/456", "/api/handles/10.1000%2Fnone"]


def test_long_headers_of_answers_arrive(front: Front) -> None:
    assert front.get("/10.1000/long-url")[:2] == (302, LONG_URL)
    assert front.get("/10.1000/long-links")[0] == 302


def test_paths_that_do_not_arrive_as_they_were_sent(front: Front) -> None:
    """The exception that the manual names."""
    not_a_path = "/doiRA/10.1000/a%2Cb|c"
    assert len(json.loads(front.direct(not_a_path)[2])) == 1
    assert len(json.loads(front.get(not_a_path)[2])) == 2
