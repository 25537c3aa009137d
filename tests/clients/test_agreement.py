"""The clients agree with each other and with the Resolver: the same requests, or the same refusal."""

from __future__ import annotations

import json
import re
import socket
import ssl
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest
import requests
from doiuri import ResolutionError
from doiuri.resolver import Resolver
from support.clients import CLIENTS, URI, client_of
from support.servers.tls import Authority
from support.servers.web import JSON, Answer, Asked, record, site
from support.targets import PRIVATE_HOSTS

INSIDE = r"redirected to .*, in a private network; private=True allows it"
HIDDEN = f"{INSIDE}|(?i:invalid URL)"  # httpx cannot read some of these hosts
NO_HTTP = "not an http or https URL|is not allowed"  # the latter by urllib itself
ALL = " +authorization +cookie +x-own"
COOKIE = " +cookie +x-own"
OWN = " +x-own"
RECORD = json.dumps({"responseCode": 1, **record("10.1000/1", "http://x.example/")}).encode()
NAMES = {
    "doi.example": "8.8.8.8",
    "landing.example": "8.8.4.4",
    "doi.example.evil.landing.example": "8.8.4.5",
    "inside.example": "10.0.0.7",  # looks public
    "intranet": "10.0.0.8",
    "six.example": "fd00::2",
    "localhost": "127.0.0.1",
}
BASE = "http://doi.example"
LANDING = "http://landing.example/a"
FIRST = f"{BASE}/…{ALL}"
BACK = [FIRST, LANDING + OWN, f"{BASE}/c{COOKIE}"]
COOKIES = r" \+cookie"  # which know no ports


class Case(NamedTuple):
    """A resolver, where it and others redirect to, and the requests that are sent, with their secrets.

    ``…`` is the path of the DOI at the resolver. The caller may have made a request ``before``.
    """

    name: str
    base: str
    hops: list[str]
    sent: list[str]
    refused: str = ""
    private: bool = False
    before: str = ""
    method: str = "GET"
    host: str = ""  # a Host header of the caller
    status: int = 302
    may: str = r"\0"
    """Secrets that a client may send or not."""


def own(url: str, name: str) -> Case:
    """Return a case of a redirect within the resolver, which keeps the secrets."""
    return Case(name, BASE, [url], [FIRST, f"{BASE}/b{ALL}"])


def away(url: str, name: str, seen: str = "", **more: Any) -> Case:
    """Return a case of a redirect to somewhere else, which gets no secrets of the resolver's."""
    base = more.pop("base", BASE)
    return Case(name, base, [url], [f"{base}/…{ALL}", (seen or url) + OWN], **more)


def refused(url: str, name: str, why: str = INSIDE, base: str = BASE, **more: Any) -> Case:
    return Case(name, base, [url], [f"{base}/…{ALL}"], why, **more)


CASES = [
    *(Case(f"resolver at {base}", base, [], [f"{seen or base}/…{ALL}"]) for base, seen in {
        BASE: "", f"{BASE}:80": BASE, "http://DOI.EXAMPLE": BASE, f"{BASE}:8080": "", f"{BASE}/p": "",
        "http://8.8.8.8": "", "http://[2001:4860::8]": "", "http://[2001:4860::8]:81": "",
        "http://[2001:4860::8]:80": "http://[2001:4860::8]", "http://intranet": "", "http://127.0.0.1:81": "",
        "https://doi.example": "", "https://doi.example:443": "https://doi.example",
        "https://10.0.0.9:8443": "",
    }.items()),
    own("/b", "a path"),
    own("//doi.example/b", "without the scheme"),
    own("http://doi.example:80/b", "the default port given"),
    own("HTTP://DOI.EXAMPLE/b", "in capitals"),
    own("http://DOI.example:80/b#c", "capitals, port and fragment"),
    Case("a final semicolon", BASE, ["/b%3B"], [FIRST, f"{BASE}/b%3B{ALL}"]),
    away(LANDING, "another host"),
    away("//landing.example/a", "another host without the scheme", LANDING),
    away("http://LANDING.example:80/a", "another host in capitals with its port", LANDING),
    away("http://8.8.4.4/a", "an address"),
    away("http://[2001:4860::9]:80/a", "an IPv6 address", "http://[2001:4860::9]/a"),
    away("https://[2001:4860::9]:8443/a", "an IPv6 address with a port"),
    away("http://doi.example:81/a", "another port", may=COOKIES),
    away("https://doi.example/a", "TLS at the same host", may=COOKIES),
    away("https://landing.example/a", "TLS at another host"),
    away("http://doi.example/a", "TLS is left at the same host", base="https://doi.example", may=COOKIES),
    away(LANDING, "TLS is left for another host", base="https://doi.example"),
    away("http://doi.example.evil.landing.example/a", "a longer name"),
    Case("away and back", BASE, [LANDING, f"{BASE}/c"], BACK),
    Case("away and back in capitals", BASE, [LANDING, "http://DOI.EXAMPLE:80/c"], BACK),
    refused("http://10.0.0.1/", "inside"),
    refused("http://10.0.0.1:81/", "inside with a port"),
    refused("https://10.0.0.1/", "inside with TLS"),
    refused("http://intranet/", "a name inside"),
    refused("http://INTRANET./", "a name inside in capitals with a dot"),
    refused("http://localhost:80/", "this machine with the default port"),
    refused("http://[::1]/", "this machine's IPv6 address"),
    refused("http://[fd00::1]:80/", "an IPv6 address inside with the default port"),
    refused("http://[::ffff:10.0.0.1]/", "an IPv4 address in an IPv6 one"),
    *(refused(f"http://{one}/".encode().decode("latin-1"), f"as {one}", HIDDEN) for one in PRIVATE_HOSTS),
    refused("http://inside.example/", "a name that resolves inside"),
    refused("http://inside.example:80/", "a name that resolves inside with the default port"),
    refused("https://inside.example/", "a name that resolves inside with TLS"),
    refused("https://INSIDE.example:8443/", "a name in capitals that resolves inside with TLS and a port"),
    refused("http://six.example/", "a name that resolves to an IPv6 address inside"),
    refused("http://intranet:81/", "another port of a resolver inside", base="http://intranet"),
    refused("http://inside.example/", "a host beside a resolver inside", base="http://intranet"),
    refused("https://intranet:8443/", "TLS at another port of a resolver inside", base="http://intranet"),
    away("https://intranet/a", "TLS at a resolver inside", base="http://intranet", may=COOKIES),
    Case("away and inside", BASE, [LANDING, "http://inside.example/"], [FIRST, LANDING + OWN], INSIDE),
    away("http://inside.example/a", "inside where that is allowed", private=True),
    away("http://10.0.0.1/a", "an address inside where that is allowed", private=True),
    refused("http://inside.example/", "inside where the caller was before", before="http://inside.example/"),
    refused("http://127.0.0.1:1\\@public.example/", "a host that looks public", "."),
    refused("ftp://landing.example/a", "FTP", NO_HTTP),
    refused("file:///etc/passwd", "a file", NO_HTTP),
    refused("doi:10.1000/2", "a DOI", f"{NO_HTTP}|invalid URL"),
    *(refused(url, url[:24], ".", private=True) for url in (
        "http://127.0.0.1:1\\@public.example/", "http://127.0.0.1:1 .public.example/", "http://[::1",
        "http://a:x/", "http://a.example:65536/", "http://a..example/", f"http://{'a' * 64}.example/",
        "javascript:alert(1)",
    )),
    Case("the caller's Host", BASE, [LANDING], [FIRST, LANDING + OWN], host="evil.example"),
    Case("HEAD", BASE, [], [FIRST], method="HEAD"),
    *(away(LANDING, f"status {status}", status=status) for status in (301, 303, 307, 308)),
]  # fmt: skip
SECRET = {"Authorization": "Bearer s3cret", "X-Own": "1"}


def signed(request: Any) -> Any:
    request.headers["Authorization"] = "Signature"
    return request


AUTHS = {"auth": ("u", "p"), "a function": signed, "own auth, by hand": ("u", "p")}
ASYNC = ["httpx AsyncClient on trio", "httpx2 AsyncClient on asyncio"]
# The clients read URLs with parsers of their own: each case in each client that has one
DOORS = [(kind, "target") for kind in CLIENTS if kind != "httpx2 Client"]
# What is asked and by whom makes no difference to how a URL is read: a redirect and a refusal of each kind
DOORS_FOR_FEW = [
    *((kind, "target") for kind in ("httpx2 Client", *ASYNC)),
    *product(("urllib", "requests", "httpx Client"), ["record"]),
    *product(("requests", "httpx Client"), ["target, by hand"]),
]
FEW_REFUSED = {
    "a name inside",
    "an IPv6 address inside with the default port",
    "a name that resolves inside",
    "TLS at another port of a resolver inside",
    "away and inside",
    "inside where the caller was before",
    "FTP",
}
FEW_REDIRECTS = {
    "a path",
    "in capitals",
    "a final semicolon",
    "another host",
    "another port",
    "TLS at the same host",
    "TLS is left at the same host",
    "a longer name",
    "away and back",
    "away and back in capitals",
    "an address inside where that is allowed",
    "the caller's Host",
    "status 307",
}
# Where the secrets come from makes no difference to a request that is not sent, nor to what is another site
DOORS_FOR_SECRETS = [
    *product(("requests", "httpx Client"), (f"target, {how}" for how in AUTHS)),
    *product(("urllib", "requests", "httpx Client"), ["target, own headers"]),
    (ASYNC[0], "target, a function"),
]
FEW_SECRETS = FEW_REDIRECTS - {"a final semicolon", "in capitals", "status 307"}


def named(names: set[str]) -> list[Case]:
    return [case for case in CASES if case.name in names]


ASKED = [
    *product(CASES, DOORS),
    *product(named(FEW_REDIRECTS | FEW_REFUSED), DOORS_FOR_FEW),
    *product(named(FEW_SECRETS), DOORS_FOR_SECRETS),
]


@dataclass
class Internet:
    """What was requested, as ``GET http://host/path``; `` +name`` for each secret that was sent."""

    hops: Sequence[str] = ()
    """Where the requests are redirected to, one after the other; the one after the last is answered."""
    status: int = 302
    seen: list[str] = field(default_factory=list)

    def answer(self, scheme: str, asked: Asked) -> Answer:
        number = len(self.seen)
        default_port = ":443" if scheme == "https" else ":80"
        host = asked.headers["host"].removesuffix(default_port).lower()
        secrets = [
            f" +{name}" for name in ("authorization", "cookie", "x-own") if name in asked.headers
        ]
        self.seen.append(f"{asked.method} {scheme}://{host}{asked.target}{''.join(secrets)}")
        if number < len(self.hops):
            return Answer(self.status, {"Location": self.hops[number]})
        return Answer(200, JSON, RECORD)


@pytest.fixture(scope="module")
def net(authority: Authority) -> Iterator[Internet]:
    """An Internet on loopback: each connection leads to one server, with TLS for the ports 443 and 8443."""
    net = Internet()
    peers = dict[Any, Any]()
    look_up = socket.getaddrinfo
    connect = socket.socket.connect
    getpeername = socket.socket.getpeername

    def find(name: Any, *args: Any, **options: Any) -> Any:
        host = name.decode() if isinstance(name, bytes) else name or ""
        return look_up(NAMES.get(host.lower().rstrip("."), name), *args, **options)

    with (
        site(lambda asked: net.answer("http", asked)) as plain,
        site(lambda asked: net.answer("https", asked), tls=authority.server()) as secure,
        pytest.MonkeyPatch.context() as patching,
    ):

        def redirect(sock: socket.socket, address: Any) -> None:
            if sock.family not in {socket.AF_INET, socket.AF_INET6}:
                return connect(sock, address)
            here = "127.0.0.1" if sock.family == socket.AF_INET else "::ffff:127.0.0.1"
            try:
                connect(sock, (here, (secure if address[1] in {443, 8443} else plain).port))
            finally:
                peers[sock.getsockname()] = address

        def peer(sock: socket.socket) -> Any:
            connected = getpeername(sock)
            return peers.get(sock.getsockname(), connected)

        patching.setattr(socket, "getaddrinfo", find)
        patching.setattr(socket.socket, "connect", redirect)
        patching.setattr(socket.socket, "getpeername", peer)
        # No certificate is verified here, and to load this machine's takes requests longer than a test
        patching.setattr(ssl.SSLContext, "load_default_certs", lambda *_: None)
        yield net


def told(
    net: Internet, case: Case, ask: Callable[[], object], failed: type[Exception]
) -> list[object]:
    """Return what is requested, and whether it is refused as it should be, of each of two calls."""
    found: list[object] = []
    net.status = case.status
    for _ in range(2):
        net.seen = []
        net.hops = case.hops
        said = ""
        try:
            ask()
        except failed as error:
            said = str(error)
        seen = [re.sub(case.may, "", one) for one in net.seen]
        found.append((seen, bool(case.refused and re.search(case.refused, said)) or said))
    return found


def expected(case: Case, path: str) -> list[object]:
    sent = [f"{case.method} {re.sub(case.may, '', one).replace('…', path)}" for one in case.sent]
    return [(sent, bool(case.refused) or "")] * 2


@pytest.mark.filterwarnings("ignore:Unverified HTTPS request")
@pytest.mark.parametrize(
    ("case", "kind", "follow"),
    [pytest.param(case, *door, id=f"{case.name}-{'-'.join(door)}") for case, door in ASKED],
)
def test_every_client_sends_the_same_requests_or_refuses(
    net: Internet, case: Case, kind: str, follow: str
) -> None:
    with client_of(kind) as client:
        follow, _, how = follow.partition(", ")
        # urllib's cookies always have a domain
        jar: dict[str, Any] = {} if kind == "urllib" else {"cookie": "s3cret"}
        options: dict[str, Any] = {
            "follow": follow,
            "by_hand": "by hand" in how,
            "private": case.private,
        }
        headers = SECRET | ({} if jar else {"Cookie": "s3cret"})
        given = dict[str, Any]()
        if how in AUTHS:
            del headers["Authorization"]
            (options if "own" in how else given)["auth"] = AUTHS[how]
        if how == "own headers":
            options["own"] = headers
            headers = {}
        headers |= {"Host": case.host} if case.host else {}
        get = client.open(case.base, insecure=True, **options, **jar)
        net.hops = ()
        if case.before:
            assert get(case.before).status == 200
        ask = partial(get, URI, case.method, headers=headers, **given)
        found = told(net, case, ask, client.errors.failed)
    path = "api/handles/10.1000/1" if follow == "record" else "10.1000/1"
    assert found == expected(case, path)


def of_a_record(case: Case) -> Case:
    """Return what the Resolver makes of a case for a record: it leaves its host for no other, nor TLS."""
    host = urlsplit(case.base).hostname
    scheme = case.sent[0].partition(":")[0]
    sent = []
    for request in case.sent:
        if urlsplit(request).hostname != host or request < scheme:
            break
        sent.append(request)
    is_left = case.refused or len(sent) < len(case.sent)
    refused = "redirected " if is_left else ""
    return of_metadata(case._replace(sent=sent, refused=refused))


def of_metadata(case: Case) -> Case:
    """Return what it makes of a case for metadata: it goes anywhere, with secrets until it has left."""
    return case._replace(sent=[with_all_secrets_or_none(request) for request in case.sent])


def with_all_secrets_or_none(request: str) -> str:
    if request.endswith(ALL):
        return request
    return request.partition(" ")[0]


RESOLVED = [
    *product(CASES, [(of_metadata, "10.1000/1")]),
    # For a record it leaves its host for no other, however that is written
    *product(named(FEW_REDIRECTS | FEW_REFUSED), [(of_a_record, "api/handles/10.1000/1")]),
]


@pytest.mark.filterwarnings("ignore:Unverified HTTPS request")
@pytest.mark.parametrize(
    ("case", "of", "path"),
    [pytest.param(case, *how, id=f"{case.name}-{how[0].__name__}") for case, how in RESOLVED],
)
def test_the_resolver_sends_the_same_requests_and_for_a_record_leaves_its_host_for_no_other(
    net: Internet, case: Case, of: Callable[[Case], Case], path: str
) -> None:
    case = of(case)._replace(method="GET")
    session = requests.Session()
    session.verify = False
    session.headers.update(SECRET)
    session.cookies.set("own", "s3cret")
    resolver = Resolver(case.base, store=None, rate=None, private=case.private, session=session)
    ask = (
        resolver.resolve
        if of is of_a_record
        else partial(resolver.metadata, media_type="application/json")
    )
    if case.before:  # by another Resolver with these connections, which may go there
        net.seen = []
        net.hops = case.hops
        allowed = Resolver(case.base, store=None, rate=None, private=True, session=session)
        assert allowed.metadata("10.1000/1", "application/json").content == RECORD
    assert told(net, case, lambda: ask("10.1000/1"), ResolutionError) == expected(case, path)
