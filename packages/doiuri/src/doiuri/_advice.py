"""Advice on valid but suspicious DOIs: what is probably wrong in the name or its spelling.

1. Nearly all names are harmless, and one pattern says so (``_is_harmless``).
2. ``_on_writing`` looks at a text for ``DOI.parse``: at what parsing decodes, as in "10.1000/a%41", or drops, as
   in "https://doi.org/10.1000/182#2".
3. ``_on_name`` looks at the name. Each of its checks is a function that returns an ``Advice`` or None; the first
   ones look for what copying, scripts and badges leave, as in "10.1000/182/abstract", the others for characters
   that are probably wrong, as in "10.1000/a–b".

An advice may suggest a repair: ``_suggested`` writes the better name so that ``DOI.parse`` reads just that.
``suggest`` applies one repair after the other.
"""

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

# ASCII characters, and those that look like them
_DASHES = (
    "\u02d7\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u207b\u2212\u2e3a\u2e3b\ufe58\ufe63\uff0d"
)
_LOOK_ALIKES_OF = {
    "-": _DASHES,
    "'": "\u2018\u2019\u201a\u201b\u2032\u02bc",
    '"': "\u201c\u201d\u201e\u201f\u2033",
    "/": "\u2044\u2215\u29f8",
    ".": "\u2024",
    "<": "\u2039\u02c2\u2329\u27e8\u3008",
    ">": "\u203a\u02c3\u232a\u27e9\u3009",
    ":": "\u2236",
    "~": "\u02dc\u223c",
}


def _translation(look_alikes_of: dict[str, str]) -> dict[int, str]:
    """Return the table for ``str.translate`` that replaces the look-alikes of each character by it."""
    table: dict[int, str] = {}
    for character, look_alikes in look_alikes_of.items():
        table |= dict.fromkeys(map(ord, look_alikes), character)
    return table


_LOOK_ALIKES = _translation(_LOOK_ALIKES_OF)
# Cyrillic and Greek letters that look like Latin ones: suspicious only in names with Latin letters
_TWINS = str.maketrans(
    "АВЕЅІЈКМНОРСТХаеорсухѕіјΑΒΕΖΗΙΚΜΝΟΡΤΥΧο", "ABESIJKMHOPCTXaeopcyxsijABEZHIKMNOPTYXo"
)
_ESCAPE = lazy("%[0-9A-Fa-f]{2}")
_ESCAPED_LETTER_OR_DIGIT = lazy("%(?:3[0-9]|[46][1-9A-Fa-f]|[57][0-9Aa])")
_STRAY_PERCENT = lazy("%(?![0-9A-Fa-f]{2})")
_TEX = lazy(
    r"""
    \{? \\ ( [_%&\#${}~^] ) \}?                                          # \_, {\_}
    | \$ ( [<>] ) \$                                                     # $<$
    | \{? \\text ( less | greater | underscore ) (?: \{\} | \} | [ ] )?   # \textless{}, {\textless}
    | \{? \$_ ( \w{1,9} ) \$ \}?                                        # $_2$, {$_2$}
    """,
    re.VERBOSE,
)
_TEX_SIGNS = {"less": "<", "greater": ">", "underscore": "_"}
# Nearly all DOIs: nothing for the checks below, except perhaps the end of a page's address
_HARMLESS = lazy(rf"(?:[Dd][Oo][Ii]:)?(?!10\.[0-9]+/./){PLAIN_NAME}")
_PAGE_ENDS = tuple("abstract full text html htm pdf epub meta summary toc svg".split())  # noqa: SIM905
_REPAIRS = 15  # at most: about one for each check of the name
_LONG = 5000  # characters; composing longer names can take quadratic time
_MARKS = ".,;:!?'\"’…。、，．；：！？"
_CLOSERS = dict(
    zip(")]}>”»›）】」』》〉\u232a\u27e9", "([{<“«‹（【「『《〈\u2329\u27e8", strict=True)
)
# What follows a name and white space in references: a remark, as in "10.1000/182 (accessed 3 May 2020)", or
# another name
_REMARK = lazy(
    r"""
    (?<! \s ) [,;]? \s++
    (?: [(\[]
    |   (?: and | et | und | y | accessed | retrieved | doi | PMC?ID ) \b
    |   https?:
    |   10\.[0-9]{4}
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)
# "10.1000/182/abstract", "10.1000/182.pdf"
_PAGE_END = lazy(
    r"""
    (?<= . )
    (?: / (?: abstract | full | fulltext | html | pdf | epdf | epub | meta | summary | issuetoc )
    |   \. (?: pdf | html? )
    )
    $
    """,
    re.IGNORECASE | re.VERBOSE,
)
# "10.1000/182?journalCode=abc"
_QUERY = lazy(r"(?<=.)\?[A-Za-z_][\w.-]*=.*", re.DOTALL)
_COLOUR = (
    "-(?:blue|(?:bright|yellow)?green|yellow|orange|red|(?:light)?gr[ea]y|success|[0-9a-f]{6})"
)
# "10.1000/182-blue.svg?style=flat", "10.1000/182/status.svg"
_BADGE_END = lazy(rf"({_COLOUR})?(?:(/status)?\.svg(?:\?.*)?)?$", re.IGNORECASE)
# '10.1000/182","title":"A'
_JSON_FIELDS = lazy(r'"\s?[,:]\s?"')
_SECOND_NAME = lazy(r"(?<![0-9.])10\.[0-9]{4,9}/(?=.)")
# "10.1000/1https://doi.org/10.1000/2"
_LEAD = lazy(rf"(?:{PROXY_PATTERN}/|doi:?)$", re.IGNORECASE)
_SEPARATORS = "/,;:|+&\"'"
# "10.1000/{{id}}", "10.1000/{}"
_PLACEHOLDER = lazy(r"\{\{?[A-Za-z_ ][\w. ]*\}|(?<![A-Za-z])\{\}")
_REPLACEMENT = "\ufffd"
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
    if isinstance(text_or_doi, DOI):
        return _on_name(text_or_doi)
    if type(text_or_doi) is str and _is_harmless(text_or_doi):
        return ()
    doi = DOI.parse(text_or_doi)
    return *_on_writing(text_or_doi), *_on_name(doi)


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
    repaired = None
    for _ in range(_REPAIRS):
        suggestions = [advice.suggestion for advice in _on_name(doi) if advice.suggestion]
        if not suggestions:
            break
        repaired = suggestions[0]
        doi = DOI.parse(repaired)
    return repaired


def _is_harmless(text: str) -> bool:
    """Return whether there is certainly no advice on a text; true for nearly all of them."""
    if not _HARMLESS.fullmatch(text) or text.lower().endswith(_PAGE_ENDS):
        return False
    has_second_name = text.find("10.", 5) >= 0
    is_from_badge = "--" in text or "__" in text
    return not has_second_name and not is_from_badge


def _on_writing(text: str) -> tuple[Advice, ...]:
    """Return advice on what parsing a text decoded or dropped.

    Links and URIs have escapes. In a bare name, or after "DOI ", an escape may also belong to the name itself, so
    its decoding is remarked on, unless a program wrote it: a program escapes no letters and digits, which
    "10.1000/a%41" has escaped, and leaves no percent sign unescaped.
    """
    start, end = _parse.stripped(text)
    name_start = _parse.label_end(text, start, end)
    has_label = name_start > start
    begins_as_name = has_label or text.startswith("10", start, end)
    if not begins_as_name or _parse.is_link(text, name_start, end):
        return _on_link(text[start:end])

    is_uri = has_label and text[name_start - 1] in ":/"
    escapes = _ESCAPE.findall(text, start, end)
    on_stray_percents = _on_stray_percents(text[start:end])
    are_by_program = not on_stray_percents and not any(map(_ESCAPED_LETTER_OR_DIGIT.match, escapes))
    if is_uri or not escapes or are_by_program:
        return on_stray_percents
    message = (
        f"{_first_five(escapes)} was decoded; if it belongs to the name, escape the percent sign"
    )
    suggestion = _suggested(text[name_start:end])
    return Advice("decoded-escape", message, suggestion), *on_stray_percents


def _on_stray_percents(spelling: str) -> tuple[Advice, ...]:
    """Return advice on percent signs that start no escape, as in "10.1000/50%"; the suggestion escapes them."""
    if not _STRAY_PERCENT.search(spelling):
        return ()
    message = "a percent sign that does not start an escape was taken literally; %25 is unambiguous"
    return (Advice("stray-percent", message, _readable(_STRAY_PERCENT.sub("%25", spelling))),)


def _on_link(link: str) -> tuple[Advice, ...]:
    """Return advice on the query and fragment that were dropped; the suggestion keeps them, escaped.

    For "https://doi.org/10.1000/182#2" it is "https://doi.org/10.1000/182%232".
    """
    without_fragment, hash_mark, fragment = link.partition("#")
    path, question_mark, query = without_fragment.partition("?")
    advice = list(_on_stray_percents(path))

    escaped = path + _escaped_marks(question_mark + query)
    if question_mark:
        message = f"the query {query!r} was dropped; if it belongs to the name, escape it"
        advice.append(Advice("dropped-query", message, _readable(escaped)))
    if hash_mark:
        message = f"the fragment {fragment!r} was dropped; if it belongs to the name, escape it"
        with_fragment = f"{escaped}%23{_escaped_marks(fragment)}"
        advice.append(Advice("dropped-fragment", message, _readable(with_fragment)))
    return tuple(advice)


def _escaped_marks(text: str) -> str:
    return text.replace("?", "%3F").replace("#", "%23")


def _on_name(doi: DOI) -> tuple[Advice, ...]:
    """Return advice on a name, whatever its spelling was."""
    if _is_harmless(doi.name):
        return ()
    # First what copying, scripts and badges leave in names, then what is wrong with characters
    checks = (
        _page,
        _query,
        _badge,
        _fields,
        _second_name,
        _placeholder,
        _lost_character,
        _look_alike,
        _composition,
        _entity,
        _tex_escape,
        _space,
        _punctuation,
        _slash,
        _escape,
        _reserved_suffix,
        _unknown_character,
    )
    return tuple(advice for check in checks if (advice := check(doi)) is not None)


def _page(doi: DOI) -> Advice | None:
    """Return advice on the end of a page's address, as in "10.1000/182/abstract" or "10.1000/182.pdf"."""
    page = _PAGE_END.search(doi.suffix)
    if page is None:
        return None
    message = f"{page[0]!r} looks like part of a page's address"
    return Advice("page-address", message, _suggested(doi.name.removesuffix(page[0])))


def _query(doi: DOI) -> Advice | None:
    """Return advice on the query of a page, as in "10.1000/182?journalCode=abc"; badges have their own check."""
    query = _QUERY.search(doi.name)
    if query is None or ".svg?" in doi.name.lower():
        return None
    message = f"{query[0][:40]!r} looks like the query of a page's address"
    return Advice("page-address", message, _suggested(doi.name[: query.start()]))


def _badge(doi: DOI) -> Advice | None:
    """Return advice on the end of a badge's address, as in "10.1000/a--b-blue.svg": the name is 10.1000/a-b."""
    name = doi.name
    end = _BADGE_END.search(name)
    if end is None or not end[0]:
        return None
    is_of_badge = ".svg" in end[0].lower() or "--" in name or "__" in name
    if not is_of_badge:
        return None

    text = name[: end.start()]
    colour = end[1]
    if colour:  # Shields.io writes "-" as "--" and "_" as "__"
        text = text.replace("--", "-").replace("__", "_")
    message = f"{end[0][:40]!r} looks like the end of a badge's address"
    return Advice("page-address", message, _suggested(text))


def _fields(doi: DOI) -> Advice | None:
    """Return advice on the next field of JSON, as in '10.1000/182","title":"A'."""
    fields = _JSON_FIELDS.search(doi.name)
    if fields is None:
        return None
    message = f"{fields[0]} looks like the end of a field of JSON"
    return Advice("run-on", message, _suggested(doi.name[: fields.start()]))


def _second_name(doi: DOI) -> Advice | None:
    """Return advice on a second name, as in "10.1000/1;10.1000/2"; it suggests the first that is a DOI."""
    name = doi.name
    second = _SECOND_NAME.search(name, name.find("/") + 1)
    if second is None:
        return None
    if any(map(str.isspace, name)):
        return None  # _space has advice on it
    first = _LEAD.sub("", name[: second.start()]).rstrip(_SEPARATORS)
    suggestion = _suggested(first) or _suggested(name[second.start() :])
    message = f"{second[0]!r} in the name looks like the beginning of a second DOI"
    return Advice("run-on", message, suggestion)


def _placeholder(doi: DOI) -> Advice | None:
    """Return advice on a placeholder that was not filled in, as in "10.1000/{{id}}"."""
    placeholder = _PLACEHOLDER.search(doi.name)
    if placeholder is None:
        return None
    message = f"{placeholder[0][:40]!r} looks like a placeholder of a template"
    return Advice("placeholder", message, None)


def _lost_character(doi: DOI) -> Advice | None:
    """Return advice on U+FFFD, which decoders write for what they cannot decode; at the end it can be left out."""
    if _REPLACEMENT not in doi.name:
        return None
    without_end = doi.name.rstrip(_REPLACEMENT)
    suggestion = None if _REPLACEMENT in without_end else _suggested(without_end)
    return Advice("lost-character", "the name has a replacement character (U+FFFD)", suggestion)


def _look_alike(doi: DOI) -> Advice | None:
    """Return advice on characters such as the dash in "10.1000/a–b".

    Not on punctuation at the end, for which the name gets other advice (``_punctuation``).
    """
    end = _punctuation_start(doi.name)
    name = doi.name[:end]
    usual = name.translate(_LOOK_ALIKES)
    has_latin = re.search("[A-Za-z]", name) is not None
    if has_latin:  # else Cyrillic and Greek letters are probably meant
        usual = usual.translate(_TWINS)
    usual = "".join(map(_usual, usual))

    # Each character once, in order; those that were replaced do not occur in the usual text
    characters = dict.fromkeys(name)
    look_alikes = [character for character in characters if character not in usual]
    if not look_alikes:
        return None
    message = f"{_listed(look_alikes)} looks like another character"
    return Advice("look-alike", message, _suggested(usual + doi.name[end:]))


def _usual(character: str) -> str:
    """Return the usual character for one that looks the same, or that is only a second code point for it.

    >>> _usual("Ａ"), _usual("\u212b"), _usual("²")
    ('A', 'Å', '2')
    """
    if character.isascii() or unicodedata.category(character) == "Zs":
        return character
    compatible = unicodedata.normalize("NFKC", character)
    if compatible.isascii():
        return compatible
    # beyond ASCII, only a second code point for the same character, such as the angstrom sign for Å
    return unicodedata.normalize("NFC", character)


def _composition(doi: DOI) -> Advice | None:
    """Return advice on letters with combining marks, such as "e" and U+0301 for "é"."""
    if len(doi.name) > _LONG:
        return None
    composed = unicodedata.normalize("NFC", doi.name)
    if len(composed) == len(doi.name):
        return None
    message = "letters with combining marks, not in composed form"
    return Advice("composition", message, _suggested(composed))


def _entity(doi: DOI) -> Advice | None:
    """Return advice on entities of HTML, as in "10.1000/a&lt;b"."""
    if not re.search(r"&(?:#\d+|#[xX][0-9A-Fa-f]+|[A-Za-z][A-Za-z0-9]*);", doi.name):
        return None
    decoded = unescape_html(doi.name)
    if decoded == doi.name:
        return None
    if _ends_in_entity(doi.name):  # perhaps that of a bracket around the name
        decoded = decoded[: _punctuation_start(decoded)]
    return Advice("entity", "an HTML entity in the name", _suggested(decoded))


def _ends_in_entity(name: str) -> bool:
    return name.endswith(";") and not unescape_html(name).endswith(";")


def _tex_escape(doi: DOI) -> Advice | None:
    r"""Return advice on escapes of TeX, as in "10.1000/a\_b"."""
    unescaped = _TEX.sub(_tex_shown, doi.name)
    if unescaped == doi.name:
        return None
    return Advice("tex-escape", "a TeX escape in the name", _suggested(unescaped))


def _tex_shown(escape: re.Match[str]) -> str:
    """Return what TeX shows for an escape; for ``$_2$``, which programs write for "_2", return that."""
    character, bracket, command, subscript = escape.groups()
    if subscript:
        return f"_{subscript}"
    return character or bracket or _TEX_SIGNS[command]


def _space(doi: DOI) -> Advice | None:
    """Return advice on white space, as in "10.1000/1 82" or, before a remark, in "10.1000/182 (accessed 2020)"."""
    joined = "".join(doi.name.split())
    if joined == doi.name:
        return None
    suggestion = None
    remark = _REMARK.search(doi.name)
    if remark is not None:
        suggestion = _suggested(doi.name[: remark.start()])
    return Advice("space", "white space in the name", suggestion or _suggested(joined))


def _punctuation(doi: DOI) -> Advice | None:
    """Return advice on punctuation at the end, as in "10.1000/182."."""
    name = doi.name
    end = _punctuation_start(name)
    if end == len(name) or _ends_in_entity(name):
        return None
    punctuation = name[end:][-9:]
    message = f"the name ends in {punctuation!r}"
    return Advice("trailing-punctuation", message, _suggested(name[:end]))


def _punctuation_start(name: str) -> int:
    """Return where the punctuation at the end of a name starts, among it brackets that close nothing.

    >>> _punctuation_start("10.1000/182)."), _punctuation_start("10.1000/a(b)")
    (11, 12)
    """
    end = len(name)
    counts = Counter(name)
    while _is_stray(name[end - 1], counts):
        end -= 1
        counts[name[end]] -= 1
    return end


def _is_stray(character: str, counts: Counter[str]) -> bool:
    """Return whether the last character is punctuation, or a bracket that closes nothing."""
    if character in _MARKS:
        return True
    opener = _CLOSERS.get(character)
    return opener is not None and counts[character] > counts[opener]


def _slash(doi: DOI) -> Advice | None:
    if not doi.name.endswith("/"):
        return None
    return Advice("trailing-slash", "the name ends in a slash", _suggested(doi.name.rstrip("/")))


def _escape(doi: DOI) -> Advice | None:
    """Return advice on escapes that are left in the name, as in the DOI 10.1000/a%2Fb."""
    escapes = _ESCAPE.findall(doi.name)
    if not escapes:
        return None
    message = f"{_first_five(escapes)} in the name looks like an escape that was not decoded"
    try:
        suggestion = _suggested(DOI.parse(doi.name).name)
    except DOISyntaxError:
        suggestion = None
    return Advice("literal-escape", message, suggestion)


def _reserved_suffix(doi: DOI) -> Advice | None:
    if doi.suffix[1:2] != "/":
        return None
    message = (
        "a suffix of one character followed by a slash is reserved for future use (Z39.84 §4.3)"
    )
    return Advice("reserved-suffix", message, None)


def _unknown_character(doi: DOI) -> Advice | None:
    unknown = [char for char in dict.fromkeys(doi.name) if unicodedata.category(char) == "Cn"]
    if not unknown:
        return None
    message = f"{_listed(unknown)} is not in Unicode {unicodedata.unidata_version}"
    return Advice("unknown-character", message, None)


def _suggested(name: str) -> str | None:
    """Return the text that ``DOI.parse`` reads as ``name``, or None if that is not a DOI.

    A percent sign before two hexadecimal digits is escaped, and so is a final space.

    >>> _suggested("10.1000/a%2Fb"), _suggested("10.1000/")
    ('10.1000/a%252Fb', None)
    """
    try:
        text = re.sub("%(?=[0-9A-Fa-f]{2})", "%25", DOI.from_name(name).name)
    except DOISyntaxError:
        return None
    if text.endswith(" "):
        return f"{text[:-1]}%20"
    return text


def _readable(text: str) -> str | None:
    """Return ``text``, or None if ``DOI.parse`` refuses it."""
    try:
        DOI.parse(text)
    except DOISyntaxError:
        return None
    return text


def _listed(characters: list[str]) -> str:
    """Return characters with their names in Unicode.

    >>> _listed(["–", "’"])
    'en dash (U+2013), right single quotation mark (U+2019)'
    """
    described = []
    for character in characters:
        name = unicodedata.name(character, "CHARACTER").lower()
        described.append(f"{name} (U+{ord(character):04X})")
    return _first_five(described)


def _first_five(items: list[str]) -> str:
    """Return a list of the first five different items."""
    different = list(dict.fromkeys(items))
    listed = ", ".join(different[:5])
    if len(different) > 5:
        return f"{listed} …"
    return listed


def unescape_html(text: str) -> str:
    """Return ``text`` with HTML's character references decoded, as ``html.unescape`` does.

    ``html.unescape`` raises ValueError for a number of more than 4,300 digits;
    here it is U+FFFD, as is any number that is too large.

    >>> unescape_html("a&lt;b&#" + "9" * 5000 + ";")
    'a<b�'
    """
    if "&" not in text:
        return text
    return html.unescape(_DECIMAL.sub(r"&#\1", text))


Advice.__module__ = "doiuri"  # for tracebacks and pickles
