"""Responses to hostile, broken and slow clients, and to others at the same time."""

import asyncio
import re
import threading
from typing import Any

import pytest
from doiuri_proxy import Records, Running, running
from doiuri_proxy.pytest_plugin import Proxies
from support.http import ask, connect, send
from support.proxy_records import alias, link, record, value

HOST = b"Host: localhost\r\n"
GET = b"GET /api/handles/10.1000/1 HTTP/1.1\r\n"
POST = b"POST / HTTP/1.1\r\n" + HOST
SMUGGLED = b"GET /10.1000/smuggled HTTP/1.1\r\n" + HOST + b"\r\n"


def status(raw: bytes) -> int:
    assert raw.startswith(b"HTTP/1.1 "), raw
    return int(raw[9:12])


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"\x00\x01\x02\r\n\r\n", 400),
        (b"hello\r\n\r\n", 400),
        (b"GET\r\n\r\n", 400),
        (b"GET / HTTP/9\r\n\r\n", 400),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 501),
        (GET + b"\r\n", 400),
        (GET + HOST + HOST + b"\r\n", 400),
        (GET + HOST + b"X Y: z\r\n\r\n", 400),
        (GET + HOST + b"X : z\r\n\r\n", 400),
        (GET + HOST + b"X: a\x00b\r\n\r\n", 400),
        (GET + HOST + b"X: " + b"a" * 300_000 + b"\r\n\r\n", 400),
        (GET + HOST + b"X: y\r\n" * 100_000 + b"\r\n", 400),
        (b"GET /" + b"a" * 300_000 + b" HTTP/1.1\r\n" + HOST + b"\r\n", 400),
        (b"CONNECT doi.org:443 HTTP/1.1\r\n" + HOST + b"\r\n", 501),
        (b"FOO / HTTP/1.1\r\n" + HOST + b"\r\n", 501),
        (
            POST + b"Transfer-Encoding: chunked\r\n\r\n" + b"8000\r\n%b\r\n" % (b"a" * 0x8000) * 3,
            413,
        ),
    ],
)
def test_malformed_and_oversized_requests(url: str, raw: bytes, expected: int) -> None:
    assert status(send(url, raw)) == expected
    assert ask(url, "/healthz").status == 200


@pytest.mark.parametrize(
    ("path", "query"),
    [("/10.1000/", ""), ("/api/handles/10.1000/", ""), ("/api/handles/10.1000/x", "?a=")],
)
def test_limits_are_the_longest_that_is_read(url: str, path: str, query: str) -> None:
    kind = "application/json" if "api" in path else "text/html"
    for more, status, form_status in (0, 404, 404), (1, 414, 413):
        found = ask(url, f"{path}{query:x<{8192 + more - len(path)}}")
        assert (found.status, found.headers["content-type"].partition(";")[0]) == (status, kind)
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        assert ask(url, f"{path}none", "POST", b"x" * (65_536 + more), form).status == form_status


@pytest.mark.parametrize(
    "raw",
    [
        POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + SMUGGLED,
        POST + b"Content-Length: 0\r\nContent-Length: 5\r\n\r\nhello" + SMUGGLED,
        POST + b"Content-Length: +5\r\n\r\nhello" + SMUGGLED,
        POST + b"Content-Length: -1\r\n\r\n" + SMUGGLED,
        POST + b"Content-Length: 5, 6\r\n\r\nhello" + SMUGGLED,
        POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" + SMUGGLED,
        POST
        + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n"
        + SMUGGLED,
        POST + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n" + SMUGGLED,
        POST + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + SMUGGLED,
        POST + b"Transfer-Encoding: chunked\r\n\r\n5x\r\nhello\r\n0\r\n\r\n" + SMUGGLED,
        POST + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhelloXX0\r\n\r\n" + SMUGGLED,
        POST.replace(b"1.1", b"1.0") + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + SMUGGLED,
    ],
)
def test_smuggled_requests_are_not_seen(proxy: Running, raw: bytes) -> None:
    proxy.log.clear()
    answer = send(proxy.url, raw)
    assert 400 <= status(answer) < 600
    assert answer.count(b"HTTP/1.1 ") == 1
    assert not [request for request in proxy.log if "smuggled" in request.target]


@pytest.mark.parametrize(
    "path", ["/10.1000/{}", "/10.1000/{}/", "/api/handles/10.1000/{}", "/doiRA/10.1000/{}"]
)
@pytest.mark.parametrize(
    "name", ["x%0D%0ASet-Cookie:%20a=b", "x%0ALocation:%20https://evil.example/", "x%00y"]
)
def test_names_cannot_inject_headers(url: str, name: str, path: str) -> None:
    answer = ask(url, path.format(name))
    assert not {"set-cookie", "location"} & set(answer.headers)
    assert answer.status in {200, 404}


EVIL = "\r\nSet-Cookie: a=b\r\n\r\n<script>"


@pytest.mark.parametrize(
    "evil",
    [
        link("10.1000/x", f"https://example.org/{EVIL}"),
        link("10.1000/x", f"https://example.org{EVIL}/"),
        alias("10.1000/x", f"10.1000/{EVIL}"),
        alias("10.1000/x", "10.1000//\\evil.example/..//"),
    ],
    ids=["a path", "a host", "an alias", "slashes"],
)
def test_records_cannot_inject_headers(evil: dict[str, Any], doi_proxy: Proxies) -> None:
    proxy = doi_proxy([evil])
    answer = ask(proxy.url, "/10.1000/x")
    assert "set-cookie" not in answer.headers
    assert answer.headers.get("location", "/10.1000/").startswith(
        ("https://example.org/", "/10.1000/")
    )
    assert "<script>" not in answer.text


@pytest.mark.parametrize(
    "raw",
    [
        b"OPTIONS * HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n",
        b"GET /healthz HTTP/1.0\r\n\r\n",
        GET + HOST + b"Upgrade: websocket\r\nConnection: Upgrade, close\r\n\r\n",
    ],
)
def test_other_forms_of_a_request(url: str, raw: bytes) -> None:
    assert status(send(url, raw)) == 200


def test_keep_alive_pipelining_and_100_continue(url: str) -> None:
    last = GET + HOST + b"Connection: close\r\n\r\n"
    answer = send(url, (GET + HOST + b"\r\n") * 5 + last)
    assert answer.count(b'"responseCode":1') == 6
    with connect(url) as connection:
        connection.sendall(
            POST + b"Expect: 100-continue\r\nContent-Length: 13\r\nConnection: close\r\n\r\n"
        )
        assert connection.recv(100).startswith(b"HTTP/1.1 100")
        connection.sendall(b"hdl=10.1000/1")
        assert b"302" in connection.recv(100)


@pytest.mark.parametrize("method", [b"GET", b"HEAD"])
def test_a_body_that_is_not_asked_for_ends_the_connection(url: str, method: bytes) -> None:
    """RFC 9110 §10.1.1: a client that gets a final status may leave out the body."""
    head = method + b" /healthz HTTP/1.1\r\n" + HOST + b"Expect: 100-continue\r\n"
    answer = send(url, head + b"Content-Length: 5\r\n\r\n")
    assert b"\r\nconnection: close\r\n" in answer


def test_a_header_in_several_lines_is_one_list(url: str) -> None:
    accept = b"Accept: text/turtle;q=0.5\r\nAccept: application/pdf\r\nAccept: text/html;q=0.1\r\n"
    answer = send(
        url, b"GET /10.1000/loc HTTP/1.1\r\n" + HOST + accept + b"Connection: close\r\n\r\n"
    )
    assert b"\r\nLocation: https://example.org/pdf\r\n" in answer


BIG = record("10.1000/big", value("X", "x" * 8_000_000))
GET_BIG = b"GET /api/handles/10.1000/big HTTP/1.1\r\n" + HOST


CHUNKED = HOST + b"Transfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("first", "second", "statuses"),
    [
        (GET + HOST + b"\r\n", b"GET\r\n\r\n", [200, 400]),
        (GET_BIG + CHUNKED.removeprefix(HOST), b"zz\r\n", [200]),
    ],
)
def test_a_refusal_is_not_written_into_a_response(
    first: bytes, second: bytes, statuses: list[int]
) -> None:
    with (
        running([BIG, link("10.1000/1", "https://example.org/")]) as proxy,
        connect(proxy.url) as connection,
    ):
        connection.sendall(first)
        rest = connection.recv(100)
        connection.sendall(second)
        rest += b"".join(iter(lambda: connection.recv(1_000_000), b""))
    assert [int(code) for code in re.findall(rb"HTTP/1\.1 (\d{3}) ", rest)] == statuses


def test_a_broken_body_ends_the_answer_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = threading.Event()
    over = threading.Event()

    async def lookup(*_args: object, **_options: object) -> None:
        asked.set()
        while not over.is_set():
            await asyncio.sleep(0.01)

    monkeypatch.setattr(Records, "lookup", lookup)
    with running([]) as proxy, connect(proxy.url) as connection:
        connection.sendall(GET + CHUNKED)
        assert asked.wait(60)
        connection.sendall(b"zz\r\n")
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
        over.set()
        assert status(answer) == 400
        assert answer.count(b"HTTP/1.1") == 1


def test_a_failure_of_ours_is_an_answer_and_logged(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, doi_proxy: Proxies
) -> None:
    proxy = doi_proxy([])
    monkeypatch.setattr(Records, "lookup", lambda *_, **__: 1 / 0)
    assert ask(proxy.url, "/10.1000/1").status == 500
    assert ask(proxy.url, "/api/handles/10.1000/1").json()["responseCode"] == 2
    assert "cannot answer /10.1000/1" in caplog.text


# Request targets that clients seldom send: names arrive as they were sent.
TARGETS = [
    (b"/", 200, "Resolve a DOI Name"),
    (b"///10.1000/1", 302, "http://www.doi.org/index.html"),
    (b"/10.1000//1", 404, "DOI Name Not Found"),
    (b"/10.1000%2f1", 302, "http://www.doi.org/index.html"),
    (b"/%31%30.1000/1", 302, "http://www.doi.org/index.html"),
    (b"/10.1000/%2e%2e", 302, "https://example.org/dots"),
    (b"/10.1000/../1", 404, "DOI Name Not Found"),
    (b"/10.1000/./1", 404, "DOI Name Not Found"),
    (b"/../10.1000/1", 404, "DOI Name Not Found"),
    (b"/10.1000/456#789", 302, "https://example.org/hash"),
    (b"/10.1000/1?", 302, "http://www.doi.org/index.html"),
    (b"/10.1000/1?noredirect?x", 302, "http://www.doi.org/index.html"),
    (b"?noredirect", 200, "Resolve a DOI Name"),
    (b"10.1000/1", 302, "http://www.doi.org/index.html"),
    (b"http://doi.org/10.1000/1", 302, "http://www.doi.org/index.html"),
    (b"HTTPS://doi.org/10.1000/1?auth", 302, "http://www.doi.org/index.html"),
    (b"http://doi.org", 200, "Resolve a DOI Name"),
    (b"http:///10.1000/1", 302, "http://www.doi.org/index.html"),
    (b"doi:10.1000/1", 302, "http://www.doi.org/index.html"),
    (b"//api/handles/10.1000/1", 404, "DOI Name Not Found"),
    (b"/api//handles/10.1000/1", 404, "responseCode 4"),
    (b"/api/handles//10.1000/1", 404, "responseCode 100"),
    (b"/%61pi/handles/10.1000/1", 404, "DOI Name Not Found"),
    (b"/api/handles/%31%30.1000%2f1", 200, "responseCode 1"),
    (b"/api/handles/10.1000/x;y&z%3F+%C3%BC", 200, "responseCode 1"),
    (b"/api/handles/10.1000/456%23789", 200, "responseCode 1"),
    (b"/healthz/", 404, "DOI Name Not Found"),
    (b"/%68ealthz", 404, "DOI Name Not Found"),
    (b"/healthz#x", 404, "DOI Name Not Found"),
    (b"/10.1000/%zz", 400, "Bad Request"),
    (b"/10.1000/%C3%81", 404, "DOI Name Not Found"),
    (b"/10.1000/\xc3\x81", 400, "Invalid HTTP request received."),
    (b"/10.1000/%00", 404, "DOI Name Not Found"),
    (b"/10.1000/\x00", 400, "Invalid HTTP request received."),
    (b"/10.1000/a b", 400, "Invalid HTTP request received."),
    (b"/10.1000/<x>", 404, "DOI Name Not Found"),
    (b"/10.1000/{x}|^`", 404, "DOI Name Not Found"),
    (b"/10.1000/x%3By%26z%3F%2B%C3%BC", 302, "https://example.org/odd"),
    (b"/10.1000/x;y&z%3F+%C3%BC", 302, "https://example.org/odd"),
    (b"/10.1000/loc?locatt=id:0;x", 302, "https://example.org/uk"),
    (b"/10.1000/1?a=%ff", 400, "Bad Request"),
    (b"/10.1000/1?\xc3\xbc", 400, "Invalid HTTP request received."),
    (b"/api/handles/10.1000/1?pretty&type=%zz", 400, "responseCode 4"),
    (
        b"/doiRA/10.1000/a%2Cb,10.2000",
        200,
        '[{"DOI":"10.1000/a,b","RA":"Crossref"},{"DOI":"10.2000","RA":"DataCite"}]',
    ),
    (b"/doiRA/", 200, '[{"DOI":"","status":"Invalid DOI"}]'),
    (b"/doiRA", 404, "DOI Name Not Found"),
    (b"/ra/10.1000,", 200, '[{"DOI":"10.1000","RA":"Crossref"},{"DOI":"","status":"Invalid DOI"}]'),
    (b"", 400, "Invalid HTTP request received."),
    (b"user@host:80", 404, "DOI Name Not Found"),
]


def summary(head: bytes, body: bytes) -> str:
    """Where a redirect leads, else what an answer says in short."""
    if location := re.search(rb"(?mi)^location: (.*?)\r?$", head):
        return location[1].decode()
    if code := re.match(rb'{"responseCode":(\d+)', body):
        return f"responseCode {code[1].decode()}"
    title = re.search(rb"<title>(.*?)</title>", body)
    return (title[1] if title else body).decode()


@pytest.mark.parametrize(
    ("target", "status", "expected"), TARGETS, ids=[repr(one[0])[2:-1] for one in TARGETS]
)
def test_names_in_odd_targets_arrive_as_they_were_sent(
    proxy: Running, target: bytes, status: int, expected: str
) -> None:
    end = b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    head, _, body = send(proxy.url, b"GET " + target + end).partition(b"\r\n\r\n")
    assert (int(head[9:12]), summary(head, body)) == (status, expected)
