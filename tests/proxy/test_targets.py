"""Where redirects lead: records that are meant to mislead, or that leave a choice."""

import html

from doiuri_proxy import running
from support.http import ask
from support.proxy_records import link


def test_a_backslash_after_the_host_ends_it() -> None:
    """Browsers read it as a slash; escaped, it would make the host a user's name."""
    bare = link("10.1000/bare", "http://good.example")
    spaced = link("10.1000/spaced", " https://example.org/ ")
    with running([bare, spaced]) as proxy:
        for path, target in (
            ("bare?urlappend=%5C@evil.example", "http://good.example/@evil.example"),
            ("bare?urlappend=%5C%5Cevil.example", "http://good.example/%5Cevil.example"),
            ("spaced?auth", "https://example.org/"),
        ):
            assert ask(proxy.url, f"/10.1000/{path}").headers["location"] == target


def test_a_backslash_in_the_host_is_no_web_address() -> None:
    """What stands before it could be read as a host or as a user's name: nobody is sent there."""
    record = link("10.1000/marked", "http://good.example\\@evil.example/x")
    with running([record]) as proxy:
        for path in ("marked", "marked?urlappend=%5C@evil.example", "marked?auth"):
            answer = ask(proxy.url, f"/10.1000/{path}")
            assert answer.status == 200
            assert "location" not in answer.headers


def test_the_page_of_a_redirect_keeps_to_its_text() -> None:
    """It is rendered once: what it is filled with is escaped, and no request sees another's."""
    hrefs = [
        "https://example.org/?a=1&b='%22%ef%bf%bc'",
        "https://example.org/{0}%s%%",
        "https://example.org/",
    ]
    with running([link(f"10.1000/{number}", href) for number, href in enumerate(hrefs)]) as proxy:
        for number in (0, 1, 2, 0):
            answer = ask(proxy.url, f"/10.1000/{number}")
            target = answer.headers["location"]
            written = html.escape(target).replace("&#x27;", "&#39;")
            assert f'<p>This DOI leads to <a href="{written}">{written}</a>.</p>'.encode() in answer.body
