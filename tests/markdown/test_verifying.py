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
from support.references import RECORDS
from support.servers.faults import FAULTS, NAME, TYPICAL, Fault
from support.servers.metadata import faulty_agency
from support.servers.web import record

from .conftest import Render, Rendered

KNOWN: list[dict[str, Any]] = [
    record("10.1000/182", "https://example.org/landing"),
    record("10.1000/Mixed", "https://example.org/landing"),
    {"handle": "10.1000/empty", "values": []},
]
MARKED = (
    '<a class="doi doi-not-found" href="https://doi.org/10.1000/none" title="This DOI was not found.">'
    "<s>{}</s></a>"
)


def test_a_definite_no_is_marked_and_told(doi_proxy: Proxies, render: Render) -> None:
    proxy = doi_proxy(KNOWN)
    source = (
        "doi:10.1000/182\n\ndoi:10.1000/none <doi:10.1000/none> [x](doi:10.1000/none) [](doi:10.1000/MIXED)"
    )
    rendered = render(source, resolve=True, resolver=proxy.url)
    assert rendered.html.count("doi-not-found") == 3
    for text in ("doi:10.1000/none", "x"):
        assert MARKED.format(text) in rendered.html
    assert [str(problem) for problem in rendered.problems] == ["line 3: doi:10.1000/none: not found"]


def test_a_name_in_the_address_of_a_publisher_is_not_reported(doi_proxy: Proxies, render: Render) -> None:
    address = "https://example.org/article/doi/10.1242/dmm.1/369227/E"
    source = (
        f"[x]({address}) <{address}>\n\n[x](https://doi.org/10.1242/dmm.1)\n\n[x](//doi.org/10.1242/dmm.1)"
    )
    rendered = render(source, resolve="on", resolver=doi_proxy(KNOWN).url)
    assert [problem.line for problem in rendered.problems] == [3, 5]


def test_no_values_is_no_mistake_of_the_author(doi_proxy: Proxies, render: Render) -> None:
    rendered = render("<doi:10.1000/empty>", resolve=True, resolver=doi_proxy(KNOWN).url)
    assert "doi-not-found" not in rendered.html
    assert rendered.problems == []


def test_what_was_probably_meant_is_suggested(doi_proxy: Proxies, render: Render) -> None:
    rendered = render("<doi:10.1000/1–82>", resolve=True, resolver=doi_proxy(KNOWN).url)
    [problem] = rendered.problems
    assert problem.suggestion is not None
    assert "10.1000/1-82" in problem.suggestion
    assert problem.line == 1


AUTHORS_OWN = {
    "[a](http://dx.doi.org/10.1000/none?x=y)": '<a href="http://dx.doi.org/10.1000/none?x=y">a</a>',
    "<https://DOI.ORG/10.1000/none>": '<a href="https://DOI.ORG/10.1000/none">https://DOI.ORG/10.1000/none</a>',
    '<a href="https://doi.org:443/10.1000/none">b</a>': None,
    "<p><a class=x href='//Doi.Org/10.1000/none'>c</a></p>": None,
    "<A HREF=http://www.doi.org/10.1000/none>d</A>": None,
}


@pytest.mark.parametrize("source", AUTHORS_OWN)
def test_a_link_to_the_proxy_is_verified_and_not_rewritten(
    source: str, doi_proxy: Proxies, render: Render
) -> None:
    rendered = render(f"x\n\n{source}", resolve=True, resolver=doi_proxy(KNOWN).url)
    assert (AUTHORS_OWN[source] or source) in rendered.html
    assert [str(problem) for problem in rendered.problems] == ["line 3: doi:10.1000/none: not found"]


def test_what_is_no_link_is_not_asked(doi_proxy: Proxies, render: Render) -> None:
    proxy = doi_proxy(KNOWN)
    source = (
        '`doi:10.1000/1` <a href="https://example.org/">doi:10.1000/2</a> ![doi:10.1000/3](x.png)\n\n'
        '    <a href="https://doi.org/10.1000/4">\n\n<!-- <doi:10.1000/5> -->\n\n'
        '<span title="<doi:10.1000/6>">x</span> [x](https://doi.org/) [y](https://doi.org/10.1000)'
    )
    assert render(source, resolve=True, resolver=proxy.url).problems == []
    assert not proxy.log


def test_each_doi_is_asked_once_a_process(doi_proxy: Proxies, render: Render) -> None:
    proxy = doi_proxy(KNOWN)
    for source in (
        "doi:10.1000/182 doi:10.1000/182",
        "<doi:10.1000/182> <doi:10.1000/none>",
        "[](doi:10.1000/NONE)",
    ):
        rendered = render(source, resolve=True, resolver=proxy.url)
    assert "doi-not-found" in rendered.html
    assert sorted(request.path for request in proxy.log) == [
        b"/api/handles/10.1000/182",
        b"/api/handles/10.1000/none",
    ]
    other = render("doi:10.1000/182", resolve=True, resolver=doi_proxy([]).url)
    assert "doi-not-found" in other.html


def test_the_store_serves_the_next_process(tmp_path: Path, doi_proxy: Proxies, render: Render) -> None:
    proxy, source = doi_proxy(KNOWN), "<doi:10.1000/182> <doi:10.1000/none>"
    for name, asked in (("a", 2), ("a", 2), ("b", 4)):
        (tmp_path / "cache").unlink(missing_ok=True)
        (tmp_path / "cache").symlink_to(tmp_path / name)
        cache = str(tmp_path / "cache")
        rendered = render(source, resolve=True, resolver=proxy.url, cache=cache)
        assert (rendered.html.count("doi-not-found"), len(proxy.log)) == (1, asked)
        markdown_doiuri.forget()


def test_each_lock_file_makes_the_network_needless(tmp_path: Path, render: Render) -> None:
    locks, source = (tmp_path / "a.json", tmp_path / "b.json"), "<doi:10.1000/182> <doi:10.1000/none>"
    first = []
    for lock, records in zip(locks, (KNOWN, []), strict=True):
        with running(records) as proxy:
            first.append(render(source, resolve=True, resolver=proxy.url, lock=lock))
    assert [page.html.count("doi-not-found") for page in first] == [1, 2]
    assert [render(source, resolve=True, offline=True, lock=str(lock)) for lock in locks] == first
    # what the author accepts meanwhile, in any letter case, is no problem from now on
    locks[0].write_text(
        json.dumps(json.loads(locks[0].read_text()) | {"accepted": {"10.1000/NONE": "withdrawn"}})
    )
    assert render(source, resolve=True, offline=True, lock=str(locks[0])).problems == []


def test_without_resolving_a_citation_is_looked_up_in_the_lock_file_only(
    tmp_path: Path, doi_proxy: Proxies, render: Render
) -> None:
    proxy, lock, source = doi_proxy(RECORDS), str(tmp_path / "lock.json"), "[@doi:10.5555/kahn-2006]"
    options = {"resolver": proxy.url, "lock": lock}
    assert "Kahn" not in render(source, resolve=False, **options).html
    assert proxy.log == []
    assert "Kahn" in render(source, resolve=True, **options).html  # the page before is not believed
    markdown_doiuri.forget()
    assert "Kahn" in render(source, resolve=False, **options).html


def test_a_locked_build_reports_what_the_lock_file_lacks(
    tmp_path: Path, doi_proxy: Proxies, render: Render
) -> None:
    proxy, lock = doi_proxy(KNOWN), tmp_path / "doi.lock.json"
    source = "<doi:10.1000/182> <doi:10.1000/none> <doi:10.1000/lost>"
    render(source, resolve=True, resolver=proxy.url, lock=lock)
    markdown_doiuri.forget()
    lock.write_text(json.dumps(json.loads(lock.read_text()) | {"accepted": {"10.1000/LOST": "gone"}}))
    asked, content = len(proxy.log), lock.read_bytes()
    source += "\n\n[@doi:10.1000/Mixed; @doi:10.1000/182]"
    rendered = render(source, resolve=True, resolver=proxy.url, lock=lock, locked=True)
    assert [str(problem) for problem in rendered.problems] == [
        "line 1: doi:10.1000/none: not found",
        "line 1: doi:10.1000/182: not in the lock file; build once without the option locked to add it",
        "line 3: doi:10.1000/Mixed: not in the lock file; build once without the option locked to add it",
    ]
    assert (len(proxy.log), lock.read_bytes()) == (asked, content)
    with pytest.raises(ValueError, match="locked: needs a lock file"):
        render(source, locked=True)


def test_the_contact_is_told(doi_proxy: Proxies, render: Render) -> None:
    proxy = doi_proxy(KNOWN)
    render("<doi:10.1000/182>", resolve=True, resolver=proxy.url, mailto="me@example.org")
    [request] = proxy.log
    agent = request.headers["user-agent"]
    assert agent.startswith(f"markdown-doiuri/{version('markdown-doiuri')} doiuri/{version('doiuri')} ")
    assert "mailto:me@example.org" in agent


@pytest.mark.parametrize("fault", TYPICAL, ids=str)
def test_a_fault_changes_nothing(fault: Fault, render: Render) -> None:
    """A citation is a link, in the text and in the list."""
    source = f"<doi:{NAME}>, [](doi:{NAME}2) and [@doi:{NAME}; @doi:{NAME}3], @doi:{NAME}"
    offline: Rendered = render(source)
    with fault.serve() as server:
        faulty = render(source, resolve=True, resolver=server.url, budget=0.5, timeout=100)
    assert faulty == offline
    assert faulty.html.count('href="https://doi.org/') == 7


def test_a_server_that_hangs_is_not_asked_by_every_document(render: Render) -> None:
    [hanging] = [fault for fault in FAULTS if fault.name == "timeout in headers"]
    with hanging.serve() as server:
        for _ in range(5):
            render(f"<doi:{NAME}>", resolve=True, resolver=server.url, budget=0.5, timeout=100)
        assert len(server.requests) <= 1


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
@pytest.mark.parametrize(("method", "source"), [("check", "<doi:10.1000/1>"), ("works", "[@doi:10.1000/1]")])
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
        unknown = cause and Cause(cause)
        return [Outcome(doi, "unknown" if cause else "not-found", cause=unknown) for doi in dois]

    def exists(_: Resolver, dois: list[DOI], *__: object, **___: object) -> list[Outcome]:
        return [Outcome(doi, "found") for doi in dois]

    monkeypatch.setattr(Resolver, "check", exists)
    monkeypatch.setattr(Resolver, method, answer)
    render(source, resolve=True)
    monotonic = time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: monotonic() + seconds)
    render(source, resolve=True)
    assert len(asked) == times


def test_links_are_checked_even_if_no_metadata_come(render: Render) -> None:
    """Cited works take at most half of the budget."""
    [hanging] = [fault for fault in FAULTS if fault.name == "timeout in headers"]
    with faulty_agency(RECORDS, hanging) as proxy:
        source = "[@doi:10.5555/kahn-2006] doi:10.5555/dead"
        html = render(source, resolve=True, resolver=proxy.url, budget=1, timeout=100).html
    assert html.count("doi-not-found") == 1


def test_threads_do_not_disturb_one_another(doi_proxy: Proxies, render: Render) -> None:
    """They share what is known, and each page is that of a conversion alone."""
    url, names = doi_proxy(RECORDS).url, ("kahn-2006", "three", "dead")
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


@pytest.mark.parametrize("times", [1, 2])
def test_what_could_not_be_checked_is_logged_once_a_document(
    times: int, render: Render, caplog: pytest.LogCaptureFixture
) -> None:
    source = "doi:10.1000/1 doi:10.1000/1 doi:10.1000/2"
    with caplog.at_level(logging.INFO, "doiuri"):
        for _ in range(times):
            assert render(source, resolve=True, offline=True).problems == []
    message = "2 of 2 DOIs could not be checked: offline: request not sent"
    assert caplog.record_tuples == [("doiuri", logging.INFO, message)] * times
