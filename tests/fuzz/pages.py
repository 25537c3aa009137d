"""Fuzz the docutils parser: no text stops a build, each link is a DOI's. Hypothesis tries Markdown.

python tests/fuzz/pages.py [--seconds 60] [--seed N]
"""

from __future__ import annotations

import re
from html import unescape

from docutils.core import publish_parts
from docutils.parsers.rst import Parser as PlainParser
from docutils_doiuri import Parser
from doiuri import DOI
from support.adversary import PATTERNS
from support.fuzzing import rounds

PIECES = [
    *(
        *PATTERNS,
        "10.1000/182",
        "doi:10.1000/a<b>",
        ":doi:`10.1000/182`",
        ":doi:`a <10.1000/1>`",
        "|x|",
    ),
    *(
        "`x <doi:10.1000/1>`_",
        "\n\n.. |x| replace:: doi:10.1/2\n\n",
        "\n\n",
        "\n",
        " ",
        "    ",
        "* ",
        "> ",
    ),
    *("&#60;", "\x02", "\x00", "é", "\u202e"),
]
OPTIONS = {
    "report_level": 5,
    "halt_level": 5,
    "file_insertion_enabled": False,
    "raw_enabled": False,
}
LINK = re.compile(r'<a class="[^"]*\bdoi\b[^"]*" href="([^"]*)"')


def convert(text: str, parser: PlainParser) -> str:
    settings = {**OPTIONS, "doi_resolve": False}
    return str(
        publish_parts(text, parser=parser, writer="html5", settings_overrides=settings)["body"]
    )


def check(text: str) -> int:
    """Convert a page, check our links and return their number."""
    try:
        html = convert(text, Parser())
    except Exception:
        try:
            convert(text, PlainParser())
        except Exception:  # noqa: BLE001 - docutils alone cannot convert this page
            return 0
        print(ascii(text))
        raise
    urls = [unescape(url) for url in LINK.findall(html)]
    assert all(DOI.from_url(url).url == url for url in urls), (text, urls)
    return len(urls)


def main() -> None:
    pages = links = 0
    for chance in rounds(__doc__):
        links += check("".join(chance.choices(PIECES, k=chance.randrange(1, 25))))
        pages += 1
    print(f"{pages:,} pages, {links:,} links to DOIs, nothing found")


if __name__ == "__main__":
    main()
