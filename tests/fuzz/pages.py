"""Fuzz the Markdown extension and the docutils parser: no text stops a build, each link is a DOI's.

python tests/fuzz/pages.py [--seconds 60] [--seed N]
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape

import markdown
from docutils.core import publish_parts
from docutils.parsers.rst import Parser as PlainParser
from docutils_doiuri import Parser
from doiuri import DOI
from support.adversary import PATTERNS
from support.fuzzing import rounds

PIECES = [
    *PATTERNS,
    *(
        "10.1000/182",
        "doi:10.1000/a<b>",
        "<doi:10.1000/a%3Cb%3E>",
        "[x](doi:10.1000/1)",
        "[x][y]",
        "\n[y]: doi:10.1/x\n",
    ),
    *(
        ":doi:`10.1000/182`",
        ":doi:`a <10.1000/1>`",
        "`x <doi:10.1000/1>`_",
        "|x|",
        "\n\n.. |x| replace:: doi:10.1/2\n\n",
    ),
    *("\n\n", "\n", " ", "    ", "* ", "> ", "# ", "&#60;", "\x02", "\x00", "é", "\u202e"),
]
OPTIONS = {"report_level": 5, "halt_level": 5, "file_insertion_enabled": False, "raw_enabled": False}
LINK = re.compile(r'<a class="[^"]*\bdoi\b[^"]*" href="([^"]*)"')


def by_markdown(text: str) -> str:
    options = {"doiuri": {"resolve": False}}
    return markdown.markdown(text, extensions=["doiuri"], extension_configs=options)


def by_docutils(text: str) -> str:
    settings = {**OPTIONS, "doi_resolve": False}
    return str(publish_parts(text, parser=Parser(), writer="html5", settings_overrides=settings)["body"])


def by_docutils_alone(text: str) -> str:
    return str(publish_parts(text, parser=PlainParser(), writer="html5", settings_overrides=OPTIONS)["body"])


CONVERTERS: list[tuple[Callable[[str], str], Callable[[str], str]]] = [
    (by_markdown, markdown.markdown),
    (by_docutils, by_docutils_alone),
]


def works(convert: Callable[[str], str], text: str) -> bool:
    try:
        convert(text)
    except Exception:  # noqa: BLE001 - anything that the host raises
        return False
    return True


def check(text: str) -> int:
    """Convert a page with each host, check our links and return their number."""
    found = 0
    for convert, plainly in CONVERTERS:
        try:
            html = convert(text)
        except Exception:
            if not works(plainly, text):
                continue  # the host alone cannot convert this page
            print(convert.__name__, ascii(text))
            raise
        urls = [unescape(url) for url in LINK.findall(html)]
        assert all(DOI.from_url(url).url == url for url in urls), (convert.__name__, text, urls)
        found += len(urls)
    return found


def main() -> None:
    pages = links = 0
    for chance in rounds(__doc__):
        links += check("".join(chance.choices(PIECES, k=chance.randrange(1, 25))))
        pages += 1
    print(f"{pages:,} pages, {links:,} links to DOIs, nothing found")


if __name__ == "__main__":
    main()
