"""Which results are tried again, what each says about the server, and how errors are worded."""

from __future__ import annotations

import io

import pytest
import requests
from doiuri._hosts import is_private
from doiuri.resolver import Reply
from doiuri.resolver.http._client import (
    MAX_RETRY_WAIT,
    is_transient,
    retry_delay,
)
from doiuri.resolver.http._request import Request, TransportError, is_elsewhere
from doiuri.resolver.http._transport import HTTPTransport
from requests.adapters import BaseAdapter
from urllib3.exceptions import ProtocolError

URL = "https://doi.org/api/handles/10.1000/1"


def request(*, any_host: bool = False) -> Request:
    return Request(URL, "", 100, any_host)


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_what_soon_passes_is_tried_again(status: int) -> None:
    assert is_transient(Reply(status, {}, b"", URL))


@pytest.mark.parametrize("status", [200, 400, 401, 403, 404, 407, 408, 500, 501, 505])
def test_what_persists_is_not_tried_again(status: int) -> None:
    assert not is_transient(Reply(status, {}, b"", URL))


def test_errors_of_a_transport_say_themselves_what_they_are() -> None:
    assert is_transient(TransportError("reset", transient=True))
    assert not is_transient(TransportError("refused"))


def test_three_attempts_are_made() -> None:
    assert retry_delay(2, 0.0) == 0.0
    assert retry_delay(2, MAX_RETRY_WAIT) == MAX_RETRY_WAIT == 30.0
    assert retry_delay(2, MAX_RETRY_WAIT + 0.1) is None
    assert retry_delay(3, 0.0) is None
    for _ in range(20):
        assert 0.25 <= (retry_delay(1, None) or 0.0) <= 0.5 <= (retry_delay(2, None) or 0.0) <= 1.0


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
