"""Advice on valid but suspicious DOIs: what is probably wrong in the name or its spelling."""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from typing import NamedTuple

from doiuri import _parse
from doiuri._doi import DOI
from doiuri._errors import DOISyntaxError
from doiuri._names import PLAIN_NAME
from doiuri._patterns import lazy
from doiuri._urls import PROXY_PATTERN

_DASHES = (
    "\u02d7\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u207b\u2212\u2e3a\u2e3b\ufe58\ufe63\uff0d"
)
_LOOK_ALIKES = str.maketrans(
    {
        **dict.fromkeys(_DASHES, "-"),
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u02bc", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033", '"'),
        **dict.fromkeys("\u2044\u2215\u29f8", "/"),
        **dict.fromkeys("\u2024", "."),
        **dict.fromkeys("\u2039\u02c2\u27e8\u3008", "<"),
        **dict.fromkeys("\u203a\u02c3\u27e9\u3009", ">"),
        "\u2236": ":",
        **dict.fromkeys("\u02dc\u223c", "~"),
    }
)
# Cyrillic and Greek letters that look like Latin ones: suspicious only in names with Latin letters
_TWINS = str.maketrans(
    "АВЕЅІЈКМНОРСТХаеорсухѕіјΑΒΕΖΗΙΚΜΝΟΡΤΥΧο", "ABESIJKMHOPCTXaeopcyxsijABEZHIKMNOPTYXo"
)
_ESCAPE = lazy("%[0-9A-Fa-f]{2}")
_ALPHANUMERIC = lazy("%(?:3[0-9]|[46][1-9A-Fa-f]|[57][0-9Aa])")
_STRAY = lazy("%(?![0-9A-Fa-f]{2})")
_TEX = lazy(
    r"\{?\\([_%&#${}~^])\}?|\$([<>])\$|\{?\\text(less|greater|underscore)(?:\{\}|\}| )?|\{?\$_(\w{1,9})\$\}?"
)
_TEX_SIGNS = {"less": "<", "greater": ">", "underscore": "_"}
# Nearly all DOIs: nothing for the checks below, except perhaps the end of a page's address
_HARMLESS = lazy(rf"(?:[Dd][Oo][Ii]:)?(?!10\.[0-9]+/./){PLAIN_NAME}")
_PAGE_ENDS = (
    "abstract",
    "full",
    "text",
    "html",
    "htm",
    "pdf",
    "epub",
    "meta",
    "summary",
    "toc",
    "svg",
)
_REPAIRS = 15  # at most: one for each check of the name
_LONG = 5000  # characters; composing longer names can take quadratic time
_MARKS = ".,;:!?'\"’…。、，．；：！？"
_CLOSERS = dict(zip(")]}>”»）】」』》〉", "([{<“«（【「『《〈", strict=True))
# What follows a name and white space in references: a remark or another name
_BEYOND = lazy(
    r"(?<!\s)[,;]?\s++(?:[(\[]|(?:and|et|und|y|accessed|retrieved|doi|PMC?ID)\b|https?:|10\.[0-9]{4})",
    re.IGNORECASE,
)
# What copying, scripts and badges leave in names
_PAGE_END = lazy(
    r"(?<=.)(?:/(?:abstract|full|fulltext|html|pdf|epdf|epub|meta|summary|issuetoc)|\.(?:pdf|html?))$",
    re.IGNORECASE,
)
_QUERY = lazy(r"(?<=.)\?[A-Za-z_][\w.-]*=.*", re.DOTALL)
_COLOUR = (
    "-(?:blue|(?:bright|yellow)?green|yellow|orange|red|(?:light)?gr[ea]y|success|[0-9a-f]{6})"
)
_BADGE_END = lazy(rf"({_COLOUR})?(?:(/status)?\.svg(?:\?.*)?)?$", re.IGNORECASE)
_JSON_FIELDS = lazy(r'"\s?[,:]\s?"')
_SECOND_NAME = lazy(r"(?<![0-9.])10\.[0-9]{4,9}/(?=.)")
_LEAD = lazy(rf"(?:{PROXY_PATTERN}/|doi:?)$", re.IGNORECASE)
_SEPARATORS = "/,;:|+&\"'"
_PLACEHOLDER = lazy(r"\{\{?[A-Za-z_ ][\w. ]*\}|(?<![A-Za-z])\{\}")
_LOST = "\ufffd"
# No character has a number of eight digits
_DECIMAL = lazy("&#0*([0-9]{1,8})[0-9]*")


class Advice(NamedTuple):
    """One remark on a DOI."""

    code: str
    """The kind of remark, such as "trailing-punctuation"."""

    message: str
    """The remark, for people."""

    suggestion: str | None
    """The text for ``DOI.parse`` that was probably meant, or None."""


def advise(text_or_doi: str | DOI) -> tuple[Advice, ...]:
    """Return advice on a text for ``DOI.parse``, or on the name of a DOI; nearly always ``()``.

    >>> [(advice.code, advice.suggestion) for advice in advise("10.1000/182.")]
    [('trailing-punctuation', '10.1000/182')]

    :param text_or_doi: a DOI, or a text for ``DOI.parse``, whose spelling is also checked.
    :raises DOISyntaxError: if the text is not a DOI.
    """
    text = text_or_doi.name if isinstance(text_or_doi, DOI) else text_or_doi
    if (
        type(text) is str
        and _HARMLESS.fullmatch(text)
        and not text.lower().endswith(_PAGE_ENDS)
        and text.find("10.", 5) < 0
        and "--" not in text
        and "__" not in text
    ):
        return ()
    return _all_remarks(text_or_doi)


def suggest(text_or_doi: str | DOI) -> str | None:
    """Return the most probable repair of a suspicious name: a text for ``DOI.parse``; None if there is none.

    It combines the suggestions of ``advise`` for the name, applied one after the other. What ``DOI.parse``
    decodes or drops is not put back.

    >>> suggest("10.1000/a–b."), suggest("10.1000/182"), suggest("https://doi.org/10.1000/182?x")
    ('10.1000/a-b', None, None)

    :param text_or_doi: a text for ``DOI.parse``, or a DOI.
    :raises DOISyntaxError: if the text is not a DOI.
    """
    doi = text_or_doi if isinstance(text_or_doi, DOI) else DOI.parse(text_or_doi)
    best = None
    for _ in range(_REPAIRS):
        suggestion = next((advice.suggestion for advice in advise(doi) if advice.suggestion), None)
        if suggestion is None:
            break
        best, doi = suggestion, DOI.parse(suggestion)
    return best


def _all_remarks(text_or_doi: str | DOI) -> tuple[Advice, ...]:
    if isinstance(text_or_doi, DOI):
        return _on_name(text_or_doi)
    doi = DOI.parse(text_or_doi)
    return *_on_writing(text_or_doi), *_on_name(doi)


def _on_writing(text: str) -> tuple[Advice, ...]:
    """Return advice on what parsing decoded or dropped."""
    start, end = _parse.stripped(text)
    body = text[start:end]
    length = _parse.label_end(text, start, end) - start
    if not (length or body.startswith("10")) or _parse.is_link(text, start + length, end):
        return _on_link(body)
    found: list[Advice] = []
    as_uri = length and body[length - 1] in ":/"
    escapes = _ESCAPE.findall(body)
    # programs escape no letters and digits, and where they escape, they leave no bare percent sign
    if not as_uri and escapes and (_STRAY.search(body) or any(map(_ALPHANUMERIC.match, escapes))):
        message = f"{_few(escapes)} was decoded; if it belongs to the name, escape the percent sign"
        found.append(Advice("decoded-escape", message, _suggested(body[length:])))
    return *found, *_stray_percents(body)


def _stray_percents(body: str) -> tuple[Advice, ...]:
    if not _STRAY.search(body):
        return ()
    message = "a percent sign that does not start an escape was taken literally; %25 is unambiguous"
    return (Advice("stray-percent", message, _readable(_STRAY.sub("%25", body))),)


def _on_link(body: str) -> tuple[Advice, ...]:
    """Return advice on the query and fragment that were dropped; the suggestion keeps them, escaped."""
    link, hash_mark, fragment = body.partition("#")
    path, question_mark, query = link.partition("?")
    found = [*_stray_percents(path)]
    escaped = path + _escaped_marks(question_mark + query)
    if question_mark:
        message = f"the query {query!r} was dropped; if it belongs to the name, escape it"
        found.append(Advice("dropped-query", message, _readable(escaped)))
    if hash_mark:
        message = f"the fragment {fragment!r} was dropped; if it belongs to the name, escape it"
        whole = f"{escaped}%23{_escaped_marks(fragment)}"
        found.append(Advice("dropped-fragment", message, _readable(whole)))
    return tuple(found)


def _escaped_marks(text: str) -> str:
    return text.replace("?", "%3F").replace("#", "%23")


def _on_name(doi: DOI) -> tuple[Advice, ...]:
    left = (
        _page,
        _query,
        _badge,
        _fields,
        _second,
        _placeholder,
        _lost,
    )  # by copying, scripts and badges
    checks = (
        *left,
        _look_alikes,
        _composition,
        _entities,
        _tex,
        _spaces,
        _punctuation,
        _slash,
        _escapes,
    )
    found = [remark for check in checks if (remark := check(doi))]
    if doi.suffix[1:2] == "/":
        message = (
            "a suffix of one character followed by a slash is reserved for future use (Z39.84 §4.3)"
        )
        found.append(Advice("reserved-suffix", message, None))
    if unknown := [c for c in dict.fromkeys(doi.name) if unicodedata.category(c) == "Cn"]:
        message = f"{_listed(unknown)} is not in Unicode {unicodedata.unidata_version}"
        found.append(Advice("unknown-character", message, None))
    return tuple(found)


def _page(doi: DOI) -> Advice | None:
    page = _PAGE_END.search(doi.suffix)
    if page is None:
        return None
    message = f"{page[0]!r} looks like part of a page's address"
    return Advice("page-address", message, _suggested(doi.name.removesuffix(page[0])))


def _query(doi: DOI) -> Advice | None:
    query = _QUERY.search(doi.name)
    if query is None or ".svg?" in doi.name.lower():
        return None
    message = f"{query[0][:40]!r} looks like the query of a page's address"
    return Advice("page-address", message, _suggested(doi.name[: query.start()]))


def _badge(doi: DOI) -> Advice | None:
    badge = _BADGE_END.search(doi.name)
    doubled = "--" in doi.name or "__" in doi.name
    if badge is None or not badge[0] or not (".svg" in badge[0].lower() or doubled):
        return None
    better = doi.name[: badge.start()]
    if badge[1]:  # Shields.io writes "-" as "--" and "_" as "__"
        better = better.replace("--", "-").replace("__", "_")
    message = f"{badge[0][:40]!r} looks like the end of a badge's address"
    return Advice("page-address", message, _suggested(better))


def _fields(doi: DOI) -> Advice | None:
    fields = _JSON_FIELDS.search(doi.name)
    if fields is None:
        return None
    message = f"{fields[0]} looks like the end of a field of JSON"
    return Advice("run-on", message, _suggested(doi.name[: fields.start()]))


def _second(doi: DOI) -> Advice | None:
    name = doi.name
    second = _SECOND_NAME.search(name, name.find("/") + 1)
    if second is None or any(map(str.isspace, name)):  # at white space is advice of its own
        return None
    first = _LEAD.sub("", name[: second.start()]).rstrip(_SEPARATORS)
    message = f"{second[0]!r} in the name looks like the beginning of a second DOI"
    return Advice("run-on", message, _suggested(first) or _suggested(name[second.start() :]))


def _placeholder(doi: DOI) -> Advice | None:
    placeholder = _PLACEHOLDER.search(doi.name)
    if placeholder is None:
        return None
    return Advice(
        "placeholder", f"{placeholder[0][:40]!r} looks like a placeholder of a template", None
    )


def _lost(doi: DOI) -> Advice | None:
    if _LOST not in doi.name:
        return None
    better = doi.name.rstrip(_LOST)
    suggestion = None if _LOST in better else _suggested(better)
    return Advice("lost-character", "the name has a replacement character (U+FFFD)", suggestion)


def _look_alikes(doi: DOI) -> Advice | None:
    latin = re.search("[A-Za-z]", doi.name)
    better = doi.name.translate(_LOOK_ALIKES)
    if latin:
        better = better.translate(_TWINS)
    better = "".join(_plain(character) for character in better)
    kept = {*better}
    strange = [c for c in dict.fromkeys(doi.name) if not c.isascii() and c not in kept]
    if not strange:
        return None
    return Advice(
        "look-alike", f"{_listed(strange)} looks like another character", _suggested(better)
    )


def _plain(character: str) -> str:
    if character.isascii() or unicodedata.category(character) == "Zs":
        return character
    plain = unicodedata.normalize("NFKC", character)
    # beyond ASCII, only a second code point for the same character, such as the angstrom sign for Å
    return plain if plain.isascii() else unicodedata.normalize("NFC", character)


def _composition(doi: DOI) -> Advice | None:
    if len(doi.name) > _LONG:
        return None
    composed = unicodedata.normalize("NFC", doi.name)
    if len(composed) == len(doi.name):
        return None
    return Advice(
        "composition", "letters with combining marks, not in composed form", _suggested(composed)
    )


def _entities(doi: DOI) -> Advice | None:
    if not re.search(r"&(?:#\d+|#[xX][0-9A-Fa-f]+|[A-Za-z][A-Za-z0-9]*);", doi.name):
        return None
    plain = unescape_html(doi.name)
    return (
        Advice("entity", "an HTML entity in the name", _suggested(plain))
        if plain != doi.name
        else None
    )


def _tex(doi: DOI) -> Advice | None:
    plain = _TEX.sub(
        lambda match: (
            match[1] or match[2] or (f"_{match[4]}" if match[4] else _TEX_SIGNS[match[3]])
        ),
        doi.name,
    )
    return (
        Advice("tex-escape", "a TeX escape in the name", _suggested(plain))
        if plain != doi.name
        else None
    )


def _spaces(doi: DOI) -> Advice | None:
    joined = "".join(doi.name.split())
    if joined == doi.name:
        return None
    beyond = _BEYOND.search(doi.name)
    suggestion = _suggested(doi.name[: beyond.start()]) if beyond else None
    return Advice("space", "white space in the name", suggestion or _suggested(joined))


def _punctuation(doi: DOI) -> Advice | None:
    name, end = doi.name, len(doi.name)
    counts = Counter(name)
    while (
        name[end - 1] in _MARKS
        or counts[name[end - 1]] > counts[_CLOSERS.get(name[end - 1], name[end - 1])]
    ):
        end -= 1
        counts[name[end]] -= 1
    if end == len(name):
        return None
    return Advice(
        "trailing-punctuation", f"the name ends in {name[end:][-9:]!r}", _suggested(name[:end])
    )


def _slash(doi: DOI) -> Advice | None:
    if not doi.name.endswith("/"):
        return None
    return Advice("trailing-slash", "the name ends in a slash", _suggested(doi.name.rstrip("/")))


def _escapes(doi: DOI) -> Advice | None:
    if not (escapes := _ESCAPE.findall(doi.name)):
        return None
    message = f"{_few(escapes)} in the name looks like an escape that was not decoded"
    try:
        return Advice("literal-escape", message, _suggested(DOI.parse(doi.name).name))
    except DOISyntaxError:
        return Advice("literal-escape", message, None)


def _suggested(name: str) -> str | None:
    """Return the text that ``DOI.parse`` reads as ``name``, or None if that is not a DOI.

    A percent sign before two hexadecimal digits is escaped, and so is a final space.
    """
    try:
        text = re.sub("%(?=[0-9A-Fa-f]{2})", "%25", DOI.from_name(name).name)
    except DOISyntaxError:
        return None
    return f"{text[:-1]}%20" if text.endswith(" ") else text


def _readable(text: str) -> str | None:
    """Return ``text``, or None if ``DOI.parse`` refuses it."""
    try:
        DOI.parse(text)
    except DOISyntaxError:
        return None
    return text


def _listed(characters: list[str]) -> str:
    names = [unicodedata.name(character, "CHARACTER").lower() for character in characters]
    return _few([f"{name} (U+{ord(c):04X})" for name, c in zip(names, characters, strict=True)])


def _few(items: list[str]) -> str:
    different = list(dict.fromkeys(items))
    return ", ".join(different[:5]) + (" …" if len(different) > 5 else "")


def unescape_html(text: str) -> str:
    """Return ``text`` with HTML's character references decoded, as ``html.unescape`` does.

    ``html.unescape`` raises ValueError for a number of more than 4,300 digits;
    here it is U+FFFD, as is any number that is too large.

    >>> unescape_html("a&lt;b&#" + "9" * 5000 + ";")
    'a<b�'
    """
    return html.unescape(_DECIMAL.sub(r"&#\1", text)) if "&" in text else text
