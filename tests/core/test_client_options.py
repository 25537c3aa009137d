"""The options of plugins for HTTP clients, and the URL that they request for a DOI."""

from __future__ import annotations

import pickle
import traceback
from contextlib import nullcontext

import pytest
from doiuri import DOI, ShortDOI
from doiuri.plugins.clients import ClientOptions, TargetCheck, TargetError
from support.cases import table
from support.targets import PRIVATE_HOSTS

BIBTEX = "application/x-bibtex"
RECORD = "https://r.example/x/api/handles/10.1000/456%23789"
LINK = "https://r.example/x/10.1000/456%23789"


@pytest.mark.parametrize(
    ("follow", "accept", "url"),
    [
        ("record", None, RECORD),
        ("record", "*/*", RECORD),
        ("record", b"application/json", RECORD),
        ("record", BIBTEX, LINK),
        ("record", BIBTEX.encode(), LINK),
        ("target", None, LINK),
        ("target", BIBTEX, LINK),
    ],
)
def test_the_url_depends_on_follow_and_accept(
    follow: str, accept: str | bytes | None, url: str
) -> None:
    options = ClientOptions.read("https://r.example/x/", follow=follow)
    assert options.request_url(DOI("10.1000/456#789"), accept) == url
    assert options.request_url(ShortDOI("10/p54k"), accept) == url.replace(
        "10.1000/456%23789", "10/p54k"
    )
    assert options.wants_record(accept) == (url == RECORD)


def test_options_are_values() -> None:
    options = ClientOptions.read("https://r.example", follow="target")
    assert pickle.loads(pickle.dumps(options)) == options
    assert len({options, ClientOptions.read("https://r.example/", follow="target")}) == 1


@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.1", "fe80::1%eth0"])
def test_who_may_connect_into_a_private_network(address: str) -> None:
    """Not a resolver that is in one, but to itself: strangers write its records."""
    base = "http://doi-proxy"
    other = "http://agency.example/"
    ClientOptions.read(base, private=True).target_check().check_peer(other, address)
    check = ClientOptions.read(base).target_check()
    check.check_peer(f"{base}/10.1000/1", address)
    check.check_peer(other, "8.8.8.8")
    with pytest.raises(TargetError, match="in a private network; private=True"):
        check.check_peer(other, address)


NO_TARGETS = [
    *(
        "file:///etc/passwd",
        "javascript:alert(1)",
        "data:text/plain,x",
        "ftp://example.org/",
        "http:///x",
    ),
    *(
        "http://[::1",
        "http://a\0b/",
        "/caf\u00e9",
        "http://example.org:99999/",
        "https://me:secret@doi.org/",
    ),
    *(
        "http://local%2568ost/",
        "http://loc%C2%ADalhost/",
        "http://a%2Fb.example.org/",
        "http://intranet./",
    ),
    # requests reads headers as Latin-1
    *(f"http://{host}/".encode().decode("latin-1") for host in PRIVATE_HOSTS),
]


@pytest.mark.parametrize("location", NO_TARGETS)
def test_no_redirect_leads_there(location: str) -> None:
    with pytest.raises(TargetError):
        TargetCheck("https://doi.org").redirect_target("https://doi.org/", location, downgrade=True)


@pytest.mark.parametrize(
    ("location", "target"),
    [("c?d#e", "a/c?d"), ("/\u00c3\u00a9", "é"), ("https://doi.org/b%C3%BC", "b%C3%BC")],
)
def test_a_redirect_is_relative_and_utf_8_and_has_no_fragment(location: str, target: str) -> None:
    found = TargetCheck("https://doi.org").redirect_target("https://doi.org/a/b", location)
    assert found == f"https://doi.org/{target}"


@table("negotiation", "no targets", "url")
@pytest.mark.parametrize("private", [False, True])
def test_a_target_must_be_a_url(url: str, private: bool) -> None:
    with pytest.raises(TargetError, match="redirected to an invalid URL"):
        TargetCheck("https://doi.org", private).check_url(url)


PRIVATE = (
    "localhost. a.localhost printer.local x.internal home.arpa 0.0.0.0 fe80::1 :: ::127.0.0.1 "
    "::ffff:0:10.0.0.1 64:ff9b::10.0.0.1 fec0::1 10.0.0.1. 169.254.169.254. 192.168.0.1 "
    # RFC 6598, shared address space of carriers, and of VPNs
    "100.64.0.0 100.127.255.255 "
    # Python's releases disagree about these
    "2002:7f00:1:: 2002:808:808:: 64:ff9b:1::7f00:1 192.0.0.9 192.0.0.10 2001:1::1 2001:20::1 3fff::1 5f00::1"
)
PUBLIC = (
    "doi.org 100.63.255.255 100.128.0.0 8.8.8.8 2001:4860:4860::8888 ::ffff:8.8.8.8 64:ff9b::808:808 "
    "8.8.8.8. alocal.org 2001:200:: 2003:: 192.0.1.1"
)


@pytest.mark.parametrize(
    ("host", "is_private"),
    [*((one, True) for one in PRIVATE.split()), *((one, False) for one in PUBLIC.split())],
)
def test_which_hosts_are_in_a_private_network(host: str, is_private: bool) -> None:
    url = f"http://[{host}]/" if ":" in host else f"http://{host}/"
    expected = pytest.raises(TargetError, match="private network") if is_private else nullcontext()
    with expected:
        TargetCheck("https://doi.org").check_url(url)


@pytest.mark.parametrize("mark", ["", *"/?#\\[@: "])
@pytest.mark.parametrize("start", ["https://user:S3cret", "https://user:7", "user:S3cret"])
def test_no_message_about_a_base_url_shows_a_part_of_its_password(start: str, mark: str) -> None:
    base = f"{start}{mark}Tail9@doi.example"
    for use in (lambda: ClientOptions.read(base), lambda: DOI("10.1000/1").link(base=base)):
        with pytest.raises(ValueError, match="neither user nor password") as caught:
            use()
        shown = "".join(traceback.format_exception(caught.value))
        assert "S3cret" not in shown
        assert "Tail9" not in shown
