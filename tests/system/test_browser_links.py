"""Every link of every case as Chromium's URL parser reads it."""

import html
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from doiuri import DOI, PATH, encode
from support.cases import accepted
from support.devtools import Page

NAMES = sorted({case.name for case in accepted() if case.name is not None})

FORMS: dict[str, Callable[[DOI], str]] = {
    "link": lambda doi: doi.url,
    "query": lambda doi: doi.link(noredirect=True, locatt="id:1"),
    "rest": lambda doi: f"https://doi.org/api/handles/{encode(doi.name, PATH)}",
    "urn": lambda doi: f"https://doi.org/{doi.urn}",
}


def hrefs(browser: Page, folder: Path, links: list[str]) -> list[str]:
    """The links as the browser understands them."""
    rows = "\n".join(f'<p><a href="{html.escape(link)}">x</a></p>' for link in links)
    page = folder / "page.html"
    page.write_text(f'<!doctype html><meta charset="utf-8"><title>Links</title>{rows}', "utf-8")
    browser.open(page)
    return browser.hrefs()


@pytest.mark.parametrize("write", FORMS)
def test_browsers_ask_for_the_whole_name(browser: Page, tmp_path: Path, write: str) -> None:
    """Browsers keep all of the name in a link (P-05 P-31 P-53 N-145 S-27 L-05)."""
    links = [FORMS[write](DOI(name)) for name in NAMES]
    seen = hrefs(browser, tmp_path, links)
    assert seen == links
    for name, link in zip(NAMES, seen, strict=True):
        assert DOI.from_url(link).name == name
        parts = urlsplit(link)
        assert parts.fragment == "", (name, link)
        assert write == "urn" or unquote(parts.path).endswith(f"/{name}")


def test_browsers_lose_part_of_a_bare_name(browser: Page, tmp_path: Path) -> None:
    """Unencoded, browsers cut the name at "#" and remove dot segments (P-31 L-24 S-06): it can fail."""
    bare = ["10.1000/res#test", "10.1000/a?b", "10.1000/../x"]
    seen = hrefs(browser, tmp_path, [f"https://doi.org/{name}" for name in bare])
    assert [urlsplit(link).path for link in seen] == ["/10.1000/res", "/10.1000/a", "/x"]
