"""What copying, scripts and badges leave in names; for ``advise``."""

import re
from typing import NamedTuple

_PAGE = re.compile(
    r"(?<=.)(?:/(?:abstract|full|fulltext|html|pdf|epdf|epub|meta|summary|issuetoc)|\.(?:pdf|html?))$",
    re.IGNORECASE,
)
_QUERY = re.compile(r"(?<=.)\?[A-Za-z_][\w.-]*=.*", re.DOTALL)
_COLOUR = "-(?:blue|(?:bright|yellow)?green|yellow|orange|red|(?:light)?gr[ea]y|success|[0-9a-f]{6})"
_BADGE = re.compile(rf"({_COLOUR})?(?:(/status)?\.svg(?:\?.*)?)?$", re.IGNORECASE)
_FIELDS = re.compile(r'"\s?[,:]\s?"')
_SECOND = re.compile(r"(?<![0-9.])10\.[0-9]{4,9}/(?=.)")
_LEAD = re.compile(r"(?:https?://(?:dx\.|www\.)?doi\.org/|doi:?)$", re.IGNORECASE)
_SEPARATORS = "/,;:|+&\"'"
_PLACEHOLDER = re.compile(r"\{\{?[A-Za-z_ ][\w. ]*\}|(?<![A-Za-z])\{\}")
_LOST = "\ufffd"


class Remains(NamedTuple):
    """The code and the message of an advice, and the names that may be meant, the best first."""

    code: str
    message: str
    better: tuple[str, ...] = ()


def remains(name: str) -> list[Remains]:
    """Return what is left in a name that is probably not its own."""
    checks = (_page, _query, _badge, _fields, _second, _placeholder, _lost)
    return [found for check in checks if (found := check(name))]


def _page(name: str) -> Remains | None:
    page = _PAGE.search(name.partition("/")[2])
    if page is None:
        return None
    message = f"{page[0]!r} looks like part of a page's address"
    return Remains("page-address", message, (name.removesuffix(page[0]),))


def _query(name: str) -> Remains | None:
    query = _QUERY.search(name)
    if query is None or ".svg?" in name.lower():
        return None
    message = f"{query[0][:40]!r} looks like the query of a page's address"
    return Remains("page-address", message, (name[: query.start()],))


def _badge(name: str) -> Remains | None:
    badge = _BADGE.search(name)
    doubled = "--" in name or "__" in name
    if badge is None or not badge[0] or not (".svg" in badge[0].lower() or doubled):
        return None
    better = name[: badge.start()]
    if badge[1]:  # Shields.io writes "-" as "--" and "_" as "__"
        better = better.replace("--", "-").replace("__", "_")
    return Remains("page-address", f"{badge[0][:40]!r} looks like the end of a badge's address", (better,))


def _fields(name: str) -> Remains | None:
    fields = _FIELDS.search(name)
    if fields is None:
        return None
    return Remains("run-on", f"{fields[0]} looks like the end of a field of JSON", (name[: fields.start()],))


def _second(name: str) -> Remains | None:
    second = _SECOND.search(name, name.find("/") + 1)
    if second is None or any(map(str.isspace, name)):  # at white space is advice of its own
        return None
    first = _LEAD.sub("", name[: second.start()]).rstrip(_SEPARATORS)
    message = f"{second[0]!r} in the name looks like the beginning of a second DOI"
    return Remains("run-on", message, (first, name[second.start() :]))


def _placeholder(name: str) -> Remains | None:
    placeholder = _PLACEHOLDER.search(name)
    if placeholder is None:
        return None
    return Remains("placeholder", f"{placeholder[0][:40]!r} looks like a placeholder of a template")


def _lost(name: str) -> Remains | None:
    if _LOST not in name:
        return None
    end = name.rstrip(_LOST)
    better = () if _LOST in end else (end,)
    return Remains("lost-character", "the name has a replacement character (U+FFFD)", better)
