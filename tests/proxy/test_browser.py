"""The pages and the API in a real browser: scripts that should run do, and no others."""

import itertools
import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from doiuri_proxy import running
from doiuri_proxy.app._http import BadRequestError
from doiuri_proxy.app._pages import path_of
from doiuri_proxy.app._targets import append, header_url
from support.browser import chromium, dump_dom
from support.devtools import Page, browsing
from support.http import ask
from support.proxy_records import link, record, value

pytestmark = pytest.mark.newest

OWN = "document.documentElement.lang='owned'"
PAYLOADS = [
    f"<script>{OWN}</script>",
    f'"><img src=x onerror="{OWN}">',
    f"'><svg onload={OWN}>",
    f"</title></style><script>{OWN}</script>",
    f"javascript:{OWN}",
    f'<iframe srcdoc="<script>parent.{OWN}</script>"></iframe>',
]


def seen(url: str) -> str:
    return chromium("--virtual-time-budget=2000", "--dump-dom", url)


@pytest.mark.parametrize("path", ["{}", "{}/", "10.1000/alias?ignore_aliases"])
def test_nothing_in_names_and_values_runs(path: str) -> None:
    name = "10.1000/" + "".join(PAYLOADS)
    values = [value(number, "URL", payload) for number, payload in enumerate(PAYLOADS)]
    values += [value(100, payload, {payload: [payload]}, "new") for payload in PAYLOADS]
    with running([record(name, *values), record("10.1000/alias", value(1, "HS_ALIAS", name))]) as proxy:
        page = seen(f"{proxy.url}/{path.format(quote(name))}")
    assert '<html lang="en">' in page
    assert "</main>" in page
    assert page.count("owned") >= len(PAYLOADS)


def test_nothing_in_a_redirects_page_runs() -> None:
    with running([link("10.1000/x", f'https://example.org/"><script>{OWN}</script>')]) as proxy:
        assert "<script" not in ask(proxy.url, "/10.1000/x").text


def page(tmp_path: Path, body: str) -> str:
    file = tmp_path / "page.html"
    file.write_text(f"<!DOCTYPE html><html lang=en><title>none</title><body>{body}")
    title = re.search(r"<title>(.*?)</title>", dump_dom(file))
    assert title is not None
    return title[1]


def test_jsonp(tmp_path: Path, url: str) -> None:
    script = f'<script>function f(x) {{ document.title = x.handle }}</script><script src="{url}%s"></script>'
    assert page(tmp_path, script % "/api/handles/10.1000/1?callback=f") == "10.1000/1"
    evil = quote("document.title='owned'//", safe="")
    assert page(tmp_path, script % f"/api/handles/10.1000/1?callback={evil}") == "none"
    # A page is not executed as a script.
    assert page(tmp_path, script % f"/10.1000/{evil}") == "none"


def test_a_script_of_another_origin_may_read_the_answers(tmp_path: Path, url: str) -> None:
    title = "then(r => r.json()).then(x => document.title = x.handle)"
    ask_for = f"<script>fetch({json.dumps(url)} + '%s', %s).{title}</script>"
    assert page(tmp_path, ask_for % ("/api/handles/10.1000/1", "{}")) == "10.1000/1"
    preflighted = "{headers: {'X-Requested-With': 'test'}}"
    assert page(tmp_path, ask_for % ("/api/handles/10.1000/none", preflighted)) == "10.1000/none"


def test_the_front_page_leads_to_another_site(tmp_path: Path) -> None:
    """The policy on forms applies to redirects of the form's response, too."""
    with running([]) as target, running([link("10.1000/x", f"{target.url}/")]) as proxy:
        form = f'<form id=f method=post action="{proxy.url}/"><input name=hdl value="10.1000/x"></form>'
        page(tmp_path, f"{form}<script>document.getElementById('f').submit()</script>")
        assert next(request.target for request in target.log if request.method == "GET") == "/"
        policy = ask(proxy.url, "/").headers["content-security-policy"]
        assert "form-action 'self' http: https:" in policy


def test_pages_fit_a_narrow_screen_and_follow_the_colours_asked_for() -> None:
    name = "10.1000/" + "x" * 300
    values = [value(1, "URL", "https://example.org/" + "y" * 300), value(100, "HS_ADMIN", [{}], "new")]
    fits = "document.documentElement.scrollWidth <= innerWidth"
    lines = "Math.max(...[...document.querySelectorAll('thead th')].map(th => th.clientHeight))"
    ground = "getComputedStyle(document.body).color"
    with running([record(name, *values)]) as proxy, browsing() as page:
        for path in ("", f"{name}?noredirect", f"{name}/", f"{name}?type=none", name.replace("x", "%")):
            page.open(f"{proxy.url}/{path}", width=320)
            assert page.run(fits), path
        page.open(f"{proxy.url}/{name}?noredirect", width=320, prefers_color_scheme="light")
        assert page.run(lines) < 45, "no word is broken"
        assert page.run(ground) == "rgb(0, 0, 0)"
        page.press_tab()
        assert page.run("document.activeElement.getAttribute('role')") == "region"
        page.open(f"{proxy.url}/{name}?noredirect", width=320, prefers_color_scheme="dark")
        assert page.run(ground) == "rgb(255, 255, 255)"


def test_all_columns_of_the_values_are_in_sight() -> None:
    name = "10.1000/x"
    values = [value(1, "URL", "https://example.org/" + "y" * 300), value(100, "HS_ADMIN", [{}], "new")]
    outside = (
        "[...document.querySelectorAll('tbody tr > *')]"
        ".filter(cell => { const box = cell.getBoundingClientRect();"
        " return !(box.width > 20 && box.height > 20 && box.left >= 0 && box.right <= innerWidth) }).length"
    )
    scrolls = "(region => region.scrollWidth > region.clientWidth)(document.querySelector('[role=region]'))"
    label = "getComputedStyle(document.querySelector('tbody td:last-child'), '::before').content"
    with running([record(name, *values)]) as proxy, browsing() as page:
        for width, scheme in itertools.product((320, 400, 900), ("light", "dark")):
            page.open(f"{proxy.url}/{name}?noredirect", width=width, prefers_color_scheme=scheme)
            assert page.run("document.querySelectorAll('tbody tr > *').length") == 10
            assert page.run(outside) == 0, width
            assert page.run(scrolls) is False, width
            assert page.run(label).startswith("none" if width == 900 else '"Data"')


def roles(page: Page) -> Counter[str]:
    """The roles of the page's accessibility tree that belong to tables."""
    nodes = page.call("Accessibility.getFullAXTree")["nodes"]
    seen = [node["role"]["value"] for node in nodes if not node["ignored"]]
    return Counter(role for role in seen if role in {"table", "row", "columnheader", "rowheader", "cell"})


def test_a_narrow_table_is_still_a_table_to_a_screen_reader() -> None:
    with running([record("10.1000/x", value(1, "URL", "https://example.org/"))]) as proxy, browsing() as page:
        seen = []
        for width in (320, 900):
            page.open(f"{proxy.url}/10.1000/x?noredirect", width=width)
            seen.append(roles(page))
    assert seen == [{"table": 1, "row": 2, "columnheader": 5, "rowheader": 1, "cell": 4}] * 2


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
    "\x1f",
    "\x7f",
]
PIECES += [
    "\u3002",
    "\uff0f",
    "\uff20",
    "\xa0",
    "\u2028",
    "\xad",
    "\xfc",
    "[",
    "]",
    "80",
    "user",
    "evil.example",
    "http:",
    ";",
]


def odd_texts(count: int) -> Iterator[str]:
    """Texts of pieces that end a host, or hide where it ends; always the same ones."""
    draw = random.Random(33)
    for _ in range(count):
        yield "".join(draw.choices(PIECES, k=draw.randrange(1, 6)))


def parsed(urls: list[str], base: str) -> list[str | None]:
    """The host of each URL as the browser parses it; None if it does not."""
    script = (
        "(urls, base) => urls.map(url => { try { return new URL(url, base).host } catch { return null } })"
    )
    with browsing() as page:
        hosts: list[str | None] = page.run(f"({script})({json.dumps(urls)}, {json.dumps(base)})")
    assert len(hosts) == len(urls)
    return hosts


def test_urls_in_headers_lead_where_the_browser_takes_the_records_url() -> None:
    pairs = []
    for text in odd_texts(20_000):
        for href in (f"http://good.example{text}", f"http:{text}", f"http://{text}"):
            target = header_url(href)
            if target is not None:
                pairs += [href.strip(), target]
    assert len(pairs) > 20_000
    hosts = parsed(pairs, "http://base.example/")
    wrong = {pairs[n]: hosts[n : n + 2] for n in range(0, len(pairs), 2) if hosts[n] != hosts[n + 1]}
    assert not wrong


def test_urlappend_never_changes_the_host_that_the_browser_asks() -> None:
    targets = []
    for text in odd_texts(20_000):
        for href in ("http://good.example", "http://user@good.example:8080", "http://good.example/x?"):
            try:
                targets.append(header_url(append(href, text)))
            except BadRequestError:
                continue
    assert len(targets) > 20_000
    hosts = parsed([target or "" for target in targets], "http://base.example/")
    assert set(hosts) == {"good.example", "good.example:8080"}


def test_paths_of_aliases_stay_on_the_proxy() -> None:
    paths = [path_of(text) for text in odd_texts(20_000)]
    assert set(parsed(paths, "http://base.example/")) == {"base.example"}
