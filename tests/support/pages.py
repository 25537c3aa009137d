"""The pages of a site, and whether links on them lead somewhere."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote, unquote, urljoin, urlsplit


def pages_of(folder: Path) -> dict[str, str]:
    """The pages of a site, by their paths in its folder."""
    paths = [*folder.rglob("*.html"), *folder.rglob("*.xhtml")]
    return {str(path.relative_to(folder)): path.read_text("utf-8") for path in paths}


def broken(pages: Mapping[str, str], ours: str = "cite-|ref-|doi-card-") -> list[str]:
    """Links to citations, entries and cards that lead nowhere, and ids of those that a page has twice.

    :param ours: a pattern of what their ids begin with.
    """
    ids_of = {
        path: Counter(re.findall(rf'\sid="((?:{ours})[^"]*)"', text))
        for path, text in pages.items()
    }
    wrong = []
    for path, ids in ids_of.items():
        wrong += [f"{path}: {name} twice" for name, times in ids.items() if times > 1]
    for path, text in pages.items():
        cards = [f"#{card}" for card in re.findall('popovertarget="(.*?)"', text)]
        hrefs = re.findall(rf'href="([^"]*#(?:{ours})[^"]*)"', text)
        for href in cards + hrefs:
            page, fragment = _target(path, href)
            if fragment not in ids_of.get(page, ()):
                wrong.append(f"{path}: {href}")
    return wrong


def dead_links(pages: Mapping[str, str]) -> list[str]:
    """Links from pages to pages of the same site, or to places on them, that are not there; and repeated ids."""
    ids_of = {path: Counter(re.findall(r'\sid="([^"]*)"', text)) for path, text in pages.items()}
    dead = []
    for path, text in pages.items():
        dead += [f"{path}: {name} twice" for name, times in ids_of[path].items() if times > 1]
        for href in re.findall(r'<a\b[^>]*?\shref="([^"]*)"', text):
            if urlsplit(html.unescape(href)).scheme:
                continue
            page, fragment = _target(path, href)
            is_there = page in pages and (not fragment or fragment in ids_of[page])
            if not is_there:
                dead.append(f"{path}: {href}")
    return dead


def _target(path: str, href: str) -> tuple[str, str]:
    """Return the path of the page that a link leads to, and the id of the place on it."""
    target = urlsplit(urljoin(quote(f"/{path}"), html.unescape(href)))
    page = unquote(target.path)[1:]
    if page[-1:] in {"", "/"}:
        page += "index.html"
    return page, target.fragment
