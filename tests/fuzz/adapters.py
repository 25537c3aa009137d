"""Fuzz urllib, requests, httpx: every legal name arrives at the server as it is, whatever they tidy in a URL.

python tests/fuzz/adapters.py [--seconds 60] [--seed N]
"""

import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import unquote
from urllib.request import Request, build_opener

import httpx_doiuri
import requests
import requests_doiuri
import urllib_doiuri
from doiuri import DOI, DOISyntaxError
from support.fuzzing import rounds
from support.servers.web import JSON, Answer, Asked, Site, site

TRICKY = [
    *"/.;?#%&=:@+~ ,<>()[]{}\\|^`\"'_-!*$",
    "..",
    "//",
    "/./",
    "/../",
    "%2F",
    "%2f",
    "%3B",
    "%25",
    "%%",
    ";;",
]
TRICKY += [
    "a",
    "Z",
    "0",
    "á",
    "\u0301",
    "\u212a",
    "ſ",
    "日",
    "\U0001f600",
    "\u00a0",
    "\u3002",
    "\ufb01",
    "\uff0f",
]
BIBTEX = {"Accept": "application/x-bibtex"}
API = "/api/handles/"

Way = tuple[str, str, Callable[[DOI], object]]
"""A name of the way to ask, what the path begins with, and the request."""


def name(chance: random.Random) -> str:
    """Return a legal name: mostly characters that programs tidy, sometimes any."""
    while True:
        parts = [
            chance.choice(TRICKY) if chance.random() < 0.9 else chr(chance.randrange(0x20, 0x110000))
            for _ in range(chance.randint(1, 8))
        ]
        text = f"10.{chance.randrange(1, 99999)}/{''.join(parts)}"
        try:
            return DOI.from_name(text).name
        except DOISyntaxError:
            continue


def is_same(target: str, start: str, expected: str) -> bool:
    """Return whether a request target is this path, percent-encoded in ASCII, perhaps with the query."""
    path, _, query = target.partition("?")
    return target.isascii() and query in {"", "type=URL"} and unquote(path) == start + expected


def answer(asked: Asked) -> Answer:
    """Answer as a resolver: the target of each name is on the same server."""
    is_link = asked.target.startswith("/10.") and "bibtex" not in asked.headers.get("accept", "")
    return Answer(302, {"Location": "/"}) if is_link else Answer(200, JSON, b"{}")


@contextmanager
def asking(server: Site) -> Iterator[list[Way]]:
    """Yield all ways to ask this server for a DOI."""
    record, target = (
        build_opener(urllib_doiuri.DOIHandler(server.url, follow=how)) for how in ("record", "target")
    )
    with (
        requests.Session() as one,
        requests.Session() as other,
        httpx_doiuri.Client(resolver=server.url) as client,
        httpx_doiuri.Client(resolver=server.url, follow="target") as client_for_targets,
    ):
        requests_doiuri.mount(one, server.url)
        requests_doiuri.mount(other, server.url, follow="target")
        params = {"type": "URL"}
        yield [
            ("urllib record", API, lambda doi: record.open(doi.uri).close()),
            ("urllib target", "/", lambda doi: target.open(doi.uri).close()),
            ("urllib Accept", "/", lambda doi: record.open(Request(doi.uri, headers=BIBTEX)).close()),
            (
                "urllib type",
                API,
                lambda doi: record.open(
                    urllib_doiuri.record_request(doi, type="URL", resolver=server.url)
                ).close(),
            ),
            ("requests record", API, lambda doi: one.get(doi.uri)),
            ("requests target", "/", lambda doi: other.get(doi.uri)),
            ("requests Accept", "/", lambda doi: one.get(doi.uri, headers=BIBTEX)),
            ("requests type", API, lambda doi: one.get(doi.uri, params=params)),
            ("httpx record", API, lambda doi: client.get(doi.uri)),
            ("httpx target", "/", lambda doi: client_for_targets.get(doi.uri)),
            ("httpx Accept", "/", lambda doi: client.get(doi.uri, headers=BIBTEX)),
            ("httpx type", API, lambda doi: client.get(doi.uri, params=params)),
        ]


def main() -> int:
    names = 0
    with site(answer) as server, asking(server) as ways:
        for chance in rounds(__doc__):
            doi = DOI.from_name(name(chance))
            for way, start, ask in ways:
                server.seen.clear()
                ask(doi)
                target = server.seen[0].target
                assert is_same(target, start, doi.name), (way, doi.name, ascii(doi.name), target)
            names += 1
    print(f"{names} names, {len(ways)} ways each")
    return 0 if names else 1


if __name__ == "__main__":
    sys.exit(main())
