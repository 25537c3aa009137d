"""What publishers append to a name in their own URLs."""

from __future__ import annotations

import re

from doiuri._find._patterns import lazy

_PAGE = lazy(
    r"/(?:status(?=\.svg)|abs(?:tract)?|full(?:-?text)?|e?pdf|pdfft|epub|html?|meta|summary|references|citations?|cited-?by"
    r"|figures?|tables?|metrics|suppinfo|suppl(?:ementary|emental)?(?:_file)?|download|standard|tab-[a-z]+"
    r"|article|export|bibtex|ris|transform|agency|assets?|media|comments|share|issuetoc|activities|preview|reader)"
    r"(?:[/;.].*)?\Z",
    re.IGNORECASE | re.DOTALL,
)
_FILE = lazy(
    r"(?:\.(?:full(?:-text)?|abstract|short|long|figures-only|pdf|svg|png|html?|xml|epub|bib|ris|json)(?:\+html)?){1,3}\Z"
    r"|;jsessionid=.*\Z",
    re.IGNORECASE | re.DOTALL,
)
_PREPRINT = lazy(r"(?i:10\.1101/.*[0-9])(v[0-9]{1,2})\Z")  # bioRxiv appends the version
_ARTICLE_NUMBER = lazy(r"10\.1093/[^/]+/[^/]+(/[0-9]{5,})\Z")  # OUP appends a number of its own
_JOURNAL = lazy(  # Wiley's pages of a journal
    r"10\.[0-9]+(?:/|%2F)(?:\(|%28)ISSN(?:\)|%29)[0-9]{4}-[0-9]{3}[0-9X](/.*)\Z", re.IGNORECASE | re.DOTALL
)
# Silverchair's hosts append a number of the article and words of its title
_SILVERCHAIR = lazy(r"/(?:article|chapter|book|proceeding)[a-z-]*/doi/\Z", re.IGNORECASE)
_NUMBER_AND_TITLE = lazy(r"10\.[^/]+/.+?(/[0-9]{4,}(?:/[^/]*)?/?)\Z", re.DOTALL)
_TAYLOR_FRANCIS = lazy(r"taylorfrancis\.com/[a-z/-]{1,40}/\Z", re.IGNORECASE)
_TITLE = lazy(r"10\.[^/]+/[^/]+(/[^/]+/?)\Z")
_FILES = lazy(r"(?:/|%2F)MediaObjects(?:/|%2F).*\Z", re.IGNORECASE | re.DOTALL)
_NEARBY = 80  # how far back the host or the last parts of the path are looked for


def without_page(prefix: re.Match[str], end: int) -> int:
    """Return the end of the name after ``prefix``, without the page or file of it that a URL ends with."""
    text, start = prefix.string, prefix.start()
    end = without_files(prefix, end)
    for pattern in (_PAGE, _FILE):
        extra = pattern.search(text, prefix.end() + 1, end)
        end = extra.start() if extra else end
    appended = [_PREPRINT, _ARTICLE_NUMBER, _JOURNAL]
    if _SILVERCHAIR.search(text, max(0, start - _NEARBY), start):
        appended.append(_NUMBER_AND_TITLE)
    elif _TAYLOR_FRANCIS.search(text, max(0, start - _NEARBY), start):
        appended.append(_TITLE)
    for pattern in appended:
        extra = pattern.match(text, start, end)
        end = extra.start(1) if extra else end
    return end


def without_files(prefix: re.Match[str], end: int) -> int:
    """Return the end without the path of a figure or supplement at Springer."""
    files = _FILES.search(prefix.string, prefix.end(), end)
    return files.start() if files else end
