"""The pages and the API in a real browser: scripts that should run do, and no others."""

import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from doiuri_proxy import running
from doiuri_proxy.http._http import BadRequestError
from doiuri_proxy.http._pages import path_of
from doiuri_proxy.http._targets import append, header_url
from support.devtools import Page
from support.proxy_records import RECORDS, link, record, value

OWN = "document.documentElement.lang='owned'"
PAYLOADS = [
    f"<script>{OWN}</script>",
    f'"><img src=x onerror="{OWN}">',
    f"'><svg onload={OWN}>",
    f"</title></style><script>{OWN}</script>",
    f"javascript:{OWN}",
    f'<iframe srcdoc="<script>parent.{OWN}</script>"></iframe>',
]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with running(RECORDS) as proxy:
        yield proxy.url


@pytest.mark.parametrize("path", ["{}", "{}/", "10.1000/alias?ignore_aliases"])
def test_nothing_in_names_and_values_runs(browser: Page, path: str) -> None:
    name = "10.1000/" + "".join(PAYLOADS)
    values = [value("URL", payload, index=number) for number, payload in enumerate(PAYLOADS)]
    values += [
        value(payload, {payload: [payload]}, fmt="new", index=100 + n)
        for n, payload in enumerate(PAYLOADS)
    ]
    with running(
        [record(name, *values), record("10.1000/alias", value("HS_ALIAS", name))]
    ) as proxy:
        browser.open(f"{proxy.url}/{path.format(quote(name))}")
        page = browser.run("document.documentElement.outerHTML")
    assert '<html lang="en">' in page
    assert "</main>" in page
    assert page.count("owned") >= len(PAYLOADS)


def title(browser: Page, folder: Path, body: str, *, until: str = "true") -> str:
    """The title of a page after its scripts have run."""
    file = folder / "page.html"
    file.write_text(f"<!DOCTYPE html><html lang=en><title>none</title><body>{body}")
    browser.open(file)
    browser.wait(until)
    return str(browser.run("document.title"))


def test_jsonp_runs_the_callback_and_nothing_else(browser: Page, tmp_path: Path, url: str) -> None:
    """§5: JSONP (P-111)."""
    script = f'<script>function f(x) {{ document.title = x.handle }}</script><script src="{url}%s"></script>'
    assert title(browser, tmp_path, script % "/api/handles/10.1000/1?callback=f") == "10.1000/1"
    evil = quote("document.title='owned'//", safe="")
    assert title(browser, tmp_path, script % f"/api/handles/10.1000/1?callback={evil}") == "none"
    # A page is not executed as a script.
    assert title(browser, tmp_path, script % f"/10.1000/{evil}") == "none"


def test_a_script_of_another_origin_may_read_the_answers(
    browser: Page, tmp_path: Path, url: str
) -> None:
    """The API is CORS-compliant (P-110)."""
    shown = "then(r => r.json()).then(x => document.title = x.handle)"
    ask_for = f"<script>fetch({json.dumps(url)} + '%s', %s).{shown}</script>"
    preflighted = "{headers: {'X-Requested-With': 'test'}}"
    for path, options in (("10.1000/1", "{}"), ("10.1000/unknown", preflighted)):
        page = ask_for % (f"/api/handles/{path}", options)
        assert title(browser, tmp_path, page, until="document.title !== 'none'") == path


def test_the_front_page_leads_to_another_site(browser: Page, tmp_path: Path) -> None:
    """The policy on forms applies to redirects of the form's response, too."""
    with running([]) as target, running([link("10.1000/x", f"{target.url}/")]) as proxy:
        browser.open(f"{proxy.url}/")
        browser.run("document.querySelector('[name=hdl]').value = '10.1000/x'")
        browser.run("document.forms[0].submit()")
        browser.wait(f"location.href === '{target.url}/' && document.readyState === 'complete'")
        assert target.log


def test_pages_fit_a_narrow_screen_and_follow_the_colours_asked_for(browser: Page) -> None:
    name = "10.1000/" + "x" * 300
    values = [
        value("URL", "https://example.org/" + "y" * 300),
        value("HS_ADMIN", [{}], fmt="new", index=100),
    ]
    fits = "document.documentElement.scrollWidth <= innerWidth"
    lines = "Math.max(...[...document.querySelectorAll('thead th')].map(th => th.clientHeight))"
    ground = "getComputedStyle(document.body).color"
    with running([record(name, *values)]) as proxy:
        for path in (
            "",
            f"{name}?noredirect",
            f"{name}/",
            f"{name}?type=none",
            name.replace("x", "%"),
        ):
            browser.open(f"{proxy.url}/{path}", width=320)
            assert browser.run(fits), path
        browser.open(f"{proxy.url}/{name}?noredirect", width=320, prefers_color_scheme="light")
        assert browser.run(lines) < 45, "no word is broken"
        assert browser.run(ground) == "rgb(0, 0, 0)"
        browser.press_tab()
        assert browser.run("document.activeElement.getAttribute('role')") == "region"
        browser.open(f"{proxy.url}/{name}?noredirect", width=320, prefers_color_scheme="dark")
        assert browser.run(ground) == "rgb(255, 255, 255)"


OUTSIDE = (
    "[...document.querySelectorAll('tbody tr > *')]"
    ".filter(cell => { const box = cell.getBoundingClientRect();"
    " return !(box.width > 20 && box.height > 20 && box.left >= 0 && box.right <= innerWidth) }).length"
)
SCROLLS = (
    "(region => region.scrollWidth > region.clientWidth)(document.querySelector('[role=region]'))"
)
LABEL = "getComputedStyle(document.querySelector('tbody td:last-child'), '::before').content"
TABLE = {"table": 1, "row": 3, "columnheader": 5, "rowheader": 2, "cell": 8}


def test_a_narrow_table_shows_all_columns_and_is_a_table_to_a_screen_reader(browser: Page) -> None:
    values = [
        value("URL", "https://example.org/" + "y" * 300),
        value("HS_ADMIN", [{}], fmt="new", index=100),
    ]
    with running([record("10.1000/x", *values)]) as proxy:
        for width in (320, 400, 900):
            browser.open(f"{proxy.url}/10.1000/x?noredirect", width=width)
            assert browser.run(OUTSIDE) == 0, width
            assert browser.run(SCROLLS) is False, width
            label = "none" if width == 900 else '"Data"'
            assert browser.run(LABEL).startswith(label), width
            nodes = browser.call("Accessibility.getFullAXTree")["nodes"]
            roles = Counter(node["role"]["value"] for node in nodes if not node["ignored"])
            assert {role: roles[role] for role in TABLE} == TABLE, width


PIECES = [
    "\\",
    "/",
    "//",
    "@",
    ":",
    "?",
    "#",
    "%5C",
    "%2F",
    "%40",
    "%",
    ".",
    "\t",
    "\n",
    "\r",
    " ",
    "\0",
]
PIECES += [
    "\x1f",
    "\x7f",
    "\u3002",
    "\uff0f",
    "\uff20",
    "\xa0",
    "\u2028",
    "\xad",
    "\xfc",
    "[",
    "]",
    ";",
]
PIECES += ["80", "user", "evil.example", "http:"]


def odd_texts(count: int) -> Iterator[str]:
    """Texts of pieces that end a host, or hide where it ends; always the same ones."""
    draw = random.Random(33)
    for _ in range(count):
        yield "".join(draw.choices(PIECES, k=draw.randrange(1, 6)))


def parsed(browser: Page, urls: list[str], base: str) -> list[str | None]:
    """The host of each URL as the browser parses it; None if it does not."""
    script = "(urls, base) => urls.map(url => { try { return new URL(url, base).host } catch { return null } })"
    hosts: list[str | None] = browser.run(f"({script})({json.dumps(urls)}, {json.dumps(base)})")
    assert len(hosts) == len(urls)
    return hosts


def test_urls_in_headers_lead_where_the_browser_takes_the_records_url(browser: Page) -> None:
    pairs = []
    for text in odd_texts(20_000):
        for href in (f"http://good.example{text}", f"http:{text}", f"http://{text}"):
            target = header_url(href)
            if target is not None:
                pairs += [href.strip(), target]
    assert len(pairs) > 20_000
    hosts = parsed(browser, pairs, "http://base.example/")
    wrong = {
        pairs[n]: hosts[n : n + 2] for n in range(0, len(pairs), 2) if hosts[n] != hosts[n + 1]
    }
    assert not wrong


def test_urlappend_never_changes_the_host_that_the_browser_asks(browser: Page) -> None:
    targets = []
    for text in odd_texts(20_000):
        for href in (
            "http://good.example",
            "http://user@good.example:8080",
            "http://good.example/x?",
        ):
            try:
                targets.append(header_url(append(href, text)))
            except BadRequestError:
                continue
    assert len(targets) > 20_000
    hosts = parsed(browser, [target or "" for target in targets], "http://base.example/")
    assert set(hosts) == {"good.example", "good.example:8080"}


def test_paths_of_aliases_stay_on_the_proxy(browser: Page) -> None:
    paths = [path_of(text) for text in odd_texts(20_000)]
    assert set(parsed(browser, paths, "http://base.example/")) == {"base.example"}
