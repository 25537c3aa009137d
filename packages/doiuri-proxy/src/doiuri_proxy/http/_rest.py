"""The REST API, ``GET /api/handles/<doi>``, and Which RA, ``GET /doiRA/<doi>[,<doi>…]`` or ``/ra/…``.

DOI resolution documentation §4 and §5; draft-lemieux-doi-uri-scheme-00 §3.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from doiuri import DOISyntaxError, Handle, ShortDOI
from doiuri.rest import ResponseCode
from doiuri.rest.server import (
    JSON_TYPE,
    read_indexes,
    select,
    write_agencies,
    write_error,
    write_record,
    write_stored_record,
)

from doiuri_proxy.http._http import BadRequestError, Response, unescape
from doiuri_proxy.records._source import SourceError

if TYPE_CHECKING:
    from doiuri.rest import AgencyStatus

    from doiuri_proxy.http._http import Params, Request
    from doiuri_proxy.records._open import Source
    from doiuri_proxy.records._source import Registration

_HANDLES = b"/api/handles"
# Line separators end a JavaScript statement.
_NOT_IN_CALLBACK = re.compile("^[0-9]|[^A-Za-z0-9_$\u00a0-\U0010ffff]|[\u2028\u2029]")


async def answer(request: Request, source: Source) -> Response:
    """Return the answer to a request below ``/api``, errors included."""
    params: Params = {}
    try:
        params = request.params
        if request.path != _HANDLES and not request.path.startswith(_HANDLES + b"/"):
            return error(404, "no such endpoint; records are at /api/handles/<doi>", params)
        return await _record(unescape(request.path[len(_HANDLES) + 1 :]), params, source)
    except BadRequestError as problem:
        return error(400, str(problem), params)
    except SourceError as problem:
        return error(problem.status, str(problem), params).with_headers(*problem.headers)


def error(status: int, message: str, params: Params | None = None) -> Response:
    """Return an error: responseCode 2 with a failure of ours (HTTP status 5xx), else 4 (protocol error)."""
    params = params or {}
    code = ResponseCode.ERROR if status in {500, 503} else ResponseCode.PROTOCOL_ERROR
    return _response(*write_error(code, message=message, status=status, pretty="pretty" in params), params)


async def _record(name: str, params: Params, source: Source) -> Response:
    pretty = "pretty" in params
    if not name:
        return _response(*write_error(ResponseCode.INVALID_HANDLE, name=name, pretty=pretty), params)
    indexes = _indexes(params)
    record = await source.lookup(name, auth="auth" in params, cert="cert" in params)
    if record is None:
        return _response(*write_error(ResponseCode.HANDLE_NOT_FOUND, name=name, pretty=pretty), params)
    if not params:
        return _response(*write_stored_record(name, record.body), params)
    values = select(record.values, params.get("type", ()), indexes)
    return _response(*write_record(name, values, pretty=pretty), params)


def _indexes(params: Params) -> list[int]:
    try:
        return read_indexes(params.get("index", ()))
    except ValueError as problem:
        raise BadRequestError(str(problem)) from None


def _response(status: int, body: bytes, params: Params) -> Response:
    """Return a response with JSON, or with JSONP if the parameter ``callback`` is given."""
    callback = next((name for name in params.get("callback", ()) if name), "")
    if not callback:
        return Response(status, body, JSON_TYPE)
    function = _NOT_IN_CALLBACK.sub("_", callback)
    return Response(status, b"%b(%b);" % (function.encode(), body), "application/javascript;charset=utf-8")


async def which_ra(request: Request, source: Source) -> Response:
    """Return the registration agency of each DOI or prefix, in the order asked. Raises BadRequestError."""
    names = [unescape(part) for part in request.path.split(b"/", 2)[2].split(b",")]
    valid = list(dict.fromkeys(filter(_has_agency, names)))
    registrations = dict(zip(valid, await source.registrations(valid), strict=True))
    status, body = write_agencies((name, *_agency(registrations.get(name))) for name in names)
    return Response(status, body, "application/json;charset=UTF-8")


def _has_agency(name: str) -> bool:
    """Return whether ``name`` is a DOI or a bare prefix; Which RA does not answer for short DOIs."""
    try:
        return not isinstance(Handle.from_name(name), ShortDOI)
    except DOISyntaxError:
        return False


def _agency(registration: Registration | None) -> tuple[str | None, AgencyStatus]:
    if registration is None:
        return None, "invalid"
    if registration.exists is False:
        return None, "not-found"
    return registration.agency, "found" if registration.agency else "unknown"
