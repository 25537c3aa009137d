"""The URL of a resolver is checked in the same way wherever it is given, with each part that it may not have."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest
import requests
from doiuri import DOI
from doiuri.plugins.clients import ClientOptions
from doiuri.plugins.options import option
from doiuri.resolver import Resolver
from doiuri.rest import agency_url, record_url
from doiuri_proxy import resolver_for

# Private: the command would start a server, which a wrong URL never reaches
from doiuri_proxy.records._open import open_source
from fsspec_doiuri import DOIFileSystem
from httpx_doiuri import Client, httpx2
from hypothesis import given
from hypothesis import strategies as st
from requests_doiuri import mount
from support.clients import TLS
from urllib_doiuri import DOIHandler

DOI_ = DOI("10.1000/1")


def upstream(url: str) -> None:
    open_source(None, upstream=url, cache=":memory:").close()


DOORS: dict[str, Callable[[str], object]] = {
    "Resolver": lambda url: Resolver(url, store=None),
    "resolver_for": lambda url: resolver_for([], base=url),
    "DOIURI_RESOLVER": lambda url: option("resolver").read({}, environ={"DOIURI_RESOLVER": url}),
    "the option resolver": lambda url: option("resolver").read({"resolver": url}),
    "the option link": lambda url: option("link").read({"link": url}),
    "a link": DOI_.link,
    "record_url": lambda url: record_url(DOI_, base=url),
    "agency_url": lambda url: agency_url([DOI_], base=url),
    "ClientOptions": ClientOptions.read,
    "urllib": DOIHandler,
    "requests": lambda url: mount(requests.Session(), url),
    "httpx": lambda url: Client(resolver=url, verify=TLS),
    "httpx2": lambda url: httpx2.Client(resolver=url, verify=TLS),
    "fsspec": lambda url: DOIFileSystem(url, cache=":memory:", skip_instance_cache=True),
    "the upstream of a proxy": upstream,
}


class Base(NamedTuple):
    """The parts of a URL, which are joined as they are."""

    scheme: str
    host: str
    port: str
    path: str
    user: str = ""
    end: str = ""

    @property
    def url(self) -> str:
        return f"{self.scheme}{self.user}{self.host}{self.port}{self.path}{self.end}"


bases = st.builds(
    Base,
    scheme=st.sampled_from(["http://", "https://", "HTTPS://"]),
    host=st.sampled_from(["doi.example", "DOI.example", "localhost", "127.0.0.1", "[::1]"]),
    port=st.sampled_from(["", ":8000", ":"]),
    path=st.sampled_from(["", "/", "/proxy", "/a/b//"]),
    user=st.just(""),
    end=st.just(""),
)
# What makes a URL unusable, as the other parts than those of a base that can be used
FLAWS = [
    *({"user": user} for user in ("s3cret@", "me:s3cret@", "me:s3/cret@", "me:s3?cret@", "@")),
    *({"end": end} for end in ("?", "?x=1", "#", "#x", "?#", "/a#b?c", "?s3cret@x", "#s3cret@x")),
    *({"scheme": scheme} for scheme in ("", "//", "ftp://", "file://", "doi:", "http:", "http:/")),
    *(
        {"host": host}
        for host in ("", "do i.example", "dói.example", 'd"i.example', "d\\i.example")
    ),
    *({"port": port} for port in (":x", ":65536", ":-1")),
    *({"path": path} for path in ("/a b", "/é", "/<a>", "/a\\b", "/{a}", "/a\nb")),
]


@pytest.mark.parametrize("door", DOORS)
@given(base=bases)
def test_a_base_may_have_a_port_and_a_path(door: str, base: Base) -> None:
    DOORS[door](base.url)


@pytest.mark.parametrize("door", DOORS)
@given(base=bases, flaw=st.sampled_from(FLAWS))
def test_a_base_with_any_other_part_is_refused_and_no_password_shown(
    door: str, base: Base, flaw: dict[str, str]
) -> None:
    wrong = base._replace(**flaw)

    try:
        DOORS[door](wrong.url)
    except ValueError as error:
        message = str(error)
    else:
        raise AssertionError(f"{door} takes {wrong.url!r}")

    assert "s3" not in message, f"{door}, {wrong.url!r}: the password is in {message!r}"
