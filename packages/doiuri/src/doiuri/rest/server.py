"""The server's half of the REST API and Which RA, without IO: what a request asks for, and what to answer.

Specification: DOI resolution documentation sections 4 and 5. The HTTP statuses are the reference proxy's.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from doiuri._json import dump
from doiuri._parse import LABELS
from doiuri.records._negotiation import read_metadata, write_metadata
from doiuri.records._record import ascii_upper
from doiuri.rest._client import ResponseCode

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from doiuri.records._record import Value
    from doiuri.rest._client import AgencyStatus

__all__ = [
    "JSON_TYPE",
    "agency_of",
    "name_in_path",
    "prefixes",
    "read_indexes",
    "read_metadata",
    "select",
    "write_agencies",
    "write_error",
    "write_json",
    "write_metadata",
    "write_record",
    "write_stored_record",
]

JSON_TYPE = "application/json;charset=utf-8"
"""The Content-Type of all answers."""

_INDEX = re.compile(r"[+-]?[0-9]{1,10}")
_LABEL = re.compile("|".join(map(re.escape, LABELS)), re.ASCII | re.IGNORECASE)
_URN_PREFIX = re.compile(r"\A(10\.[0-9.]+):")

_HTTP_STATUS = {
    ResponseCode.ERROR: 500,
    ResponseCode.PROTOCOL_ERROR: 400,
    ResponseCode.HANDLE_NOT_FOUND: 404,
    ResponseCode.INVALID_HANDLE: 400,
}

# section 4, error states
_AGENCY_STATUSES = {
    "not-found": "DOI does not exist",
    "invalid": "Invalid DOI",
    "unknown": "Unknown",
}


def name_in_path(path: str) -> str:
    """Return the name in the path of a link to a DOI proxy, without leading slashes and a label.

    The path is decoded. Labels are ``doi:``, ``hdl:``, ``info:doi/``, ``info:hdl/`` and ``urn:doi:``, in any
    case; after ``urn:doi:`` the first colon stands for the slash (DOI Handbook, encoding rules for URL
    presentation). The name is not validated.

    >>> name_in_path("/urn:doi:10.123:456")
    '10.123/456'
    """
    path = path.lstrip("/")
    label = _LABEL.match(path)
    if label is None:
        return path
    name = path[label.end() :]
    return _URN_PREFIX.sub(r"\1/", name, count=1) if label[0].lower() == "urn:doi:" else name


def read_indexes(texts: Iterable[str]) -> list[int]:
    """Return the numbers in the ``index`` parameters of a REST request.

    :raises ValueError: if one is not an integer: the answer to that is ``PROTOCOL_ERROR``
    """
    texts = list(texts)
    for text in texts:
        if not _INDEX.fullmatch(text):
            raise ValueError(f"index {text!r} is not a number")
    return [int(text) for text in texts]


def select(
    values: Iterable[Value], types: Collection[str] = (), indexes: Collection[int] = ()
) -> tuple[Value, ...]:
    """Return the values that have any of the types or any of the indices, in the order given (section 5).

    :param types: type names; ASCII case does not matter, and ``"URL."`` also selects ``URL.FOO``
    :param indexes: indices
    :returns: all values if neither types nor indices are given
    """
    if not types and not indexes:
        return tuple(values)
    return tuple(value for value in values if value.index in indexes or any(map(value.has_type, types)))


def write_json(value: object, *, pretty: bool = False) -> bytes:
    """Return JSON as the REST API writes it: UTF-8 without escapes, on one line or indented.

    Only lone surrogates, which UTF-8 cannot express, are escaped.
    """
    return dump(value, indent=2 if pretty else None).encode()


def write_record(name: str, values: Iterable[Value], *, pretty: bool = False) -> tuple[int, bytes]:
    """Return the HTTP status and the body of the answer to a request for a registered name.

    :param name: the handle as the client sent it
    :param values: the values selected; if there are none, the code is ``VALUE_NOT_FOUND``
    :param pretty: indent the JSON

    >>> write_record("10.1000/1", [])
    (200, b'{"responseCode":200,"values":[],"handle":"10.1000/1"}')
    """
    written = [value.to_json() for value in values]
    if not written:
        answer = {"responseCode": ResponseCode.VALUE_NOT_FOUND, "values": written, "handle": name}
    else:
        answer = {"responseCode": ResponseCode.SUCCESS, "handle": name, "values": written}
    return 200, write_json(answer, pretty=pretty)


def write_stored_record(name: str, values: bytes) -> tuple[int, bytes]:
    """Return what ``write_record`` returns, for values that are stored as JSON; they are not parsed.

    :param name: the handle as the client sent it
    :param values: ``write_json([value.to_json() for value in values])``
    """
    if values == b"[]":
        return write_record(name, ())
    return 200, b'{"responseCode":1,"handle":%b,"values":%b}' % (write_json(name), values)


def write_error(
    code: ResponseCode,
    *,
    name: str | None = None,
    message: str = "",
    status: int | None = None,
    pretty: bool = False,
) -> tuple[int, bytes]:
    """Return the HTTP status and the body of an answer without values.

    :param code: ``HANDLE_NOT_FOUND`` and ``INVALID_HANDLE`` go with ``name``, ``ERROR`` and
        ``PROTOCOL_ERROR`` with ``message``
    :param name: the handle as the client sent it
    :param message: text for people
    :param status: the HTTP status, if not the usual one of the code
    :param pretty: indent the JSON

    >>> write_error(ResponseCode.HANDLE_NOT_FOUND, name="10.1000/1")
    (404, b'{"responseCode":100,"handle":"10.1000/1"}')
    """
    answer: dict[str, object] = {"responseCode": code}
    if message:
        answer["message"] = message
    if name is not None:
        answer["handle"] = name
    return status or _HTTP_STATUS[code], write_json(answer, pretty=pretty)


def write_agencies(answers: Iterable[tuple[str, str | None, AgencyStatus]]) -> tuple[int, bytes]:
    """Return the HTTP status and the body of Which RA's answer.

    :param answers: for each name asked for, in that order: the name as sent, its agency, and the status;
        the agency counts only if the status is ``"found"``

    >>> write_agencies([("10.1000", "Crossref", "found"), ("10.1000/x", None, "not-found")])
    (200, b'[{"DOI":"10.1000","RA":"Crossref"},{"DOI":"10.1000/x","status":"DOI does not exist"}]')
    """
    items = [
        {"DOI": name, "RA": agency}
        if status == "found" and agency
        else {"DOI": name, "status": _AGENCY_STATUSES.get(status, "Unknown")}
        for name, agency, status in answers
    ]
    return 200, write_json(items)


def agency_of(name: str, agencies: Mapping[str, str]) -> str | None:
    """Return the agency of the longest prefix of a name that has one, else None.

    :param name: a DOI or a bare prefix
    :param agencies: names of agencies by prefix; the prefixes are in upper case (see ``ascii_upper``)

    >>> agency_of("10.1000.5/x", {"10.1000": "Crossref"})
    'Crossref'
    """
    key = ascii_upper(name)
    return next((agencies[part] for part in (key, *prefixes(key)) if part in agencies), None)


def prefixes(name: str) -> list[str]:
    """Return the prefixes that a name or a prefix belongs to, the longest first.

    >>> prefixes("10.1000.5/x")
    ['10.1000.5', '10.1000', '10']
    """
    parts = name.partition("/")[0].split(".")
    return [".".join(parts[:count]) for count in range(len(parts), 0, -1)]
