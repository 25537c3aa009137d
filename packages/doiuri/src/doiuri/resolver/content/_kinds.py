"""The kinds of metadata that a Resolver reads: what to request, how to check the answer, what to store."""

from __future__ import annotations

import re
from dataclasses import dataclass
from email.message import Message
from typing import TYPE_CHECKING, Generic, TypeVar

from doiuri._resolution_errors import BadRecord, NoValues
from doiuri.records._plain_text import plain_text
from doiuri.records._work import Work
from doiuri.rest._content import BIBTEX as BIBTEX_TYPE
from doiuri.rest._content import CSL_JSON, reference_type

if TYPE_CHECKING:
    from collections.abc import Callable

    from doiuri._doi import Handle

T = TypeVar("T")

MAX_SIZE = 16_000_000
"""Bytes of an answer."""

MAX_REFERENCE = 10_000
"""Characters of a formatted reference."""

MAX_BIBTEX = 1_000_000
"""Characters of a BibTeX entry."""

_TEXT = "text/plain;charset=utf-8"
_PAGE = re.compile(rb"\s*<(?:!doctype|html|\?xml|head|body)\b", re.IGNORECASE)
_CONTROLS = re.compile(r"[^\S \n\t]|[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
# A single reference in a numeric style begins with its number: "[1]A. Author" or "1. Author A"
_NUMBER = re.compile(r"(?:\[1\]|\(1\)|1\.)\s*+(?=\D)")


@dataclass(frozen=True, slots=True)
class Kind(Generic[T]):
    """One kind of metadata.

    :param name: the kind in the store's keys.
    :param accept: the Accept header.
    :param media_type: the media type of what is stored.
    :param check: returns what to store of a body; the third argument is its character set.
    :param parse: returns the value of what is stored.
    :param detail: the detail in the store's keys.
    """

    name: str
    accept: str
    media_type: str
    check: Callable[[Handle, bytes, str], str]
    parse: Callable[[Handle, str], T]
    detail: str = ""

    def read(self, doi: Handle, body: bytes, content_type: str) -> str:
        """Return what to store of an answer with HTTP status 200.

        :raises NoValues: if it is a web page, or there is nothing in it: the agency has no such metadata.
        :raises BadRecord: if it cannot be read.
        """
        if _PAGE.match(body[:1000].removeprefix(b"\xef\xbb\xbf")):
            raise NoValues(doi, f"not available as {self.accept} (the answer is a web page)")
        if not body.strip():
            raise BadRecord(doi, f"the answer is empty, expected {self.accept}")
        return self.check(doi, body, _charset(content_type))


def _charset(content_type: str) -> str:
    message = Message()
    message["Content-Type"] = content_type
    return message.get_content_charset("utf-8")


def _decode(body: bytes, charset: str) -> str:
    """Return text; UTF-8 that is declared as something else is read as UTF-8."""
    for encoding in ("utf-8-sig", charset):
        try:
            return body.decode(encoding)
        except (UnicodeError, LookupError):
            continue
    return body.decode("latin-1")


def _check_work(doi: Handle, body: bytes, _charset: str) -> str:
    work = Work.from_json(body, doi=doi)
    if work.is_empty:
        raise NoValues(doi, "the metadata has neither title nor names")
    return work.to_json()


def _parse_work(doi: Handle, text: str) -> Work:
    return Work.from_json(text, doi=doi)


def _check_bibtex(doi: Handle, body: bytes, charset: str) -> str:
    text = _CONTROLS.sub("", _decode(body, charset).replace("\r\n", "\n")).strip()
    if not text.startswith("@") or len(text) > MAX_BIBTEX:
        raise BadRecord(doi, f"the answer is not BibTeX: {text[:40]!r}")
    return text


def _check_reference(doi: Handle, body: bytes, charset: str) -> str:
    text = plain_text(_decode(body, charset), MAX_REFERENCE)
    if not text or text.startswith(("{", "<")):
        raise BadRecord(doi, f"the answer is not a formatted reference: {text[:40]!r}")
    return _NUMBER.sub("", text, count=1) if _NUMBER.match(text) else text


def _parse_reference(doi: Handle, text: str) -> str:
    """Read a stored reference again: stores are shared, and lock files edited by hand."""
    reference = plain_text(text, MAX_REFERENCE)
    if not reference:
        raise BadRecord(doi, "the stored reference is empty")
    return reference


def _same(_doi: Handle, text: str) -> str:
    return text


WORK = Kind("work", CSL_JSON, CSL_JSON, _check_work, _parse_work)
BIBTEX = Kind("bibtex", BIBTEX_TYPE, BIBTEX_TYPE, _check_bibtex, _same)


def reference_kind(style: str, locale: str) -> Kind[str]:
    """Return the kind of references in a CSL style and a locale.

    :raises ValueError: if one of them is not a name that can be requested.
    """
    accept = reference_type(style, locale)
    return Kind("reference", accept, _TEXT, _check_reference, _parse_reference, f"{style} {locale}")
