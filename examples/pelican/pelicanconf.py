"""Pelican with DOIs: `pelican content -s pelicanconf.py`."""

from pathlib import Path

SITENAME = "DOIs in Pelican"
SITEURL = ""
RELATIVE_URLS = True  # the links work from files, too; for a server, set SITEURL instead
AUTHOR = "The authors"
TIMEZONE = "UTC"
DEFAULT_LANG = "en"
PATH = "content"
THEME = "simple"
THEME_TEMPLATES_OVERRIDES = [str(Path(__file__).with_name("templates"))]
FEED_ALL_ATOM = None
CATEGORY_FEED_ATOM = None
TRANSLATION_FEED_ATOM = None
AUTHOR_FEED_ATOM = None
AUTHOR_FEED_RSS = None

PLUGINS = ["markdown_doiuri"]
MARKDOWN = {
    "extension_configs": {
        "markdown.extensions.codehilite": {"css_class": "highlight"},
        "markdown.extensions.extra": {},
        "markdown.extensions.meta": {},
        "doiuri": {"css_class": "doi"},
    },
    "output_format": "html5",
}
