"""What is particular to requests: history, sessions, params, cookies, hooks and copies."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import requests
from doiuri_proxy import Running, running
from requests_doiuri import mount
from support.checks import assert_times, exactly
from support.clients import PAGE, REFUSED, TARGETS, URI
from support.servers.tls import Authority
from support.servers.web import JSON, Answer, Asked, Site, record, resolver, site


@pytest.fixture
def proxy() -> Iterator[Running]:
    with running([record("10.1000/1", "http://x.example/")]) as started:
        yield started


def test_the_record_comes_by_a_redirect_that_history_shows_or_that_is_left_to_the_caller(
    proxy: Running,
) -> None:
    session = mount(requests.Session(), proxy.url)
    followed = session.get(URI, params={"type": "URL"})
    left = session.get(URI, params={"type": "URL"}, allow_redirects=False)
    assert (followed.json()["handle"], left.history) == ("10.1000/1", [])
    assert left.next is not None
    assert left.next.url == followed.url == f"{proxy.url}/api/handles/10.1000/1?type=URL"
    assert session.send(left.next).json() == followed.json()
    for first in (left, *followed.history):
        assert (first.status_code, first.reason, first.url) == (302, "Found", URI)
        assert first.headers["location"] == followed.url
        assert (first.request.url, first.content, first.is_redirect) == (URI, b"", True)


def test_a_request_prepared_without_the_session(proxy: Running) -> None:
    session = mount(requests.Session(), proxy.url)
    assert session.send(requests.Request("GET", URI).prepare()).status_code == 200
    with pytest.raises(requests.exceptions.InvalidURL, match=r"10\.1000/x%23y"):
        session.send(requests.Request("GET", "doi:10.1000/x#y").prepare())


def test_a_copied_session_gets_dois_and_params_only_when_it_is_mounted_again(
    proxy: Running,
) -> None:
    session = mount(
        mount(requests.Session(), "http://127.0.0.1:9"), proxy.url
    )  # the second one counts
    session.params = {"index": 1}
    for twin in (pickle.loads(pickle.dumps(session)), copy.copy(session), copy.deepcopy(session)):
        with pytest.raises(requests.exceptions.InvalidSchema, match="mount\\(session\\) again"):
            twin.get(URI)
        answer = mount(twin, proxy.url).get("DOI:10.1000/1", params={"type": "URL"})
        assert answer.url.endswith("?index=1&type=URL"), twin


def test_a_mounted_session_is_of_its_own_class() -> None:
    class Mine(requests.Session):
        """A user's session class."""

    session = mount(Mine())
    assert isinstance(session, Mine)
    assert (type(session).__name__, type(session).__module__) == ("Mine", __name__)
    assert type(copy.copy(session)) is type(session)


def test_a_prepared_request_keeps_its_params_when_it_is_pickled(anything: Site) -> None:
    session = mount(requests.Session(), anything.url)
    prepared = session.prepare_request(
        requests.Request("GET", URI, params={"type": "URL", "auth": True})
    )
    twin = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(prepared))))
    for one in (prepared, prepared.copy(), twin, twin):
        session.send(one)
    assert [asked.target for asked in anything.seen] == ["/api/handles/10.1000/1?type=URL&auth"] * 4
    twin.url = "doi:10.1000/2"
    session.send(twin)
    assert anything.seen[-1].target == "/api/handles/10.1000/2"
    twin.url = "doi:10.1000/2?index=1"
    with pytest.raises(requests.exceptions.InvalidURL):
        session.send(twin)


@pytest.mark.parametrize("header", ["a=b; c=d=e; ; ", b"a=b;c=d=e"])
def test_a_cookie_header_reaches_the_resolver(header: str | bytes, anything: Site) -> None:
    mount(requests.Session(), anything.at("localhost")).get(URI, headers={"Cookie": header})
    assert {*anything.seen[0].headers["cookie"].split("; ")} == {"a=b", "c=d=e"}


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "localhost", "proxy.example"])
def test_the_cookies_of_a_request_are_sent_to_any_resolver(host: str) -> None:
    session = mount(requests.Session(), f"http://{host}:1")

    response = session.get(URI, cookies={"a": "b"}, allow_redirects=False)

    assert response.next is not None
    assert response.next.headers.get("Cookie") == "a=b", f"no cookie for {response.next.url}"


def test_cookies_of_one_request_are_not_kept_and_other_urls_redirects_keep_them(
    anything: Site,
) -> None:
    def moved(asked: Asked) -> Answer:
        if asked.target == "/b":
            return PAGE
        return Answer(302, {"Location": "/b"})

    with site(moved) as other:
        session = mount(requests.Session(), anything.url)
        for url, cookies in ((URI, {"a": "b"}), (URI, {}), (other.url, {"a": "b"})):
            session.get(url, cookies=cookies)
        sent = [one.headers.get("cookie") for one in (*anything.seen, *other.seen)]
    assert sent == ["a=b", None, "a=b", "a=b"]


def test_a_prepared_request_is_checked_each_time_and_can_be_pickled() -> None:
    with (
        site(lambda _: PAGE) as landing,
        site(resolver({"10.1000/1": landing.at("localhost")})) as proxy,
    ):
        session = mount(requests.Session(), proxy.url, follow="target", private=True)
        request = session.prepare_request(requests.Request("GET", URI))
        response = session.send(request)
        mount(session, proxy.url, follow="target", private=False)
        for again in (request, pickle.loads(pickle.dumps(request)), response.history[0].request):
            with pytest.raises(requests.ConnectionError, match=REFUSED):
                session.send(again)
        exactly(1, "hooks", request.hooks["response"])
        assert pickle.loads(pickle.dumps(response)).history[0].url == URI


def test_verify_and_cert(authority: Authority, monkeypatch: pytest.MonkeyPatch) -> None:
    with site(resolver(TARGETS), tls=authority.server(ask_client=True)) as server:
        session = mount(requests.Session(), server.url)
        session.cert = str(authority.client)
        with pytest.raises(requests.exceptions.SSLError):
            session.get(URI)
        assert session.get(URI, verify=str(authority.bundle)).status_code == 200
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(authority.bundle))
        assert session.get(URI).status_code == 200


def test_stream() -> None:
    body = b"x" * 1_000_000
    with site(lambda _: Answer(200, JSON, body)) as server:
        session = mount(requests.Session(), server.url, follow="target")
        with session.get(URI, stream=True) as response:
            assert not response._content_consumed  # type: ignore[attr-defined]
            assert sum(map(len, response.iter_content(65536))) == len(body)


def test_hooks_see_every_response_of_the_way(anything: Site) -> None:
    seen: list[str | None] = []
    hooks = {"response": lambda response, **_: seen.append(response.url)}
    mount(requests.Session(), anything.url).get(URI, hooks=hooks)
    assert seen == [URI, f"{anything.url}/api/handles/10.1000/1"]


def test_netrc_serves_the_resolver(
    anything: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login u password p\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    mount(requests.Session(), anything.url).get(URI)
    assert anything.seen[0].headers["authorization"] == "Basic dTpw"


# ---- authentication, and requests that are sent more than once


def basic_by_hand(request: requests.PreparedRequest) -> requests.PreparedRequest:
    request.headers["Authorization"] = "Basic c2VjcmV0"
    return request


class TokenAuth(requests.auth.AuthBase):
    """Sets a header of its own."""

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["X-Token"] = "secret"
        return request


class ChallengedAuth(requests.auth.AuthBase):
    """Answers a challenge, by a hook that is no method."""

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        def answer(response: requests.Response, **options: Any) -> requests.Response:
            if response.status_code != 401:
                return response
            again = response.request.copy()
            again.headers["Authorization"] = "Challenged secret"
            answered: requests.Response = response.connection.send(again, **options)
            return answered

        request.register_hook("response", answer)  # type: ignore[no-untyped-call]
        return request


class Auth(NamedTuple):
    """A kind of authentication, and what the resolver gets of it."""

    name: str
    make: Callable[[], Any]
    sent: str


AUTHS = [
    Auth("basic", lambda: ("user", "secret"), "authorization=Basic"),
    Auth("a function", lambda: basic_by_hand, "authorization=Basic"),
    Auth("digest", lambda: requests.auth.HTTPDigestAuth("user", "secret"), "authorization=Digest"),
    Auth("a header of its own", TokenAuth, "x-token=secret"),
    Auth("a hook", ChallengedAuth, "authorization=Challenged"),
    Auth("netrc", lambda: None, "authorization=Basic"),
    Auth("netrc for all", lambda: None, "authorization=Basic"),
]
NETRC = {
    "netrc": "machine 127.0.0.1 login user password secret",
    "netrc for all": "default login user password secret",
}
DIGEST = {"WWW-Authenticate": 'Digest realm="r", nonce="n", qop="auth", algorithm=MD5'}
SECRETS = ("authorization", "x-token", "cookie")


@dataclass
class Way:
    """Where a DOI leads: the resolver, the target, and what they are asked."""

    resolver: Site
    target: Site

    def sent(self) -> list[str]:
        """Return the requests so far, each with its secrets, and forget them."""
        lines = [_line("resolver", asked) for asked in self.resolver.seen]
        lines += [_line("target", asked) for asked in self.target.seen]
        self.resolver.seen.clear()
        self.target.seen.clear()
        return lines


def _line(place: str, asked: Asked) -> str:
    # the first word of a header: the rest of a digest differs each time
    secrets = [
        f"{name}={asked.headers[name].split()[0]}" for name in SECRETS if name in asked.headers
    ]
    return " ".join([place, asked.target, *secrets])


@pytest.fixture
def way(request: pytest.FixtureRequest) -> Iterator[Way]:
    """A resolver that wants a password and redirects to a target, which wants one, too, or redirects back."""
    goes_back = request.param

    def guarded(asked: Asked) -> Answer:
        if not {"authorization", "x-token"} & {*asked.headers}:
            return Answer(401, DIGEST)
        if asked.target == "/10.1000/1":
            return Answer(302, {"Location": "/moved"})
        return Answer(302, {"Location": target.at("localhost")})

    def asking(_asked: Asked) -> Answer:
        if goes_back:
            return Answer(302, {"Location": f"{resolver.url}/back"})
        return Answer(401, DIGEST)

    with site(guarded) as resolver, site(asking) as target:
        yield Way(resolver, target)


def state(request: requests.PreparedRequest) -> list[object]:
    """Return all that a prepared request consists of."""
    jar = request._cookies  # type: ignore[attr-defined]
    cookies = [(one.name, one.value, one.domain) for one in jar]
    return [
        request.method,
        request.url,
        {**request.headers},
        request.body,
        [*request.hooks["response"]],
        cookies,
    ]


@pytest.mark.parametrize("auth", AUTHS, ids=lambda auth: auth.name)
@pytest.mark.parametrize("owner", ["the request", "the session", "a request prepared elsewhere"])
@pytest.mark.parametrize("way", [False, True], ids=["to the target", "and back"], indirect=True)
def test_authentication_ends_at_the_resolver_and_the_same_request_is_sent_each_time(
    way: Way, auth: Auth, owner: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "netrc").write_text(NETRC.get(auth.name, ""))
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    session = mount(requests.Session(), way.resolver.url, follow="target", private=True)
    request = requests.Request("GET", URI, auth=auth.make(), cookies={"own": "secret"})
    if owner == "the session":
        session.auth = request.auth
        request.auth = None
    if owner == "a request prepared elsewhere":
        if auth.name == "a header of its own":
            return  # nothing tells it from a header of the caller's
        prepared = request.prepare()
    else:
        prepared = session.prepare_request(request)
    before = state(prepared)

    sent = []
    for _ in range(2):
        session.send(prepared)
        sent.append(way.sent())

    assert sent[0] == sent[1]
    assert state(prepared) == before
    assert f"resolver /10.1000/1 {auth.sent} cookie=own=secret" in sent[0]
    assert f"resolver /moved {auth.sent} cookie=own=secret" in sent[0]
    assert [line for line in sent[0] if line.startswith("target")] == ["target /"]
    back = [line for line in sent[0] if line.startswith("resolver /back")]
    assert back in ([], ["resolver /back cookie=own=secret"])


@pytest.mark.parametrize("way", [False], indirect=True)
def test_the_callers_hooks_see_the_target_and_those_of_an_authentication_do_not(way: Way) -> None:
    seen: list[tuple[int, str]] = []

    def note(response: requests.Response, **_: object) -> None:
        seen.append((response.status_code, response.url))

    session = mount(requests.Session(), way.resolver.url, follow="target", private=True)
    digest = requests.auth.HTTPDigestAuth("user", "secret")
    session.get(URI, auth=digest, hooks={"response": note})

    assert seen[-1] == (401, way.target.at("localhost"))
    assert_times(1, "target", [line.split()[0] for line in way.sent()])


@pytest.mark.parametrize("way", [False], indirect=True)
def test_each_request_of_a_way_that_is_followed_by_hand_can_be_sent_again(way: Way) -> None:
    session = mount(requests.Session(), way.resolver.url, follow="target", private=True)
    session.cookies.set("session", "secret")
    request = session.prepare_request(
        requests.Request("GET", URI, auth=("user", "secret"), cookies={"own": "secret"})
    )
    following: requests.PreparedRequest | None = request
    while following is not None:
        before = state(following)
        sent = []
        for _ in range(2):
            response = session.send(following, allow_redirects=False)
            sent.append(way.sent())
        assert sent[0] == sent[1]
        assert state(following) == before
        following = response.next
    assert response.request.url == way.target.at("localhost")


WRAPPERS: dict[str, Callable[[requests.Session], None]] = {
    "nothing": lambda _: None,
    "a partial": lambda session: setattr(session, "send", partial(session.send)),
    "a function": lambda session: setattr(session, "send", _calling(session.send)),
    "preparing": lambda session: setattr(
        session, "prepare_request", partial(session.prepare_request)
    ),
}


def _calling(send: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **options: Any) -> Any:
        return send(*args, **options)

    return call


@pytest.mark.parametrize("later", WRAPPERS)
@pytest.mark.parametrize("earlier", WRAPPERS)
def test_a_session_whose_methods_are_wrapped_is_mounted_once(
    earlier: str, later: str, anything: Site
) -> None:
    with site(lambda _: PAGE) as landing:
        moved = Answer(302, {"Location": landing.at("localhost")})
        with site(lambda _: moved) as resolver:
            session = requests.Session()
            session.cookies.set("own", "secret")
            WRAPPERS[earlier](session)
            mount(session, "http://127.0.0.1:9")
            WRAPPERS[later](session)
            mount(session, resolver.url, follow="target", private=True)

            session.get(URI, params={"type": "URL"})

        assert resolver.seen[0].target == "/10.1000/1?type=URL"
        assert resolver.seen[0].headers["cookie"] == "own=secret"
        assert [one.headers.get("cookie") for one in landing.seen] == [None]


def test_a_session_whose_send_was_replaced_fails() -> None:
    session = mount(requests.Session(), "http://127.0.0.1:9")
    session.send = partial(requests.Session.send, session)  # type: ignore[method-assign]
    with pytest.raises(requests.exceptions.InvalidSchema, match="method send was replaced"):
        session.get(URI)


def test_a_streamed_record_is_read_and_can_be_streamed(anything: Site) -> None:
    with mount(requests.Session(), anything.url).get(URI, stream=True) as response:
        assert b"".join(response.iter_content(7)) == response.content
