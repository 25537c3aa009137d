"""The pages: correct, accessible, and without markup from records."""

import re
from html.parser import HTMLParser

import pytest
from doiuri_proxy.pytest_plugin import Proxies
from support.checks import assert_times
from support.http import ask
from support.proxy_records import link, record, value

VOID = {"meta", "input", "br", "link"}


class Outline(HTMLParser):
    """Checks that elements nest, and collects them with their attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def tags(self) -> list[str]:
        return [tag for tag, _ in self.elements]

    def links(self) -> list[str | None]:
        return [attributes["href"] for tag, attributes in self.elements if tag == "a"]


PAGES = [
    ("/", 200, "Resolve a DOI Name"),
    ("/10.1000/none", 404, "DOI Name Not Found"),
    ("/10.1000/1?type=EMAIL", 200, "No Values Found"),
    ("/10.1000/1?index=7", 200, "No Values Found"),
    ("/10.1000/empty", 200, "No Values Found"),
    ("/10.1000/mail", 200, "Handle Values for: 10.1000/mail"),
    ("/10.1000/loc?noredirect", 200, "Handle Values for: 10.1000/loc"),
    ("/10.1000/loop", 404, "Alias Chain Too Long"),
    ("/10.1000/broken", 500, "Server Error"),
    ("/10.1000/%zz", 400, "Bad Request"),
    ("/10.1000/1", 302, "Handle Redirect"),
]


@pytest.mark.parametrize(("path", "status", "title"), PAGES)
def test_pages_are_whole_and_accessible(url: str, path: str, status: int, title: str) -> None:
    """The page of a name that does not exist is titled "DOI Name Not Found" (P-18)."""
    answer = ask(url, path)
    assert (answer.status, answer.headers["content-type"]) == (status, "text/html;charset=utf-8")
    outline = Outline(answer.text)
    assert answer.text.startswith("<!DOCTYPE html>\n")
    assert f"<title>{title}</title>" in answer.text
    assert ("html", {"lang": "en"}) in outline.elements
    assert_times(1, "h1", outline.tags())
    assert "main" in outline.tags()
    assert "script" not in outline.tags()
    policy = answer.headers["content-security-policy"]
    assert ("default-src 'none'" in policy, "unsafe" in policy) == (True, False)
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_the_form_has_a_label(url: str) -> None:
    outline = Outline(ask(url, "/").text)
    label = next(attributes for tag, attributes in outline.elements if tag == "label")
    field = next(attributes for tag, attributes in outline.elements if tag == "input")
    assert (label["for"], field["name"]) == (field["id"], "hdl")


@pytest.mark.parametrize(
    "path", ["10.1000/1?noredirect", "10.1000/1?noredirect=false", "10.1000/1?a;noredirect;b"]
)
def test_noredirect_shows_the_values(url: str, path: str) -> None:
    """§3: Do not redirect using URL or 10320/loc values; display handle values instead (P-57)."""
    answer = ask(url, f"/{path}")
    assert answer.status == 200
    outline = Outline(answer.text)
    assert_times(2, "tr", outline.tags())
    assert (
        "div",
        {"role": "region", "aria-labelledby": "values", "tabindex": "0"},
    ) in outline.elements
    assert ("caption", {"id": "values"}) in outline.elements
    assert {attributes.get("scope") for tag, attributes in outline.elements if tag == "th"} == {
        "col",
        "row",
    }
    assert outline.links() == ["http://www.doi.org/index.html"]


@pytest.mark.parametrize(
    "shown", ["someone@example.org", "/wA=", "ff00", "0.NA/10.1000", "serverId", "DSA", "anything"]
)
def test_every_format_is_shown(url: str, shown: str) -> None:
    assert shown in ask(url, "/10.1000/formats").text


def test_not_found_with_a_trailing_slash(url: str) -> None:
    """§1: a warning that the name contained a trailing slash, and a link to resolve it without; P-21 P-22."""
    assert "ends in a slash" in ask(url, "/10.1000/1/").text
    paths = ["1/", "x%3Fy/", "x//", "none", "", "/"]
    assert [Outline(ask(url, f"/10.1000/{path}").text).links() for path in paths] == [
        *(["/10.1000/1"], ["/10.1000/x%3Fy"], ["/10.1000/x/"], [], [], [])
    ]


def test_an_existing_name_with_a_trailing_slash_resolves(doi_proxy: Proxies) -> None:
    """The warning is for names that are not found (P-21)."""
    proxy = doi_proxy([link("10.1000/x/", "https://example.org/slash")])
    assert ask(proxy.url, "/10.1000/x/").headers["location"] == "https://example.org/slash"
    assert ask(proxy.url, "/10.1000/x").status == 404


@pytest.mark.parametrize(
    "path",
    [
        "/10.1000/%3Cscript%3Ealert(1)%3C%2Fscript%3E",
        "/10.1000/%22%3E%3Cimg%20src=x%20onerror=alert(1)%3E/",
        "/10.1000/1?type=%3Cscript%3E",
        "/%3Cscript%3E",
        "/10.1000/evil",
        "/10.1000/javascript",
        "/10.1000/file",
    ],
)
def test_nothing_of_a_name_or_a_value_becomes_markup(url: str, path: str) -> None:
    answer = ask(url, path)
    outline = Outline(answer.text)
    assert not {"script", "img", "iframe", "svg"} & set(outline.tags())
    assert all(str(target).startswith(("/", "http")) for target in outline.links())
    assert re.search(r"<bdi>[^<]+</bdi>", answer.text)


def test_a_name_of_another_script_cannot_turn_the_text_around(url: str) -> None:
    assert "<bdi>10.1000/\u05d0\u05d1</bdi>" in ask(url, "/10.1000/%D7%90%D7%91").text


def test_an_alias_is_linked_on_this_proxy(url: str) -> None:
    assert Outline(ask(url, "/10.1000/alias?ignore_aliases").text).links() == ["/10.1000/target"]


def test_types_and_structured_data_are_text(doi_proxy: Proxies) -> None:
    odd = value("<b>'\"&</b>", {"<i>": ["<u>&", "ü"]}, fmt="new", timestamp="2020-01-02T03:04:05Z")
    proxy = doi_proxy([record("10.1000/odd", odd)])
    page = ask(proxy.url, "/10.1000/odd?noredirect").text
    assert not re.search("<[biu]>", page)
    assert "&lt;b&gt;&#39;&#34;&amp;&lt;/b&gt;" in page
    assert "&#34;&lt;i&gt;&#34;" in page
    assert "&#34;&lt;u&gt;&amp;&#34;,\n    &#34;ü&#34;" in page
