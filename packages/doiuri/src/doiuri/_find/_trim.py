"""What is cut off the end of a DOI in plain text: the sentence's punctuation, and what URLs hang on."""

import re

from doiuri._find._start import Lead

# Punctuation; then a dash, signs, full stops of other scripts, and the numbers of notes
_TAIL = frozenset(
    ".,;:!?'\"*/\\&=\u2013\u00a7\u00a9\u00ae\u00b6\u00b7\u2122\u2190\u2192\u0589\u05c3\u1362\u1363\u104a\u104b"
    "\u00b9\u00b2\u00b3\u2070\u2074\u2075\u2076\u2077\u2078\u2079"
)
_MARKUP = "_~^="  # emphasis, where the same character is on both sides
_BLANK = re.compile(r"%(?:0[0-9A-F]|1[0-9A-F]|20|7F|C2%A[0D]|E2%80%8[B-F]|EF%BB%BF)\Z", re.IGNORECASE)
_LONGEST_BLANK = len("%E2%80%8B")
_SCHEME = re.compile(r"https?\Z", re.IGNORECASE)

# What publishers hang on to the name in their own URLs
_PAGE = re.compile(
    r"/(?:abs(?:tract)?|full(?:-?text)?|e?pdf|pdfft|epub|html?|meta|summary|references|citations?|cited-?by"
    r"|figures?|tables?|metrics|suppinfo|suppl(?:ementary|emental)?(?:_file)?|download|standard|tab-[a-z]+"
    r"|article|export|bibtex|ris|transform|agency|assets?|media|comments|share|issuetoc|activities|preview|reader)"
    r"(?:[/;.].*)?\Z",
    re.IGNORECASE | re.DOTALL,
)
_FILE = re.compile(
    r"(?:\.(?:full(?:-text)?|abstract|short|long|figures-only|pdf|svg|png|html?|xml|epub|bib|ris|json)(?:\+html)?){1,3}\Z"
    r"|;jsessionid=.*\Z",
    re.IGNORECASE | re.DOTALL,
)
_PREPRINT = re.compile(r"(?i:10\.1101/.*[0-9])(v[0-9]{1,2})\Z")  # bioRxiv: the version is no part of the name
_ARTICLE_NUMBER = re.compile(r"10\.1093/[^/]+/[^/]+(/[0-9]{5,})\Z")  # OUP hangs on its own number
_END_IN_QUERY = re.compile(r"%(?:20|22|7C|0A|0D)", re.IGNORECASE)
_END_IN_ESCAPED = re.compile(r"%(?:20|22|7C|0A|0D|26|3F|23)", re.IGNORECASE)


def trimmed(text: str, lead: Lead, start: int, suffix: int, end: int, tail: str) -> int:
    """Return the end of the name ``text[start:end]`` without what is not part of it, ``tail`` included."""
    before = text[lead.start - 1 : lead.start]
    more = tail + (before if before and before in _MARKUP else "")
    more += "-" if text[end : end + 1] == ">" else ""  # an arrow
    end = _without_tail(text, suffix, end, more)
    if "%" in text[suffix:end]:
        end = _without_blanks(text, lead, suffix, end)
    if text.startswith("://", end):
        scheme = _SCHEME.search(text, max(suffix, end - 5), end)
        end = scheme.start() if scheme else end
    if lead.place == "url":
        end = _without_page(text, start, suffix, end)
    return _without_tail(text, suffix, end, more)


def _without_tail(text: str, suffix: int, end: int, more: str) -> int:
    while end > suffix and (text[end - 1] in _TAIL or text[end - 1] in more):
        end -= 1
    return end


def _without_blanks(text: str, lead: Lead, suffix: int, end: int) -> int:
    if lead.place in {"query", "escaped"}:
        pattern = _END_IN_ESCAPED if lead.place == "escaped" else _END_IN_QUERY
        stop = pattern.search(text, suffix, end)
        end = stop.start() if stop else end
    while blank := _BLANK.search(text, max(suffix, end - _LONGEST_BLANK), end):
        end = blank.start()
    return end


def _without_page(text: str, start: int, suffix: int, end: int) -> int:
    page = _PAGE.search(text, suffix + 1, end)
    end = page.start() if page else end
    file = _FILE.search(text, suffix + 1, end)
    end = file.start() if file else end
    for pattern in (_PREPRINT, _ARTICLE_NUMBER):
        extra = pattern.match(text, start, end)
        end = extra.start(1) if extra else end
    return end
