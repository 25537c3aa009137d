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
from doiuri._mathml import Formula, separated
from doiuri._names import NOT_GRAPHIC
from doiuri._notation import lowered, raised

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_MAX_INTEGER = 10**15 - 1  # 15 digits, which a double keeps exactly (RFC 8259 section 6)
_MAX_SOURCE = 40_000  # characters that are read of a text
_MAX_ROUNDS = 20  # times that a level of markup is removed; text that is escaped twice needs three
# Elements of HTML and JATS that occur in titles. Others, such as <T> in "Vec<T>", are text.
_BLOCKS = frozenset("br p div li title subtitle sec break tr td h1 h2 h3 h4 h5 h6".split())  # noqa: SIM905
_INLINE = frozenset(
    "a abbr b bdi bdo big bold cite code del dfn em ext-link fixed-case font i img inline-formula"  # noqa: SIM905
    " inf ins inline-graphic italic kbd mark monospace named-content nobr ol overline ovl q roman s samp"
    " sans-serif sc scp script small span strike strong style styled-content sub sup svg tex-math tt u ul"
    " underline uri var xref".split()
)
_PREFIXES = frozenset({"mml", "m", "jats", "xlink", "svg"})
# The rich text of CSL-JSON: the tag for each element of HTML and JATS that looks the same
_SMALL_CAPS = '<span style="font-variant:small-caps;">'
_RICH = {
    **dict.fromkeys(("i", "em", "italic"), "<i>"),
    **dict.fromkeys(("b", "strong", "bold"), "<b>"),
    **dict.fromkeys(("sub", "inf"), "<sub>"),
    "sup": "<sup>",
    "sc": _SMALL_CAPS,
}
_RICH_TAG = re.compile(rf"(</?(?:i|b|sub|sup)>|{_SMALL_CAPS}|</span>)")
_SHIFTS = {"sup": raised, "sub": lowered, "inf": lowered}
_TOKENS = re.compile(r"(<[^<>]*>)")
_TAG = re.compile(
    r"""
    <(/?)
    (?: ([A-Za-z]+) : )?
    ([A-Za-z][\w.-]*)
    (?: [\s/]+ [^\s<>=/]+ \s* = [^<>]* )?  # attributes with values: "<b and c>" compares "a<b" with "c>d"
    [\s/]* >
    """,
    re.VERBOSE,
)
_OTHER_MARKUP = re.compile(r"<!--[^<>]*-->|<!\[CDATA\[|\]\]>")
_AMPERSANDS = re.compile(r"&(?:amp;)+", re.IGNORECASE)
_ENTITY = re.compile(
    r"""
    &
    (?: \#[0-9]{1,7} | \#[xX][0-9a-fA-F]{1,6} | [A-Za-z][A-Za-z0-9]{1,31} )
    ;
    """,
    re.VERBOSE,
)
_INVISIBLE = re.compile(f"(?![\u200c\u200d])[{NOT_GRAPHIC}]")  # scripts need the two joiners
_WEB = re.compile(r"https?://[^\s/?#\\]", re.IGNORECASE | re.ASCII)
# A browser ends the host at a backslash, and urlsplit does not
_NOT_IN_HOSTS = re.compile(r"[\s\\]")
# Nearly all are as simple as this
_PLAIN_URL = re.compile(r"https?://[A-Za-z0-9.-]+(?::[1-9][0-9]{0,3})?(?:[/?#][!-~]*)?")
_LONGEST_CELL = 200  # characters
_C1 = re.compile("[\x80-\x9f]")
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")  # not allowed in HTML or in headers


def plain_text(value: object, limit: int) -> str:
    """Return a JSON value as plain text; "" if it is neither a string nor an integer of up to 15 digits.

    Tags of HTML, JATS and MathML are dropped and their text is kept: scripts in raised and lowered characters,
    fractions with "/", and roots with "√". Entities are decoded, and white space becomes one space. Control
    characters, bidi marks and other invisible characters are dropped, and so are lone surrogates. The function
    is idempotent.

    >>> plain_text("H<sub>2</sub>O &amp;amp; <em>Vec</em>&lt;T&gt;", 100)
    'H₂O & Vec<T>'

    :param limit: the most characters; a longer text is cut and ends in "…".
    """
    number = integer(value)
    if number is not None and abs(number) <= _MAX_INTEGER:
        return str(number)
    if not isinstance(value, str):
        return ""
    return shortened(_without_markup(value[:_MAX_SOURCE], rich=False), limit)


def rich_text(value: object, limit: int) -> str:
    """Return a JSON value as the rich text of CSL-JSON: like ``plain_text``, but formatting is kept.

    Tags are ``<i>``, ``<b>``, ``<sub>``, ``<sup>`` and ``<span>`` for small capitals, closed in order. Any
    other "<" belongs to the text. Text that is too long loses its formatting.
    """
    plain = plain_text(value, limit)
    if not isinstance(value, str) or len(plain) >= limit:
        return plain
    if "<" not in value and "&" not in value:
        return plain

    text = _without_markup(value[:_MAX_SOURCE], rich=True)
    # Where a tag is dropped, the text around it may form another one, as in "<<i>i>"
    for _ in range(_MAX_ROUNDS):
        with_pairs = " ".join(_without_lone_tags(text).split())
        if with_pairs == text:
            return text
        text = with_pairs
    return plain  # nested on purpose


def _without_lone_tags(text: str) -> str:
    """Return rich text without the tags that close nothing, or are not closed.

    >>> _without_lone_tags("<i>a</b></i> <sub>b")
    '<i>a</i> b'
    """
    parts: list[str] = []
    opened: list[int] = []  # the numbers of the parts that are open tags
    for token in _RICH_TAG.split(text):
        if _RICH_TAG.fullmatch(token):
            is_closing = token.startswith("</")
            if not is_closing:
                opened.append(len(parts))
            elif opened and _closing(parts[opened[-1]]) == token:
                opened.pop()
            else:
                continue
        parts.append(token)
    for number in opened:
        parts[number] = ""
    return "".join(parts)


def _closing(tag: str) -> str:
    """Return the tag that closes a tag of rich text."""
    if tag == _SMALL_CAPS:
        return "</span>"
    return f"</{tag[1:]}"


def _without_markup(source: str, *, rich: bool) -> str:
    """Return visible text, one level of markup removed after the other: "&amp;lt;i&amp;gt;a" is "a"."""
    text = _visible(with_windows_characters(source))
    for _ in range(_MAX_ROUNDS):
        if "<" not in text and "&" not in text:
            return text
        decoded = _visible(_decoded(text, rich=rich))
        if decoded == text:
            return text
        text = decoded
    return _visible(re.sub("[<&]", "", text))  # nested on purpose


def with_windows_characters(text: str) -> str:
    """Return a text in which control characters of C1 are the characters of Windows-1252 at their places.

    Text of Windows that was read as Latin-1 has them, such as U+0096 for a dash; dropped, "1–25" would be
    "125". HTML reads references to them so, too (HTML Standard, 13.2.5.80).
    """
    if text.isascii():
        return text
    return _C1.sub(_windows_character, text)


def _windows_character(control: re.Match[str]) -> str:
    try:
        return control[0].encode("latin-1").decode("cp1252")
    except UnicodeDecodeError:  # five of them have no character
        return control[0]


def shortened(text: str, limit: int) -> str:
    """Return a text of at most ``limit`` characters; one that is cut ends in "…"."""
    if len(text) <= limit:
        return text
    return f"{text[: limit - 1].rstrip()}…"


def _visible(text: str) -> str:
    """Return a text on one line, without invisible characters."""
    line = " ".join(text.split())
    if line.isprintable():
        return line
    return " ".join(_INVISIBLE.sub("", line).split())


def _decoded(text: str, *, rich: bool) -> str:
    """Return a text without one level of markup and escapes."""
    if "<" in text:
        text = _OTHER_MARKUP.sub("", _TagRemover(rich=rich).text(text))
    text = _AMPERSANDS.sub("&", text)
    return _ENTITY.sub(lambda entity: unescape(entity[0]), text)


class _TagRemover:
    """Reads a text, and returns it without its tags.

    - An element of HTML or JATS in running text, such as ``<em>``, leaves its text; a block, such as ``<p>``,
      becomes a space. The name of no such element, as in "Vec<T>", is text.
    - ``<sup>`` and ``<sub>`` are replaced where they end: "10<sup>-5</sup>" is "10⁻⁵".
    - A formula, ``<math>``, becomes its text, apart from words beside it.
    - In rich text, the tags of CSL's stay, and similar ones are written like these: ``<em>`` is ``<i>``.
    """

    def __init__(self, *, rich: bool) -> None:
        self._rich = rich
        self._parts = [""]  # of the text that is returned
        self._scripts: list[int] = []  # the number of the first part of each open <sup> or <sub>
        self._spans: list[str] = []  # the rich tag for each open <span>, "" for most
        self._is_after_formula = False

    def text(self, source: str) -> str:
        """Return the text without its tags."""
        tokens = iter(_TOKENS.split(source))
        for token in tokens:
            tag = _TAG.fullmatch(token)
            if tag is None:
                self._add_text(token)
            elif tag[3].lower() != "math":
                self._add_tag(tag)
            elif tag[1] == "":  # else it closes no formula
                self._add_formula(tokens)
        return separated("".join(self._parts))

    def _add_text(self, text: str) -> None:
        if self._is_after_formula and text[:1].isalpha():
            self._parts.append(" ")
        self._parts.append(text)
        self._is_after_formula = False

    def _add_formula(self, tokens: Iterator[str]) -> None:
        """Add the text of a formula, and go on in the tokens to its end."""
        formula = Formula(rich=self._rich)
        for token in tokens:
            tag = _TAG.fullmatch(token)
            if tag is None:
                formula.add(token)
                continue
            is_closing = tag[1] != ""
            name = tag[3].lower()
            if name == "math" and is_closing:
                break
            formula.read(name, is_closing=is_closing, is_empty=token.endswith("/>"))

        if self._parts[-1][-1:].isalpha():
            self._parts.append(" ")
        self._parts.append(formula.text())
        self._is_after_formula = True

    def _add_tag(self, tag: re.Match[str]) -> None:
        """Add what remains of a tag, or nothing."""
        is_closing = tag[1] != ""
        prefix = (tag[2] or "").lower()
        name = tag[3].lower()
        if name in _BLOCKS and prefix in {"", "jats"}:
            self._parts.append(" ")
            return

        # A script in plain text: its characters are replaced at its end
        if name in _SHIFTS and not self._rich:
            if not is_closing:
                self._scripts.append(len(self._parts))
            elif self._scripts:
                start = self._scripts.pop()
                script = "".join(self._parts[start:])
                self._parts[start:] = [_SHIFTS[name](script)]
            return

        rich_tag = self._rich_tag(tag[0], name, is_closing=is_closing) if self._rich else ""
        is_text = name not in _INLINE and prefix not in _PREFIXES  # "<T>" in "Vec<T>"
        if rich_tag:
            self._parts.append(rich_tag)
        elif is_text:
            self._parts.append(tag[0])

    def _rich_tag(self, tag: str, name: str, *, is_closing: bool) -> str:
        """Return the tag of CSL's rich text for a tag, or "" if there is none."""
        if name != "span":
            opening = _RICH.get(name, "")
        elif not is_closing:
            opening = _SMALL_CAPS if "small-caps" in tag else ""
            self._spans.append(opening)
        else:
            opening = self._spans.pop() if self._spans else ""
        if opening and is_closing:
            return _closing(opening)
        return opening


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
        has_valid_port = parts.port != 0
    except ValueError:
        return False
    return bool(parts.hostname) and has_valid_port and not _NOT_IN_HOSTS.search(parts.netloc)


def html_table(caption: str, cells: Mapping[str, str]) -> str:
    """Return a table for notebooks, without the cells that are empty; caption and cells are HTML."""
    rows = [f"<tr><th>{name}</th><td>{cell}</td></tr>" for name, cell in cells.items() if cell]
    return f"<table><caption>{caption}</caption><tbody>{''.join(rows)}</tbody></table>"


def html_link(url: str, text: str) -> str:
    """Return a link in HTML; its text is shortened."""
    return f'<a href="{_escaped(url)}">{html_text(text)}</a>'


def html_text(text: str) -> str:
    """Return text in HTML, shortened."""
    return _escaped(shortened(text, _LONGEST_CELL))


def _escaped(text: str) -> str:
    """Return text escaped for HTML, which has no lone surrogates, though JSON may have them."""
    return escape(text.encode(errors="replace").decode())
