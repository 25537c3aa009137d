"""Which results are tried again, what each says about the server, and how errors are worded."""

from __future__ import annotations

import io

import pytest
import requests
from doiuri._hosts import is_private
from doiuri.resolver import Reply, Request, Resolver, TransportError
from doiuri.resolver.http import is_elsewhere
from doiuri.resolver.http._transport import HTTPTransport
from requests.adapters import BaseAdapter
from urllib3.exceptions import ProtocolError

URL = "https://doi.org/api/handles/10.1000/1"


class Same:
    """A transport with the same result for each request."""

    def __init__(self, result: Reply | TransportError) -> None:
        self.result, self.requests = result, 0

    def get(self, _request: Request) -> Reply:
        self.requests += 1
        if isinstance(self.result, TransportError):
            raise self.result
        return self.result


def refused(status: int, after: str = "") -> Reply:
    return Reply(status, {"Retry-After": after} if after else {}, b"", URL)


ATTEMPTS: dict[str, tuple[Reply | TransportError, int]] = {
    **{f"{status}": (refused(status), 3) for status in (429, 502, 503, 504)},
    **{f"{status}": (refused(status), 1) for status in (200, 400, 401, 403, 404, 407, 408, 500, 501, 505)},
    "429 for 30 s": (refused(429, "30"), 3),
    "429 for 31 s": (refused(429, "31"), 1),
    "reset": (TransportError("reset", transient=True), 3),
    "refused": (TransportError("refused"), 1),
}


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize(("result", "attempts"), ATTEMPTS.values(), ids=ATTEMPTS)
def test_what_soon_passes_is_tried_three_times(result: Reply | TransportError, attempts: int) -> None:
    transport = Same(result)
    (outcome,) = Resolver(store=None, transport=transport, rate=None, timeout=100).resolve_many(["10.1000/1"])
    assert (outcome.status, transport.requests) == ("unknown", attempts)


@pytest.mark.parametrize(
    ("url", "first", "elsewhere"),
    [
        ("http://doi.org/a", "https://doi.org/b", False),
        ("http://doi.org:80/", "https://doi.org:443/", False),
        ("https://DOI.org/", "https://doi.org/", False),
        ("https://doi.org:80/", "https://doi.org/", True),
        ("http://doi.org:443/", "http://doi.org/", True),
        ("https://doi.org:8443/", "https://doi.org/", True),
        ("https://www.doi.org/", "https://doi.org/", True),
    ],
)
def test_http_and_https_on_their_ports_are_one_server(url: str, first: str, elsewhere: bool) -> None:
    assert is_elsewhere(url, first) is elsewhere
    assert is_elsewhere(first, url) is elsewhere


def test_the_time_of_a_request() -> None:
    with pytest.raises(TimeoutError, match=r"^no answer from doi\.org within 0 s$"):
        Request(URL, "", 100, timeout=0.0).remaining()
    assert 86_000 < Request(URL, "", 100, timeout=1e9).remaining() <= 86_400


class Canned(BaseAdapter):
    """An adapter that returns one answer, or raises it."""

    def __init__(self, answer: requests.Response | Exception) -> None:
        super().__init__()
        self.answer = answer

    def send(self, *_: object, **options: object) -> requests.Response:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def close(self) -> None:
        """Do nothing."""


def failed(answer: requests.Response | Exception, url: str, *, any_host: bool = False) -> TransportError:
    """Return the error of the transport, if this is what requests returns or raises."""
    session = requests.Session()
    for scheme in "http://", "https://":
        session.mount(scheme, Canned(answer))
    with pytest.raises(TransportError) as caught:
        HTTPTransport(lambda: session, None, "test").get(Request(url, "", 100, any_host))
    return caught.value


@pytest.mark.parametrize(
    "location", ["ftp://example.org/", "http://a\0b/", "http://[::1", "http://127.0.0.1/"]
)
@pytest.mark.parametrize("any_host", [False, True])
def test_a_forbidden_redirect_is_held_against_the_server_that_sent_it(location: str, any_host: bool) -> None:
    moved = requests.Response()
    moved.status_code, moved.headers["Location"], moved.raw = 302, location, io.BytesIO()
    error = failed(moved, URL, any_host=any_host)
    assert error.counts is not any_host
    assert not error.transient


@pytest.mark.parametrize(
    "host",
    [
        "localhost.",
        "a.localhost",
        "printer.local",
        "x.internal",
        "home.arpa",
        "0.0.0.0",
        "[",
        "fe80::1",
        "::",
        "::127.0.0.1",
        "::ffff:0:10.0.0.1",
        "64:ff9b::10.0.0.1",
        "fec0::1",
        "10.0.0.1.",
        "169.254.169.254.",
        "100.64.0.0",  # RFC 6598: shared address space of carriers, and of VPNs
        "100.127.255.255",
        "192.168.0.1",
    ],
)
def test_hosts_in_a_private_network(host: str) -> None:
    assert is_private(host)


@pytest.mark.parametrize(
    "host",
    [
        "doi.org",
        "100.63.255.255",
        "100.128.0.0",
        "8.8.8.8",
        "2001:4860:4860::8888",
        "::ffff:8.8.8.8",
        "64:ff9b::808:808",
        "8.8.8.8.",
        "alocal.org",
    ],
)
def test_hosts_in_public(host: str) -> None:
    assert not is_private(host)


def told(error: Exception) -> TransportError:
    """Return what the transport says of an error of requests."""
    result = failed(error, "http://h.example:81/x")
    assert (result.host, result.counts) == ("h.example:81", True)
    return result


def test_an_error_shows_neither_passwords_nor_control_characters() -> None:
    error = told(ValueError("http://me:secret@h.example/\x1b[2J\nis bad"))
    assert str(error) == r"ValueError: 'http://h.example/\x1b[2J is bad'"
    assert not error.transient


@pytest.mark.parametrize(
    ("cause", "transient"),
    [
        (ConnectionResetError(104, "Connection reset by peer"), True),
        (BrokenPipeError(32, "Broken pipe"), True),
        (ProtocolError("Connection broken"), True),
        (ConnectionRefusedError(111, "Connection refused"), False),
    ],
)
def test_the_root_cause_of_an_error_is_told(cause: Exception, transient: bool) -> None:
    error = requests.ConnectionError("Max retries exceeded")
    error.__cause__ = cause
    assert str(told(error)).endswith(str(getattr(cause, "strerror", None) or cause))
    assert told(error).transient is transient
