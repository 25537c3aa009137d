"""Looking up DOIs: marks, warnings, one request each, threads, and the budget."""

import json
import logging
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any

import markdown_doiuri
import pytest
from doiuri import DOI
from doiuri.resolver import Cause, Outcome, Resolver
from doiuri_proxy import running
from doiuri_proxy.pytest_plugin import Proxies
from support.checks import assert_same, assert_times, exactly
from support.doi_org import doi_org
from support.references import RECORDS
from support.servers.faults import FAULTS, NAME, TYPICAL, Fault
from support.servers.metadata import faulty_agency
from support.servers.web import record

from .conftest import Page, Render, Rendered, Serve

KNOWN: list[dict[str, Any]] = [
    record("10.1000/182", "https://example.org/landing"),
    record("10.1000/Mixed", "https://example.org/landing"),
    {"handle": "10.1000/empty", "values": []},
]
MARKED = (
    '<a class="doi doi-not-found" href="https://doi.org/10.1000/none" title="This DOI was not found.">'
    "<s>{}</s></a>"
)


def test_a_definite_no_is_marked_and_told_and_each_doi_asked_once_a_process(
    tmp_path: Path, doi_proxy: Proxies, render: Render
) -> None:
    """No values are no mistake of the author."""
    proxy = doi_proxy(KNOWN)
    cache = str(tmp_path / "cache")
    options = {"resolve": True, "resolver": proxy.url, "cache": cache, "mailto": "me@example.org"}
    source = "doi:10.1000/182 <doi:10.1000/empty>\n\ndoi:10.1000/none <doi:10.1000/none> [x](doi:10.1000/none)"
    rendered = render(f"{source} [](doi:10.1000/MIXED)", **options)
    assert_times(3, "doi-not-found", rendered.html)
    assert [rendered.html.count(MARKED.format(text)) for text in ("doi:10.1000/none", "x")] == [
        2,
        1,
    ]
    assert rendered.told == ["line 3: doi:10.1000/none: not found"]
    assert "doi-not-found" in render("[](doi:10.1000/NONE) doi:10.1000/mixed", **options).html
    asked = sorted(request.path.decode() for request in proxy.log)
    assert asked == [f"/api/handles/10.1000/{name}" for name in ("182", "MIXED", "empty", "none")]
    agent = proxy.log[0].headers["user-agent"]
    assert agent.startswith(
        f"markdown-doiuri/{version('markdown-doiuri')} doiuri/{version('doiuri')} "
    )
    assert "mailto:me@example.org" in agent
    other = render("doi:10.1000/182", **options | {"resolver": doi_proxy([]).url})
    assert "doi-not-found" in other.html
    markdown_doiuri.forget()
    assert render(source, **options).told == rendered.told
    exactly(4, "requests", proxy.log)  # the cache serves the next process
    markdown_doiuri.forget()
    render(source, **options | {"cache": f"{cache}2"})
    exactly(7, "requests", proxy.log)


def test_the_registered_doi_that_was_probably_meant_is_named(serve: Serve, render: Render) -> None:
    serve(KNOWN)
    rendered = render("See doi:10.1000/l82 and doi:10.1000/none.", resolve=True)
    assert rendered.told == [
        "line 1: doi:10.1000/l82: not found; write 10.1000/182",
        "line 1: doi:10.1000/none: not found",
    ]


def test_a_name_that_is_registered_with_the_slash_after_it_is_found(
    doi_proxy: Proxies, render: Render
) -> None:
    """Otherwise the slash is no part of the name, and is not asked about."""
    proxy = doi_proxy([*KNOWN, {"handle": "10.24447/slc/", "values": []}])
    options = {"resolve": True, "resolver": proxy.url, "bare_links": True}
    source = "doi:10.24447/slc/, https://doi.org/10.24447/SLC/ doi:10.1000/182/ doi:10.1000/none/"
    rendered = render(source, **options)
    assert [link[0] for link in Page(rendered.html).links] == [
        "https://doi.org/10.24447/slc/",
        "https://doi.org/10.24447/SLC/",
        "https://doi.org/10.1000/182",
        "https://doi.org/10.1000/none",
    ]
    assert rendered.told == ["line 1: doi:10.1000/none: not found"]
    assert_times(1, "doi-not-found", rendered.html)
    asked = [request.path.decode() for request in proxy.log]
    assert "/api/handles/10.1000/182/" not in asked

    again = render("doi:10.24447/slc/ doi:10.24447/slc", **options)
    assert again.told == ["line 1: doi:10.24447/slc: not found; write 10.24447/slc/"]


def test_a_name_in_the_address_of_a_publisher_is_not_reported(serve: Serve, render: Render) -> None:
    serve(KNOWN)
    address = "https://example.org/article/doi/10.1242/dmm.1/369227/E"
    name = "doi.org/10.1242/dmm.1"
    source = f"[x]({address}) <{address}>\n\n[x](https://{name})\n\n[x](//{name})"
    rendered = render(source, resolve="on")
    assert [problem.line for problem in rendered.problems] == [3, 5]


AUTHORS_OWN = {
    "[a](http://dx.doi.org/10.1000/none?x=y)": '<a href="http://dx.doi.org/10.1000/none?x=y">a</a>',
    "<https://DOI.ORG/10.1000/none>": '<a href="https://DOI.ORG/10.1000/none">https://DOI.ORG/10.1000/none</a>',
    '<a href="https://doi.org:443/10.1000/none">b</a>': None,
    "<p><a class=x href='//Doi.Org/10.1000/none'>c</a></p>": None,
    "<A HREF=http://www.doi.org/10.1000/none>d</A>": None,
    '<p><a href="https://doi.org/10.1000/182">e</a> <a href="https://doi.org/10.1000/none">e</a></p>': None,
}


@pytest.mark.parametrize(("source", "html"), AUTHORS_OWN.items(), ids=AUTHORS_OWN)
def test_links_to_the_proxy_are_verified_and_not_rewritten(
    source: str, html: str | None, serve: Serve, render: Render
) -> None:
    serve(KNOWN)
    rendered = render(f"x\n\n{source}", resolve=True)
    assert (html or source) in rendered.html
    assert rendered.told == ["line 3: doi:10.1000/none: not found"]


AMPERSANDS = [
    "[a](https://doi.org/10.1000/a&none)",
    "[a](https://doi.org/10.1000/a&amp;none)",
    "<https://doi.org/10.1000/a&none>",
    '<a href="https://doi.org/10.1000/a&amp;none">a</a>',
    '<p><a href="https://doi.org/10.1000/a&amp;none">a</a></p>',
    "doi:10.1000/a&none",
    "doi:10.1000/a&amp;none",
]


def test_an_ampersand_of_a_name_may_be_an_entity(serve: Serve, render: Render) -> None:
    serve(KNOWN)
    for source in AMPERSANDS:
        rendered = render(source, resolve=True)
        assert_same(
            f"what is told of {source!r}",
            rendered.told,
            ["line 1: doi:10.1000/a&none: not found"],
        )


def test_what_is_no_link_is_not_asked(doi_proxy: Proxies, render: Render) -> None:
    proxy = doi_proxy(KNOWN)
    source = (
        '`doi:10.1000/1` <a href="https://example.org/">doi:10.1000/2</a> ![doi:10.1000/3](x.png)\n\n'
        '    <a href="https://doi.org/10.1000/4">\n\n<!-- <doi:10.1000/5> -->\n\n'
        '<span title="<doi:10.1000/6>">x</span> [x](https://doi.org/) [y](https://doi.org/10.1000)'
    )
    assert render(source, resolve=True, resolver=proxy.url).problems == []
    assert not proxy.log


def test_each_lock_file_makes_the_network_needless(tmp_path: Path, render: Render) -> None:
    locks = {tmp_path / "a.json": KNOWN, tmp_path / "b.json": []}
    source = "<doi:10.1000/182> <doi:10.1000/none>"
    first = []
    for lock, records in locks.items():
        with running(records) as proxy, doi_org(proxy.url):
            first.append(render(source, resolve=True, lock=lock))

    again = [render(source, resolve=True, offline=True, lock=str(lock)) for lock in locks]

    assert [page.html.count("doi-not-found") for page in first] == [1, 2]
    for offline, online in zip(again, first, strict=True):
        assert_same("the locked page, as when it was locked", offline.html, online.html)
    assert again == first


@pytest.mark.parametrize(("accepted", "told"), [("10.1000/NONE", 0), ("10.1000/other", 1)])
def test_what_the_author_accepts_in_any_letter_case_is_no_problem(
    accepted: str, told: int, tmp_path: Path, render: Render
) -> None:
    lock = tmp_path / "doi.lock.json"
    source = "<doi:10.1000/182> <doi:10.1000/none>"
    with running(KNOWN) as proxy, doi_org(proxy.url):
        render(source, resolve=True, lock=lock)

    accept(lock, accepted)
    rendered = render(source, resolve=True, offline=True, lock=str(lock))

    exactly(told, "problems", rendered.problems)


def accept(lock: Path, name: str) -> None:
    """Do what an author does who accepts that a DOI does not exist."""
    content = json.loads(lock.read_text()) | {"accepted": {name: "gone"}}
    lock.write_text(json.dumps(content))


def test_a_locked_build_reports_what_the_lock_file_lacks(
    tmp_path: Path, doi_proxy: Proxies, render: Render
) -> None:
    proxy = doi_proxy(KNOWN)
    lock = tmp_path / "doi.lock.json"
    source = "<doi:10.1000/182> <doi:10.1000/none> <doi:10.1000/lost>"
    with doi_org(proxy.url):
        render(source, resolve=True, lock=lock)
    markdown_doiuri.forget()
    accept(lock, "10.1000/LOST")
    asked = len(proxy.log)
    content = lock.read_bytes()
    source += "\n\n[@doi:10.1000/Mixed; @doi:10.1000/182]"
    rendered = render(source, resolve=True, resolver=proxy.url, lock=lock, locked=True)
    assert rendered.told == [
        "line 1: doi:10.1000/none: not found",
        "line 1: doi:10.1000/182: not in the lock file; build once without the option locked to add it",
        "line 3: doi:10.1000/Mixed: not in the lock file; build once without the option locked to add it",
    ]
    assert (len(proxy.log), lock.read_bytes()) == (asked, content)
    with pytest.raises(ValueError, match="locked: needs a lock file"):
        render(source, locked=True)


@pytest.mark.parametrize("fault", TYPICAL, ids=str)
def test_a_fault_changes_nothing(fault: Fault, render: Render) -> None:
    """A citation is a link, in the text and in the list."""
    source = f"<doi:{NAME}>, [](doi:{NAME}2) and [@doi:{NAME}; @doi:{NAME}3], @doi:{NAME}"
    offline: Rendered = render(source)
    with fault.serve() as server:
        faulty = render(source, resolve=True, resolver=server.url, budget=0.5, timeout=100)
    assert faulty == offline
    assert_times(7, 'href="https://doi.org/', faulty.html)


def test_a_request_ends_with_its_timeout_not_with_the_budget(
    render: Render, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="doiuri")
    [hanging] = [fault for fault in FAULTS if fault.name == "a header byte a second"]
    with hanging.serve() as server:
        render(f"<doi:{NAME}>", resolve=True, resolver=server.url, budget=100, timeout=0.3)
    assert caplog.text.endswith(" within 0.3 s\n")


@pytest.mark.parametrize(
    ("cause", "seconds", "times"),
    [(None, 3_500, 1), (None, 3_700, 2), ("offline", 50, 1), ("offline", 70, 2)],
)
@pytest.mark.parametrize(
    ("method", "source"), [("check", "<doi:10.1000/1>"), ("works", "[@doi:10.1000/1]")]
)
def test_an_unknown_answer_is_kept_for_a_minute_and_any_other_for_an_hour(
    method: str,
    source: str,
    cause: Any,
    seconds: float,
    times: int,
    render: Render,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[list[DOI]] = []

    def answer(_: Resolver, dois: list[DOI], *__: object, **___: object) -> list[Outcome]:
        asked.append(dois)
        if cause is None:
            return [Outcome(doi, "not-found") for doi in dois]
        return [Outcome(doi, "unknown", cause=Cause(cause)) for doi in dois]

    def exists(_: Resolver, dois: list[DOI], *__: object, **___: object) -> list[Outcome]:
        return [Outcome(doi, "found") for doi in dois]

    monkeypatch.setattr(Resolver, "check", exists)
    monkeypatch.setattr(Resolver, method, answer)
    render(source, resolve=True)
    monotonic = time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: monotonic() + seconds)
    render(source, resolve=True)
    exactly(times, "requests", asked)


def test_links_are_checked_even_if_no_metadata_come(render: Render) -> None:
    """Cited works take at most half of the budget."""
    [hanging] = [fault for fault in FAULTS if fault.name == "timeout in headers"]
    with faulty_agency(RECORDS, hanging) as proxy:
        source = "[@doi:10.5555/kahn-2006] doi:10.5555/dead"
        html = render(source, resolve=True, resolver=proxy.url, budget=1, timeout=100).html
    assert_times(1, "doi-not-found", html)


def test_threads_do_not_disturb_one_another(doi_proxy: Proxies, render: Render) -> None:
    """They share what is known, and each page is that of a conversion alone."""
    url = doi_proxy(RECORDS).url
    names = ("kahn-2006", "three", "dead")
    sources = [
        f"[@doi:10.5555/{name}] doi:10.5555/dead doi:10.5555/{number}"
        for number, name in enumerate(names * 4)
    ]
    begin = threading.Barrier(4)

    def convert(source: str) -> Rendered:
        begin.wait(60)
        return render(source, resolve=True, resolver=url, budget=60)

    with ThreadPoolExecutor(4) as pool:
        together = [*pool.map(convert, sources)]
    markdown_doiuri.forget()
    assert together == [render(source, resolve=True, resolver=url) for source in sources]
    assert ">Kahn &amp; Wilensky, 2006</a>" in together[0].html
