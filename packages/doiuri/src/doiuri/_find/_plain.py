"""DOIs in plain text.

``mentions`` goes from candidate to candidate, that is from one "10." with a registrant code to the next:

1. If the name is plain and stands in a sentence or a link, as nearly always, it is taken as it is.
2. Otherwise ``lead_before`` says what stands before the name: a label, a link, the query of a URL, or a word
   that it is part of.
3. ``_prefix`` refuses decimals, versions and times, such as 10.5/2.
4. ``NameEnds`` and ``trimmed`` find where the name ends, and ``_is_no_name`` refuses templates.
5. ``_mention`` undoes the escapes of the notation, and returns the name with its place.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from doiuri._doi import DOI
from doiuri._errors import DOISyntaxError
from doiuri._find._ends import ENTITY_NUMBER, JSON_ESCAPE, NameEnds, trimmed
from doiuri._find._leads import Lead, frequent_lead, lead_before
from doiuri._names import PLAIN_NAME, PLAIN_REST
from doiuri._patterns import lazy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

# Where a mention starts, with its label or link; where its name starts; where it ends; and its DOI. A tuple, for
# the time it takes. In "see doi:10.1000/182": (4, 8, 19, DOI("10.1000/182"))
MentionSpan = tuple[int, int, int, DOI]

# What always ends a plain name
_END = r"""
    (?=
        []})>`]
    |   \| (?!\w)
    |   [?!.,;:]{0,3} (?: [ \n\t”’] | \Z )
    |   " (?: [ \n>,] | \Z )
    |   </ [a-z]
    )
"""
# Starts with a literal, which the regex engine finds at the speed of memory, and drops decimals and versions
# next; group 1 only if the name is plain. Long runs of digits and dots match even without a slash: each is
# read once, and the time stays linear.
_CANDIDATE = lazy(
    rf"""
    10\. (?= [0-9.]{{0,15}}+ [/:\\%0-9.] )
    (?:
        ( {PLAIN_REST} {_END} )
    |
        [0-9.]{{0,15}}+
        (?: [/:] | [0-9.]++ (?: \\?/ | : | %2[Ff] )? | \\/ | %2[Ff] )
    )
    """,
    re.VERBOSE,
)
_PLAIN_NAME = lazy(PLAIN_NAME)
_FREQUENT_LABELS = ("https://doi.org/", "doi:")
_PREFIX = lazy(
    r"""
    10\. (?P<number> [0-9]++ )            # the registrant, of which only the first number counts
    (?! [0-9.]*? \. (?! [0-9] ) )         # no dot without digits after it
    [0-9.]*+
    (?P<slash> \\?/ | : | %2[Ff] )
    """,
    re.VERBOSE,
)
_LINK_END = lazy(rf"\?|\#(?!{ENTITY_NUMBER})")
_IN_SENTENCES = frozenset(["text", "link"])
_NO_NAME = lazy(
    r"""
    # what a program is to fill in
        \{\{ | \$\{ | \{ [a-z] [A-Za-z0-9_.]+ \} | \{ [0-9]? \} (?! [\w.{-] )
    |   %[sd] (?! [0-9A-Fa-f] )
    |   < (?: (?: [a-z]+ [_-]? )? id | doi | name | number | prefix | suffix | version | year ) >
    # the path of a file at ACM
    |   (?<= 10\.1145/ ) [0-9]+ 0000/
    # the key of a reference at Crossref
    |   \| \w{1,30} - (?: bib | cit ) - [0-9]
    """,
    re.VERBOSE,
)
# Two numbers, the second with an exponent
_QUOTIENT = lazy(
    r"""
    10\. [0-9]+ / [0-9]+ (?: \. [0-9]+ )?
    [eE] [-+] [0-9]{1,3}
    (?! [\w./-] )
    """,
    re.VERBOSE,
)
# Between two links, as Mendeley writes it: "https://doi.org/10.1000/1\nhttps://doi.org/10.1000/2"
_LINE_BREAK = lazy(r"(?:\\|%5C)n(?:https?:|10\.)")
# In the URL of a journal's page, such as "https://example.org/journal/10.1000/asi": not a work
_JOURNAL_CODE = lazy(r"10\.[0-9.]+/[a-z]{2,6}")
_BARE_DIGITS = 4  # of a registrant without a label: fewer are decimals, versions, IP addresses


def mentions(
    text: str, has_label_nearby: Callable[[int], bool], tail: str = ""
) -> Iterator[MentionSpan]:
    """Yield the mentions in plain ``text``, in order.

    :param has_label_nearby: returns whether a place has a label, though not directly before it, such as
        ``<b>DOI</b>``.
    :param tail: characters that no name ends with, in addition to punctuation.
    """
    ends = NameEnds()
    previous_end = 0  # of the previous mention
    place = 0  # where the search goes on
    search = _CANDIDATE.search
    unchecked = DOI._unchecked
    while (candidate := search(text, place)) is not None:
        start, place = candidate.span()
        is_plain = candidate.lastindex is not None
        if is_plain:
            mention_start = _start_in_sentence(text, start, previous_end)
            if mention_start is not None:
                yield mention_start, start, place, unchecked(candidate[0])
                previous_end = place
                continue
            place = text.index("/", start) + 1  # another name may begin after the slash

        lead = lead_before(text, start, previous_end)
        if lead is None:
            continue
        prefix = _prefix(text, start, lead, has_label_nearby)
        if prefix is None:
            continue
        if prefix["slash"] == "\\/":
            lead = lead._replace(notation="json")
        place = ends.end(prefix, lead)
        if _is_no_name(prefix, place):
            continue
        mention = _mention(prefix, trimmed(prefix, place, lead, tail), lead)
        if mention is not None:
            _, _, previous_end, _ = mention
            yield mention


def _start_in_sentence(text: str, start: int, previous_end: int) -> int | None:
    """Return where the mention of the name at ``start`` starts; None if it is not in a sentence or a link."""
    mention_start = frequent_lead(text, start, previous_end)
    if mention_start is not None:
        return mention_start
    lead = lead_before(text, start, previous_end)
    if lead is not None and lead.notation in _IN_SENTENCES:
        return lead.start
    return None


def _prefix(
    text: str, start: int, lead: Lead, has_label_nearby: Callable[[int], bool]
) -> re.Match[str] | None:
    """Return the prefix and slash at ``start``; None for a decimal, a version, a port or a time.

    Without a label, "10.1000/" is a prefix, but not "10.12/", nor the beginning of "10.5000/5e-3".
    """
    prefix = _PREFIX.match(text, start)
    if prefix is None:
        return None
    if prefix["slash"] == ":" and text[start - 8 : start].lower() != "urn:doi:":
        return None
    if lead.labelled:
        return prefix
    if _QUOTIENT.match(text, start):
        return None
    if len(prefix["number"]) >= _BARE_DIGITS or has_label_nearby(lead.start):
        return prefix
    return None


def _is_no_name(prefix: re.Match[str], end: int) -> bool:
    """Return whether what ends at ``end`` is a template or a path, or what follows is the rest of one.

    ``10.1000/{doi}`` is a template, and ``10.1145/3290000/3290605.pdf`` is the path of a file at ACM.
    """
    text = prefix.string
    if _NO_NAME.search(text, prefix.end(), end):
        return True
    return _NO_NAME.match(text, end) is not None


def _mention(prefix: re.Match[str], end: int, lead: Lead) -> MentionSpan | None:
    """Return the mention of the name from ``prefix`` to ``end``; None if it is no legal name of a work.

    Escapes of the notation are undone: "10.1000/a--b" in a badge is the DOI 10.1000/a-b.
    """
    text = prefix.string
    start = prefix.start()
    name = text[start:end]
    if end <= prefix.end():
        return None
    if prefix["slash"] == ":":
        if not text[lead.start : start].lower().endswith("urn:doi:"):
            return None
        name = name.replace(":", "/", 1)  # DOI Handbook, note on URNs

    match lead.notation:
        case "url" if _JOURNAL_CODE.fullmatch(name):
            return None
        case "badge":
            name = name.replace("--", "-").replace("__", "_")
        case "json":
            name = JSON_ESCAPE.sub(_json_unescaped, name)
    try:
        return lead.start, start, end, DOI.parse(name)
    except DOISyntaxError:  # the escapes hide bytes or characters that no name has
        return None


def _json_unescaped(escape: re.Match[str]) -> str:
    r"""Return the character for an escape of JSON: ``\/`` or, for example, ``\u003c``."""
    digits = escape[0].removeprefix("\\u")
    if digits == "\\/":
        return "/"
    return chr(int(digits, 16))


def delimited(
    text: str, start: int, delimiters: Mapping[str, tuple[str, ...]]
) -> MentionSpan | None:
    """Return the mention of the name at ``start`` if it is plain and stands between delimiters; else None.

    In Markdown, "[text](https://doi.org/10.1000/182)" is such a mention: it reads the same wherever it stands.

    :param delimiters: what may stand before the name or its link, by the character after it, which is not
        repeated.
    """
    name = _PLAIN_NAME.match(text, start)
    if name is None:
        return None
    end = name.end()
    delimiter = text[end : end + 1]
    openers = delimiters.get(delimiter)
    if openers is None or delimiter == text[end + 1 : end + 2]:
        return None

    first = start
    for label in _FREQUENT_LABELS:
        if text.endswith(label, 0, first):
            first -= len(label)
    if not text.endswith(openers, 0, first):
        return None
    return first, start, end, DOI._unchecked(name[0])


def whole(value: str, *, labelled: bool, link: bool) -> MentionSpan | None:
    """Return the mention that a delimited ``value`` is as a whole, or None.

    Its name may end with any character, as in ``doi = {10.1000/a.}``: the delimiter says where it ends.

    :param labelled: whether the value has a label, so that any name counts.
    :param link: whether the value is a link, where ``#`` and ``?`` end the name and white space does not.
    """
    name_start = value.find("10.")
    if name_start < 0:
        return None
    prefix = _PREFIX.match(value, name_start)
    if prefix is None:
        return None

    # Anything else before the name than a label or link; anything after it, except the query of a link
    lead = lead_before(value, name_start)
    if lead is None or lead.start != 0:
        return None
    if _LINE_BREAK.search(value) or (not link and len(value.split(maxsplit=1)) > 1):
        return None

    # A decimal, a template
    if not (labelled or lead.labelled) and len(prefix["number"]) < _BARE_DIGITS:
        return None
    if _is_no_name(prefix, len(value)):
        return None

    end = len(value)
    if link or lead.notation == "link":
        path_end = _LINK_END.search(value)
        if path_end is not None:
            end = path_end.start()
    return _mention(prefix, end, lead)
