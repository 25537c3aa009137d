"""The same records give the same answers, whatever is between them and the client."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from doiuri.rest import CSL_JSON
from doiuri_proxy import Records, answer, running
from doiuri_proxy.pytest_plugin import Proxies
from support.command import command
from support.http import ask
from support.proxy_records import AGENCIES, RECORDS, alias, link

CITED = {
    **link("10.1000/Cited", "https://example.org/cited"),
    "metadata": {CSL_JSON: {"title": "Ä"}},
}
TO_CITED = alias("10.1000/to-cited", "10.1000/cited")
KNOWN: dict[str, Any] = {"records": [*RECORDS, CITED, TO_CITED], "agencies": AGENCIES}


class Case(NamedTuple):
    path: str
    accept: str = "application/pdf, text/html;q=0.5"
    method: str = "GET"

    @property
    def headers(self) -> dict[str, str]:
        return {"Accept": self.accept, "Origin": "https://a.example"}


NAMES = [
    *(
        "182",
        "FORMATS",
        "formats",
        "many",
        "MANY",
        "alias2",
        "dangling",
        "loop",
        "chain1",
        "chain2",
        "empty",
    ),
    *(
        "hidden",
        "half",
        "..",
        "456%23789",
        "x;y&z%3F%2B%C3%BC",
        "loc",
        "sc",
        "broken",
        "mail",
        "idna",
    ),
    *("all-keys", "a,b", "short", "absolute", "to-cited", "none", "none/", "NONE"),
]
QUERIES = [
    *("", "?x=1", "?noredirect", "?type=URL;index=3", "?type=URL&index=3", "?action=showurls"),
    *("?ignore_aliases", "?pretty&callback=f", "?locatt=id:3&urlappend=%3Fx", "?urlappend=.evil"),
]
PATHS = ["/10.1000/", "/api/handles/10.1000/"]
# Each name is asked for with some of the queries, and each query with some of the names.
ASKED = list(enumerate(map("".join, product(PATHS, NAMES))))
PAST_CACHES = [Case(f"{path}?{('auth', 'cert')[number % 2]}") for number, path in ASKED]
CASES = []
for number, path in ASKED:
    CASES += [Case(f"{path}{query}") for query in QUERIES[number % 5 :: 5]]
CASES += [
    *(Case(f"{path}1", method="POST") for path in PATHS),
    *(Case("/10.1000/cited", accept) for accept in (CSL_JSON, f"text/html;q=0.5, {CSL_JSON}")),
    *(Case(f"/10.1000/{name}", CSL_JSON) for name in ("loc", "alias", "to-cited", "none")),
    *(Case(f"/{name}") for name in ("10/abcd", "10.1000/%zz")),
    *(Case(f"/api/handles/{name}") for name in ("10/abcd", "10.1000/%zz")),
    Case("/api/handles/10.26321/%C3%81.GUTI%C3%89RREZ.ZARZA.02.2018.03"),
    Case("/doiRA/10.1000/1,10.2000/x,10.2000,10.3000/x,10.1000.10/X,x,10/abcd"),
    Case("/ra/10.1045"),
]
WITHOUT_RECORDS = [
    Case(f"/10.1000/{9000 * 'x'}"),
    Case("/"),
    Case("/healthz"),
    Case("/api/handles/10.1000/1?index=x"),
    *(Case(path, method="OPTIONS") for path in ("/10.1000/1", "/api/x")),
    *(Case(path, method="DELETE") for path in ("/10.1000/1", "/api/x")),
    Case("http://doi.org/api/handles/10.1000/182"),
]

Said = dict[str, Any]
Asking = Callable[[Case], Said]


def asking(url: str) -> Asking:
    """Return what a proxy says: status, body and headers, with the lifetime in place of dates."""

    def said(case: Case) -> Said:
        found = ask(url, case.path, case.method, headers=case.headers)
        headers = dict(found.headers)
        date = parsedate_to_datetime(headers.pop("date"))
        if "expires" in headers:
            left = parsedate_to_datetime(headers["expires"]) - date
            headers["expires"] = str(round(left.total_seconds(), -1))
        return {"status": found.status, **headers, "body": found.body}

    return said


def check(there: Asking, here: Asking, cases: list[Case] = CASES) -> None:
    """Check that each case has the same answer here as there."""
    wrong = []
    for case in cases:
        expected = there(case)
        found = here(case)
        wrong += [
            f"{case.path} {name}: {found.get(name)!r:.80}, expected {expected.get(name)!r:.80}"
            for name in expected | found
            if expected.get(name) != found.get(name)
        ]
    assert not wrong, "\n".join(wrong)


def test_a_function_answers_as_a_server(doi_proxy: Proxies) -> None:
    records = Records(KNOWN)
    proxy = doi_proxy(KNOWN)
    there = asking(proxy.url)

    def here(case: Case) -> Said:
        made = answer(records, case.method, case.path, case.headers)
        seen = there(case)
        headers = {name.lower(): value for name, value in made.headers}
        usual = {"expires", "content-length", "connection"}
        by_server: Said = {name: value for name, value in seen.items() if name in usual}
        body = b"" if case.method == "HEAD" else made.body
        return {
            "status": made.status,
            "content-type": made.content_type,
            **headers,
            **by_server,
            "body": body,
        }

    check(there, here, CASES + WITHOUT_RECORDS)


def test_head_is_get_without_a_body(doi_proxy: Proxies) -> None:
    proxy = doi_proxy(KNOWN)
    there = asking(proxy.url)
    check(
        lambda case: there(case) | {"body": b""},
        lambda case: there(case._replace(method="HEAD")),
        [case for case in CASES + WITHOUT_RECORDS if case.method == "GET"],
    )


def test_upstream_and_caches_answer_as_the_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, doi_proxy: Proxies
) -> None:
    """Asked, cached, as a build's cache, and stale: without upstream, only an old no is unknown.

    The proxy caches values (P-24), in any spelling of a name.
    """
    cache = tmp_path / "cache.sqlite3"
    with running(KNOWN) as proxy:
        there = asking(proxy.url)
        base = proxy.url
        past_caches = {case: there(case) for case in PAST_CACHES}
        proxy.log.clear()
        expected = {case: there(case) for case in CASES}
        with running(upstream=base, cache=str(cache)) as near:
            check(expected.__getitem__, asking(near.url))
            asked = len(proxy.log)
            names = Counter(
                one.target.upper() for one in proxy.log[len(CASES) :] if "/api/" in one.target
            )
            assert [name for name, times in names.items() if times > 1] == [
                "/API/HANDLES/10.1000/ABSOLUTE"
            ]
            check(expected.__getitem__, asking(near.url))
            again = {request.target for request in proxy.log[asked:]}
            without_agency = {"/doiRA/10.3000/x", "/api/handles/10.3000/x"}
            assert again == {"/api/handles/10.1000/absolute", *without_agency}
    with command(tmp_path, "--records", cache, "--base", base, "--pick", "highest") as kept:
        check((expected | past_caches).__getitem__, asking(kept.url), CASES + PAST_CACHES)
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + 9 * 86_400)
    near = doi_proxy(upstream=base, cache=str(cache))
    gone = re.compile("none|NONE|dangling|empty|hidden")
    known = [case for case in CASES if not gone.search(case.path)]
    check(expected.__getitem__, asking(near.url), known)
    assert ask(near.url, "/10.1000/none").status == 503
    found = ask(near.url, "/api/handles/10.1000/none")
    # P-107: failed, and not "not found"
    assert (found.status, found.json()["responseCode"]) == (503, 2)
    assert ask(near.url, "/doiRA/10.1000/none").status == 503
