"""What the feeds of Pelican hold of an article with cards."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from support.checks import exactly

from .conftest import Serve
from .test_looks import CARDS

# Settings that name feeds, and what their names must hold
FEED_KINDS = {
    "FEED": "", "FEED_ALL": "", "CATEGORY_FEED": "{slug}", "AUTHOR_FEED": "{slug}", "TAG_FEED": "{slug}",
    "TRANSLATION_FEED": "{lang}",
}  # fmt: skip
FEEDS = {
    f"{kind}_{language}": f"{kind}{place}.{language}.xml"
    for kind, place in FEED_KINDS.items()
    for language in ("ATOM", "RSS")
}
CITES = (
    "*[A & *b*](doi:10.1000/1)* doi:10.1000/2 doi:10.1000/lost and [@doi:10.1000/1] doi:10.1000/1"
)
WORDS = 12
"""Of a summary: the longest text before the end of an article."""


def _write_articles(folder: Path) -> None:
    """Write articles of which a summary ends in different places, and one that has its own."""
    folder.mkdir()
    for number in range(WORDS):
        head = f"Title: A{number}\nDate: 2026-01-01\nTags: T\nAuthor: Ann\nCategory: C\n"
        text = f"{'word ' * number}{CITES} {'more ' * WORDS}"
        (folder / f"{number}.md").write_text(f"{head}\n{text}\n", "utf-8")
    (folder / "own.md").write_text(f"{head}Slug: own\nSummary: {CITES}\n\n{text}\n", "utf-8")


@pytest.mark.usefixtures("pelican")
@pytest.mark.parametrize("summary_only", [True, False])
def test_no_feed_has_a_part_of_a_card(summary_only: bool, tmp_path: Path, serve: Serve) -> None:
    from pelican import Pelican
    from pelican.settings import read_settings

    serve(CARDS)
    _write_articles(tmp_path / "content")
    out = tmp_path / "out"
    settings = {
        "PATH": str(tmp_path / "content"),
        "OUTPUT_PATH": str(out),
        "SITEURL": "https://example.org",
        "THEME": "simple",
        "TIMEZONE": "UTC",
        "DIRECT_TEMPLATES": ["index"],
        "SUMMARY_MAX_LENGTH": WORDS,
        "RSS_FEED_SUMMARY_ONLY": summary_only,
        "PLUGINS": ["markdown_doiuri"],
        "MARKDOWN": {"extension_configs": {"doiuri": {"details": True}}},
        **FEEDS,
    }

    Pelican(read_settings(override=settings)).run()

    feeds = {path.name: html.unescape(path.read_text("utf-8")) for path in out.glob("*.xml")}
    exactly(len(FEEDS), "feeds", feeds)
    for name, text in feeds.items():
        parts = re.findall(r".{60}doi-(?:card|details|more).{60}", text)
        assert not parts, f"{name} has a part of a card: {parts[0]}"
        assert "https://doi.org/10.1000/1" in text, name
    pages = [path.read_text("utf-8") for path in out.glob("a*.html")]
    assert all("doi-card" in page for page in pages)
