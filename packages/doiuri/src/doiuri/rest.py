"""The DOI proxy's REST API, Which RA and content negotiation, without IO: which URLs, and what answers mean.

Specifications: draft-lemieux-doi-uri-scheme-00 section 3; DOI resolution documentation sections 4 and 5.
"""

from __future__ import annotations

import re
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from doiuri._encoding import PATH, encode
from doiuri._errors import BadRecord, DOINotFound, NoValues, ResolverUnavailable
from doiuri._json import Malformed, brief, dump, integer, load, printable, read_object
from doiuri._urls import DOI_ORG, check_base
from doiuri.records import Record, ascii_upper
from doiuri.records._negotiation import BIBTEX, CSL_JSON, media_ranges
from doiuri.records._record import MAX_TTL, read_handle

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from doiuri._doi import Handle

__all__ = [
    "BIBTEX",
    "CSL_JSON",
    "Agency",
    "AgencyStatus",
    "ResponseCode",
    "agency_batches",
    "agency_url",
    "media_ranges",
    "read_agencies",
    "read_record",
    "record_url",
    "retry_after",
    "write_json",
]

MAX_RECORD = 1_000_000
"""Bytes of the longest record that is read; known ones have some thousand, and parsing takes much memory."""

_MAX_MESSAGE = 1000  # characters of a server's message that an error repeats
MAX_AGENCY_URL = 3000  # characters: servers answered 5,700 and refused 11,500

AgencyStatus = Literal["found", "not-found", "unknown", "invalid"]
"""What Which RA says about a name; "unknown" if its answer is not usable."""

# section 4, error states; in lower case
_STATUSES: dict[str, AgencyStatus] = {"doi does not exist": "not-found", "invalid doi": "invalid"}


def write_json(value: object, *, pretty: bool = False) -> bytes:
    """Return JSON as the REST API writes it: UTF-8 without escapes, on one line or indented.

    Only lone surrogates, which UTF-8 cannot express, are escaped.

    >>> write_json({"handle": "10.1000/ä"}).decode()
    '{"handle":"10.1000/ä"}'

    :param pretty: whether to indent it.
    :raises ValueError: for nesting deeper than Python's recursion limit.
    """
    indent = 2 if pretty else None
    return dump(value, indent=indent).encode()


class ResponseCode(IntEnum):
    """The ``responseCode`` of an answer (section 5); the names are those of RFC 3652 section 2.2.2.2."""

    SUCCESS = 1
    """The answer is a record."""

    ERROR = 2
    """The server failed."""

    PROTOCOL_ERROR = 4
    """The request is malformed."""

    HANDLE_NOT_FOUND = 100
    """The handle is not registered."""

    INVALID_HANDLE = 102
    """The handle is empty or malformed."""

    VALUE_NOT_FOUND = 200
    """The handle has no values, or none of those asked for."""


# The response codes that an answer with an HTTP status may have
_CODES = {
    200: {
        ResponseCode.SUCCESS,
        ResponseCode.ERROR,
        ResponseCode.HANDLE_NOT_FOUND,
        ResponseCode.VALUE_NOT_FOUND,
    },
    404: {ResponseCode.ERROR, ResponseCode.HANDLE_NOT_FOUND},
}


@dataclass(frozen=True, slots=True)
class Agency:
    """Which RA's answer about one DOI or prefix."""

    doi: Handle
    """The DOI or prefix asked about."""

    name: str | None
    """The registration agency; None unless the status is "found"."""

    status: AgencyStatus
    """One of "found", "not-found", "invalid" (according to the server) and "unknown" (no usable answer)."""


def record_url(
    doi: Handle,
    *,
    base: str = DOI_ORG,
    type: str | Sequence[str] = (),  # noqa: A002 - the API's own word
    index: int | Sequence[int] = (),
    auth: bool = False,
    cert: bool = False,
    pretty: bool = False,
    callback: str | None = None,
) -> str:
    """Return the URL that asks the REST API for a record (DOI resolution documentation section 5).

    :param doi: the DOI
    :param base: the URL of the DOI proxy
    :param type: ask only for values of this type, or of any of several; ``type`` and ``index`` add up
    :param index: ask only for the value with this index, or with any of several
    :param auth: bypass the proxy's cache
    :param cert: ask for an authenticated answer
    :param pretty: ask for indented JSON
    :param callback: ask for JSONP that calls this function
    :raises ValueError: if ``base`` is not an http or https URL, or has a user, a query or a fragment

    >>> from doiuri import DOI
    >>> record_url(DOI("10.1000/456#789"), type="URL", auth=True)
    'https://doi.org/api/handles/10.1000/456%23789?type=URL&auth'
    """
    url = f"{_checked(base)}/api/handles/{encode(doi.name, PATH)}"

    types = (type,) if isinstance(type, str) else type
    fields = [f"type={quote(name, safe='')}" for name in types]
    fields += [f"index={number:d}" for number in _indexes(index)]
    if auth:
        fields.append("auth")
    if cert:
        fields.append("cert")
    if pretty:
        fields.append("pretty")
    if callback is not None:
        fields.append(f"callback={quote(callback, safe='')}")
    if not fields:
        return url
    return f"{url}?{'&'.join(fields)}"


def _indexes(index: int | Sequence[int]) -> Sequence[int]:
    """Return one or several indices as a sequence; raise TypeError for anything else."""
    indexes = (index,) if isinstance(index, int) else index
    are_bytes = isinstance(indexes, bytes | bytearray)
    if are_bytes or not all(isinstance(number, int) for number in indexes):
        raise TypeError(f"index: expected int or a sequence of int, not {index!r:.60}")
    return indexes


def read_record(
    doi: Handle, status: int, body: bytes, headers: Mapping[str, str] | None = None
) -> Record:
    """Return the record in the answer to ``record_url``.

    :param doi: the DOI asked for
    :param status: the HTTP status
    :param body: the body, decoded as its ``Content-Encoding`` says
    :param headers: the headers
    :raises DOINotFound: if the DOI is not registered
    :raises NoValues: if it has no values, or none of those asked for
    :raises ResolverUnavailable: if the server refused or failed
    :raises BadRecord: if the answer is not what the API promises, so nothing is known about the DOI
    """
    if status not in {200, 404}:
        raise _unavailable(doi, status, body, headers)

    try:
        answer = read_object(load(body))
        code = integer(answer.get("responseCode"))
        if code not in _CODES[status]:
            given = brief(answer.get("responseCode"))
            raise Malformed(f"responseCode is {given} with HTTP status {status}")
        if code == ResponseCode.SUCCESS:
            return Record.from_json(answer, doi=doi)
        if "handle" in answer:
            read_handle(answer["handle"], doi)
    except ValueError as error:
        raise BadRecord(doi, str(error)) from None

    message = _message(answer)
    if code == ResponseCode.ERROR:
        reason = message or "the server reports an error without a message"
        raise ResolverUnavailable(doi, reason, status, retry_after(headers or {}))
    if code == ResponseCode.HANDLE_NOT_FOUND:
        raise DOINotFound(doi, message)
    raise NoValues(doi, message)


def agency_url(dois: Iterable[Handle], *, base: str = DOI_ORG) -> str:
    """Return the URL that asks Which RA about several DOIs or prefixes (section 4).

    :param dois: the DOIs; a comma in a name is escaped
    :param base: the URL of the DOI proxy
    :raises ValueError: if ``base`` is not an http or https URL, or has a user, a query or a fragment

    >>> from doiuri import DOI
    >>> agency_url([DOI("10.1000/182"), DOI("10.1000/a,b")])
    'https://doi.org/doiRA/10.1000/182,10.1000/a%2Cb'
    """
    names = ",".join(encode(doi.name, PATH) for doi in dois)
    return f"{_checked(base)}/doiRA/{names}"


def agency_batches(
    dois: Iterable[Handle], *, base: str = DOI_ORG, limit: int = MAX_AGENCY_URL
) -> Iterator[tuple[list[Handle], str]]:
    """Split DOIs into Which RA requests; consumes ``dois`` lazily.

    :param dois: the DOIs
    :param base: the URL of the DOI proxy
    :param limit: longest URL in characters; a DOI that exceeds it alone gets a request of its own
    :returns: for each request its DOIs and its URL
    """
    room = limit - len(agency_url((), base=base)) + 1  # the first name has no comma before it
    batch: list[Handle] = []
    left = room
    for doi in dois:
        length = len(",") + len(encode(doi.name, PATH))
        if batch and length > left:
            yield batch, agency_url(batch, base=base)
            batch = []
            left = room
        batch.append(doi)
        left -= length
    if batch:
        yield batch, agency_url(batch, base=base)


def read_agencies(
    dois: Sequence[Handle], status: int, body: bytes, headers: Mapping[str, str] | None = None
) -> list[Agency]:
    """Return the agencies in the answer to ``agency_url``, in the order of ``dois``.

    A DOI that the answer omits, or about which it contradicts itself, has the status "unknown".

    :param dois: the DOIs asked about
    :param status: the HTTP status
    :param body: the body, decoded as its ``Content-Encoding`` says
    :param headers: the headers
    :raises ResolverUnavailable: if the server refused or failed; its ``doi`` is the first one
    :raises BadRecord: if the answer is not what the API promises; its ``doi`` is the first one
    """
    first = dois[0] if dois else None
    if status != 200:
        raise _unavailable(first, status, body, headers)
    try:
        items = _items_by_name(load(body))
    except ValueError as error:
        raise BadRecord(first, str(error)) from None
    return [_agreed(doi, items.get(doi.key, [])) for doi in dois]


def retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Return how many seconds a ``Retry-After`` header asks to wait (RFC 9110 section 10.2.3).

    :param headers: the headers; their names may be in any case
    :param now: the current Unix time in seconds, for a header that gives a date; by default the clock's
    :returns: 0 for a date in the past; None without the header, or if it is invalid

    >>> retry_after({"Retry-After": "120"})
    120.0
    """
    values = (value.strip() for name, value in headers.items() if name.lower() == "retry-after")
    text = next(values, "")
    if re.fullmatch(r"[0-9]+(\.[0-9]+)?", text):
        return min(float(text), MAX_TTL)

    try:
        date = parsedate_to_datetime(text)
        if date.tzinfo is None:
            date = date.replace(tzinfo=UTC)
        moment = date.timestamp()
    except (ValueError, TypeError, OverflowError):
        return None

    if now is None:
        now = time.time()
    return min(max(moment - now, 0.0), MAX_TTL)


def _checked(base: str) -> str:
    """Return the URL of a DOI proxy without a slash at the end.

    :raises ValueError: if it is not an http or https URL, or has a user, a query or a fragment.
    """
    if base == DOI_ORG:
        return base
    return check_base("not the URL of a DOI proxy", base)


def _items_by_name(answer: object) -> dict[str, list[dict[str, Any]]]:
    """Return the items of Which RA's answer by the key of the DOI that they are about.

    :raises ValueError: if the answer is not a list of such items.
    """
    if not isinstance(answer, list):
        raise Malformed(f"the answer of Which RA is {brief(answer)}, expected a list")

    items: dict[str, list[dict[str, Any]]] = {}
    for item in answer:
        name = item.get("DOI") if isinstance(item, dict) else None
        if not isinstance(name, str):
            reason = f"an item in the answer of Which RA does not name its DOI: {brief(item)}"
            raise Malformed(reason)
        items.setdefault(ascii_upper(name), []).append(item)
    return items


def _agreed(doi: Handle, items: list[dict[str, Any]]) -> Agency:
    """Return what all items about a DOI agree on; "unknown" if there are none, or they do not agree."""
    agencies = {_agency(doi, item.get("RA"), item.get("status")) for item in items}
    if len(agencies) != 1:
        return Agency(doi, None, "unknown")
    return agencies.pop()


def _agency(doi: Handle, name: object, status: object) -> Agency:
    """Return what an item says by its members ``RA`` and ``status``, of which it should have one.

    Such as ``"RA": "Crossref"`` or ``"status": "DOI does not exist"``.
    """
    if name is None and isinstance(status, str):
        return Agency(doi, None, _STATUSES.get(status.strip().lower(), "unknown"))
    if status is not None or not isinstance(name, str):
        return Agency(doi, None, "unknown")
    # section 4 does not say which member holds its "Unknown"
    if name.strip().lower() in {"", "unknown"}:
        return Agency(doi, None, "unknown")
    return Agency(doi, name, "found")


def _unavailable(
    doi: Handle | None, status: int, body: bytes, headers: Mapping[str, str] | None
) -> ResolverUnavailable:
    """Return the error for an HTTP status that says nothing about a DOI, with the server's message if any."""
    reason = f"HTTP status {status}"
    with suppress(ValueError):
        message = _message(read_object(load(body[:_MAX_MESSAGE])))
        if message:
            reason = f"{reason}: {message}"
    return ResolverUnavailable(doi, reason, status, retry_after(headers or {}))


def _message(answer: Mapping[str, Any]) -> str:
    """Return the ``message`` of an error, which is optional (section 5, response format), escaped."""
    message = answer.get("message")
    if not isinstance(message, str):
        return ""
    return printable(message[:_MAX_MESSAGE])
