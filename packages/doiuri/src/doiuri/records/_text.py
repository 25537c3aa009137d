"""Text and URLs of agencies and records, which strangers write: as plain text, and as HTML.

Agencies send HTML, JATS and MathML in titles, names and formatted references, and escape it once, twice or
not at all. ``plain_text`` returns text, never markup: a ``<`` that remains belongs to the text.
"""

from __future__ import annotations

import re
from html import escape, unescape
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from doiuri._json import integer
from doiuri._names import NOT_GRAPHIC

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_SOURCE = 40_000
"""Characters that are read of a text."""

MAX_ROUNDS = 20
"""Times that a level of markup is removed; text that is escaped twice needs three."""

# Elements of HTML and JATS that occur in titles. Others, such as <T> in "Vec<T>", are text.
_BLOCKS = frozenset("br p div li title subtitle sec break tr td h1 h2 h3 h4 h5 h6".split())  # noqa: SIM905
_INLINE = frozenset(
    "a abbr b bdi bdo big bold cite code del dfn em ext-link fixed-case font i img inline-formula"  # noqa: SIM905
    " inf ins inline-graphic italic kbd mark monospace named-content nobr ol overline ovl q roman s samp"
    " sans-serif sc scp script small span strike strong style styled-content sub sup svg tex-math tt u ul"
    " underline uri var xref".split()
)
_PREFIXES = frozenset({"mml", "m", "jats", "xlink", "svg"})
_ANNOTATIONS = frozenset({"annotation", "annotation-xml"})  # repeat a formula in TeX
_TOKENS = re.compile(r"(<[^<>]*>)")
_TAG = re.compile(r"<(/?)(?:([A-Za-z]+):)?([A-Za-z][\w.-]*)(?:[\s/][^<>]*)?>")
_OTHER_MARKUP = re.compile(r"<!--[^<>]*-->|<!\[CDATA\[|\]\]>")
_AMPERSANDS = re.compile(r"&(?:amp;)+", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_INVISIBLE = re.compile(f"(?![\u200c\u200d])[{NOT_GRAPHIC}]")  # scripts need the two joiners
_WEB = re.compile(r"https?://[^\s/?#\\]", re.IGNORECASE | re.ASCII)
_NOT_IN_HOSTS = re.compile(r"[\s\\]")  # a browser ends the host at a backslash, and urlsplit does not
_PLAIN_URL = re.compile(r"https?://[A-Za-z0-9.-]+(?::[1-9][0-9]{0,3})?(?:[/?#][!-~]*)?")  # nearly all
_LONGEST_CELL = 200  # characters
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")  # not allowed in HTML or in headers


def plain_text(value: object, limit: int) -> str:
    """Return a JSON value as plain text; "" if it is neither a string nor an integer.

    Tags of HTML, JATS and MathML are dropped and their text is kept, entities are decoded, and white space
    becomes one space. Control characters, bidi marks and other invisible characters are dropped, and so are
    lone surrogates. The function is idempotent.

    :param limit: the most characters; a longer text is cut and ends in "…".
    """
    number = integer(value)
    if number is not None and abs(number) < 10**15:
        return str(number)
    if not isinstance(value, str):
        return ""
    text = _visible(value[:MAX_SOURCE])
    for _ in range(MAX_ROUNDS):
        if "<" not in text and "&" not in text:
            break
        before, text = text, _visible(_decoded(text))
        if text == before:
            break
    else:  # nested on purpose
        text = _visible(re.sub("[<&]", "", text))
    return shortened(text, limit)


def shortened(text: str, limit: int) -> str:
    """Return a text of at most ``limit`` characters; one that is cut ends in "…"."""
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"


def _visible(text: str) -> str:
    line = " ".join(text.split())
    return line if line.isprintable() else " ".join(_INVISIBLE.sub("", line).split())


def _decoded(text: str) -> str:
    """Return a text without one level of markup and escapes."""
    if "<" in text:
        text = _OTHER_MARKUP.sub("", _without_tags(text))
    text = _AMPERSANDS.sub("&", text)
    return _ENTITY.sub(lambda entity: unescape(entity[0]), text)


def _without_tags(text: str) -> str:
    """Return a text without tags. White space in formulas is dropped, and that lost around them restored."""
    kept = [""]
    in_math = in_annotation = after_math = False
    for token in _TOKENS.split(text):
        tag = _TAG.fullmatch(token)
        if tag is None:
            if not in_annotation:
                lost = after_math and token[:1].isalpha()
                kept.append(token.strip() if in_math else f" {token}" if lost else token)
            after_math = False
            continue
        closing, prefix, name = bool(tag[1]), (tag[2] or "").lower(), tag[3].lower()
        if name == "math":
            in_math, in_annotation, after_math = not closing, False, closing
            if in_math and kept[-1][-1:].isalpha():
                kept.append(" ")
        elif in_math:
            in_annotation = not closing if name in _ANNOTATIONS else in_annotation
        elif name in _BLOCKS and prefix in {"", "jats"}:
            kept.append(" ")
        elif name not in _INLINE and prefix not in _PREFIXES:
            kept.append(token)
    return "".join(kept)


def is_web(url: str) -> bool:
    r"""Return whether a URL may be linked: http or https, a host, a valid port, no control characters.

    >>> is_web("http://example.org/a"), is_web("http://example.org\\@evil.example/")
    (True, False)
    """
    if _PLAIN_URL.fullmatch(url):
        return True
    if not _WEB.match(url) or _UNSAFE.search(url):
        return False
    try:
        parts = urlsplit(url)
        return bool(parts.hostname) and parts.port != 0 and not _NOT_IN_HOSTS.search(parts.netloc)
    except ValueError:
        return False


def html_table(caption: str, cells: Mapping[str, str]) -> str:
    """Return a table for notebooks, without the cells that are empty; caption and cells are HTML."""
    rows = "".join(f"<tr><th>{name}</th><td>{cell}</td></tr>" for name, cell in cells.items() if cell)
    return f"<table><caption>{caption}</caption><tbody>{rows}</tbody></table>"


def html_link(url: str, text: str) -> str:
    """Return a link in HTML; its text is shortened."""
    return f'<a href="{_escaped(url)}">{html_text(text)}</a>'


def html_text(text: str) -> str:
    """Return text in HTML, shortened."""
    return _escaped(shortened(text, _LONGEST_CELL))


def _escaped(text: str) -> str:
    """Return text escaped for HTML, which has no lone surrogates, though JSON may have them."""
    return escape(text.encode(errors="replace").decode())
