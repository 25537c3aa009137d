r"""Where a DOI in plain text ends: before a delimiter, without punctuation and what URLs append.

A DOI may contain any visible character, so what ends it is known only from what stands around it. The end is
found in two steps; between them, ``_plain`` refuses templates.

1. ``NameEnds.end`` goes from the name's prefix to the first place where the name cannot go on:

   - the notation ends there that the name is written in: in ``?q=10.1000/182%20OR%20x`` it is a query, in which
     ``%20`` is a space;
   - a character that no name has, such as a space (``_HARD``);
   - a character that ends some names and is part of others (``_SOFT``), if it ends this one (``_ends``): the comma
     in ``10.1000/1,10.1000/2``, but not the one in ``10.1000/a,b``;
   - a bracket that nothing opened, or one that nothing closes: ``(10.1000/182)``, ``10.1000/182(in German``.

2. ``trimmed`` goes back over what is not the name's: punctuation, as in ``10.1000/182.)``, and in a URL the page,
   as in ``https://example.org/10.1000/182/abstract``.
"""

from __future__ import annotations

import re

from doiuri._find._leads import UNSPACED, Lead, Notation, in_query
from doiuri._names import NOT_GRAPHIC
from doiuri._patterns import lazy
from doiuri._urls import PROXY_HOST_PATTERN

# Always the end: white space, what no name holds, typographic quotation marks, other scripts' punctuation
_HARD = (
    "\\s`|«»\u2014\u2018-\u2022\u2026\u2039\u203a\u060c\u061b\u061f\u06d4\u0964\u0965\u3001-\u3003\u300a-\u3011"
    "\u3014-\u301f\uff01\uff08\uff09\uff0c\uff0e\uff1a-\uff1c\uff1e\uff1f\uff3b\uff3d\uff5b\uff5d-\uff65"
) + NOT_GRAPHIC
# Of mathematics and of Chinese: around a name, as HAL writes them, or in it for the "<" and ">" of a SICI
_ANGLES = "\u2329\u232a\u27e8\u27e9\u3008\u3009"
# Sometimes the end, depending on what is on both sides
_SOFT = "()\\[\\]{}<>,;:'\"*\\\\?#&\u2013" + _ANGLES + UNSPACED
_STOP = lazy(f"[{_HARD}{_SOFT}]")
_IS_SOFT = lazy(f"[{_SOFT}]")

# Before one of these, a comma, a semicolon, a dash or a bracket ends the name
_NEXT = lazy(
    rf"""
    [ ]?
    (?: https?: | // | www\. | (?: {PROXY_HOST_PATTERN} )/
    |   (?: issue: )* doi\b | urn: | info:
    |   PMC?ID\b | PubMed\b | CrossRef\b | arXiv\b | ISBN\b | Google\b
    |   10\. [0-9]{{4,}}+ (?! [0-9.]*? \. (?! [0-9] ) ) [0-9.]*+ (?: / | %2F )    # another name
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_TAG = lazy(
    r"""
    <
    (?: \\?/ | !--
    |   (?: [aip] | br | em | li | t[dhr] | div | span | strong | su[bp] | ref | cite | code | italic | bold
        | img | hr )
        (?: [\s/] [^<>]{0,200} )? >
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)
ENTITY_NUMBER = r"(?:(?<=&\#)|(?<=&amp;\#))(?:[0-9]{1,7}|[xX][0-9a-fA-F]{1,6});"
"""What follows the "#" of an entity in plain text, or of one that was escaped twice."""
_ENTITY_NUMBER = lazy(ENTITY_NUMBER)
_ENTITY = lazy(rf"&(?:amp;)*(?P<entity>(?:\#{ENTITY_NUMBER}|[A-Za-z][A-Za-z0-9]{{1,31}};))")
_ENDS_AS_ENTITY = lazy(f"[\"'{_HARD}]")
_NAME_AFTER_ENTITY = lazy(r"\.?[A-Za-z0-9]")
# The brackets of a SICI, as in "10.1002/(SICI)1097-4571(199806)49:8<693::AID-ASI4>3.0.CO;2-O"
_SICI = lazy(rf"<[0-9](?>(?:[^{_HARD}{_SOFT}]++|:(?!//)){{0,200}})>")
# The text of a link in AsciiDoc, as in "https://doi.org/10.1000/182[the handbook]", which comments and .txt files
# have, too; not "[1]", which may belong to the name
_LINK_TEXT = lazy(
    r"\[(?![0-9])[^\[\]\n]{0,200}\]"
    r"[.,;:!?)'\"]{0,3}(?:\s|\Z)"
)
# The end of a SICI, such as "3.0.CO;2-O": the code structure, the kind of part, the medium, the version after a
# semicolon, and mostly a hyphen and the check character (ANSI/NISO Z39.56)
_SICI_VERSION = lazy(r";[0-9](?:-|(?<=[0-9]\.[0-9]\.[A-Za-z]{2};[0-9])(?!\w))")
_SICI_BEFORE = lazy(r"[0-9]\.[0-9]\.[A-Za-z]{2};[0-9](?:-[0-9A-Za-z#])?\Z")
_LONGEST_SICI_END = len("2.0.CO;2-X")
# What follows an angle bracket of mathematics that a SICI has for "<" or ">"
_SICI_AFTER_ANGLE = lazy(r"[^\s/,]{0,100}?[0-9]\.[0-9]\.[A-Za-z]{2};[0-9]")
_IN_ENTITY = lazy(r"&#?[A-Za-z0-9]+;\Z")
# "&title=" after "doi=10.1000/182", in a query without its URL
_NEXT_FIELD = lazy(r"&[A-Za-z][\w.]*=")
_AFTER_QUOTE = lazy(r'"[._/-]?[A-Za-z0-9]')
_POSSESSIVE = lazy(r"'s?(?!\w)")
_TEX_ESCAPED = frozenset("_%&#${}")
_OPENER_OF = {")": "(", "]": "[", "}": "{", ">": "<"}
_OPENERS = "([{<"
_LINE_LENGTH = 300  # how far around a name the columns of a table are looked for
_COLUMNS = {",": lazy(r",[^\s,]"), ";": lazy(r";[^\s;]")}

# What ends a name in each notation. After a separator, "%2C" for example, one of these begins the next value:
_FOLLOWING = r"(?:10\.[0-9]{4,}|https?(?::|%3A)|doi(?::|%3A)|%22|%20|\+)"
# Each pattern with the literal that it begins with: str.find is many times faster than the regex engine
_ANYWHERE = (
    ("$$", lazy(r"\$\$[A-Z]")),  # subfields of library systems
    ("%5Cn", lazy(r"%5Cn(?=https?:|10\.)")),  # Mendeley's line break between two links
    # What Proofpoint puts around a link; then the same without the underscores, which mark emphasis in Markdown
    ("__;", lazy(r"__;[\w*+-]*!!")),
    (";!!", lazy(r";!![\w!*+-]+\$")),
)
_OR = ("+", lazy(r"\+(?:OR|AND)\+"))  # between two names in the query of a search
_LISTED = rf"(?:2C|3B)(?={_FOLLOWING})"
_IN_QUERY = (("%", lazy(rf"%(?:20|22|7C|0[AD]|{_LISTED})", re.IGNORECASE)), _OR)
_IN_ESCAPED = (("%", lazy(rf"%(?:20|22|7C|0[AD]|26|3F|23|{_LISTED})", re.IGNORECASE)), _OR)
_NOTATION_ENDS = {"query": _ANYWHERE + _IN_QUERY, "escaped": _ANYWHERE + _IN_ESCAPED}
_WINDOW = 4000  # characters of a name that are searched
_LONGEST = 500  # characters of a name in a badge
# shields.io: "--" is a dash, "__" an underscore; a single dash ends the text, a single underscore is a blank
_BADGE_TEXT = lazy(rf"(?>(?:[^-_\s\"<>?#]|--|__){{0,{_LONGEST}}})")
JSON_ESCAPE = lazy(
    r"""
    \\
    (?: /
    |   u00 (?: 2[13-9A-Fa-f] | [3-7][0-9A-Fa-f] | [C-Fc-f][0-9A-Fa-f] )
    )
    """,
    re.VERBOSE,
)
"""A slash or a character of a name in JSON."""


class NameEnds:
    """The ends of the names in one text, asked for from its beginning to its end.

    Unclosed brackets are kept from name to name: otherwise each one in "10.1000/a(10.1000/a(…" would be read to
    the end of the text, in quadratic time.
    """

    __slots__ = ("_barriers",)

    def __init__(self) -> None:
        # Places that no search passes, the nearest last: brackets that nothing closes, and where the search for
        # their closing brackets ended
        self._barriers: list[int] = []

    def end(self, prefix: re.Match[str], lead: Lead) -> int:
        """Return where the name that begins with ``prefix`` ends, before trimming."""
        text = prefix.string
        start = prefix.end()
        limit = self._limit(text, start, lead.notation)
        opened: list[int] = []  # the places of open brackets
        end = start
        if text.startswith("<", start) and text[start + 1 : start + 2].isalnum():
            opened.append(start)  # not a tag: it would leave nothing of the name
            end += 1

        # From one character that may end the name to the next
        while (stop := _STOP.search(text, end, limit)) is not None:
            end = stop.start()
            opener = _OPENER_OF.get(stop[0])  # of a closing bracket
            if opener is None:
                if stop[0] in _OPENERS:
                    opened.append(end)
                if _ends(text, end, lead, in_brackets=bool(opened)):
                    break
            elif opened and text[opened[-1]] == opener:
                opened.pop()
            else:
                break
            end += 1
        else:  # nothing ends it before
            end = limit

        if not opened:
            return end
        # The first bracket that nothing closes ends the name
        self._barriers += [end, *reversed(opened)]
        return opened[0]

    def _limit(self, text: str, start: int, notation: Notation) -> int:
        """Return how far the end of a name is searched: to the next barrier, or to where its notation ends it."""
        barriers = self._barriers
        while barriers and barriers[-1] <= start:
            barriers.pop()
        limit = _notation_end(text, start, notation)
        return min(limit, barriers[-1]) if barriers else limit


def _notation_end(text: str, start: int, notation: Notation) -> int:
    """Return where a notation ends a name; if it does not, the end of the text.

    In ``?q=10.1000/1%20OR%2010.1000/2`` that is at the "%20", and in the badge ``DOI-10.1000/a--b-blue.svg`` at
    the single dash.

    :param start: a place in the name, from which the end is searched.
    """
    end = len(text)
    if notation == "badge":
        badge = _BADGE_TEXT.match(text, start)
        if badge is not None:
            end = badge.end()

    window_end = text.find(" ", start, start + _WINDOW)
    if window_end < 0:
        window_end = start + _WINDOW
    for literal, pattern in _NOTATION_ENDS.get(notation, _ANYWHERE):
        if text.find(literal, start, window_end) < 0:
            continue
        stop = pattern.search(text, start, window_end)
        if stop is not None:
            end = min(end, stop.start())
    return end


def _ends(text: str, place: int, lead: Lead, *, in_brackets: bool) -> bool:
    """Return whether the name ends at ``place``, at a character that is not a closing bracket.

    :param in_brackets: whether a bracket is open there.
    """
    character = text[place]
    before_mention = text[lead.start - 1 : lead.start]
    match character:
        case "(" | "[" | "{" | "<":
            return _opener_ends(text, place, lead)
        case "," | ";":
            return _separator_ends(text, place, lead, in_brackets=in_brackets)
        case '"':
            if before_mention == '"' or lead.notation != "text":
                return True
            return not _AFTER_QUOTE.match(text, place)
        case "'":  # '10.1000/182', or the possessive in "10.1000/182's title"
            return before_mention == "'" or _POSSESSIVE.match(text, place) is not None
        case "*":  # *10.1000/182*
            return before_mention == "*"
        case "\\" if lead.notation == "json":
            return not JSON_ESCAPE.match(text, place)
        case "\\":  # in TeX, 10.1000/a\_b goes on
            return text[place + 1 : place + 2] not in _TEX_ESCAPED
        case "&":
            return _ampersand_ends(text, place, lead)
        case ":":  # 10.1000/182https://example.org, of which the scheme is trimmed
            return text.startswith("://", place)
        case "\u2013":  # a dash between two names
            return _next_follows(text, place)
        case "?" | "#":
            return _is_in_url(text, lead) and not _ENTITY_NUMBER.match(text, place + 1)
        case _ if character in _ANGLES:
            return _angle_ends(text, place + 1)
        case _:  # no name has it, or it is of a script without spaces between words
            return not _IS_SOFT.match(character) or _word_begins(text, place)


def _is_in_url(text: str, lead: Lead) -> bool:
    r"""Return whether the name is in a URL, in which ``?`` and ``#`` end it.

    In JSON, only what is before it tells: ``"https:\/\/doi.org\/10.1000\/182?x"``.
    """
    if lead.notation != "json":
        return lead.notation != "text"
    is_link = text[lead.start : lead.start + 4].lower() == "http"
    return is_link or text[lead.start - 1 : lead.start] == "/"


def _opener_ends(text: str, place: int, lead: Lead) -> bool:
    """Return whether the bracket that opens at ``place`` is markup, or another name follows it.

    Markup is ``[^1]``, ``</b>``, or the text of a link. Another name: ``10.1000/1(10.1000/2)``.
    """
    if text.startswith("[^", place):  # a footnote in Markdown
        return True
    if text[place] == "<" and _TAG.match(text, place):
        return True
    if lead.notation == "link" and _LINK_TEXT.match(text, place):
        return True
    return not _SICI.match(text, place) and _next_follows(text, place)


def _angle_ends(text: str, after: int) -> bool:
    """Return whether the angle bracket before ``after`` is not one of a SICI, whose rest follows."""
    return not _SICI_AFTER_ANGLE.match(text, after)


def _ampersand_ends(text: str, place: int, lead: Lead) -> bool:
    """Return whether the ``&`` at ``place`` is that of an entity that ends names, or between fields or names.

    Fields are those of a query, ``doi=10.1000/182&title=a``. In "10.1000/a&b" it is a character of the name.
    """
    if lead.notation in {"query", "escaped"} or _entity_ends(text, place):
        return True
    if text[lead.start - 1 : lead.start] == "=" and _NEXT_FIELD.match(text, place):
        return True
    if lead.notation == "url" and in_query(text, lead.start):
        return True
    return _next_follows(text, place)


def _entity_ends(text: str, place: int) -> bool:
    """Return whether the entity at ``place``, if it is one, stands for a character that ends the name.

    "&quot;" does, and so does "&lt;" before a slash: that is an escaped tag, "10.1000/182&lt;/b&gt;".
    """
    entity = _ENTITY.match(text, place)
    if entity is None:
        return False
    from html import unescape  # slow to import, and rarely needed

    character = unescape(f"&{entity['entity']}")
    after = entity.end()
    if character == "<":
        return text.startswith("/", after)
    if character == ">":
        return not _NAME_AFTER_ENTITY.match(text, after)
    if character in _ANGLES:
        return _angle_ends(text, after)
    return _ENDS_AS_ENTITY.match(character) is not None


def _next_follows(text: str, place: int) -> bool:
    """Return whether another name, or a label or link of one, follows the character at ``place``."""
    return _NEXT.match(text, place + 1) is not None


def _word_begins(text: str, place: int) -> bool:
    """Return whether words of an unspaced script begin at ``place``, right after ASCII: 10.1000/182です."""
    last = text[place - 1]
    return last.isascii() and (last.isalnum() or last in ")]}>")


def _separator_ends(text: str, place: int, lead: Lead, *, in_brackets: bool) -> bool:
    """Return whether the comma or semicolon at ``place`` is between names, or between columns of a table.

    Between names: ``10.1000/1,10.1000/2``. Between columns: ``10.1000/1,Smith,2020`` as a line.
    What is between columns is a guess, which yields to what is known: a SICI, an entity, and brackets, for
    they are of the name if something closes them, and end it if nothing does.
    """
    if _next_follows(text, place):
        return True
    if in_brackets or _SICI_VERSION.match(text, place):
        return False
    if _SICI_BEFORE.search(text, max(lead.start, place - _LONGEST_SICI_END), place):
        return True
    if _IN_ENTITY.search(text, place - 8, place + 1):
        return False
    before_mention = text[lead.start - 1 : lead.start]
    if before_mention == text[place]:
        return True
    begins_line = before_mention in {"", "\r", "\n"}  # "" at the beginning of the text
    return begins_line and _in_table(text, lead.start, place)


def _in_table(text: str, start: int, place: int) -> bool:
    """Return whether the separator at ``place`` is between columns.

    It is if the rest of its line, or the line above or below, has another one with text right after it.
    Prose has a blank there.

    :param start: where the mention starts, at the beginning of its line.
    """
    rest_of_line, _, following = text[place + 1 : place + _LINE_LENGTH].partition("\n")
    line_below = following.partition("\n")[0]
    preceding = text[max(0, start - _LINE_LENGTH) : start].rstrip("\r\n")
    line_above = preceding.rpartition("\n")[2]
    separator = _COLUMNS[text[place]]
    return any(separator.search(line) for line in (rest_of_line, line_below, line_above))


# Punctuation; then a dash, signs, full stops of other scripts, and the numbers of notes
_PUNCTUATION = (
    ".,;:!?'\"*/\\&=\u2013\u00a7\u00a9\u00ae\u00b6\u00b7\u2122\u2190\u2192\u0589\u05c3\u1362\u1363\u104a\u104b"
    "\ufffd\u00b9\u00b2\u00b3\u2070\u2074\u2075\u2076\u2077\u2078\u2079"
)
_EMPHASIS = "_~^=+"  # only if the same character stands on both sides
_BLANK = lazy(
    r"""
    %
    (?: 0[0-9A-F] | 1[0-9A-F] | 20 | 7F             # control characters and the space
    |   C2%A[0D] | E2%80%8[B-F] | EF%BB%BF          # no-break space, soft hyphen; zero width
    )
    \Z
    """,
    re.IGNORECASE | re.VERBOSE,
)
_LONGEST_BLANK = len("%E2%80%8B")
_SCHEME = lazy(r"https?\Z", re.IGNORECASE)


def trimmed(prefix: re.Match[str], end: int, lead: Lead, tail: str) -> int:
    """Return the end of the name after ``prefix``, leaving out punctuation and URL parts before ``end``.

    Punctuation is the end of ``10.1000/182."``, and in a URL "/abstract" and ".pdf" are parts of it.

    :param tail: more characters that no name ends with.
    """
    text = prefix.string
    suffix = prefix.end()
    before_mention = text[lead.start - 1 : lead.start]
    tail += _PUNCTUATION
    if before_mention in _EMPHASIS:
        tail += before_mention
    if text[end : end + 1] == ">":
        tail += "-"  # an arrow

    end = suffix + len(text[suffix:end].rstrip(tail))
    if text.find("%", suffix, end) >= 0:
        end = _without_escaped_blanks(text, suffix, end)
    if text.startswith("://", end):
        scheme = _SCHEME.search(text, max(suffix, end - len("https")), end)
        if scheme is not None:
            end = scheme.start()

    in_url = lead.notation == "url"
    in_url_in_json = lead.notation == "json" and before_mention == "/" and not lead.labelled
    if in_url or in_url_in_json:
        end = _without_page(prefix, end)
    elif lead.notation == "escaped":
        end = _without_files(prefix, end)
    return suffix + len(text[suffix:end].rstrip(tail))


def _without_escaped_blanks(text: str, suffix: int, end: int) -> int:
    """Return the end of a name without escapes of white space and control characters, such as "%20"."""
    while (blank := _BLANK.search(text, max(suffix, end - _LONGEST_BLANK), end)) is not None:
        end = blank.start()
    return end


# What publishers append to a name in their own URLs
_PAGE = lazy(
    r"""
    \\?/
    (?: status (?= \.svg )
    |   abs (?: tract )? | full (?: -? (?: text | pdf ) )? | data | galley | e?pdf | pdfft | epub | html?
    |   meta | summary | references | citations? | cited-?by | figures? | tables? | metrics
    |   suppinfo | suppl (?: ementary | emental )? (?: _file )? | download | standard | tab-[a-z]+
    |   article | export | bibtex | ris | transform | agency | assets? | media | comments | share | issuetoc
    |   activities | preview | reader
    )
    (?: [/;.] .* )?
    \Z
    """,
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
_FILE = lazy(
    r"""
    (?:
        \. (?: full (?: -text )? | abstract | short | long | figures-only | pdf | svg | png | html? | xml
            | epub | bib | ris | json )
        (?: \+html )?
    ){1,3}
    \Z
    |
    ;jsessionid= .* \Z
    """,
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
_PREPRINT = lazy(r"(?i:10\.1101/.*[0-9])(v[0-9]{1,2})\Z")  # bioRxiv appends the version
# OUP appends a number of its own, and the name of a file
_ARTICLE_NUMBER = lazy(r"10\.1093/[^/]+/[^/]+(/[0-9]{5,}(?:/[^/]+)?)\Z")
# Wiley's pages of a journal
_JOURNAL = lazy(
    r"""
    10\. [0-9]+ (?: / | %2F )
    (?: \( | %28 ) ISSN (?: \) | %29 )
    [0-9]{4} - [0-9]{3}[0-9X]
    ( / .* )
    \Z
    """,
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
# Silverchair's hosts append a number of the article and words of its title
_SILVERCHAIR = lazy(r"/(?:article|chapter|book|proceeding)[a-z-]*/doi/\Z", re.IGNORECASE)
_NUMBER_AND_TITLE = lazy(r"10\.[^/]+/.+?(/[0-9]{4,}(?:/[^/]*)?/?)\Z", re.DOTALL)
_TAYLOR_FRANCIS = lazy(r"taylorfrancis\.com/[a-z/-]{1,40}/\Z", re.IGNORECASE)
_TITLE = lazy(r"10\.[^/]+/[^/]+(/[^/]+/?)\Z")
_FILES = lazy(r"(?:/|%2F)MediaObjects(?:/|%2F).*\Z", re.IGNORECASE | re.DOTALL)
_HOST_LENGTH = 80  # how far back the host or the last parts of the path are looked for


def _without_page(prefix: re.Match[str], end: int) -> int:
    """Return the end of the name after ``prefix``, without the page or file of it that a URL ends with.

    In ``https://onlinelibrary.wiley.com/doi/10.1002/asi.1/full`` the name is 10.1002/asi.1. What else is left
    out is what single publishers append, such as numbers of their own; each pattern says whose.
    """
    text = prefix.string
    start = prefix.start()

    # From the last part of the URL to the first: each step moves the end before what it leaves out
    end = _without_files(prefix, end)
    for pattern in (_PAGE, _FILE):  # a page of a file, as in "10.1000/182.pdf/download"
        page = pattern.search(text, prefix.end() + 1, end)
        if page is not None:
            end = page.start()

    appended = [_PREPRINT, _ARTICLE_NUMBER, _JOURNAL]
    url_start = max(0, start - _HOST_LENGTH)
    if _SILVERCHAIR.search(text, url_start, start):
        appended.append(_NUMBER_AND_TITLE)
    elif _TAYLOR_FRANCIS.search(text, url_start, start):
        appended.append(_TITLE)
    for pattern in appended:
        name = pattern.match(text, start, end)
        if name is not None:
            end = name.start(1)
    return end


def _without_files(prefix: re.Match[str], end: int) -> int:
    """Return the end without the path of a figure or supplement at Springer, ``/MediaObjects/…``."""
    files = _FILES.search(prefix.string, prefix.end(), end)
    if files:
        return files.start()
    return end
