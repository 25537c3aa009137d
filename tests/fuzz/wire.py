"""Fuzz the adapters of urllib and requests: each legal name arrives at the server as it is.

python tests/fuzz/wire.py [--seconds 60] [--seed N]
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from urllib.parse import unquote
from urllib.request import build_opener

import requests
from doiuri import DOI, DOISyntaxError
from doiuri.plugins import Follow
from requests_doiuri import mount
from support.fuzzing import rounds
from support.servers.web import JSON, Answer, Asked, Site, site
from urllib_doiuri import DOIHandler

# What clients tidy: dot segments, ends of paths and segments, escapes; and characters of each length in UTF-8
PIECES = [
    *(
        "/",
        "//",
        "/./",
        "/../",
        "/.",
        "/..",
        ".",
        "..",
        ";",
        "?",
        "#",
        "%",
        "%2F",
        "%2e",
        "%3B",
        "%25",
        "%aB",
        "&",
        "=",
    ),
    *(
        ":",
        "@",
        "+",
        "~",
        " ",
        "\\",
        "|",
        "^",
        "[",
        "]",
        "{",
        "}",
        "<",
        ">",
        '"',
        "'",
        "`",
        ",",
        "(",
        ")",
        "a",
        "Z",
        "0",
    ),
    *("\u00a0", "é", "Ω", "日", "😀", "\u0301", "http://", "doi:", "10.1000/"),
]
RECORD = Answer(200, JSON, b"{}")


def name(chance: random.Random) -> str:
    return f"10.{chance.randrange(1, 99999)}/" + "".join(chance.choices(PIECES, k=chance.randrange(1, 9)))


def answer(asked: Asked) -> Answer:
    return Answer(302, {"Location": "/"}) if asked.target.startswith("/10.") else RECORD


def adapters(server: Site) -> list[tuple[str, Callable[[str], object]]]:
    """Return, for each adapter, what its paths begin with, and a function that opens a URI."""
    opened: list[tuple[str, Callable[[str], object]]] = []
    starts: dict[Follow, str] = {"record": "/api/handles/", "target": "/"}
    for follow, start in starts.items():
        session = mount(requests.Session(), server.url, follow=follow)
        opener = build_opener(DOIHandler(server.url, follow=follow))
        opened += (start, session.get), (start, opener.open)
    return opened


def main() -> int:
    count = 0
    with site(answer) as server:
        ways = adapters(server)
        for chance in rounds(__doc__):
            try:
                doi = DOI.from_name(name(chance))
            except DOISyntaxError:
                continue
            for start, get in ways:
                server.seen.clear()
                get(doi.uri)
                if unquote(server.seen[0].target) != start + doi.name:
                    print(f"{doi!r} was asked for as {server.seen[0].target}")
                    return 1
            count += 1
    print(f"{count:,} names, each asked for as it is")
    return 0 if count else 1


if __name__ == "__main__":
    sys.exit(main())
