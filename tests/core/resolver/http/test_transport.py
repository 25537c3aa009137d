"""Redirects, credentials, proxies, limits on sizes, and which failures count against the resolver."""

from __future__ import annotations

import gzip
import io
import random
import re
import socket
import threading
import time
import zlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import chain, pairwise, product
from typing import Any

import pytest
import requests
import urllib3
from doiuri import DOI, BadRecord, ResolverUnavailable
from doiuri.connections import CHUNK, TooLongError, pieces, sentence
from doiuri.resolver import Metadata, Outcome, Resolver
from hypothesis import given
from hypothesis import strategies as st
from requests.adapters import BaseAdapter
from support.processes import all_threads_ended
from support.servers.faults import FAULTS, NAME, TARGET, Server, moved, record, reply, says, serving
from support.servers.rest import found, handling, header, proxy, targets
from support.servers.web import JSON, Answer, Asked, site
from support.store_contract import Kept
from urllib3.exceptions import LocationParseError, LocationValueError, ProtocolError

DOI_ = DOI("10.1000/a")


def elsewhere(server: Server) -> str:
    """A URL of the same server, under another name of this machine."""
    return f"http://localhost:{server.port}/x?y"


def test_a_client_certificate_goes_to_no_other_host_and_the_user_agent_is_ours() -> None:
    seen: list[tuple[str | None, object, bytes | str]] = []

    class Spy(requests.adapters.HTTPAdapter):
        def send(
            self, request: requests.PreparedRequest, *args: Any, **options: Any
        ) -> requests.Response:
            seen.append((request.url, options.pop("cert"), request.headers["User-Agent"][:7]))
            return super().send(request, *args, **options)

    mine = requests.Session()
    mine.cert = "mine.pem"
    mine.mount("http://", Spy())
    with (
        says(reply("200 OK", b"", kind="text/plain"))() as agency,
        moved(elsewhere(agency))() as server,
    ):
        Resolver(server.url, store=None, private=True, session=mine).metadata(DOI_, "text/plain")
        assert seen == [
            (f"{server.url}/10.1000/a", "mine.pem", "doiuri/"),
            (elsewhere(agency), None, "doiuri/"),
        ]


PATHS = [*chain(*(product(["home", "away"], repeat=length) for length in range(5)))]


@pytest.mark.parametrize("path", PATHS, ids="-".join)
def test_what_a_session_adds_goes_to_no_request_that_another_host_chose(
    path: tuple[str, ...],
) -> None:
    """Redirects lead from the resolver to itself or away, and from there back, in every order."""
    hosts = {"home": "127.0.0.1", "away": "localhost"}

    def answer(_: Asked) -> Answer:
        number = len(server.seen) - 1
        if number < len(path):
            return Answer(302, {"Location": server.at(hosts[path[number]])})
        return Answer(200, {"Content-Type": "text/plain"}, b"a citation")

    mine = requests.Session()
    mine.auth = ("me", "secret")
    mine.headers["X-Key"] = "secret"
    mine.cookies.set("key", "secret")
    with site(answer) as server:
        Resolver(server.url, store=None, private=True, session=mine).metadata(DOI_, "text/plain")

    names = ["authorization", "x-key", "cookie"]
    added = [filter(asked.headers.__contains__, names) for asked in server.seen]
    at_home = 1 + [*path, "away"].index("away")  # the requests before one leads away
    assert [*map(list, added)] == [names] * at_home + [[]] * (len(path) + 1 - at_home)


@pytest.mark.parametrize("kind", ["new", "used", "through a proxy", "through a tunnel"])
def test_a_session_whose_server_trickles_is_given_up(kind: str) -> None:
    """Neither a thread nor a socket is left behind, whatever connections the session had."""

    def trickle(_server: Server, connection: socket.socket, _request: bytes) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nX: ")
        with suppress(OSError):
            for _ in range(600):
                connection.sendall(b"x")
                time.sleep(0.05)
        closed.append(1)

    closed: list[int] = []
    mine = requests.Session()
    mine.trust_env = False
    with serving(trickle) as server:
        url = server.url
        if kind == "used":
            with handling(proxy()) as other:
                mine.get(f"{other.url}/api/handles/10.1000/a")
        if kind == "through a proxy":
            mine.proxies["http"] = server.url
            url = "http://resolver.test"
        if kind == "through a tunnel":
            mine.proxies["https"] = server.url
            url = "https://resolver.test"
        way = f" through the proxy 127.0.0.1:{server.port}" if "through" in kind else ""
        for _ in range(2):
            with pytest.raises(ResolverUnavailable, match=f"no answer from [^ ]+{way} within"):
                Resolver(url, store=None, session=mine, timeout=0.3, rate=None).resolve(DOI_)
        assert all_threads_ended()
        deadline = time.monotonic() + 10
        while len(closed) < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        assert len(closed) == 2


def test_the_body_of_a_redirect_is_not_read() -> None:
    usual = proxy()

    def answer(_server: Server, connection: socket.socket, request: bytes) -> None:
        target = request.split(b" ")[1].decode()
        if target.startswith("/new"):
            connection.sendall(usual(target.removeprefix("/new")))
            return
        connection.sendall(f"HTTP/1.1 302 Found\r\nLocation: /new{target}\r\n\r\n".encode())
        for _ in range(100):
            connection.sendall(b" " * 1_000_000)
            sent.append(1)

    for session in (None, requests.Session()):
        sent: list[int] = []
        with serving(answer) as server:
            assert Resolver(server.url, store=None, session=session).resolve(DOI_).url
        assert len(sent) < 20, session


@pytest.mark.parametrize("count", [9, 10, 11])
def test_ten_redirects_are_followed_and_no_more(count: int) -> None:
    def answer(target: str) -> bytes:
        number = int(target.rpartition("/")[2]) if target.startswith("/step/") else 0
        if number == count:
            return reply("200 OK", b"a text", kind="text/plain")
        return reply("302 Found", b"", f"Location: /step/{number + 1}")

    with handling(answer) as server:
        resolver = Resolver(server.url, store=None, private=True, rate=None)
        got: object
        try:
            got = resolver.metadata(DOI_, "text/plain")
        except ResolverUnavailable as error:
            got = error

    followed = len(targets(server)) - 1
    assert followed == min(count, 10), (
        f"of {count} redirects {followed} were followed, not {min(count, 10)}"
    )
    assert ("more than 10 redirects" in str(got)) is (count > 10), f"{count} redirects: {got}"


def test_a_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with handling(lambda target: found(target.rpartition("/api/handles/")[2])) as way:
        for name in ("no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("http_proxy", way.url)
        assert Resolver("http://resolver.test", store=None, rate=None).resolve(DOI_).url
        assert targets(way) == ["http://resolver.test/api/handles/10.1000/a"]
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        with handling(proxy()) as server:
            assert Resolver(server.url, store=None).resolve(DOI_).url
        assert len(way.requests) == 1


INVALID = "the URL of the proxy is invalid"
PROXIES = {
    "nobody there": ("http://me:secret@127.0.0.1:1", "127.0.0.1:1: proxy: Connection refused"),
    "another scheme": ("foo://me:secret@127.0.0.1", INVALID),
    "no host": ("http://me:secret@:99999999", INVALID),
    "no host at all": ("http://", INVALID),
    "a slash in the password": ("http://me:S3cret/secret@127.0.0.1:1", INVALID),
    "a number and a slash": ("http://me:53/secret@127.0.0.1:1", INVALID),
    "a question mark": ("http://me:S3cret?secret@127.0.0.1:1", INVALID),
    "a backslash": ("http://me:1\\S3cret@127.0.0.1:1", INVALID),
    "a number sign": ("http://me:S3cret#secret@127.0.0.1:1", INVALID),
    "no scheme": ("me:53/secret@127.0.0.1:1", INVALID),
    "a bracket": ("http://me:secret@[127.0.0.1:1", INVALID),
    "a blank": ("http://me:sec ret@127.0.0.1:1", "Connection refused|invalid"),
}
ASKED: dict[str, Callable[[Resolver], Iterable[Outcome]]] = {
    "a record": lambda resolver: resolver.resolve_many([DOI_]),
    "Which RA": lambda resolver: resolver.check([DOI_], batch=True),
    "metadata": lambda resolver: resolver.works([DOI_]),
}


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
@pytest.mark.parametrize(("proxy_url", "reason"), PROXIES.values(), ids=PROXIES)
def test_errors_of_a_proxy_say_what_was_wrong_without_its_password(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    proxy_url: str,
    reason: str,
    asked: Callable[[Resolver], Iterable[Outcome]],
) -> None:
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", proxy_url)

    with caplog.at_level("DEBUG", "doiuri"):
        (outcome,) = asked(Resolver("http://resolver.test", store=None))

    assert outcome.status == "unknown"
    assert re.search(reason, outcome.reason), outcome.reason
    told = f"{outcome.reason} {caplog.text}"
    assert not re.search("secret|S3cret|53/|me:", told, re.IGNORECASE), told


def test_a_proxy_that_wants_credentials_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not the resolver: its user would look at the wrong machine."""
    wants = reply("407 Proxy Authentication Required", b"")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with says(wants)() as server:
        monkeypatch.setenv("http_proxy", server.url)
        monkeypatch.setenv("https_proxy", server.url)
        expected = f" 127.0.0.1:{server.port}: proxy: HTTP status 407"
        assert reason("http://resolver.test").endswith(expected)
        assert reason("https://resolver.test").endswith(expected)


def test_what_is_no_http_is_shown() -> None:
    with says(b"220 mail \x1b[31m\r\n")() as server:
        assert reason(server.url).endswith(
            rf" 127.0.0.1:{server.port}: the answer is not HTTP: '220 mail \x1b[31m'"
        )


@pytest.mark.parametrize("encoding", ["identity", "gzip"])
@pytest.mark.parametrize("over", [0, 1])
def test_the_limit_of_a_body_is_exact_even_in_an_encoding_that_was_not_asked_for(
    encoding: str, over: int
) -> None:
    body = record() + b" " * (1_000_000 - len(record()) + over)
    content = gzip.compress(body) if encoding == "gzip" else body
    with says(reply("200 OK", content, f"Content-Encoding: {encoding}"))() as server:
        if over:
            assert f"longer than {1_000_000:,} bytes" in reason(server.url)
        else:
            assert Resolver(server.url, store=None).resolve(DOI(NAME)).url == TARGET
    assert header(server.requests[0], "Accept-Encoding") == "identity"


NESTED = gzip.compress(gzip.compress(b" " * 10_000_000, 9), 9)
CODED = {
    "gzip in gzip": (NESTED, "gzip, gzip", "compressed as 'gzip, gzip', which was not asked for"),
    "a coding that is not asked for": (b"\x00", "br", "compressed as 'br'"),
    "two codings": (gzip.compress(record()), "deflate, gzip", "compressed as 'deflate, gzip'"),
    "more than gzip": (gzip.compress(record()) + b"more", "gzip", "the answer was cut off"),
    "cut off": (gzip.compress(record())[:-9], "gzip", "the answer was cut off"),
    "no gzip": (record(), "gzip", "the answer is damaged"),
}


@pytest.mark.parametrize(("content", "coding", "why"), CODED.values(), ids=CODED)
def test_what_is_not_compressed_once_is_refused(content: bytes, coding: str, why: str) -> None:
    with says(reply("200 OK", content, f"Content-Encoding: {coding}"))() as server:
        assert why in reason(server.url)


def raw_deflate(body: bytes) -> bytes:
    compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return compressor.compress(body) + compressor.flush()


def members(body: bytes) -> bytes:
    """Gzip with a member for every thousand bytes."""
    return b"".join(gzip.compress(body[at : at + 1000]) for at in range(0, len(body), 1000))


WAYS: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "as it is": (bytes, "identity"),
    "a character set": (bytes, "UTF-8"),
    "gzip": (gzip.compress, "gzip"),
    "gzip after identity": (gzip.compress, "identity, GZIP"),
    "gzip of several members": (members, "x-gzip"),
    "deflate": (zlib.compress, "deflate"),
    "deflate without a header": (raw_deflate, "deflate"),
}


@pytest.mark.parametrize(("compress", "coding"), WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("size", [0, 1, 999, 1000, 16_384, 16_385, 200_000])
def test_a_body_is_the_same_however_a_server_sends_it(
    compress: Callable[[bytes], bytes], coding: str, size: int
) -> None:
    body = random.Random(1).randbytes(size // 2) + b" " * (size - size // 2)
    content = io.BytesIO(compress(body))
    response = urllib3.HTTPResponse(content, {"Content-Encoding": coding}, preload_content=False)

    assert b"".join(pieces(response, 1_000_000)) == body


def test_a_body_is_decoded_in_pieces_of_a_bounded_size() -> None:
    with pytest.raises(ValueError, match=r"longer than 1,000,000 bytes"):
        list(pieces(whole(b" " * 10_000_000), 1_000_000))
    sizes = [len(piece) for piece in pieces(whole(b" " * 1_000_000), 1_000_000)]
    assert sum(sizes) == 1_000_000
    assert max(sizes) <= 16_384


def joined_members(parts: list[bytes]) -> bytes:
    return b"".join(map(gzip.compress, parts))


CODINGS: dict[str, tuple[Callable[[list[bytes]], bytes], str]] = {
    "none": (b"".join, ""),
    "gzip": (lambda parts: gzip.compress(b"".join(parts)), "gzip"),
    "members": (joined_members, "x-gzip"),
    "zlib": (lambda parts: zlib.compress(b"".join(parts)), "deflate"),
    "raw": (lambda parts: raw_deflate(b"".join(parts)), "deflate"),
}
body_parts = st.tuples(st.integers(1, 40_000), st.sampled_from(["noise", "blanks"]))


@pytest.mark.parametrize("coding", CODINGS)
@given(parts=st.lists(body_parts, min_size=1, max_size=5), more=st.sampled_from([-5000, -1, 0, 1]))
def test_a_body_is_read_if_it_has_no_more_bytes_than_the_limit_as_sent_and_decoded(
    coding: str, parts: list[tuple[int, str]], more: int
) -> None:
    """Whichever is longer: gzip may have any number of empty members, and noise grows when it is compressed."""
    bodies = [
        random.Random(size).randbytes(size) if content == "noise" else b" " * size
        for size, content in parts
    ]
    compress, named = CODINGS[coding]
    sent = compress(bodies)
    body = b"".join(bodies)
    longest = max(len(sent), len(body))
    limit = max(longest + more, 0)
    headers = {"Content-Encoding": named}
    response = urllib3.HTTPResponse(io.BytesIO(sent), headers, preload_content=False)

    read: list[bytes] = []
    try:
        read.extend(pieces(response, limit))
        is_too_long = False
    except TooLongError:
        is_too_long = True

    size = f"{len(sent)} bytes sent, {len(body)} decoded, limit {limit}"
    assert is_too_long is (longest > limit), size
    assert is_too_long or b"".join(read) == body, size
    assert sum(map(len, read)) <= limit, f"more was decoded: {size}"
    assert response.tell() <= limit + CHUNK, f"{response.tell()} bytes were read: {size}"


@pytest.mark.parametrize(
    "compress", [gzip.compress, zlib.compress, bytes], ids=["gzip", "zlib", "none"]
)
@pytest.mark.parametrize("size", [0, 1, 5000])
def test_no_more_than_the_limit_is_read_whatever_it_decodes_to(
    compress: Callable[[bytes], bytes], size: int
) -> None:
    """A stream may hold any number of members, each of which may be empty."""
    limit = 100_000
    member = compress(b" " * size) or b" "
    content = io.BytesIO(member * (1_000_000 // len(member)))
    headers = {} if compress is bytes else {"Content-Encoding": "gzip"}
    response = urllib3.HTTPResponse(content, headers, preload_content=False)
    decoded: list[bytes] = []

    with pytest.raises(ValueError, match="longer than 100,000 bytes"):
        decoded.extend(pieces(response, limit))

    taken = max(content.tell() - CHUNK, sum(map(len, decoded)))
    assert taken <= limit, (
        f"{taken} bytes were read of members of {size} bytes; the limit is {limit}"
    )


def whole(body: bytes) -> urllib3.HTTPResponse:
    content = io.BytesIO(gzip.compress(body))
    return urllib3.HTTPResponse(content, {"Content-Encoding": "gzip"}, preload_content=False)


@pytest.mark.parametrize(
    ("sent", "reason"),
    [("text/html;charset=utf-8", "'text/html;charset=utf-8'"), ("", "no media type")],
)
def test_a_server_that_sends_what_was_not_asked_for(sent: str, reason: str) -> None:
    """An agency without RIS leaves the request to the landing page, which may send anything."""
    ris = "application/x-research-info-systems"
    store = Kept()
    with (
        says(reply("200 OK", b"TY  - JOUR", kind=sent))() as publisher,
        moved(elsewhere(publisher))() as server,
    ):
        resolver = Resolver(server.url, store=store, private=True)
        with pytest.raises(BadRecord) as caught:
            resolver.metadata(DOI_, ris)
        assert (
            caught.value.reason == f"localhost:{publisher.port} sent {reason} in place of {ris!r}"
        )
        [outcome] = resolver.metadata_many([DOI_], ris)
        assert (outcome.status, outcome.metadata) == ("unknown", Metadata(b"TY  - JOUR", sent))
        assert store == {}
        if sent:
            assert resolver.metadata(DOI_, sent).content_type == sent


def test_connections_are_kept() -> None:
    """Hundreds of requests, but no more connections than threads."""
    threads: set[int] = set()

    def answer(asked: Asked) -> Answer:
        threads.add(threading.get_ident())  # the server has one for each connection
        return Answer(200, JSON, record(asked.target.removeprefix("/api/handles/")))

    with site(answer) as server:
        outcomes = Resolver(server.url, store=None).resolve_many(f"10.1000/{n}" for n in range(200))
        assert [outcome.status for outcome in outcomes] == ["found"] * 200
    assert len(threads) <= 3


def reason(base: str, timeout: float = 10) -> str:
    with pytest.raises(ResolverUnavailable) as caught:
        Resolver(base, store=None, timeout=timeout).resolve(DOI_)
    return str(caught.value)


def test_the_reason_names_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> Any:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    with monkeypatch.context() as patch:
        patch.setattr(socket, "getaddrinfo", unknown)
        assert "dou.example: Name or service not known" in reason("https://dou.example")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        host = f"127.0.0.1:{silent.getsockname()[1]}"
        assert f"no answer from {host} within 0.2 s" in reason(f"http://{host}", 0.2)
    [hanging] = [fault for fault in FAULTS if fault.name == "DNS that hangs"]
    with hanging.serve() as place, moved(place.url.replace("hanging", "www.hanging"))() as server:
        assert "no answer from hanging.test within 0.2 s" in reason(place.url, 0.2)
        (outcome,) = Resolver(server.url, store=None, timeout=0.2).works([DOI_])
        assert "no answer from www.hanging.test within 0.2 s" in outcome.reason
    assert host in reason(f"http://{host}")
    monkeypatch.setenv("http_proxy", f"http://{host}")
    assert f"{host}: proxy: " in reason("http://dou.example")


def test_a_connection_that_is_closed_when_it_is_used_again(pauses: list[float]) -> None:
    """The server closes it without notice: this counts as no failure, and causes no delay."""

    def answer(server: Server, connection: socket.socket, request: bytes) -> None:
        name = request.split(b" ")[1].decode().removeprefix("/api/handles/")
        body = record(name)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))
        connection.recv(65_536)  # the next request, which nobody answers

    with serving(answer) as server:
        outcomes = list(
            Resolver(server.url, store=None).resolve_many(DOI(f"10.1000/{n}") for n in range(20))
        )
        assert [outcome.status for outcome in outcomes] == ["found"] * 20
        assert (len(server.requests), pauses) == (20, [])


# Failures


class Canned(BaseAdapter):
    """An adapter of a session that returns one answer, or raises it."""

    def __init__(self, answer: requests.Response | Exception) -> None:
        super().__init__()
        self.answer = answer
        self.requests = 0

    def send(self, *_: object, **options: object) -> requests.Response:
        self.requests += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def close(self) -> None:
        """Do nothing."""


def resolver_of(adapter: Canned) -> Resolver:
    session = requests.Session()
    session.mount("http://", adapter)
    return Resolver("http://h.example:81", store=None, rate=None, session=session)


def caused_by(cause: Exception) -> Exception:
    error = requests.ConnectionError("Max retries exceeded")
    error.__cause__ = cause
    return error


ERRORS: dict[str, tuple[Exception, str, int]] = {
    "a password and control characters": (
        ValueError("http://me:secret@h.example/\x1b[2J\nis bad"),
        "h.example:81: ValueError",
        1,
    ),
    "a password without slashes": (
        ValueError("me:secret@h.example is bad"),
        "h.example:81: ValueError",
        1,
    ),
    "a user after slashes": (ValueError("//secret:81 is bad"), "h.example:81: ValueError", 1),
    "reset": (
        caused_by(ConnectionResetError(104, "Connection reset")),
        "h.example:81: Connection reset",
        3,
    ),
    "broken pipe": (caused_by(BrokenPipeError(32, "Broken pipe")), "h.example:81: Broken pipe", 3),
    "broken": (caused_by(ProtocolError("Broken")), "h.example:81: ProtocolError: Broken", 3),
    "refused": (caused_by(ConnectionRefusedError(111, "Refused")), "h.example:81: Refused", 1),
}


@pytest.mark.parametrize(("error", "reason", "attempts"), ERRORS.values(), ids=ERRORS)
def test_the_root_cause_of_an_error_is_told_without_secrets(
    error: Exception, reason: str, attempts: int
) -> None:
    adapter = Canned(error)
    (outcome,) = resolver_of(adapter).resolve_many([DOI_])
    assert (outcome.reason, adapter.requests) == (reason, attempts)


SECRETS = [
    *("http://me:s3cret@h.example/", "me:s3cret@h.example", "//s3cret:81", "s3cret@h.example"),
    *("socks5://s3cret@h.example:1080", "http://h.example/?token=s3cret", "http:\n//me:s3cret@h"),
]
texts = st.builds(
    "{}{}{}".format,
    st.sampled_from(["", "cannot connect to ", "\x1b[31m", "\n"]),
    st.sampled_from([*SECRETS, "", "no route"]),
    st.sampled_from(["", " is bad", "\n"]),
)
errors = st.builds(
    lambda kind, text: kind(text),
    st.sampled_from(
        [
            *(ValueError, RuntimeError, KeyError, OSError, TimeoutError, UnicodeError),
            *(requests.ConnectionError, requests.exceptions.InvalidProxyURL),
            *(ProtocolError, LocationParseError, LocationValueError),
        ]
    ),
    texts,
)


@given(st.lists(st.tuples(errors, st.booleans()), min_size=1, max_size=4))
def test_no_text_of_an_error_with_a_secret_is_told(chain: list[tuple[Exception, bool]]) -> None:
    """Whichever error of a chain has it, and whether that is the cause or the context of the next."""
    for (error, _), (cause, is_cause) in pairwise(chain):
        if is_cause:
            error.__cause__ = cause
        else:
            error.__context__ = cause

    said = sentence(chain[0][0])

    assert "s3cret" not in said, f"{[error for error, _ in chain]}: {said!r}"
    assert said.isprintable(), f"{[error for error, _ in chain]}: {said!r}"


# What a server sends that is no answer
NO_ANSWERS: dict[str, bytes] = {
    "no JSON": reply("200 OK", b"no JSON"),
    "other JSON": reply("200 OK", b"[]"),
    "cut off": reply("200 OK", record(DOI_.name))[:-9],
    "refused": reply("403 Forbidden", b"no"),
    "busy": reply("503 Service Unavailable", b"", "Retry-After: 3600"),
    "no HTTP": b"220 mail.example\r\n",
}


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
@pytest.mark.parametrize("said", NO_ANSWERS.values(), ids=NO_ANSWERS)
def test_the_reason_names_the_port_that_a_redirect_led_to(
    said: bytes, asked: Callable[[Resolver], Iterable[Outcome]]
) -> None:
    with says(said)() as last, moved(f"{last.url}/there")() as server:
        (outcome,) = asked(Resolver(server.url, store=None, private=True, rate=None))

    assert outcome.status == "unknown"
    assert f"127.0.0.1:{last.port}" in outcome.reason, f"not {last.url}: {outcome.reason}"
    assert f"127.0.0.1:{server.port}" not in outcome.reason, f"not {last.url}: {outcome.reason}"


def is_left_alone(resolver: Resolver) -> bool:
    (outcome,) = resolver.resolve_many([DOI_])
    return "not asked again" in outcome.reason


@pytest.mark.usefixtures("now")
@pytest.mark.parametrize(
    "location",
    ["ftp://a.example/", "http://a\0b/", "http://[::1", "http://127.0.0.1/", "/10.1000/a"],
)
@pytest.mark.parametrize("of_record", [False, True], ids=["of the resolver", "of the record"])
def test_only_the_resolvers_own_bad_redirect_counts_against_it(
    location: str, of_record: bool
) -> None:
    moved = requests.Response()
    moved.status_code = 302
    moved.headers["Location"] = location
    moved.raw = io.BytesIO()
    resolver = resolver_of(Canned(moved))
    for _ in range(5):
        ask = resolver.works if of_record else resolver.resolve_many
        outcomes: list[Outcome] = list(ask([DOI_]))
        assert [outcome.status for outcome in outcomes] == ["unknown"]
    assert is_left_alone(resolver) is not of_record


@pytest.mark.usefixtures("now")
def test_records_that_are_too_long_do_not_silence_the_server() -> None:
    long = reply("200 OK", b"[" + b" " * 1_000_001 + b"]")
    with handling(lambda _target: long) as server:
        resolver = Resolver(server.url, store=None)
        outcomes = [*resolver.resolve_many(DOI(f"10.1000/{n}") for n in range(15))]
        assert {outcome.status for outcome in outcomes} == {"unknown"}
        assert not is_left_alone(resolver)


GZIP = "Content-Encoding: gzip"
ELSEWHERE: dict[str, tuple[Callable[[Server, socket.socket, bytes], object], float]] = {
    # in real time: within the timeout, which all wait for at once, our server has to answer
    "slow": (lambda server, _connection, _request: server.stopped.wait(), 1),
    "no gzip": (
        lambda _server, connection, _: connection.sendall(reply("200 OK", b"no gzip", GZIP)),
        9,
    ),
    "away": (lambda _server, connection, _request: connection.close(), 9),
}


@pytest.mark.parametrize(("answer", "timeout"), ELSEWHERE.values(), ids=ELSEWHERE)
def test_the_behaviour_of_another_server_does_not_silence_ours(
    answer: Callable[..., None], timeout: float
) -> None:
    usual = proxy()
    with serving(answer) as agency:
        moved_there = reply("302 Found", b"", f"Location: http://localhost:{agency.port}/")

        def handle(target: str) -> bytes:
            return usual(target) if "/api/" in target else moved_there

        with handling(handle) as server:
            resolver = Resolver(
                server.url, store=None, private=True, timeout=timeout, concurrency=5
            )
            outcomes = list(resolver.works(f"10.1000/{n}" for n in range(5)))
            expected = f"localhost:{agency.port}|damaged"
            wrong = [str(each) for each in outcomes if not re.search(expected, each.reason)]
            assert not wrong, "\n".join(wrong)
            assert resolver.resolve(DOI_).url
